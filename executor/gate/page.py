"""What an external criterion asks of a page.

| check | holds where |
|---|---|
| (empty) | the status is one of success (200 to 299) |
| `status=404` or `404` | the status is this one |
| `contains:TEXT` | the page's text holds TEXT |
| `json:$.build.state=done` | the value there is `done`; what is JSON (3, true, "a") is compared as JSON |
| `json:$.items[0]` | there is such a value |
| `sha256=<64 hex>` | the bytes of the page have this hash |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ir import DocumentError, parse_json

CheckKind: TypeAlias = Literal["ok", "status", "contains", "json", "sha256"]

GRAMMAR: Final = "status=200, contains:TEXT, json:$.path=value or sha256=<hash>; nothing: any success"
_STATUS = re.compile(r"(?:status=)?([1-5][0-9]{2})", re.ASCII)
_HASH = re.compile(r"sha256=([0-9a-f]{64})", re.ASCII)
_JSON = re.compile(r"json:(\$(?:\.[^.\[\]=\s]+|\[[0-9]{1,9}\])*)(?:=(.*))?", re.DOTALL | re.ASCII)
_STEP = re.compile(r"\.([^.\[\]=\s]+)|\[([0-9]+)\]")
_NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class PageCheck:
    """One check. steps: into a JSON document. wanted: text; None where anything will do."""

    kind: CheckKind
    wanted: str | None = None
    steps: tuple[str | int, ...] = ()

    def flaw(self, status: int, answer: Mapping[str, Any]) -> str:
        """Why it does not hold of an answer (of http/request, empty for an error's); "" where it does."""
        if self.kind == "status":
            return "" if str(status) == self.wanted else f"the status is {status}, not {self.wanted}"
        if not 200 <= status < 300:
            return f"the status is {status}"
        if self.kind == "contains":
            if self.wanted is not None and self.wanted in answer["text"]:
                return ""
            cut = " (it was cut short)" if answer["truncated"] else ""
            return f"the text of the page does not hold it{cut}"
        if self.kind == "sha256":
            whole = answer["sha256"] if not answer["truncated"] else "that of a page too long to read"
            return "" if whole == self.wanted else f"the hash is {whole}"
        return self._json_flaw(answer) if self.kind == "json" else ""

    def _json_flaw(self, answer: Mapping[str, Any]) -> str:
        if "json" not in answer:
            return "the page is no sound JSON document"
        value: Any = answer["json"]
        for step in self.steps:
            inside = isinstance(value, dict) if isinstance(step, str) else isinstance(value, list)
            value = _at(value, step) if inside else _NOTHING
            if value is _NOTHING:
                return f"there is no {step!r} in the document"
        if self.wanted is None or _equals(value, self.wanted):
            return ""
        return f"the value is {str(value)[:100]!r}"


def parse_check(text: str) -> PageCheck | None:
    """Read the check of an external criterion; None where it is none of those above."""
    text = text.strip()
    if not text:
        return PageCheck("ok")
    if found := _STATUS.fullmatch(text):
        return PageCheck("status", found[1])
    if found := _HASH.fullmatch(text):
        return PageCheck("sha256", found[1])
    if text.startswith("contains:") and len(text) > len("contains:"):
        return PageCheck("contains", text.removeprefix("contains:"))
    if found := _JSON.fullmatch(text):
        steps = tuple(name or int(place) for name, place in _STEP.findall(found[1]))
        return PageCheck("json", found[2], steps)
    return None


def _at(value: Any, step: str | int) -> object:
    try:
        return value[step]
    except LookupError:
        return _NOTHING


def _equals(value: object, wanted: str) -> bool:
    """Is a JSON value the one that a text names: as JSON where it is JSON, else as a text?"""
    if value == wanted:
        return True
    try:
        named = parse_json(wanted)
    except DocumentError:
        return False
    return value == named and (type(value) is type(named) or _numbers(value, named))


def _numbers(*values: object) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
