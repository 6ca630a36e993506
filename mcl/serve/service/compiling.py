"""Compiling goals in a server: in a thread, one at a time, so that other calls are answered meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread

from executor.store.home import Home

if TYPE_CHECKING:
    from mcl.compiler.outcome import Outcome


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
        from mcl.usecases.answer import answer

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
