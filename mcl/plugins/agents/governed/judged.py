"""A declared call as it is judged: where work was signed, with what its agent has checked out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from executor.call import Call
from executor.gate.context import Context
from mcl.plugins.agents.governed.here import Governed, Here

if TYPE_CHECKING:
    from mcl.serve.exchange import Caller


@dataclass(frozen=True)
class Judged:
    """A call and what the gate judges it by.

    stamp: differs whenever another verdict could come of the same call. agent: who calls, "" where that does
    not matter. governed: None where nothing governs the call.
    """

    call: Call
    context: Context
    stamp: object
    agent: str = ""
    governed: Governed | None = None

    @property
    def intent_id(self) -> str:
        """The ULID of what its agent has checked out; "" for nothing, and for a call that only reads."""
        held, manifest = self.governed.held() if self.governed else None, self.context.manifest(self.call)
        if held is None or manifest is None:
            return ""
        return "" if self.context.effect(self.call, manifest).operation == "read" else held.intent_id


def judged_as(here: Here, call: Call, context: Context, stamp: object, caller: Caller) -> Judged:
    """The call as it is where nothing governs it; else with the version of its file that its agent saw, and
    with what the agent holds. Raises HomeError."""
    with here.home.db.moment():
        governed = here.of(call, context, caller)
    if governed is None:
        return Judged(call, context, stamp)
    manifest = context.manifest(call)
    based = governed.based(call, manifest) if manifest is not None else call
    return Judged(
        based, replace(context, checkouts=governed), (stamp, governed.lease), governed.agent, governed
    )
