"""A run as a line for each node, and how it ended."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType

from executor.walker.interfaces import WalkEvent
from ir import PlanTree
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, duration, joined, plain
from mcl.cli.views.value import value_view
from mcl.core.text import one_line

if TYPE_CHECKING:
    from executor.walker import Outcome

_MOST = 12  # nodes whose outputs are shown at the end

STATES: Mapping[str, str] = {
    "pending": DIM,
    "running": "cyan",
    "completed": GOOD,
    "failed": BAD,
    "denied": BAD,
    "cancelled": WARN,
    "skipped": DIM,
}


class Lines:
    """One line for each node that ended: for pipes, logs and dumb terminals."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def on(self, event: WalkEvent) -> None:
        """Print a node that ended, or an attempt that did."""
        if event.state == "pending" or (event.state == "running" and not event.error):
            return
        took = duration(event.ms) if event.state not in ("skipped", "running") else ""
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
    yield from outputs_view(outcome.outputs, plan)
    if outcome.failure is not None:
        where = f" at {outcome.failure.node_id}" if outcome.failure.node_id else ""
        yield plain(f"{outcome.failure.code}{where}: {outcome.failure.message}", BAD)
        if outcome.failure.fix:
            yield plain(f"  {outcome.failure.fix}", DIM)
    for criterion in outcome.criteria:
        if not criterion.holds:
            yield plain(f"not met: {criterion.predicate.type}: {criterion.reason}", BAD)
    yield plain(outcome.state, STATES.get(outcome.state, WARN))


def outputs_view(outputs: Mapping[str, object], plan: PlanTree | None) -> Iterator[RenderableType]:
    """What the last nodes gave."""
    given = [leaf for leaf in _leaves(plan) if leaf[0] in outputs]
    if len(given) > _MOST:
        yield plain(f"… what {len(given) - _MOST} nodes before these gave: --json has it all", DIM)
        yield ""
    for node_id, description in given[-_MOST:]:
        yield joined(((node_id, STRONG), (description, DIM)))
        output = outputs[node_id]
        text = output.get("text") if isinstance(output, dict) else None
        yield from value_view(text if isinstance(text, str) and text else output)
        yield ""


def next_steps(outcome: "Outcome", plan: PlanTree | None, *, compiled: bool = True) -> list[tuple[str, str]]:
    """The commands that make sense after a run. compiled: was the intent made from words, by a compile?"""
    id = outcome.intent_id
    if outcome.state == "corrected":
        return [(f"mcl accept {id}", "sign the correction"), (f"mcl run {id}", "go on")]
    if not outcome.nodes:
        return [(f"mcl plan {id}", "what the gate says to it")]
    steps = [(f"mcl log {id}", "what was signed")]
    if compiled:
        steps.append((f"mcl replay {id}", "compile it again"))
    if plan is not None and may_write(plan):
        steps.append((f"mcl undo {id} --check", "which files could be put back"))
    return steps


def may_write(plan: PlanTree) -> bool:
    """May a run of a plan change files? What it dispatches to might."""
    return any(
        (node.sub_dispatch is not None and not node.children)
        or (node.tool_call is not None and node.tool_call.side_effect_class in ("write", "shell"))
        for node, _ in plan.root.walk()
    )


def _leaves(plan: PlanTree | None) -> list[tuple[str, str]]:
    if plan is None:
        return []
    return [
        (node.id, node.description)
        for node, _ in plan.root.walk()
        if node.tool_call or node.step or (node.sub_dispatch and not node.children)
    ]
