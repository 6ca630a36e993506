"""What the guards say of a plan, as it is shown."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from executor.gate.verdict import Ask, Deny
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, plain, rows
from mcl.cli.views.plan import VERDICT_STYLES

if TYPE_CHECKING:
    from executor import Verdict
    from mcl.plugins.plans.plans import PlanChecked

_STYLES = {"allowed": GOOD, "needs_approval": WARN, "denied": BAD, "invalid": BAD}


def checked_view(found: "PlanChecked") -> Iterator[RenderableType]:
    """Node by node, and under each what its guards object to; the whole in one word."""
    verb = f"a goal to {found.verb}" if found.verb else "no verb is known"
    yield joined((("Plan", STRONG), (found.plan.id, ""), (verb, DIM if found.verb else BAD)))
    for verdict in found.verdicts:
        tool = verdict.tool_ref.removeprefix("matrix://tool/")
        does = ", ".join(verdict.effects)
        word = "invalid" if verdict.kind == "plan" else verdict.decision
        yield joined(
            (
                (f"  {verdict.node_id or 'plan'}", ""),
                (word, VERDICT_STYLES.get(word, BAD)),
                (tool or verdict.kind, DIM),
                (f"{verdict.operation}: {does}" if does else "", DIM),
            )
        )
        yield from _objections(verdict)
    if found.missing:
        said = plain(f"{found.missing.code}: {found.missing.message}", BAD)
        yield rows([("extra", said), ("", found.missing.fix)])
    yield plain(found.verdict.replace("_", " "), _STYLES[found.verdict])


def _objections(verdict: "Verdict") -> Iterator[RenderableType]:
    said = [reply for reply in verdict.guards.values() if reply] or ([verdict.reply] if verdict.reply else [])
    for reply in said:
        if isinstance(reply, Deny):
            lines: list[tuple[str, RenderableType]] = [
                (reply.guard, plain(f"{reply.code}: {reply.reason}", BAD)),
                ("", reply.fix),
            ]
            yield rows([*lines, *([("", plain(f"such as: {reply.example}", DIM))] if reply.example else [])])
        elif isinstance(reply, Ask):
            yield rows([(reply.guard, plain(reply.question, WARN))])
    yield from (rows([("warning", plain(str(one), WARN))]) for one in verdict.warnings)
