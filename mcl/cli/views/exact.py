"""Views of what a person signs, laid out so that nothing in them is folded or cut."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.text import Text

from executor.gate.verdict import Deny
from ir.characters import UNSEEN, written_out
from ir.display import clear, clear_json, pieces, quoted
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, moment, plain, rows

if TYPE_CHECKING:
    from executor import Verdict
    from executor.store.materiality import Change
    from mcl.usecases.corrections import Proposal
    from mcl.usecases.gates import ShownGate

MARK = "↪"  # begins a row that goes on where the one above it ended; the views themselves have none
_LEAST = 8  # columns


class Exact:
    """Lines that are cut where a column ends, or behind a line end that is written out; each row that goes on
    begins with a mark."""

    def __init__(self, *lines: Text) -> None:
        self._lines = lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        most = max((cell_len(line.plain) for line in self._lines), default=0)
        return Measurement(min(_LEAST, most), most).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines:
            for row in rows_of(line, options.max_width):
                row.no_wrap, row.overflow = True, "ignore"
                yield row


def line_of(*parts: tuple[str, str]) -> Text:
    """(view, style) pairs on one line, two blanks apart; empty ones left out. The views are those of
    ``ir.display``, or words of ours."""
    return Text("  ").join(
        Text(written_out(view, UNSEEN, keep="").replace(MARK, "\\u21aa"), style)
        for view, style in parts
        if view
    )


def exact(*parts: tuple[str, str]) -> Exact:
    """One line of views."""
    return Exact(line_of(*parts))


def field(text: str, style: str = "") -> Exact:
    """The view of one text."""
    return exact((clear(text), style))


def rows_of(line: Text, width: int) -> Iterable[Text]:
    """The rows of a line; those behind the first begin with the mark. A blank is never the last of a row."""
    rows = line.divide(list(_cuts(line.plain, max(width, 4))))
    for place, row in enumerate(rows):
        yield Text.assemble((MARK, "dim"), row) if place else row


def cut_rows(text: str, width: int) -> Iterator[str]:
    """The same of a bare view."""
    yield from (row.plain for row in rows_of(line_of((text, "")), width))


def _cuts(plain: str, width: int) -> Iterator[int]:
    ends, at = set(), 0
    for piece in pieces(plain):
        at += len(piece)
        ends.add(at)
    used = start = 0
    for place, char in enumerate(plain):
        cells = cell_len(char)
        if place in ends or used + cells > width:
            cut = place
            if place not in ends or plain[place - 1] == " ":  # at a blank near the end, which then goes on
                blank = plain.rfind(" ", start + 1 + (place - start) * 3 // 4, place)
                cut = blank if blank > start else place
            yield cut
            start, used = cut, 1 + cell_len(plain[cut:place])
        used += cells


# ---- A question of a running plan, with all that a person must see before deciding it.

_STYLES = {"open": WARN, "decided": GOOD, "expired": BAD, "closed": DIM, "asked again": DIM}


def gate_view(found: ShownGate) -> Iterator[RenderableType]:
    """The question and what it is about, but for the arguments."""
    yield exact(("Gate", STRONG), (found.id, STRONG), (found.standing, _STYLES[found.standing]))
    pairs: list[tuple[str, RenderableType]] = [
        ("goal", field(found.goal)),
        ("intent", exact((clear(found.intent_id), ""), (found.state, DIM))),
        ("node", field(found.node_id)),
        ("asked", field(moment(found.asked_at))),
    ]
    if found.expires_at:
        pairs.append(("until", field(moment(found.expires_at))))
    pairs.append(("answers", exact((found.offer.words, ""))))
    if found.decision:
        unseen = ("signed unseen", WARN) if found.unseen else ("", "")
        at = (moment(found.decided_at), DIM)
        pairs.append(("decision", exact((quoted(found.decision), STRONG), at, unseen)))
        pairs.append(("by", field(found.by)))
    if found.reason:
        pairs.append(("reason", field(found.reason)))
    # What was asked is kept as views, line by line.
    pairs += [("question", exact((line, ""))) for line in found.question.split("\n")]
    if found.tool:
        pairs.append(("tool", exact((clear(found.tool), ""), (f"declared {clear(found.declared)}", DIM))))
        if found.call:
            trusted = ("", "") if found.trusted else ("you do not trust this server", WARN)
            pairs.append(("called", exact((clear(found.call), ""), trusted)))
            pairs.append(("does", exact((f"{found.operation} ({', '.join(found.effects)})", ""))))
        pairs += [
            (f"bound to {name}", exact((clear(found.bound[name]), DIM)))
            for name in ("intent", "plan", "tool", "args", "policy")
            if found.bound.get(name)
        ]
    yield rows(pairs, label=16)
    if found.flaw:
        yield exact((f"It cannot be approved any more: {clear(found.flaw)}", BAD))
    elif not found.holds:
        yield plain("  What is shown is not what was asked about: do not approve this.", BAD)


# ---- The differences between two documents, and whether they need a new accept.


def changes_view(changes: Sequence[Change]) -> Iterator[RenderableType]:
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


def correction_view(proposal: Proposal) -> Iterator[RenderableType]:
    """What a correction would change, what runs again, and what of it stays done."""
    yield from changes_view(proposal.changes)
    if proposal.review:
        yield exact((f"Read it with care: {clear(proposal.review)}", WARN))
    if proposal.again:
        yield exact((f"Runs again: {clear(', '.join(proposal.again))}", WARN))
    for node in proposal.stays:
        undo = f"once it has ended: mcl undo {proposal.intent_id} --node {clear(node)}"
        yield exact((f"What {clear(node)} did already stays as it is ({undo})", WARN))


def refusals_view(refused: Sequence[Verdict]) -> Iterator[RenderableType]:
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
