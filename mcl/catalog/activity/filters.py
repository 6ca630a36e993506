"""Which records are wanted. A filter that cannot be right is an error, never ignored."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Final, TypeAlias

from executor.core.hashing import json_bytes
from executor.tools.names import is_server
from mcl.catalog.activity.entry import OPERATIONS, SENSITIVITIES, VERDICTS
from mcl.catalog.activity.record import CallRecord, milliseconds
from mcl.core.errors import McpError

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
_Check: TypeAlias = Callable[[str], bool]

# Each filter of which several values may be given: what a value must be, and what is allowed in words.
_VALUES: Final[Mapping[str, tuple[_Check, str]]] = {
    "server": (is_server, "the name of a server, as mcl server list shows it; mcl is mcl itself"),
    "tool": (lambda text: text.isprintable(), "the name of a tool, or server:tool"),
    "operation": (OPERATIONS.__contains__, ", ".join(OPERATIONS)),
    "sensitivity": (SENSITIVITIES.__contains__, ", ".join(SENSITIVITIES)),
    "status": (VERDICTS.__contains__, ", ".join(VERDICTS)),
    "code": (lambda text: _CODE.fullmatch(text) is not None, "a code such as SERVER_MISMATCH"),
    "intent": (lambda text: _INTENT.fullmatch(text) is not None, "the id of an intent, or how it begins"),
    "agent": (lambda text: _AGENT.fullmatch(text) is not None, "a DID, or how it begins: did:key:z6Mk"),
    "client": (lambda text: text.isprintable(), "what the client calls itself"),
}
_ONE: Final = ("since", "until", "text")
NAMES: Final = (*_VALUES, *_ONE)


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
        """Whether a record is wanted."""
        if self.since is not None and call.at_ms < self.since:
            return False
        if self.until is not None and call.at_ms >= self.until:
            return False
        if any(not _MATCH[name](call, wanted) for name, wanted in self.values.items()):
            return False
        return not self.text or self.text in words_of(call)

    def where(self) -> tuple[str, list[object]]:
        """The same as SQL over the index (`a`), with its parameters."""
        parts, parameters = list[str](), list[object]()
        for name, wanted in self.values.items():
            one, of = _SQL[name]
            parts.append("(" + " OR ".join([one] * len(wanted)) + ")")
            parameters += [value for text in wanted for value in of(text)]
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
        for name in _VALUES
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
    fields = (call.name, call.reason, call.args, call.code, call.client, *call.warnings)
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
    raise bad_filter(name, "is neither a text nor a list of texts", _VALUES[name][1])


def _value(name: str, value: object) -> str:
    check, allowed = _VALUES[name]
    text = _text(name, value, _LONGEST, allowed)
    if not check(text):
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


def _tool(call: CallRecord, wanted: tuple[str, ...]) -> bool:
    return call.tool in wanted or call.name in wanted


def _begins(text: str, wanted: tuple[str, ...]) -> bool:
    return any(text.startswith(one) for one in wanted)


_MATCH: Final[Mapping[str, Callable[[CallRecord, tuple[str, ...]], bool]]] = {
    "server": lambda call, wanted: call.server in wanted,
    "tool": _tool,
    "operation": lambda call, wanted: call.operation in wanted,
    "sensitivity": lambda call, wanted: call.data_sensitivity in wanted,
    "status": lambda call, wanted: call.verdict in wanted,
    "code": lambda call, wanted: call.code in wanted,
    "intent": lambda call, wanted: _begins(call.intent_id, wanted),
    "agent": lambda call, wanted: _begins(call.agent, wanted),
    "client": lambda call, wanted: call.client in wanted,
}
_SQL: Final[Mapping[str, tuple[str, Callable[[str], tuple[object, ...]]]]] = {
    **{
        name: (f"a.{name} = ?", lambda text: (text,))
        for name in ("server", "operation", "sensitivity", "status", "code", "client")
    },
    "tool": ("(a.tool = ? OR a.server || ':' || a.tool = ?)", lambda text: (text, text)),
    **{name: (f"substr(a.{name}, 1, ?) = ?", lambda text: (len(text), text)) for name in ("intent", "agent")},
}
