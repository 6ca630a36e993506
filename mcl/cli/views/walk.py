"""A run as it is watched: a live tree on a terminal, else a line for each node."""

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.live import Live

from executor.walker.listener import WalkEvent
from ir import PlanTree
from mcl.cli.safe import one_line
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, duration, joined, plain
from mcl.cli.views.plan import Cell, plan_table
from mcl.cli.views.value import value_view

if TYPE_CHECKING:
    from executor.walker import Outcome

STATES: Mapping[str, str] = {
    "pending": DIM,
    "running": "cyan",
    "completed": GOOD,
    "failed": BAD,
    "denied": BAD,
    "cancelled": WARN,
    "skipped": DIM,
}


class LiveTree:
    """The plan's tree, redrawn as nodes change; pause it while a person is asked."""

    def __init__(self, plan: PlanTree, console: Console) -> None:
        self._plan = plan
        self._console = console
        self._cells = {node.id: Cell("pending", DIM) for node, _ in plan.root.walk()}
        self._began: dict[str, float] = {}
        self._live = Live(get_renderable=self._draw, console=console, refresh_per_second=8, transient=False)

    def __enter__(self) -> "LiveTree":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def on(self, event: WalkEvent) -> None:
        """Take a node's new state."""
        if event.state == "running":
            self._began.setdefault(event.node_id, monotonic())
        else:
            self._began.pop(event.node_id, None)
        took = f" {duration(event.ms)}" if event.state not in ("running", "pending", "skipped") else ""
        remark = one_line(event.error, 300)
        self._cells[event.node_id] = Cell(event.state + took, STATES.get(event.state, ""), remark)

    def pause(self, asking: bool) -> None:
        """Leave the terminal to a question while it is open."""
        if asking:
            self._live.stop()
        else:
            self._live.start()

    def _draw(self) -> RenderableType:
        now, cells = monotonic(), dict(self._cells)
        for node, began in self._began.items():
            cells[node] = Cell(f"running {duration((now - began) * 1000)}", STATES["running"])
        return plan_table(self._plan, self._console, cells, head="state")


class Lines:
    """One line for each node that ended: for pipes, logs and dumb terminals."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def on(self, event: WalkEvent) -> None:
        """Print a node that ended."""
        if event.state in ("pending", "running"):
            return
        took = duration(event.ms) if event.state != "skipped" else ""
        indent = "  " * event.depth
        line = joined(
            (
                (f"  {indent}{event.node_id:<{max(1, 10 - len(indent))}}", ""),
                (f"{event.state:<9}", STATES.get(event.state, "")),
                (f"{took:>7}", DIM),
                (one_line(event.error or event.description, 200), BAD if event.error else ""),
            )
        )
        self._console.print(line, soft_wrap=True)


def outcome_view(outcome: "Outcome", plan: PlanTree | None) -> Iterator[RenderableType]:
    """What the last nodes gave, and how the run ended."""
    for node_id, description in _leaves(plan):
        if node_id in outcome.outputs:
            yield joined(((node_id, STRONG), (description, DIM)))
            output = outcome.outputs[node_id]
            text = output.get("text") if isinstance(output, dict) else None
            yield from value_view(text if isinstance(text, str) and text else output)
            yield ""
    if outcome.failure is not None:
        where = f" at {outcome.failure.node_id}" if outcome.failure.node_id else ""
        yield plain(f"{outcome.failure.code}{where}: {outcome.failure.message}", BAD)
        if outcome.failure.fix:
            yield plain(f"  {outcome.failure.fix}", DIM)
    for criterion in outcome.criteria:
        if not criterion.holds:
            yield plain(f"not met: {criterion.predicate.type}: {criterion.reason}", BAD)
    yield plain(outcome.state, STATES.get(outcome.state, ""))


def _leaves(plan: PlanTree | None) -> list[tuple[str, str]]:
    if plan is None:
        return []
    return [
        (node.id, node.description)
        for node, _ in plan.root.walk()
        if node.tool_call or node.step or (node.sub_dispatch and not node.children)
    ]
