"""Two Intents, two plans, or an Intent with its plan and what shall take their place."""

from __future__ import annotations

from dataclasses import dataclass

from executor.store.materiality.intents import compare_intents, plain
from executor.store.materiality.plans import Shape, compare_plans
from executor.store.materiality.rules import Change, changed
from ir import Intent, PlanTree


@dataclass(frozen=True, slots=True)
class Documents:
    """An Intent, its plan, or both; None for what is not there."""

    intent: Intent | None = None
    plan: PlanTree | None = None


def compare(before: Documents, after: Documents, *, now: str) -> tuple[Change, ...]:
    """Every difference, each with whether it is material (`rules` has the table). Pure.

    now: ISO 8601 UTC, the moment from which what remains of a deadline is counted. Documents that differ in
    nothing but their notation give no material change, and equal ones give none at all.
    """
    found: list[Change] = []
    if before.intent is not None and after.intent is not None:
        used = any(plan is not None and _words_used(plan) for plan in (before.plan, after.plan))
        found += compare_intents(before.intent, after.intent, now=now, words_used=used)
    elif before.intent is not after.intent:
        found.append(changed("PLAN_CHANGED", "intent", plain(before.intent), plain(after.intent)))
    if before.plan is not None and after.plan is not None:
        found += compare_plans(before.plan, after.plan)
    elif before.plan is not after.plan:
        found.append(changed("PLAN_CHANGED", "plan", plain(before.plan), plain(after.plan)))
    return tuple(found)


def _words_used(plan: PlanTree) -> bool:
    """Is an effect made from a model's answer? Models are told the words of the goal."""
    shape = Shape(plan)
    return any(node.step is not None and node.id in shape.sources for node in shape.order)
