"""An entry as it is signed: redacted, within bounds, with nothing in it that could not be written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from executor.hashing import json_bytes
from executor.sandbox.redaction import Redactor
from mcl.mcp.activity.entry import Entry

MAX_ARGS: Final = 4096  # bytes of the arguments' JSON, as they are kept
MAX_REASON: Final = 1000  # characters
CUT: Final = "…"  # ends what was cut; the redactor knows it
_MAX_TEXT: Final = 200  # characters of a name, a code, an id
_MAX_WARNING, _MAX_WARNINGS = 500, 8  # characters, and how many
_ROOM: Final = 1 << 16  # bytes of JSON beyond which arguments are cut before they are redacted, which is slow
_MAX_ITEMS: Final = 256  # items of a list or object that are looked at then
_MAX_STRING: Final = 2 * MAX_ARGS  # characters of a text that are looked at then
_MAX_NUMBER: Final = (1 << 63) - 1  # what an index of SQLite holds


def body_of(entry: Entry, redactor: Redactor, agent: str) -> dict[str, Any]:
    """The body of the record of a call.

    agent: the DID to name where the entry names none. Times are whole microseconds. `args` is JSON, or the
    beginning of it and a `…`; `args_bytes` is how long the JSON was that came. Never raises for what an agent
    or a server can send.
    """
    data, digest = _measured(entry)

    def text(value: object, limit: int = _MAX_TEXT) -> str:
        return cut(redactor.text(whole(str(value))), limit)

    declared = (entry.operation_type, entry.data_sensitivity, entry.reason)
    intent: dict[str, str] = {}
    if any(declared):
        intent = {
            "operation_type": text(entry.operation_type),
            "data_sensitivity": text(entry.data_sensitivity) or "unknown",
            "reason": text(entry.reason, MAX_REASON),
        }
    return {
        "server": text(entry.server),
        "tool": text(entry.tool),
        "variant": text(entry.variant),
        "intent": intent,
        "verdict": text(entry.verdict),
        "code": text(entry.code),
        "args": cut_bytes(_written(entry.args, redactor, data), MAX_ARGS),
        "args_bytes": len(data),
        "args_hash": text(entry.args_hash) or digest,
        "result_bytes": _number(entry.result_bytes),
        "upstream_us": None if entry.upstream_ms is None else _number(entry.upstream_ms * 1000),
        "latency_us": _number(entry.latency_ms * 1000),
        "request_id": text(entry.request_id),
        "agent": text(entry.agent) or agent,
        "client": {"name": text(entry.client_name), "version": text(entry.client_version)},
        "gate_id": text(entry.gate_id),
        "warnings": [text(one, _MAX_WARNING) for one in entry.warnings[:_MAX_WARNINGS]],
    }


def whole(text: str) -> str:
    """The text with half characters written out: they have no form in UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, the last of them a `…` where more came."""
    return text if len(text) <= limit else text[: limit - 1] + CUT


def cut_bytes(text: str, limit: int) -> str:
    """The same for bytes of UTF-8."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return data[: limit - len(CUT.encode())].decode(errors="ignore") + CUT


def _measured(entry: Entry) -> tuple[bytes, str]:
    """The JSON of the arguments as they came, and its hash; nothing where they are no JSON."""
    try:
        data = json_bytes(dict(entry.args))
    except (TypeError, ValueError, RecursionError):
        return b"", ""
    return data, "" if entry.args_hash else hashlib.sha256(data).hexdigest()


def _written(args: Mapping[str, Any], redactor: Redactor, data: bytes) -> str:
    """The arguments as JSON without secrets. data: their JSON as they came, b"" where there is none."""
    try:
        if not data or len(data) > _ROOM:
            return json_bytes(redactor.value(_beginning(args, 0))).decode()
        if len(data) <= 2:
            return "{}"
        return json_bytes(redactor.value(dict(args))).decode()
    except (TypeError, ValueError, RecursionError):
        return CUT


def _beginning(value: object, depth: int) -> object:
    """Enough of a large value to fill what is kept of it, as JSON."""
    if isinstance(value, str):
        return whole(cut(value, _MAX_STRING))
    if value is None or isinstance(value, bool | int):
        return value
    if depth > 8:
        return CUT
    if isinstance(value, Mapping):
        first = list(value.items())[:_MAX_ITEMS]
        kept = {cut(whole(str(name)), _MAX_TEXT): _beginning(item, depth + 1) for name, item in first}
        return kept if len(value) <= _MAX_ITEMS else {**kept, CUT: CUT}
    if isinstance(value, list | tuple):
        items = [_beginning(item, depth + 1) for item in value[:_MAX_ITEMS]]
        return items if len(value) <= _MAX_ITEMS else [*items, CUT]
    return repr(value)[:_MAX_TEXT]


def _number(value: float) -> int:
    """A whole number that fits; what is none counts as 0."""
    try:
        return max(0, min(round(value), _MAX_NUMBER))
    except (ValueError, OverflowError):  # NaN, endless
        return 0
