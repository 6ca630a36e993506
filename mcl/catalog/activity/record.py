"""One call over MCP: who asked which server's tool for what, what was said to it, what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from executor.core.errors import JournalError
from executor.gate.effects import RANK
from executor.gate.guards.call import SENSITIVITIES as SENSITIVITIES

KIND: Final = "record.mcp.call"
VERDICTS: Final = ("allowed", "asked", "denied", "failed")
OPERATIONS: Final = (*RANK, "none")  # none: nothing of the kind was declared
_MAX_NUMBER: Final = (1 << 63) - 1
INTENT: Final = ("operation_type", "data_sensitivity", "reason")


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What is told of one call before its answer goes out, and what is read back of it.

    server, tool: as in ``server:tool``; of ours the server is "mcl". variant: ``call_tool_read`` and so on,
    "" where it was none of these. verdict: one of VERDICTS; code: of the refusal or the failure.
    operation_type, data_sensitivity, reason: as declared, whether that was right or not; declared: whether
    anything was. args: as given; read back they are JSON, or the beginning of it and a `…`. args_bytes: how
    long that JSON was. args_hash: hex sha256 of it, where the caller knows it already. result_bytes: of the
    answer as JSON. upstream_ms: how long the server took; None where it was not asked. latency_ms: of the
    whole call. agent: a DID ("": this home's agent). client: what the client calls itself. intent_id,
    gate_id: of the intent and the gate that were made of it. at: when the call came in, ISO 8601 in UTC ("":
    now). seq, id: the row in the journal and its record, once it is kept.
    """

    server: str
    tool: str
    verdict: str
    variant: str = ""
    code: str = ""
    operation_type: str = ""
    data_sensitivity: str = ""
    reason: str = ""
    args: Mapping[str, Any] | str = field(default_factory=dict, repr=False)
    args_bytes: int = 0
    args_hash: str = ""
    result_bytes: int = 0
    upstream_ms: float | None = None
    latency_ms: float = 0.0
    request_id: str | int = ""
    agent: str = ""
    client: str = ""
    client_version: str = ""
    intent_id: str = ""
    gate_id: str = ""
    warnings: tuple[str, ...] = ()
    at: str = ""
    id: str = ""
    seq: int = 0
    declared: bool = False

    @property
    def name(self) -> str:
        """``server:tool``."""
        return f"{self.server}:{self.tool}"

    @property
    def operation(self) -> str:
        """What was declared, "none" where nothing was."""
        return self.operation_type or "none"

    @property
    def at_ms(self) -> int:
        """The moment in milliseconds since 1970."""
        return milliseconds(self.at)

    @property
    def given_args(self) -> object:
        """The arguments as a JSON value; text where they were cut."""
        try:
            value = json.loads(self.kept_args)
        except ValueError:
            return self.args
        return value if isinstance(value, dict) else self.args

    @property
    def kept_args(self) -> str:
        """The arguments as text: JSON, or the beginning of it."""
        return self.args if isinstance(self.args, str) else json.dumps(dict(self.args))

    def flat(self) -> dict[str, object]:
        """The fields side by side, as a table has them; warnings on lines."""
        told = {column: getattr(self, name) for column, name in COLUMNS.items()}
        return {**told, "warnings": "\n".join(self.warnings)}

    def to_json(self) -> dict[str, object]:
        """The record as a JSON object: the flat fields, and `metadata` with the declared intent."""
        metadata: dict[str, object] = {}
        if self.declared:
            metadata["intent"] = {name: getattr(self, name) for name in INTENT}
        if self.variant:
            metadata["tool_variant"] = self.variant
        values = {"args": self.given_args, "warnings": list(self.warnings), "metadata": metadata}
        return {**self.flat(), **values}


# What is shown and exported, in this order: the name of each column, and the field that it holds.
COLUMNS: Final[Mapping[str, str]] = {
    "row": "seq",
    **{name: name for name in ("id", "at", "server", "tool")},
    "tool_variant": "variant",
    **{name: name for name in (*INTENT, "verdict", "code", "args", "args_bytes", "args_hash")},
    **{name: name for name in ("result_bytes", "latency_ms", "upstream_ms", "request_id", "agent")},
    "client_name": "client",
    **{name: name for name in ("client_version", "intent_id", "gate_id", "warnings")},
}
# The fields that the body of a record has as they are, unlike its intent, its times and its warnings.
TEXTS: Final = (
    *("server", "tool", "variant", "verdict", "code", "request_id", "agent"),
    *("client", "client_version", "intent_id", "gate_id"),
)
_AS_THEY_ARE: Final = dict.fromkeys((*TEXTS, "args", "args_hash"), str) | {
    "args_bytes": int,
    "result_bytes": int,
}


def call_of(body: Mapping[str, Any], *, seq: int, id: str, at: str) -> CallRecord:
    """The call that the body of a record of kind KIND tells of. Raises JournalError ACTIVITY_SHAPE."""
    intent, upstream = _get(body, "intent", dict), body.get("upstream_us")
    said = {name: _get(body, name, kind) for name, kind in _AS_THEY_ARE.items()}
    if intent:
        said |= {name: _get(intent, name, str) for name in INTENT}
    return CallRecord(
        **{"data_sensitivity": "unknown", **said},
        upstream_ms=None if upstream is None else _get(body, "upstream_us", int) / 1000,
        latency_ms=_get(body, "latency_us", int) / 1000,
        warnings=tuple(_get(body, "warnings", list)),
        at=at,
        id=id,
        seq=seq,
        declared=bool(intent),
    )


def whole_number(value: float) -> int:
    """A whole number that a table holds; what is none counts as 0."""
    try:
        return max(0, min(round(value), _MAX_NUMBER))
    except (ValueError, OverflowError):  # NaN, endless
        return 0


def milliseconds(instant: str) -> int:
    """A moment in ISO 8601 with its zone, in milliseconds since 1970."""
    return round(datetime.fromisoformat(instant).timestamp() * 1000)


def _get(body: Mapping[str, Any], name: str, kind: type) -> Any:
    value = body.get(name)
    if type(value) is not kind:
        raise JournalError(
            "ACTIVITY_SHAPE",
            f"a record of a call says nothing of its {name}",
            place=name,
            fix="another version of mcl may have written it; mcl log shows it as it is",
        )
    return value
