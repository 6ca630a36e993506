"""Making the call that a person approved: its intent is run like any other, once, whoever tries."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anyio import get_cancelled_exc_class
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random

from executor.core.errors import GateError, WalkError
from executor.core.hashing import json_size
from executor.store.home import Home
from executor.walker import Outcome, Walker
from executor.walker.outcome import Failure
from executor.walker.questions import GateAnswer, GateQuestion
from ir import MclError
from mcl.serve.exchange import Caller
from mcl.usecases import decision
from mcl.usecases.asked_call import AskedCall
from mcl.usecases.direct import NODE

if TYPE_CHECKING:
    from mcl.serve.session import Session

WITHDRAWN = "the client withdrew the call, or is gone"


@dataclass(frozen=True)
class Made:
    """What became of an approved call: the tool's answer, or why there is none; of a tool of another server
    that says it failed, both."""

    intent_id: str
    output: Mapping[str, object] | None = None
    failure: Failure | None = None


async def make(session: Session, asked: AskedCall) -> Made:
    """Run the intent of an approved call.

    Where the task is cancelled the call is ended, and its intent with it. Raises what a run raises, but for
    what says that somebody else ran it: that is a failure with the code APPROVAL_CONSUMED.
    """
    home, intent = session.home, asked.intent.id
    try:
        decision.require_same(home, asked, session.registry)
        if decision.is_late(home, asked):
            message = f"the approval was good until {asked.expires_at}"
            raise GateError("GATE_TIMEOUT", message, place=asked.id, fix="ask again")
    except GateError as problem:
        note(home, asked, problem)
        decision.give_up(home, asked, f"{problem.code}: {problem.message}")
        return Made(intent, failure=Failure(problem.code, problem.message, problem.fix, NODE, denied=True))
    walker = Walker(home, session.registry, workspace=session.workspace.root, people=_Nobody())
    try:
        async with walker:
            outcome = await walker.run(intent)
    except WalkError as problem:
        if problem.code not in ("ALREADY_RUNNING", "NOT_ACCEPTED", "RUN_INTERRUPTED"):
            raise
        return Made(intent, failure=consumed(home, asked))
    except get_cancelled_exc_class():
        decision.give_up(home, asked, WITHDRAWN, reason="cancelled_by_user", begun=True)
        raise
    return _made(session, asked, outcome)


def consumed(home: Home, asked: AskedCall) -> Failure:
    """Why a call that was approved is not made again."""
    state = home.journal.view(asked.intent.id).state
    return Failure(
        "APPROVAL_CONSUMED",
        f"this approval was used already; the intent {asked.intent.id} is {state}",
        f"ask again; what became of it: mcl show {asked.intent.id}",
        NODE,
        denied=True,
    )


def note(home: Home, asked: AskedCall, problem: MclError) -> None:
    """Keep that an approved call, or the approval of one, was refused."""
    told = {"gate": asked.id, "tool": asked.call.tool_ref, "code": problem.code, "reason": problem.message}
    home.journal.record("record.gate.refused", told)


def _made(session: Session, asked: AskedCall, outcome: Outcome) -> Made:
    failure, output = outcome.failure, outcome.outputs.get(NODE)
    if failure is None and outcome.state != "completed":
        failure = Failure("CANCELLED", f"the run was {outcome.state}", "ask again", NODE, denied=True)
    if (
        failure is not None and not outcome.envelope_id
    ):  # refused before it began: nobody shall begin it later
        decision.give_up(session.home, asked, f"{failure.code}: {failure.message}")
    if failure is not None:  # what the tool itself says of it goes back as a call that needs nobody gives it
        output = session.redactor.value(session.channels.error(asked.intent.id, NODE))
        manifest, size = session.registry.find(asked.call.tool_ref), json_size(output)
        if manifest is None or size is None or size > manifest.max_output:
            output = None
    return Made(asked.intent.id, output if isinstance(output, dict) else None, failure)


class _Nobody:
    """What the plan asks beyond its approval, nobody answers."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        return None


# ---- What a client of the modern era carries from one try of a call to the next: sealed, for just this
# call.

_MOST: Final = 4096  # characters; what is given out is a tenth of it


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
