"""A plan in DOT, the language of Graphviz. All that a plan says stands in it as text, escaped."""

from __future__ import annotations

import re
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


# ---- A plan as a Mermaid flowchart, which many wikis and code hosts draw. All that a plan says is text in
# it.

# Whatever is none of these becomes a character code: quotes, brackets, `<`, `;`, `%`, `#`, back ticks, …
_UNSAFE = re.compile(r"[^\w .,:/@+=()…→·-]")
_WORDS = {"end", "click", "graph", "subgraph", "style", "class", "default"}
_SHAPES = {
    "sequential": ('[["', '"]]'),
    "parallel": ('[["', '"]]'),
    "gate": ('{{"', '"}}'),
    "step": ('("', '")'),
    "sub_dispatch": ('[/"', '"/]'),
}


def mermaid_text(picture: Picture) -> str:
    """The picture as a Mermaid flowchart."""
    lines = [*(f"%% {_comment(line)}" for line in picture.heading if line), "flowchart LR"]
    for place, box in enumerate(picture.boxes):
        begin, end = _SHAPES.get(box.kind, ('["', '"]'))
        tone = f":::{box.tone}" if box.tone in COLOURS and box.tone else ""
        lines.append(f"  n{place}{begin}{_label(box)}{end}{tone}")
    for place, box in enumerate(picture.boxes):
        if box.parent >= 0:
            dashed = picture.boxes[box.parent].kind == "parallel"
            arrow = f"-->|{box.order}|" if box.order else "-.->" if dashed else "-->"
            lines.append(f"  n{box.parent} {arrow} n{place}")
    used = sorted({box.tone for box in picture.boxes if box.tone in COLOURS and box.tone})
    for tone in used:
        border, fill = COLOURS[tone]
        dashes = ",stroke-dasharray:4 3" if tone == "skipped" else ""
        lines.append(f"  classDef {tone} fill:{fill},stroke:{border},color:#202124{dashes}")
    return "\n".join([*lines, ""])


def _label(box: Box) -> str:
    words = " · ".join(word for word in (box.effect, box.status) if word)
    parts = [
        f"{box.id}  ({KINDS.get(box.kind, box.kind)})",
        *box.title,
        *box.lines,
        *([words] if words else []),
    ]
    return "<br/>".join(_text_of_mermaid(part) for part in parts)


def _text_of_mermaid(text: str) -> str:
    coded = _UNSAFE.sub(lambda found: f"#{ord(found[0])};", text)
    return re.sub(r"[A-Za-z]+", lambda found: _split(found[0]), coded)


def _split(word: str) -> str:
    """Words that some versions take for their own keep their look and lose that meaning."""
    return f"#{ord(word[0])};{word[1:]}" if word.lower() in _WORDS else word


def _comment(text: str) -> str:
    return re.sub(r"[^\w .,:/@+·-]", "?", text)
