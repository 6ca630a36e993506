"""The nodes of a run as rows in walk order, each with its place in the tree and its state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from executor.walker.interfaces import WalkEvent
from ir import PlanNode, PlanTree
from ir.display import quoted
from mcl.cli.views.layout import BAD, DIM, STRONG, WARN, guides
from mcl.cli.views.plan import ORDER, effect_of
from mcl.core.text import one_line, safe, skill_named


@dataclass(slots=True)
class NodeRow:
    """One node.

    guide, below: what stands before its id, and before what is said below it. ms: how long it took, in
    milliseconds; timed: whether that is known. began: on the monotonic clock, in seconds.
    """

    key: str
    id: str
    depth: int
    branch: bool
    what: str
    what_style: str = ""
    effect: str = ""
    state: str = "pending"
    verdict: str = ""
    remark: str = ""
    remark_style: str = ""
    guide: str = ""
    below: str = ""
    began: float = 0.0
    ms: int = 0
    timed: bool = False

    @property
    def stem_width(self) -> int:
        """Columns of guide and id."""
        return len(self.guide) + cell_len(self.id)


class Rows:
    """All rows of a run; those of a plan that is only made while it runs come as they are told of."""

    def __init__(self, plan: PlanTree) -> None:
        mapped = {id(one) for node, _ in plan.root.walk() if node.map for one in _below(node)}
        walked = plan.root.walk()  # what is done for each member of a map comes with its number
        self._rows = [_row(node, depth - 1) for node, depth in walked if id(node) not in mapped]
        self._guide()

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[NodeRow]:
        return iter(self._rows)

    def all(self) -> list[NodeRow]:
        """Every row, in walk order."""
        return self._rows

    def take(self, event: WalkEvent, now: float) -> None:
        row = self._find(event)
        before, row.state = row.state, event.state
        if event.state == "running":
            if before != "running":
                row.began = now
        else:
            row.ms, row.timed = event.ms, before == "running" and event.state != "skipped"
        row.verdict = event.verdict or row.verdict
        if event.error and not row.branch:  # of a branch it is what a node below it said
            row.remark = one_line(event.error, 300)
            row.remark_style = WARN if event.state in ("pending", "running") else BAD
        elif event.state == "completed" or (before, event.state) == ("pending", "running"):
            row.remark = ""

    def hear(self, key: str, text: str) -> None:
        """Take the last line of what a node said while it runs."""
        lines = text.strip().splitlines()
        row = next((one for one in self._rows if one.key == key), None)
        if row is not None and lines and row.state == "running":
            row.remark, row.remark_style = one_line(lines[-1], 300), DIM

    def focus(self) -> int:
        """The place of the first row that runs, else of the last that ended."""
        ended = 0
        for place, row in enumerate(self._rows):
            if row.state == "running" and not row.branch:
                return place
            if row.state not in ("pending", "running") and not row.branch:
                ended = place
        return ended

    def above(self, place: int) -> list[NodeRow]:
        """The branches that a row belongs to, outermost first."""
        found: list[NodeRow] = []
        depth = self._rows[place].depth
        for row in reversed(self._rows[:place]):
            if row.depth < depth:
                found.append(row)
                depth = row.depth
        return found[::-1]

    def with_branches(self, rows: Iterable[NodeRow]) -> list[NodeRow]:
        """These rows and the branches that they belong to, in walk order."""
        wanted = {id(row) for row in rows}
        kept: list[NodeRow] = []
        depth = -1
        for row in reversed(self._rows):
            if id(row) in wanted or row.depth < depth:
                kept.append(row)
                depth = row.depth
        return kept[::-1]

    def _find(self, event: WalkEvent) -> NodeRow:
        row = self._known.get(event.node_id)
        if row is not None:
            return row
        # A node of a plan that was made on the way: below what its id begins with, after what came before it.
        above = event.node_id.rpartition("/")[0]
        place = len(self._rows)
        for number, one in enumerate(self._rows):
            if one.key == above or one.key.startswith(above + "/"):
                place = number + 1
        description = one_line(event.description, 200) or ORDER.get(event.kind, "")
        row = NodeRow(event.node_id, safe(event.node_id), event.depth, event.kind in ORDER, description)
        self._rows.insert(place, row)
        self._guide()
        return row

    def _guide(self) -> None:
        self._known = {row.key: row for row in self._rows}
        drawn = guides([row.depth for row in self._rows])
        for row, (guide, below) in zip(self._rows, drawn, strict=True):
            row.guide, row.below = guide, below


def cut(text: str, width: int) -> str:
    """At most so many columns; what is cut, is seen to be cut."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)) + "…" if width > 0 else ""


def padded(text: str, width: int) -> str:
    """Exactly so many columns."""
    return set_cell_size(cut(text, width), max(0, width))


def _below(node: PlanNode) -> Iterator[PlanNode]:
    return (one for child in node.children for one, _ in child.walk())


def _row(node: PlanNode, depth: int) -> NodeRow:
    if node.children and node.kind in ORDER:
        how = ORDER[node.kind]
        what = f"{node.description}  ({how})" if node.description else how
        return NodeRow(
            node.id, safe(node.id), depth, True, one_line(what), STRONG if node.description else DIM
        )
    effect = effect_of(node)
    what = node.description or _work(node)
    return NodeRow(node.id, safe(node.id), depth, bool(node.children), one_line(what), "", safe(effect))


def _work(node: PlanNode) -> str:
    """What a node without a description does."""
    if (call := node.tool_call) is not None:
        given = (f"{name}={quoted(value)}" for name, value in sorted(call.args.items()))
        return " ".join([call.tool_ref.removeprefix("matrix://tool/"), *given])
    if (gate := node.gate) is not None:
        return gate.question
    if (sub := node.sub_dispatch) is not None:
        return f"skill {skill_named(sub.skill_ref)}"
    return "a model answers" if node.step is not None else ""
