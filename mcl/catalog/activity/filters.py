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
from mcl.catalog.activity.record import OPERATIONS, SENSITIVITIES, VERDICTS, CallRecord, milliseconds
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
        """Whether a record is wanted."""
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
