"""Another run is writing where a call wants to write: the call waits for it, and after a while the run rests.

Such contention passes, so it ends no intent. What the operator lets a run wait is ``lock_seconds`` of
policy.toml; after that nothing more of the run begins, and it goes on with ``mcl run --resume``.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import anyio

from executor.call import Call
from executor.gate.guards.moment import busy
from executor.gate.verdict import EXAMPLES, Deny
from executor.walker.engine import Failure
from executor.walker.ledger import Superseded
from executor.walker.tree import Place

if TYPE_CHECKING:
    from executor.walker.run import Run

_LOOK_S: Final = 0.1  # how often it is looked whether the other run is done
_QUIET_S: Final = 1.0  # after which whoever watches is told what the node waits for


class Contended(Exception):  # noqa: N818  # a signal within the walker: nothing went wrong
    """It was waited long enough: the run rests here."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class LockWait:
    """The patience of one call, however often another run takes the place first."""

    def __init__(self, place: Place, run: Run) -> None:
        self._place, self._run = place, run
        self._began = 0.0
        self._told = False

    async def __call__(self, call: Call, refusal: Deny) -> Deny | None:
        """Wait until no other run is writing where the call will write. Gives why it may not be made any
        more, where the time of the intent is over before that.

        Raises:
            Contended: it did not end within ``lock_seconds``. Superseded: a correction came meanwhile.
        """
        run, context = self._run, self._place.scope.context
        self._began = self._began or time.monotonic()
        found: Deny | None = refusal
        while found is not None:
            waited = time.monotonic() - self._began
            if waited >= context.policy.lock_seconds:
                raise Contended(self._rested(found, waited))
            if context.spending is not None and (late := context.spending.time_refusal()) is not None:
                return self._recorded(replace(late, guard="budget", example=EXAMPLES[late.code]))
            if waited >= _QUIET_S and not self._told:
                self._told = True
                run.tell_pending(self._place.id, f"waits: {found.reason}")
            await anyio.sleep(_LOOK_S)
            if run.superseded(run.ledger.view()):
                raise Superseded
            found = busy(call, context)
        return None

    def _rested(self, found: Deny, waited: float) -> Failure:
        """Why the run rests; the refusal is recorded."""
        message = f"{found.reason}, and was not done within {waited:.0f} s"
        fix = f"go on when it is: mcl run {self._run.ledger.intent_id} --resume"
        refusal = self._recorded(replace(found, reason=message, fix=fix, guard="locks"))
        return Failure(refusal.code, message, fix, self._place.id, True, refusal.example)

    def _recorded(self, refusal: Deny) -> Deny:
        self._run.ledger.note("refused", {"node": self._place.id, **refusal.to_json()})
        return refusal
