"""What the journal says of an earlier attempt at the same plan."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from ir import Envelope, PlanStepBody


@dataclass(slots=True)
class Earlier:
    """By node id: last state, number of attempts, outputs of completed nodes. ``calls``: calls begun."""

    states: dict[str, str] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, object] = field(default_factory=dict)
    started_at: str = ""
    calls: int = 0

    def in_doubt(self, node_id: str) -> bool:
        """Was the node begun, and nobody knows how far it came? What failed may have had effects too."""
        return bool(self.attempts.get(node_id)) and self.states.get(node_id) != "completed"


def read_earlier(envelopes: Iterable[Envelope], counted: frozenset[str]) -> Earlier:
    """Read the plan.step envelopes since the last accept; ``counted`` are the nodes that a budget counts."""
    earlier = Earlier()
    for envelope in envelopes:
        body = envelope.body
        if envelope.kind == "intent.accept":
            earlier = Earlier()
        if not isinstance(body, PlanStepBody):
            continue
        earlier.started_at = earlier.started_at or envelope.at
        earlier.states[body.node_id] = body.status
        if body.status == "running":
            earlier.attempts[body.node_id] = earlier.attempts.get(body.node_id, 0) + 1
            earlier.calls += body.node_id in counted
        elif body.status == "completed" and body.result:
            earlier.outputs[body.node_id] = json.loads(body.result)
    return earlier
