"""A plan as a Mermaid flowchart, which many wikis and code hosts draw. All that a plan says is text in it."""

from __future__ import annotations

import re

from mcl.core.graphs.dot import COLOURS, KINDS
from mcl.core.graphs.picture import Box, Picture

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
    return "<br/>".join(_text(part) for part in parts)


def _text(text: str) -> str:
    coded = _UNSAFE.sub(lambda found: f"#{ord(found[0])};", text)
    return re.sub(r"[A-Za-z]+", lambda found: _split(found[0]), coded)


def _split(word: str) -> str:
    """Words that some versions take for their own keep their look and lose that meaning."""
    return f"#{ord(word[0])};{word[1:]}" if word.lower() in _WORDS else word


def _comment(text: str) -> str:
    return re.sub(r"[^\w .,:/@+·-]", "?", text)
