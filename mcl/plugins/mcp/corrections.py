"""Corrections that a person writes into a form of a client: shown by a further form, and signed there.

The way is that of `mcl correct` and `mcl gate correct`; whoever fills in a form signs unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import anyio

from executor.store.materiality.plans import is_leaf
from executor.walker.questions import first_error
from ir import ClarifyQuestion, MclError
from ir.display import clear, of_value
from mcl.core.errors import InputError
from mcl.core.text import one_line, safe
from mcl.plugins.mcp.forms import (
    CORRECTION,
    MAX_CORRECTION,
    Show,
    correction_field,
    filled_by,
    signs,
    words_in,
)
from mcl.serve.exchange import Filled, Form, Json

if TYPE_CHECKING:
    from executor import Verdict
    from executor.walker.questions import GateQuestion
    from mcl.plugins.mcp.service import Service
    from mcl.serve.exchange import Caller
    from mcl.usecases.corrections import Proposal
    from mcl.usecases.intents import Shown

SIGN: Final = "sign"
LEAVE: Final = "leave it as it is"
_NOTHING: Final = "Not corrected: nothing was signed."
_ROUNDS: Final = 3  # of questions that one correction leaves open
RETRY: Final = "retry_from"  # the field for the node from which what failed is to run again
_RETRIED: Final = 20  # nodes that it offers
_LOOK_S: Final = 0.25  # how often it is looked whether somebody accepted meanwhile
_PROMPT: Final = 400  # characters of a question
_TERMINAL: Final = "say it at a terminal: mcl correct, or mcl gate correct"


class FormCorrections:
    """The corrections that are said to one server process."""

    def __init__(self, session: Service) -> None:
        self._session = session
        self._left: set[tuple[str, str]] = set()  # intents as they were when no more was to be said of them

    async def at_gate(self, show: Show, gate: GateQuestion, words: str) -> tuple[str, bool]:
        """Take what is to be otherwise, as it was said at a gate of a running plan: what came of it, in a
        sentence, and whether the run stops by it."""
        from mcl.usecases.gates import propose_at_gate

        propose = partial(propose_at_gate, gate.gate_id)
        return await self._taken(show, propose, words, gate.intent_id, gate=gate.gate_id, node=gate.node_id)

    def may_ask(self, found: Shown, caller: Caller) -> bool:
        """Whether a client may be shown a form before the accept, of a plan or of what becomes of one whose
        run failed: where it can show one, where an answer in it counts, and not again where nothing was to be
        otherwise."""
        from mcl.usecases.corrections import waits_for_words

        home = self._session.home
        if not caller.can_elicit or _mark(found) in self._left or not signs(home):
            return False
        return (found.state == "proposed" and found.plan is not None) or waits_for_words(home, found)

    async def before_accept(self, show: Show, found: Shown) -> None:
        """Ask what is to be otherwise about a plan that nobody accepted, or whose run failed, until it is
        nothing more, somebody accepts at a terminal, or the time for an answer is over. Nothing that is said
        here accepts."""
        home = self._session.home

        async def look() -> None:
            while home.journal.view(found.id).state in ("proposed", "failed"):
                await anyio.sleep(_LOOK_S)
            tasks.cancel_scope.cancel()

        try:
            with anyio.move_on_after(60 * self._session.context.policy.approval_minutes):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(look)
                    self._left.add(await self._until_nothing(show, found))
                    tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise first_error(group) from group

    async def _until_nothing(self, show: Show, found: Shown) -> tuple[str, str]:
        """Take corrections of a plan until there is none more; what it is then."""
        from mcl.usecases.corrections import propose_correction
        from mcl.usecases.intents import show as shown

        said = ""
        while True:
            asked = failed_form if found.state == "failed" else accept_form
            form = self._redacted(asked(found, said))
            filled = await filled_by(show, form)
            words, node = words_in(form, filled), _node_in(form, filled)
            if not (words or node):
                return _mark(found)
            propose = partial(propose_correction, found.id, retry_from=node)
            said, _ = await self._taken(show, propose, words, found.id)
            found = shown(found.id, home=self._session.home)

    async def _taken(
        self, show: Show, propose: Callable[..., Proposal], words: str, intent: str, **where: str
    ) -> tuple[str, bool]:
        from mcl.usecases import corrections

        home, made = self._session.home, self._session.compiler
        try:
            proposal = await self._proposed(show, propose, words)
            if proposal is None:
                return _NOTHING, False
            looked = partial(corrections.refusals, proposal, skills=made.skills, home=home)
            refused = await made.alone(partial(looked, workspace=self._session.workspace.root))
            filled = await filled_by(show, self._redacted(correction_form(proposal, refused)))
            if filled is None or filled.action != "accept" or filled.content.get("decision") != SIGN:
                return _NOTHING, False
            done = await made.alone(lambda: corrections.sign_correction(proposal, home=home, unseen=True))
        except MclError as problem:
            message = self._session.redactor.text(problem.message)
            told = {**where, "code": problem.code, "reason": message}
            home.journal.record("record.gate.refused", told, intent=intent)
            fix = f"; {problem.fix}" if problem.fix else ""
            return f"Not corrected: {message} ({problem.code}){fix}", False
        if done.material:
            return f"Corrected: it needs a new accept, at a terminal: mcl accept {done.intent_id}", True
        return "Corrected.", False

    async def _proposed(self, show: Show, propose: Callable[..., Proposal], words: str) -> Proposal | None:
        """What would be signed, once nothing is left open; None where nobody answers. Raises InputError also
        PERSON_ONLY, about a promise that nobody can check: whoever fills in a form may be a program."""
        from mcl.compiler.stages.signoff import require_person

        made, answers = self._session.compiler, dict[str, str]()
        given = {"words": words, "model": made.model, "ai": made.ai, "skills": made.skills}
        for left in reversed(range(_ROUNDS)):
            try:
                said = partial(propose, answers=dict(answers), home=self._session.home, **given)
                return await made.alone(said)
            except InputError as problem:
                if problem.code != "QUESTIONS_OPEN" or not left:
                    raise
                listed: Any = problem.data["questions"]  # as `corrected_goal` makes them
            questions = [ClarifyQuestion(**one) for one in listed]
            require_person((one.field for one in questions), fix=_TERMINAL)
            filled = await filled_by(show, self._redacted(questions_form(questions)))
            if filled is None or filled.action != "accept":
                return None
            answers |= _answers(questions, filled.content)
        return None

    def _redacted(self, form: Form) -> Form:
        redactor = self._session.redactor
        return Form(redactor.text(form.message), cast(Json, redactor.value(dict(form.schema))))


def _mark(found: Shown) -> tuple[str, str]:
    return found.id, found.view.last_id


def _node_in(form: Form, filled: Filled | None) -> str:
    """The node to run again from in a form that came back, whether it offered it or not; "" for none."""
    if filled is None or filled.action != "accept" or RETRY not in cast("Json", form.schema["properties"]):
        return ""
    node = filled.content.get(RETRY)
    return one_line(node, _PROMPT) if isinstance(node, str) else ""


def accept_form(found: Shown, said: str = "") -> Form:
    """The form about a plan that nobody accepted. said: what came of the correction before it."""
    lines = ["A program asks to run a plan that you have not accepted.", ""]
    lines += ["You accept it at a terminal alone, once you have read it:"]
    return _plan_form(found, said, lines)


def failed_form(found: Shown, said: str = "") -> Form:
    """The form about a plan whose run failed. said: what came of the correction before it."""
    lines = ["A program asks to go on with a run that failed:"]
    lines += [f"    | {line}" for line in safe(found.reason).split("\n")]
    lines += ["", "What completed stays done. Once you have said what is to be otherwise, you accept it at a"]
    lines += ["terminal alone:"]
    ended = (node.id for node, _ in found.plan.root.walk() if is_leaf(node)) if found.plan is not None else ()
    failed = [id for id in ended if found.view.nodes.get(id) in ("failed", "denied", "cancelled")]
    again: dict[str, object] = {"type": "string", "title": "Or: run this node again, and what waits for it"}
    return _plan_form(found, said, lines, {RETRY: again | {"enum": failed[:_RETRIED]}} if failed else {})


def _plan_form(
    found: Shown, said: str, lines: Sequence[str], more: Mapping[str, object] | None = None
) -> Form:
    prose = found.intent.prose if found.intent else found.prose
    shown = [one_line(said, MAX_CORRECTION)] if said else []
    shown += [*lines, f"  mcl show {found.id}", f"  mcl accept {found.id}", "The goal:"]
    shown += [f"    | {line}" for line in safe(prose).split("\n")]
    shown += ["The plan:", *_nodes(found), "", "Is something to be otherwise? Left empty, it stays as it is."]
    properties = {CORRECTION: correction_field("What is to be otherwise"), **(more or {})}
    return Form("\n".join(shown), {"type": "object", "properties": properties, "required": []})


def _nodes(found: Shown) -> Iterator[str]:
    for node, depth in found.plan.root.walk() if found.plan is not None else ():
        call, state = node.tool_call, found.view.nodes.get(node.id, "")
        what = f"{call.tool_ref} ({call.side_effect_class})" if call is not None else node.kind
        ended = f", {state}" if state else ""
        yield f"    | {'  ' * (depth - 1)}{clear(node.id)}: {clear(what)}{ended}"


def questions_form(questions: Sequence[ClarifyQuestion]) -> Form:
    """The form about what a correction leaves open, a field a question."""
    lines = ["Your correction leaves something open.", ""]
    fields: dict[str, object] = {}
    for one in questions:
        lines += [f"    | {line}" for line in safe(one.prompt).split("\n")]
        asked: dict[str, object] = {"type": "string", "title": one_line(one.prompt, _PROMPT)}
        fields[one.unknown_id] = asked | ({"enum": list(one.options)} if one.options else {})
    required = [one.unknown_id for one in questions if one.required]
    return Form("\n".join(lines), {"type": "object", "properties": fields, "required": required})


def _answers(questions: Sequence[ClarifyQuestion], content: Json) -> dict[str, str]:
    """The texts that answer a question, by its field; what is none is asked for again."""
    found: dict[str, str] = {}
    for one in questions:
        text = content.get(one.unknown_id)
        if isinstance(text, str) and len(text) <= MAX_CORRECTION and (text.strip() or not one.required):
            found[one.field] = text
    return found


def correction_form(proposal: Proposal, refused: Sequence[Verdict] = ()) -> Form:
    """The form about what a correction comes to. refused: what the gate would refuse of it, as things are."""
    lines = ["This is what your correction comes to; nothing is signed yet.", ""]
    for change in proposal.changes:
        was, now = of_value(change.before), of_value(change.after)
        lines += [f"  {clear(change.place)} ({change.code})", f"    | {was} → {now}"]
    if proposal.review:
        lines.append(f"Read it with care: {clear(proposal.review)}")
    if proposal.again:
        lines.append(f"Runs again: {clear(', '.join(proposal.again))}")
    if proposal.stays:
        lines.append(f"What these did already stays as it is: {clear(', '.join(proposal.stays))}")
    for one in refused:
        code, reason = getattr(one.reply, "code", ""), getattr(one.reply, "reason", "")
        where = clear(one.node_id) or "this plan"
        lines.append(f"The gate will refuse {where}: {code}: {one_line(reason, 1000)}")
    lines += [
        "",
        f"Material: it needs a new accept, at a terminal: mcl accept {proposal.intent_id}"
        if proposal.material
        else "Not material: no new accept is needed.",
        "Sign this correction?",
    ]
    decision = {"type": "string", "title": "Decision", "enum": [LEAVE, SIGN]}
    schema = {"type": "object", "properties": {"decision": decision}, "required": ["decision"]}
    return Form("\n".join(lines), schema)
