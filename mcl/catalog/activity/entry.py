"""One call as it is kept: who asked which server's tool for what, what was said to it, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from executor.gate.effects import RANK
from executor.gate.guards.three_keys import SENSITIVITIES

__all__ = ["KIND", "OPERATIONS", "SENSITIVITIES", "VERDICTS", "Entry"]

KIND: Final = "record.mcp.call"
VERDICTS: Final = ("allowed", "asked", "denied", "failed")
OPERATIONS: Final = (*RANK, "none")  # none: nothing of the kind was declared


@dataclass(frozen=True, slots=True)
class Entry:
    """What is told of one call when its answer is known and before it goes out.

    server, tool: as in ``server:tool``; of ours the server is "mcl". variant: ``call_tool_read`` and so on,
    "" where it was none of these. verdict: one of VERDICTS; code: of the refusal or the failure.
    operation_type, data_sensitivity, reason: as declared, whether that was right or not. args: as given; they
    are redacted and cut when they are kept. args_hash: hex sha256 of the JSON of `args` where the caller
    knows it already. result_bytes: of the answer as JSON. upstream_ms: how long the server took; None where
    it was not asked. latency_ms: of the whole call. agent: a DID ("": this home's agent). client: what the
    client calls itself. intent_id, gate_id: of the intent and the gate that were made of it. at: when the
    call came in, ISO 8601 in UTC ("": now).
    """

    server: str
    tool: str
    verdict: str
    variant: str = ""
    code: str = ""
    operation_type: str = ""
    data_sensitivity: str = ""
    reason: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    args_hash: str = ""
    result_bytes: int = 0
    upstream_ms: float | None = None
    latency_ms: float = 0.0
    request_id: str | int = ""
    agent: str = ""
    client_name: str = ""
    client_version: str = ""
    intent_id: str = ""
    gate_id: str = ""
    warnings: tuple[str, ...] = ()
    at: str = ""
