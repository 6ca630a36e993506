"""What is drawn of a plan, before anybody knows how: boxes in walk order, with words that need no colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from executor.walker.preflight import Verdict
from ir import PlanNode, PlanTree
from ir.characters import written_out
from ir.plan import BRANCH_KINDS
from mcl.core.names import skill_named

_ORDER = {"sequential": "one after the other", "parallel": "at the same time"}
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
    count = f"{len(boxes)} node{'s' if len(boxes) != 1 else ''}"
    below = "  ·  ".join(part for part in (plan.intent_id.rpartition("/")[2], state, count) if part)
    return Picture((*_wrapped(goal, 80, 2), plain(below)), tuple(boxes))


def plain(text: str) -> str:
    """Text on one line, with nothing in it that is obeyed rather than shown."""
    return written_out(" ".join(text.split()))


def _box(node: PlanNode, parent: int, order: int, status: str, tone: str) -> Box:
    lines: list[str] = []
    if node.kind in BRANCH_KINDS:
        lines.append(_ORDER[node.kind])
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
