"""The differences between two documents, and whether they need a new accept."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from executor.gate.verdict import Deny
from ir.shown import clear, clear_json, quoted
from mcl.cli.views.exact import Exact, exact, field
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, plain, rows

if TYPE_CHECKING:
    from executor.store.materiality import Change
    from executor.walker import Verdict


def changes_view(changes: "Sequence[Change]") -> Iterator[RenderableType]:
    """Each change with what was and what is, the material ones first."""
    if not changes:
        yield plain("No difference.", DIM)
    ordered = sorted(changes, key=lambda change: not change.material)
    for change in ordered:
        style = WARN if change.material else ""
        word = "needs a new accept" if change.material else "goes on"
        yield exact((clear(change.place), STRONG), (change.code, style), (word, style or DIM))
        yield rows(
            [
                ("was", _value(change.before, BAD)),
                ("is to be", _value(change.after, GOOD)),
                ("why", field(change.why, DIM)),
            ]
        )


def refusals_view(refused: "Sequence[Verdict]") -> Iterator[RenderableType]:
    """What the gate would refuse of the corrected plan, as things are."""
    for one in refused:
        if isinstance(one.reply, Deny):
            where = f" {one.node_id}" if one.node_id else " this plan"
            yield plain(f"The gate will refuse{where}: {one.reply.code}: {one.reply.reason}", BAD)
            yield plain(f"  {one.reply.fix}", DIM)


def verdict_line(material: bool) -> Text:
    """The last word."""
    if material:
        return plain("Material: it needs a new accept.", WARN)
    return plain("Not material: no new accept is needed.", GOOD)


def _value(value: object, style: str) -> Exact:
    if value is None:
        return exact(("nothing", DIM))
    text = quoted(value) if isinstance(value, str) else clear_json(json.dumps(value, ensure_ascii=False))
    return exact((text, style))
