"""What another server says of a tool, as a person reads it before approving it: all of it, nothing hidden."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ir.display import bounded, clear, clear_json, pieces, quoted
from mcl.cli.views.exact import exact, field
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, plain, rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.catalog.suspicion import Suspicion
    from mcl.usecases.tools import KnownTool, ManifestChange

_MOST = 400  # lines of one value; more are told to be there
_SHORT = 80  # characters of a JSON value that stands in one line
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)")
_LEVELS = {"warning": BAD, "notice": WARN}


def definition_view(tool: "KnownTool") -> "Iterator[RenderableType]":
    """The whole definition: what it is called, described as, takes, gives and says of its effects."""
    outside = tool.manifest.outside
    if outside is None:
        return
    said: dict[str, object] = dict(outside.definition)
    named: list[tuple[str, RenderableType]] = [("server", field(outside.server))]
    if title := said.get("title"):
        named.append(("title", field(str(title))))
    hints = said.get("annotations")
    told = ", ".join(hints_said(hints)) if isinstance(hints, Mapping) else ""
    named.append(("hints", exact((told or "none", ""))))
    named.append(("pin", field(tool.manifest.pin, DIM)))
    yield rows(named)
    for part in ("description", "inputSchema", "outputSchema"):
        if part in said:
            yield plain(f"  {part}", STRONG)
            yield from (_indented(line) for line in _cut(_lines(said[part])))


def findings_view(findings: "Iterable[Suspicion]") -> "Iterator[RenderableType]":
    """What is suspicious: the rule, the reason, the place and the words."""
    for one in findings:
        yield joined(((f"  {one.level}", _LEVELS[one.level]), (one.reason, ""), (f"[{one.rule}]", DIM)))
        yield _indented(f"{clear(one.place)}: {clear(one.excerpt)}")


def change_view(changes: "Iterable[ManifestChange]") -> "Iterator[RenderableType]":
    """What a manifest says otherwise, place by place, line by line; all of it."""
    told = False
    for change in changes:
        told = True
        yield _indented(clear(change.path), left=2)
        for line in _cut(list(_differences(change.before, change.after))):
            style = GOOD if line.startswith("+") else BAD if line.startswith("-") else DIM
            yield _indented(line, style)
    if not told:
        yield plain("  what it said before was not kept", DIM)


def _differences(before: object, after: object) -> Iterator[str]:
    one, two = (_lines(value) if value is not None else [] for value in (before, after))
    if isinstance(before, str) and isinstance(after, str):  # by its lines and sentences
        one, two = (
            [part for line in said for piece in pieces(line) for part in _SENTENCE.split(piece)]
            for said in (one, two)
        )
    if len(one) <= 1 and len(two) <= 1:
        yield from (f"- {line}" for line in one)
        yield from (f"+ {line}" for line in two)
        return
    for line in difflib.unified_diff(one, two, lineterm="", n=1):
        if line.startswith("@@"):
            yield "…"
        elif not line.startswith(("---", "+++")):
            yield f"{line[:1]} {line[1:]}"


def _lines(value: object) -> list[str]:
    """The view of a value: a text in one line, JSON in several where it is long."""
    if isinstance(value, str):
        if len(value) <= _SHORT:
            return [bounded(value)]
        return [clear(value)]
    short = json.dumps(value, ensure_ascii=False)
    text = short if len(short) <= _SHORT else json.dumps(value, ensure_ascii=False, indent=2)
    return [clear_json(line) for line in text.split("\n")]


def _indented(line: str, style: str = "", *, left: int = 4) -> "RenderableType":
    """A line of a view that stays to the right: none of its words can pass for ours."""
    from rich.padding import Padding

    return Padding(exact((line, style)), (0, 0, 0, left))


def _cut(lines: list[str]) -> Iterator[str]:
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"… and {len(lines) - _MOST} lines more: --json has them all"


def hints_said(hints: Mapping[str, object]) -> Iterator[str]:
    """What a server says of a tool's behaviour, name by name, as JSON has it and with nothing hidden."""
    for name, value in hints.items():
        if value is not None:
            yield f"{quoted(str(name))} = {clear_json(json.dumps(value, ensure_ascii=False))}"
