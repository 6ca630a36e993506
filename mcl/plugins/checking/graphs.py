"""A plan as a picture: Mermaid and DOT as text, SVG and PNG through Graphviz."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final, Literal

from executor.core.errors import ToolError
from executor.core.tables import table_beside
from executor.sandbox.process import run_command
from executor.walker.preflight import Verdict
from ir import PlanNode, PlanTree
from ir.characters import written_out
from ir.errors import FAILED
from ir.plan import BRANCH_KINDS
from mcl.cli.views.plan import ORDER
from mcl.core.distribution import install_line
from mcl.core.errors import GraphError
from mcl.core.event_loop import at_once
from mcl.core.text import counted, skill_named

# ---- What is drawn of a plan, before anybody knows how: boxes in walk order, with words that need no
# colour.

_VERDICTS = {"allow": "may run", "ask": "will ask", "deny": "refused"}
_LINE = 46  # characters of a line in a box
_MOST = 3  # lines of one text in a box


@dataclass(frozen=True, slots=True)
class Box:
    """One node of a plan.

    parent: place of the box above it, -1 for the root. order: its number among the children of a sequential
    branch, 0 elsewhere. title, lines: what it does, wrapped. effect: side-effect class, "" for none.
    status: a word: a state after a run, else what the gate says; tone: which kind of word that is.
    """

    id: str
    kind: str
    parent: int
    order: int
    title: tuple[str, ...]
    lines: tuple[str, ...]
    effect: str
    status: str
    tone: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A plan as boxes. heading: lines above it."""

    heading: tuple[str, ...]
    boxes: tuple[Box, ...]


def picture_of(
    plan: PlanTree,
    *,
    goal: str = "",
    state: str = "",
    verdicts: Iterable[Verdict] = (),
    states: Mapping[str, str] | None = None,
) -> Picture:
    """Say what is drawn.

    Args:
        goal: the prose above it. state: of the intent.
        verdicts: what the gate says of each node beforehand.
        states: by node id what became of it; {} or None before a run. Nodes that had no turn are pending.
    """
    said: dict[str, str] = {}
    for verdict in verdicts:
        # A node may be judged several times, for each of its calls: what stops it is what is drawn.
        if verdict.decision != "allow" or verdict.node_id not in said:
            said[verdict.node_id] = verdict.decision
    places: dict[int, int] = {}
    boxes: list[Box] = []
    waiting: list[tuple[PlanNode, int, int]] = [(plan.root, -1, 0)]
    while waiting:
        node, parent, order = waiting.pop()
        tone = states.get(node.id, "pending") if states else said.get(node.id, "")
        status = tone if states else _VERDICTS.get(tone, "")
        boxes.append(_box(node, parent, order, status, tone))
        places[id(node)] = len(boxes) - 1
        numbered = node.kind == "sequential"
        waiting.extend(
            (child, len(boxes) - 1, place if numbered else 0)
            for place, child in sorted(enumerate(node.children, 1), reverse=True)
        )
    count = counted(len(boxes), "node")
    below = "  ·  ".join(part for part in (plan.intent_id.rpartition("/")[2], state, count) if part)
    return Picture((*_wrapped(goal, 80, 2), plain(below)), tuple(boxes))


def plain(text: str) -> str:
    """Text on one line, with nothing in it that is obeyed rather than shown."""
    return written_out(" ".join(text.split()))


def _box(node: PlanNode, parent: int, order: int, status: str, tone: str) -> Box:
    lines: list[str] = []
    if node.kind in BRANCH_KINDS:
        lines.append(ORDER[node.kind])
    elif (call := node.tool_call) is not None:
        lines.append(plain(call.tool_ref.removeprefix("matrix://tool/")))
        lines += [line for name, value in sorted(call.args.items()) for line in _argument(name, value)][:4]
        if len(call.args) > 4:
            lines.append(f"… and {len(call.args) - 4} more")
    elif (step := node.step) is not None:
        lines.append("a model answers")
        lines += _wrapped(f"→ {', '.join(step.expected_outputs)}" if step.expected_outputs else "", _LINE, 1)
    elif (sub := node.sub_dispatch) is not None:
        lines += _wrapped(f"skill {skill_named(sub.skill_ref)}", _LINE, 1)
        lines += _wrapped(f"agent {sub.agent_ref}" if sub.agent_ref else "", _LINE, 1)
    elif (gate := node.gate) is not None:
        lines += _wrapped(gate.question, _LINE, _MOST)
        lines += _wrapped(" / ".join(gate.options), _LINE, 1)
    else:
        lines += [line for _, text in node.texts() for line in _wrapped(text, _LINE, 1)][:4]
    effect = plain(node.tool_call.side_effect_class) if node.tool_call else ""
    title = _wrapped(node.description, _LINE, _MOST)
    return Box(plain(node.id), node.kind, parent, order, title, tuple(lines), effect, plain(status), tone)


def _argument(name: str, value: str) -> Sequence[str]:
    return _wrapped(f"{name}: {value}", _LINE, 1)


def _wrapped(text: str, width: int, most: int) -> tuple[str, ...]:
    """At most so many lines of at most so many characters; what is cut, is seen to be cut."""
    words, lines = plain(text).split(" "), [""]
    for word in words:
        while len(word) > width:
            lines.append(word[:width])
            word = word[width:]
        if not lines[-1]:
            lines[-1] = word
        elif len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    lines = [line for line in lines if line]
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][: width - 1].rstrip() + "…"]
    return tuple(lines)


# ---- A plan in DOT, the language of Graphviz. All that a plan says stands in it as text, escaped.

_TABLE = table_beside(__file__)
COLOURS, EFFECTS, KINDS = _TABLE["colours"], _TABLE["effects"], _TABLE["kinds"]
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
    # Graphviz reads backslashes in labels itself: `\N` would become the name of the node.
    return escape(text).replace("\\", "&#92;")


# ---- A plan as a Mermaid flowchart, which many wikis and code hosts draw. All that a plan says is text in
# it.

# Whatever is none of these becomes a character code: quotes, brackets, `<`, `;`, `%`, `#`, back ticks, …
_UNSAFE = re.compile(r"[^\w .,:/@+=()…→·-]")
_WORDS = {"end", "click", "graph", "subgraph", "style", "class", "default"}
_SHAPES = _TABLE["shapes"]


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


# ---- DOT to SVG and PNG, by an installed Graphviz: that of the extra `graph`, else the `dot` of the
# system.

MOST_BOXES: Final = 1500  # a picture with more is of no use, and takes minutes
_SECONDS: Final = 60
_MOST_BYTES: Final = 256 << 20  # of a picture
_DOTS: Final = 144  # an inch; fewer where the picture would be too large
_INSTALL = "{}, or install Graphviz; --graph mermaid and --graph dot need neither"


def draw(dot: str, form: Literal["svg", "png"], *, boxes: int) -> bytes:
    """Draw a DOT text.

    Args:
        boxes: how many nodes it has.

    Raises:
        GraphError: GRAPH_NO_PROGRAM, GRAPH_TOO_LARGE, GRAPH_FAILED.
    """
    if boxes > MOST_BOXES:
        raise GraphError(
            "GRAPH_TOO_LARGE",
            f"a plan of {boxes} nodes is not drawn; at most {MOST_BOXES} are",
            place="graph",
            fix="--graph mermaid or --graph dot give it as text",
        )
    dots = _DOTS if boxes <= 100 else 96 if boxes <= 300 else 60
    words = [_program(), f"-T{form}", *([f"-Gdpi={dots}"] if form == "png" else [])]
    try:
        done = at_once(
            lambda: run_command(
                words,
                cwd=Path(),
                environment=_environment(),
                max_output=_MOST_BYTES,
                alone=True,
                said=dot.encode(),
                seconds=_SECONDS,
            )
        )
    except TimeoutError:
        raise _failed(f"it took longer than {_SECONDS} s") from None
    except ToolError as problem:
        raise _failed(problem.message) from problem
    if done.truncated:
        raise _failed(f"the picture is larger than {_MOST_BYTES >> 20} MiB")
    if done.status != 0 or not done.out:
        raise _failed(done.err.decode(errors="replace").strip()[:300] or f"exit code {done.status}")
    return _still(done.out) if form == "svg" else done.out


def _program() -> str:
    """The Graphviz beside this Python, else the one of the system."""
    beside = os.pathsep.join((sysconfig.get_path("scripts"), str(Path(sys.executable).parent)))
    # Folders given in full only: what lies in the folder where a person happens to be is not run.
    named = os.pathsep.join(
        one for one in os.environ.get("PATH", "").split(os.pathsep) if Path(one).is_absolute()
    )
    for name, path in (("graphviz-pure", beside), ("graphviz-pure", named), ("dot", named)):
        if path and (found := shutil.which(name, path=path)):
            return found
    raise GraphError(
        "GRAPH_NO_PROGRAM",
        "there is no Graphviz here to draw with",
        place="graph",
        fix=_INSTALL.format(install_line("graph")),
        exit=FAILED,
    )


def _environment() -> dict[str, str]:
    """Nothing of this process but what a program needs to be found."""
    return {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "HOME") if name in os.environ}


def _still(svg: bytes) -> bytes:
    """The picture without what names the program that drew it: the same plan, the same bytes."""
    return re.sub(rb"<!-- Generated by .*?-->\n?", b"", svg, count=1, flags=re.DOTALL)


def _failed(why: str) -> GraphError:
    return GraphError("GRAPH_FAILED", f"Graphviz could not draw it: {why}", place="graph", exit=FAILED)
