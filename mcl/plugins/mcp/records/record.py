"""One call over MCP: who asked which server's tool for what, what was said to it, what came of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from executor.core.errors import JournalError
from executor.core.hashing import json_bytes
from executor.gate.effects import RANK
from executor.gate.guards.call import SENSITIVITIES as SENSITIVITIES
from executor.tools.names import is_server
from mcl.core.errors import McpError

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


# ---- Which records are wanted. A filter that cannot be right is an error, never ignored.


_LONGEST: Final = 200  # characters of a filter
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}  # seconds
_AGO: Final = re.compile(r"(\d{1,9})([smhdw])", re.ASCII)
_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.]\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII
)
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)
_INTENT: Final = re.compile(r"(matrix://intent/)?[0-9A-HJKMNP-TV-Z]{1,26}", re.ASCII)
_AGENT: Final = re.compile(r"did:[ -~]+", re.ASCII)
_MOMENTS: Final = "2026-11-21, 2026-11-21T10:00Z, or ago: 90s, 30m, 2h, 3d, 1w"

Given: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of which several values may be given.

    field: the field of a call that it is held against, which is also what the column of its name in the index
    holds. allowed: in words, what a value may be; right: whether it is that. begins: the beginning will do.
    """

    field: str
    allowed: str
    right: Callable[[str], object]
    begins: bool = False


FILTERS: Final[Mapping[str, Filter]] = {
    "server": Filter(
        "server", "the name of a server, as mcl server list shows it; mcl is mcl itself", is_server
    ),
    "tool": Filter("tool", "the name of a tool, or server:tool", str.isprintable),
    "operation": Filter("operation", ", ".join(OPERATIONS), OPERATIONS.__contains__),
    "sensitivity": Filter("data_sensitivity", ", ".join(SENSITIVITIES), SENSITIVITIES.__contains__),
    "status": Filter("verdict", ", ".join(VERDICTS), VERDICTS.__contains__),
    "code": Filter("code", "a code such as SERVER_MISMATCH", _CODE.fullmatch),
    "intent": Filter("intent_id", "the id of an intent, or how it begins", _INTENT.fullmatch, begins=True),
    "agent": Filter("agent", "a DID, or how it begins: did:key:z6Mk", _AGENT.fullmatch, begins=True),
    "client": Filter("client", "what the client calls itself", str.isprintable),
}
_ONE: Final = ("since", "until", "text")
NAMES: Final = (*FILTERS, *_ONE)


@dataclass(frozen=True, slots=True)
class Filters:
    """What a record must be like; of one filter with several values any will do.

    since, until: milliseconds since 1970, the first included, the second not. text: folded, to be found in
    what is shown of a call. digest: marks what was asked for, whatever "3d ago" means by now.
    """

    values: Mapping[str, tuple[str, ...]]
    since: int | None = None
    until: int | None = None
    text: str = ""
    digest: str = ""

    def matches(self, call: CallRecord) -> bool:
        if self.since is not None and call.at_ms < self.since:
            return False
        if self.until is not None and call.at_ms >= self.until:
            return False
        if not all(_matches(name, call, wanted) for name, wanted in self.values.items()):
            return False
        return not self.text or self.text in words_of(call)

    def where(self) -> tuple[str, list[object]]:
        """The same as SQL over the index (`a`), with its parameters."""
        parts, parameters = list[str](), list[object]()
        for name, wanted in self.values.items():
            one = f"substr(a.{name}, 1, length(?)) = ?" if FILTERS[name].begins else f"a.{name} = ?"
            if name == "tool":
                one = f"{one} OR a.server || ':' || a.tool = ?"
            parts.append("(" + " OR ".join([one] * len(wanted)) + ")")
            parameters += [text for text in wanted for _ in range(one.count("?"))]
        if self.since is not None:
            parts.append("a.at_ms >= ?")
            parameters.append(self.since)
        if self.until is not None:
            parts.append("a.at_ms < ?")
            parameters.append(self.until)
        if self.text:
            parts.append("instr((SELECT words FROM activity_words w WHERE w.seq = a.seq), ?) > 0")
            parameters.append(self.text)
        return " AND ".join(parts) or "1", parameters


def parse_filters(given: Given, *, now: str) -> Filters:
    """Read filters by their names: one text, or a list of texts where several will do.

    now: ISO 8601, what "2h" is reckoned from. Raises McpError BAD_FILTER.
    """
    for name in given:
        if name not in NAMES:
            raise _unknown(name)
    found = {
        name: tuple(_value(name, text) for text in _list(name, given[name]))
        for name in FILTERS
        if name in given
    }
    since, until = (_moment(name, given[name], now) if name in given else None for name in ("since", "until"))
    if since is not None and until is not None and since >= until:
        raise bad_filter("until", f"is not after since ({given['since']})", "a later moment than since")
    text = fold(_text("text", given["text"], _LONGEST)) if "text" in given else ""
    return Filters(found, since, until, text, hashlib.sha256(json_bytes(dict(given))).hexdigest()[:8])


def bad_filter(name: str, why: str, allowed: str) -> McpError:
    """BAD_FILTER: which one, why, and what is allowed."""
    return McpError(
        "BAD_FILTER",
        f"the filter {name} {why}",
        place=name,
        fix=f"allowed: {allowed}",
        data={"filter": name, "allowed": allowed},
    )


def words_of(call: CallRecord) -> str:
    """What a text is looked for in: the fields that are shown, folded, none running into the next."""
    fields = (call.name, call.reason, call.kept_args, call.code, call.client, *call.warnings)
    return "\x1f".join([fold(text) for text in fields])


def fold(text: str) -> str:
    """A text without what does not count in a search: case, and how much blank there is."""
    return " ".join(text.casefold().split())


def _unknown(name: object) -> McpError:
    shown = ascii(str(name)[:80])
    near = get_close_matches(str(name), NAMES, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return McpError(
        "BAD_FILTER",
        f"there is no filter {shown}{meant}",
        place=str(name)[:80],
        fix=f"allowed: {', '.join(NAMES)}",
        data={"filter": str(name)[:80], "allowed": ", ".join(NAMES)},
    )


def _list(name: str, value: object) -> Sequence[object]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and 0 < len(value) <= _LONGEST:
        return value
    raise bad_filter(name, "is neither a text nor a list of texts", FILTERS[name].allowed)


def _value(name: str, value: object) -> str:
    allowed = FILTERS[name].allowed
    text = _text(name, value, _LONGEST, allowed)
    if not FILTERS[name].right(text):
        raise bad_filter(name, f"cannot be {text!a}", allowed)
    return text.removeprefix("matrix://intent/") if name == "intent" else text


def _text(name: str, value: object, limit: int, allowed: str = "a text") -> str:
    if not isinstance(value, str):
        raise bad_filter(name, f"is a {type(value).__name__}, not a text", allowed)
    if not value.strip():
        raise bad_filter(name, "is empty; leave it out to ask for all", allowed)
    if len(value) > limit:
        raise bad_filter(name, f"has {len(value)} characters", f"{allowed}, of at most {limit} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise bad_filter(name, "holds half a character", allowed) from None
    return value


def _moment(name: str, value: object, now: str) -> int:
    text = _text(name, value, _LONGEST, _MOMENTS).strip()
    if ago := _AGO.fullmatch(text):
        return milliseconds(now) - int(ago[1]) * _UNITS[ago[2]] * 1000
    if _MOMENT.fullmatch(text) is None:
        raise bad_filter(name, f"cannot be {text!a}", _MOMENTS)
    try:
        moment = datetime.fromisoformat(text)
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise bad_filter(name, f"is no moment: {text!a} ({error})", _MOMENTS) from error


def _matches(name: str, call: CallRecord, wanted: tuple[str, ...]) -> bool:
    said = getattr(call, FILTERS[name].field)
    if FILTERS[name].begins:
        return any(said.startswith(one) for one in wanted)
    return said in wanted or (name == "tool" and call.name in wanted)
