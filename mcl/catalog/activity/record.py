"""A record of a call as it is read back from its signed bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from executor.core.errors import JournalError


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call. seq: its row in the journal; id, at: of its record. args: JSON, or the beginning of it and a
    `…`; args_bytes: how long it was. latency_us, upstream_us: whole microseconds, upstream None where no
    server was asked. declared: whether anything of an intent was given. The rest is as in `Entry`."""

    seq: int
    id: str
    at: str
    server: str
    tool: str
    variant: str
    operation_type: str
    data_sensitivity: str
    reason: str
    declared: bool
    verdict: str
    code: str
    args: str = field(repr=False)
    args_bytes: int
    args_hash: str
    result_bytes: int
    upstream_us: int | None
    latency_us: int
    request_id: str
    agent: str
    client: str
    client_version: str
    intent_id: str
    gate_id: str
    warnings: tuple[str, ...]

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
            value = json.loads(self.args)
        except ValueError:
            return self.args
        return value if isinstance(value, dict) else self.args

    def flat(self) -> dict[str, object]:
        """The fields side by side, as a table has them; times in milliseconds, warnings on lines."""
        return {
            "row": self.seq,
            "id": self.id,
            "at": self.at,
            "server": self.server,
            "tool": self.tool,
            "tool_variant": self.variant,
            "operation_type": self.operation_type,
            "data_sensitivity": self.data_sensitivity,
            "reason": self.reason,
            "verdict": self.verdict,
            "code": self.code,
            "args": self.args,
            "args_bytes": self.args_bytes,
            "args_hash": self.args_hash,
            "result_bytes": self.result_bytes,
            "latency_ms": self.latency_us / 1000,
            "upstream_ms": None if self.upstream_us is None else self.upstream_us / 1000,
            "request_id": self.request_id,
            "agent": self.agent,
            "client_name": self.client,
            "client_version": self.client_version,
            "intent_id": self.intent_id,
            "gate_id": self.gate_id,
            "warnings": "\n".join(self.warnings),
        }

    def to_json(self) -> dict[str, object]:
        """The record as a JSON object: the flat fields, and `metadata` with the declared intent."""
        metadata: dict[str, object] = {}
        if self.declared:
            metadata["intent"] = {
                "operation_type": self.operation_type,
                "data_sensitivity": self.data_sensitivity,
                "reason": self.reason,
            }
        if self.variant:
            metadata["tool_variant"] = self.variant
        values = {"args": self.given_args, "warnings": list(self.warnings), "metadata": metadata}
        return {**self.flat(), **values}


def call_of(body: Mapping[str, Any], *, seq: int, id: str, at: str) -> CallRecord:
    """The call that the body of a record of kind KIND tells of. Raises JournalError ACTIVITY_SHAPE."""
    intent = _get(body, "intent", dict)
    upstream = body.get("upstream_us")
    return CallRecord(
        seq=seq,
        id=id,
        at=at,
        server=_get(body, "server", str),
        tool=_get(body, "tool", str),
        variant=_get(body, "variant", str),
        operation_type=_get(intent, "operation_type", str) if intent else "",
        data_sensitivity=_get(intent, "data_sensitivity", str) if intent else "unknown",
        reason=_get(intent, "reason", str) if intent else "",
        declared=bool(intent),
        verdict=_get(body, "verdict", str),
        code=_get(body, "code", str),
        args=_get(body, "args", str),
        args_bytes=_get(body, "args_bytes", int),
        args_hash=_get(body, "args_hash", str),
        result_bytes=_get(body, "result_bytes", int),
        upstream_us=None if upstream is None else _get(body, "upstream_us", int),
        latency_us=_get(body, "latency_us", int),
        request_id=_get(body, "request_id", str),
        agent=_get(body, "agent", str),
        client=_get(body, "client", str),
        client_version=_get(body, "client_version", str),
        intent_id=_get(body, "intent_id", str),
        gate_id=_get(body, "gate_id", str),
        warnings=tuple(_get(body, "warnings", list)),
    )


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
