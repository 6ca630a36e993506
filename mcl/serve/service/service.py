"""All that one server process does for its clients: a session, and what goes on in it from call to call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import CapacityLimiter, to_thread

from executor.call import Call
from executor.core.hashing import json_hash
from executor.gate.breaker import MOST, SHARED, Breaker
from executor.gate.checkout import circuit_open
from executor.gate.guards.three_keys import MAX_REASON
from executor.gate.verdict import Deny
from executor.store.home import Home
from mcl.serve.finding.shelf import Shelves
from mcl.serve.governed import Judged
from mcl.serve.session import Session

if TYPE_CHECKING:
    from mcl.compiler.outcome import Outcome
    from mcl.serve.call_questions import CallQuestions
    from mcl.serve.service.runs import Runs

# ---- Calls that are refused again and again: an agent that repeats itself is told so.


class Refusals:
    """The calls that the gate refused lately. Each is judged whenever it comes; who repeats one that stays
    refused is told so for a minute.

    What is refused for its file, or for what its agent has checked out, counts together with what the hook of
    the agent's host refused.
    """

    def __init__(self, home: Home) -> None:
        self._home, self._breaker = home, Breaker(home)

    def told(self, judged: Judged, verdict: Deny) -> Deny:
        """The refusal as the agent is told of it: CIRCUIT_OPEN where this very call was refused MOST times
        lately. Raises HomeError."""
        governed, at = judged.governed, self._home.clock.now()
        shared = governed is not None and verdict.code in SHARED
        root = governed.root if governed else ""
        if governed is not None and shared:
            key, lease = governed.key(judged.call, judged.context), governed.intent_id
        else:  # it counts anew as soon as anything changed that could make a difference
            key, lease = _what(judged.call), sha256(repr(judged.stamp).encode()).hexdigest()
        code = self._breaker.open(judged.agent, root, key, at, lease=lease)
        if code is None:
            self._breaker.note(judged.agent, root, key, verdict.code, at, lease=lease)
            return verdict
        if shared:
            told = circuit_open(code).deny()
            return replace(told, guard="checkout", data={**told.data, "refused_with": code})
        return replace(
            verdict,
            code="CIRCUIT_OPEN",
            reason=f"this very call was refused {MOST} times: {verdict.code}: {verdict.reason}",
            data={**verdict.data, "refused_with": verdict.code},
        )


def _what(call: Call) -> str:
    """The call with what is declared of it. Of the reason just whether it is too long: to say it in other
    words makes no other call."""
    said = call.declaration
    declared: list[object] = []
    if said is not None:
        declared = [said.given, said.operation_type, said.data_sensitivity, said.variant]
        declared.append(len(said.reason) > MAX_REASON)
    return json_hash([call.tool_ref, call.args_hash, declared])


class Service(Session):
    """A session with its questions to people, its runs, the tools that can be found, and who was refused.

    Args:
        questions, runs: open, of the same home, and not closed here. compiling: makes Intents of goals.
        session: as of ``Session``.

    Raises:
        What ``Session`` raises.
    """

    def __init__(
        self,
        home: Home,
        workspace: Path,
        *,
        questions: CallQuestions,
        runs: Runs,
        compiling: Compiling,
        **session: Any,
    ) -> None:
        super().__init__(home, workspace, **session)
        self.questions, self.runs, self.compiling = questions, runs, compiling
        self.shelves, self.refusals = Shelves(), Refusals(home)


# ---- Compiling goals in a server: in a thread, one at a time, so that other calls are answered meanwhile.


class Compiling:
    """The compiler of one process.

    model: a GGUF, None for the one in use. ai: False for the deterministic matcher. skills: further folders.
    """

    def __init__(
        self, home: Home, *, model: Path | None = None, ai: bool = True, skills: Sequence[Path] = ()
    ) -> None:
        self._home = home
        self.model, self.ai, self.skills = model, ai, tuple(skills)
        self._turn = CapacityLimiter(1)  # a model is not for several threads

    async def compile(self, goal: str, *, skill: str = "", verb: str = "", zone: str = "") -> Outcome:
        """Compile a goal; what comes of it is signed and kept. Raises as ``acts.compile.compile_goal``."""
        from mcl.usecases.compile import compile_goal

        return await self._alone(
            partial(
                compile_goal,
                goal,
                skill=skill or None,
                verb=verb or None,
                zone=zone or None,
                model=self.model,
                ai=self.ai,
                skills=self.skills,
                home=self._home,
            )
        )

    async def answer(self, intent: str, answers: Mapping[str, str]) -> Outcome:
        """Compile an intent again with answers; nobody knows who gave them.

        Raises as ``acts.answer.answer``.
        """
        from mcl.usecases.compile import answer

        return await self._alone(
            partial(
                answer,
                intent,
                answers,
                model=self.model,
                ai=self.ai,
                skills=self.skills,
                home=self._home,
                unseen=True,
            )
        )

    async def _alone(self, work: partial[Outcome]) -> Outcome:
        # A compile that nobody waits for any more still ends, and is kept.
        return await to_thread.run_sync(work, limiter=self._turn)
