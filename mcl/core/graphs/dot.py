"""A plan in DOT, the language of Graphviz. All that a plan says stands in it as text, escaped."""

from __future__ import annotations

from html import escape

from ir.plan import BRANCH_KINDS
from mcl.core.graphs.picture import Box, Picture

# tone -> border and background; every tone is also a word in its box.
COLOURS = {
    "": ("#9aa0a6", "#ffffff"),
    "pending": ("#9aa0a6", "#ffffff"),
    "running": ("#1a73e8", "#e8f0fe"),
    "completed": ("#1e8e3e", "#e6f4ea"),
    "failed": ("#c5221f", "#fce8e6"),
    "denied": ("#c5221f", "#fce8e6"),
    "cancelled": ("#b06000", "#fef7e0"),
    "skipped": ("#9aa0a6", "#f1f3f4"),
    "allow": ("#1e8e3e", "#ffffff"),
    "ask": ("#b06000", "#fef7e0"),
    "deny": ("#c5221f", "#fce8e6"),
}
EFFECTS = {
    "read": "#5f6368",
    "write": "#b06000",
    "network": "#7b1fa2",
    "shell": "#c5221f",
    "chain": "#c5221f",
}
KINDS = {
    "sequential": "sequence",
    "parallel": "parallel",
    "tool_call": "tool",
    "step": "model",
    "sub_dispatch": "skill",
    "gate": "question",
}
_FONT = "Helvetica"
_QUIET = "#5f6368"


def dot_text(picture: Picture) -> str:
    """The picture as a DOT graph."""
    *goal, below = picture.heading
    heading = "".join(f'<FONT POINT-SIZE="15">{_text(line)}</FONT><BR ALIGN="LEFT"/>' for line in goal)
    heading += '<FONT POINT-SIZE="4"> </FONT><BR ALIGN="LEFT"/>'
    heading += f'<FONT POINT-SIZE="10" COLOR="{_QUIET}">{_text(below)}</FONT><BR ALIGN="LEFT"/>'
    lines = [
        "digraph plan {",
        f'  graph [rankdir=LR, ordering=out, nodesep=0.18, ranksep=1.1, pad=0.3, fontname="{_FONT}",'
        f' fontcolor="#202124", bgcolor="white", labelloc=t, labeljust=l, label=<{heading}>];',
        f'  node [shape=plain, fontname="{_FONT}", fontsize=11, fontcolor="#202124"];',
        f'  edge [color="#9aa0a6", arrowsize=0.6, fontname="{_FONT}", fontsize=9, fontcolor="{_QUIET}"];',
    ]
    for place, box in enumerate(picture.boxes):
        lines.append(f"  n{place} [label=<{_table(box)}>];")
    for place, box in enumerate(picture.boxes):
        if box.parent >= 0:
            style = "style=dashed" if picture.boxes[box.parent].kind == "parallel" else "style=solid"
            lines.append(f"  n{box.parent}:box:e -> n{place}:box:w [{style}];")
    return "\n".join([*lines, "}", ""])


def _table(box: Box) -> str:
    border, fill = COLOURS.get(box.tone, COLOURS[""])
    style = "ROUNDED,DASHED" if box.tone == "skipped" else "ROUNDED"
    thick = 2 if box.tone in ("failed", "denied", "deny", "running") else 1
    width = 110 if box.parent < 0 and box.kind in BRANCH_KINDS else 235  # boxes of a column begin at one line
    number = f'<FONT COLOR="{_QUIET}">{box.order}.</FONT> ' if box.order else ""
    head = f"{number}<B>{_text(box.id)}</B>  {_small(KINDS.get(box.kind, box.kind))}"
    rows = [_row(head)]
    rows += [_row(_text(line)) for line in box.title]
    rows += [_row(_small(line)) for line in box.lines]
    words = []
    if box.effect:
        words.append(f'<FONT COLOR="{EFFECTS.get(box.effect, "#c5221f")}"><B>{_text(box.effect)}</B></FONT>')
    if box.status:
        words.append(f'<FONT COLOR="{border if box.tone else _QUIET}"><B>{_text(box.status)}</B></FONT>')
    if words:
        rows.append('<TR><TD HEIGHT="3"></TD></TR>')
        rows.append(_row('  <FONT COLOR="#9aa0a6">·</FONT>  '.join(words)))
    return (
        f'<TABLE PORT="box" STYLE="{style}" COLOR="{border}" BGCOLOR="{fill}" BORDER="{thick}" CELLBORDER="0"'
        f' CELLSPACING="0" CELLPADDING="2"><TR><TD CELLPADDING="6"><TABLE BORDER="0" WIDTH="{width}"'
        f' CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{"".join(rows)}</TABLE></TD></TR></TABLE>'
    )


def _row(content: str) -> str:
    return f'<TR><TD ALIGN="LEFT">{content}</TD></TR>'


def _small(text: str) -> str:
    return f'<FONT POINT-SIZE="9.5" COLOR="{_QUIET}">{_text(text)}</FONT>'


def _text(text: str) -> str:
    """Text for a label in HTML: nothing in it is markup."""
    return escape(text).replace("\\", "&#92;")
