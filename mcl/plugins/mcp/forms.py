"""Questions as forms that a client shows: what a person sees, how their answer is read, and who asks.

Whatever is not ours stands behind a bar, a line each, with everything written out that could not be seen: no
text of an argument, a tool or a client can pass for a line of this page.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio
from anyio import sleep_forever
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random

from executor.gate.approvals import APPROVE, DENY
from executor.store.home import Home
from executor.walker.questions import GateAnswer, GateQuestion
from ir.characters import UNSEEN, written_out
from ir.display import bounded, clear, quoted
from mcl.core.text import one_line, safe, whole
from mcl.serve.exchange import Caller, Channel, Filled, Form
from mcl.usecases.call_question import MAX_REASON, CallQuestion, declared_of

if TYPE_CHECKING:
    from mcl.plugins.mcp.session import Session

Show: TypeAlias = Callable[[Form], Awaitable[Filled]]  # has a client show a form
Corrects: TypeAlias = Callable[[Show, GateQuestion, str], Awaitable[tuple[str, bool]]]
CORRECTION: Final = "correction"  # the field for what is to be otherwise
MAX_CORRECTION: Final = 4000  # characters of it
WAIT: Final = "wait"  # the answer that leaves a question to `mcl gate`
_ALIVE_S: Final = 5.0  # how often a client is told that its call still waits
_MOST: Final = 4096  # characters of a state; what is given out is a tenth of it

# ---- The forms.


def call_form(asked: CallQuestion, args: Mapping[str, object], *, here: bool, again: bool = False) -> Form:
    """The form about one call. here: an answer can be signed in this process; else it says where. again:
    what came back for it before was no answer."""
    lines = [*(["That was no answer; it is asked again."] if again else []), *_page(asked, args), ""]
    if here:
        lines.append("Allow exactly this call?")
        return Form("\n".join(lines), _schema(DENY, APPROVE))
    key = "needs a key of yours that no program can use" if asked.chain else "needs your passphrase"
    lines.append(f"To allow it {key}. Decide at a terminal: mcl gate approve {asked.id}")
    return Form("\n".join(lines), _schema(DENY, WAIT))


def gate_form(gate: GateQuestion, *, corrects: bool = False) -> Form:
    """The form about a gate of a running plan. corrects: it may be said what is to be otherwise, instead."""
    lines = [f"{one_line(gate.again)}; it is asked again."] if gate.again else []
    lines += ["A plan that you accepted waits for your answer.", ""]
    if gate.tool_ref:
        lines.append(f"Tool: {clear(gate.tool_ref)}")
    lines.append(f"Step: {clear(gate.node_id) or 'the end'}")
    if gate.expires_at:
        lines.append(f"Until: {_minute(gate.expires_at)}; without an answer it is refused")
    lines += [f"More: mcl gate show {gate.gate_id}", "What is asked:"]
    lines += [f"    | {line}" for line in safe(gate.question).split("\n")]  # kept as views
    lines += ["Arguments, whole:", *_barred(gate.args)] if gate.args else []
    refusing = f"Refuses: {' / '.join(map(quoted, gate.offer.refusing))}"
    instead = "What is to be otherwise, said in the field for it, decides nothing: it is shown to you first."
    asked = [refusing, *([instead] if corrects else []), "Your answer?"]
    schema = _schema(*gate.offer.refusing, *gate.offer.continuing, corrects=corrects)
    return Form("\n".join([*lines, "", *asked]), schema)


def read_form(form: Form, filled: Filled | None) -> GateAnswer | None:
    """The answer in a form that came back; nobody knows whether a person has seen what a client shows.

    Without an option where the form was sent off with what it did not offer, so that it is asked again; None
    where it was closed.
    """
    properties: Any = form.schema["properties"]
    if filled is not None and filled.action == "decline":
        return GateAnswer(DENY, unseen=True)
    if filled is None or filled.action != "accept":
        return None
    decision, reason = filled.content.get("decision"), filled.content.get("reason") or ""
    offered, words = properties["decision"]["enum"], filled.content.get(CORRECTION) or ""
    if not isinstance(words, str) or words.strip():  # read as no correction, and never to be passed over
        return GateAnswer("", unseen=True)
    if not isinstance(reason, str) or len(reason) > MAX_REASON or decision not in offered:
        return GateAnswer("", unseen=True)
    return GateAnswer(str(decision), reason, unseen=True)


def _page(asked: CallQuestion, args: Mapping[str, object]) -> Iterator[str]:
    trusted = "you trust it" if asked.trusted else "you do not trust it"
    own = asked.server == "mcl"
    yield "A program asks to make one call, and only you can allow it."
    yield ""
    yield f"Tool: {clear(asked.name)}"
    yield f"Server: {'mcl itself' if own else f'{clear(asked.server)} ({trusted})'}"
    yield f"It does: {asked.operation} ({', '.join(asked.effects)})"
    yield f"Until: {_minute(asked.expires_at)}; without an answer it is refused"
    yield f"More: mcl gate show {asked.id}"
    yield "Why you are asked:"
    for why in asked.why:
        yield f"  - {written_out(why, UNSEEN, keep='')}"  # its values are views already
    yield "Arguments, whole:" if args else "Arguments: none"
    yield from _barred(args)
    yield "What the program says, in its own words; nobody has checked them:"
    yield from _barred(declared_of(asked))


def _barred(values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        yield f"  {bounded(name)}"
        for line in whole(value):
            yield f"    | {line}"


def _schema(*decisions: str, corrects: bool = False) -> dict[str, object]:
    """The refusal comes first: a form that is sent off as it opens shall not approve."""
    fields: dict[str, object] = {
        "decision": {"type": "string", "title": "Decision", "enum": list(decisions)},
        "reason": {"type": "string", "title": "Reason", "maxLength": MAX_REASON},
    }
    if corrects:
        fields[CORRECTION] = correction_field("Or: what is to be otherwise, instead of a decision")
    return {"type": "object", "properties": fields, "required": [] if corrects else ["decision"]}


def correction_field(title: str) -> dict[str, object]:
    """The field for the words of a correction."""
    return {"type": "string", "title": title, "maxLength": MAX_CORRECTION}


def words_in(form: Form, filled: Filled | None) -> str:
    """The words of a correction in a form that came back, "" where it has none or did not ask for any."""
    properties: Any = form.schema["properties"]
    if filled is None or filled.action != "accept" or CORRECTION not in properties:
        return ""
    words = filled.content.get(CORRECTION)
    return words.strip() if isinstance(words, str) and len(words) <= MAX_CORRECTION else ""


def _minute(text: str) -> str:
    return f"{text[:19].replace('T', ' ')} UTC"


# ---- Who sits before a client.


class ClientPeople:
    """Whoever sits before a client, asked by forms; where it shows none, `mcl gate` decides.

    form: of a question; None where no answer in a client would count. seconds: how long the call may wait,
    where that is known. corrects: takes the words of a correction that stand in a form, by further forms;
    what came of it, in a sentence, and whether the run stops by it.
    """

    def __init__(
        self,
        caller: Caller,
        form: Callable[[GateQuestion], Form | None],
        seconds: float | None = None,
        corrects: Corrects | None = None,
    ) -> None:
        self._caller, self._form, self._seconds = caller, form, seconds
        self._corrects = corrects

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Show the question, and wait: for the answer, or until this is cancelled, because somebody was first
        or its time is over."""
        answer: GateAnswer | None = None
        elicit, form = self._caller.elicit, self._form(gate)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_alive, self._caller.channel, gate.gate_id, self._seconds)
            if elicit is None or form is None:
                await sleep_forever()
            else:
                answer = await self._answer(elicit, form, gate)
            if answer is not None and answer.decision == WAIT:
                await sleep_forever()
            tasks.cancel_scope.cancel()
        return answer

    async def _answer(self, elicit: Show, first: Form, gate: GateQuestion) -> GateAnswer | None:
        """The answer in a form. Words of a correction answer nothing, whatever else was filled in: the
        question is shown again, or the run stops, which ends this."""
        form = first
        while True:
            filled = await filled_by(elicit, form)
            words = words_in(form, filled)
            if not words or self._corrects is None:
                return read_form(form, filled)
            said, stops = await self._corrects(elicit, gate, words)
            if stops:
                await sleep_forever()
            form = Form(f"{one_line(said, MAX_CORRECTION)}\n{first.message}", first.schema)


def plan_people(session: Session, caller: Caller, corrects: Corrects | None = None) -> ClientPeople:
    """Whoever decides at the gates of a plan that a client runs. What acts on a chain needs a person's own
    key, which no answer in a client is signed with. corrects: as of `ClientPeople`, of the plan's own gates.
    """

    def form(gate: GateQuestion) -> Form | None:
        manifest = session.registry.find(gate.tool_ref) if gate.tool_ref else None
        chain = manifest is not None and "chain" in manifest.effects
        if chain or not signs(session.home):
            return None
        return gate_form(gate, corrects=corrects is not None and gate.kind == "gate")

    return ClientPeople(caller, form, corrects=corrects)


def signs(home: Home) -> bool:
    """Does what a person answers in a client count as theirs? Not where their key is sealed: whoever sealed
    it wants to be asked for the passphrase, though this process may know it."""
    own = home.keyring.user.did
    return not any(key.sealed for key in home.keyring.entries() if key.did == own)


async def filled_by(elicit: Show, form: Form) -> Filled | None:
    """What a client of the handshake era gives back for a form; None for what is no answer to a form.

    A client that says it cannot show it after all has asked nobody: the wait for others goes on for ever.
    """
    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError

    try:
        return await elicit(form)
    except MCPError:
        await sleep_forever()
    except (ValidationError, ValueError, TypeError):
        return None
    return None


async def keep_alive(channel: Channel, gate: str, seconds: float | None = None) -> None:
    """Tell a client now and then that its call waits, and for what. seconds: how long it may, where known."""
    message = f"waits for a person: mcl gate approve {gate}"
    began = anyio.current_time()
    try:
        await channel.log("notice", message, "mcl")
        while True:
            await channel.progress(anyio.current_time() - began, seconds, message)
            await anyio.sleep(_ALIVE_S)
    except Exception:  # noqa: BLE001  # that a client does not hear it is no reason not to wait
        await sleep_forever()


# ---- What a client of the modern era carries from one try of a call to the next: sealed, for just this
# call.


class States:
    """Seals states, and reads those that it sealed itself: none of another process, home or server."""

    def __init__(self) -> None:
        self._box = SecretBox(random(SecretBox.KEY_SIZE))

    def give(self, caller: Caller, what: str, **said: str) -> str:
        """A state for this client that comes back with the same call. what: the call, as a digest."""
        told = {"client": [caller.client, caller.version], "what": what, "said": said}
        return base64.urlsafe_b64encode(bytes(self._box.encrypt(json.dumps(told).encode()))).decode()

    def read(self, caller: Caller, what: str = "") -> dict[str, str] | None:
        """What was said in the state that a call brought; None where it was not given out here, to this
        client and for this call ("": whatever call)."""
        if len(caller.state) > _MOST:
            return None
        try:
            sealed = base64.b64decode(caller.state.encode(), altchars=b"-_", validate=True)
            told = json.loads(self._box.decrypt(sealed))
        except (CryptoError, ValueError, TypeError):  # no base64, no JSON, not ours
            return None
        if told["client"] != [caller.client, caller.version] or (what and told["what"] != what):
            return None
        return dict(told["said"])
