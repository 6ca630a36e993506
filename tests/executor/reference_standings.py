"""Promises by another way: what becomes of each, and what a run may still do, worked out slowly and plainly.

Written from the pages (docs/ir.md, docs/gate.md, docs/walker.md), not from the code that is compared with it.
Of a promise it says which standings a page allows: one, or several where no page says which of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import urlsplit

from reference_calls import Made, World, origin
from reference_measures import measures, runs_command
from reference_rules import PASS, REFUSE, SILENT, asked, may_go, verdict

import ir
from executor import Manifest

# ---- What becomes of each promise.

ENFORCED, CHECKED, SIGNED = {"enforced"}, {"checked"}, {"signed_off"}
NOTHING = {"not_checkable"}


@dataclass(frozen=True)
class Known:
    """What there is besides the Intent: the plan, manifests by address, dids of persons, of all keys, and the
    regions of hosts."""

    plan: ir.PlanTree
    manifests: Mapping[str, Manifest]
    users: Collection[str]
    keys: Collection[str]
    regions: Mapping[str, Sequence[str]]


def expected(intent: ir.Intent, known: Known) -> list[tuple[str, bool, set[str]]]:
    """Of each promise its place, whether it is hard, and the standings that it may have."""
    frame = intent.frame
    found: list[tuple[str, bool, set[str]]] = []
    if intent.budget is not None:
        found.append(("budget", True, _budget(intent.budget)))
    if intent.deadline:
        found.append(("deadline", True, ENFORCED))
    for at, one in enumerate(frame.constraints):
        found.append(
            (
                f"frame.constraints[{at}]",
                one.hard,
                _constraint(one, known, frame.success_criteria) if one.hard else NOTHING,
            )
        )
    for at, predicate in enumerate(frame.success_criteria):
        found.append((f"frame.success_criteria[{at}]", True, _criterion(predicate, intent, known)))
    for at in range(len(frame.preferences)):
        found.append((f"frame.preferences[{at}]", False, NOTHING))
    return found


def _budget(budget: ir.Budget) -> set[str]:
    limits = (budget.max_cost, budget.max_calls, budget.max_agents, budget.max_time or None)
    return ENFORCED if any(one is not None for one in limits) else ENFORCED | NOTHING


def _constraint(one: ir.Constraint, known: Known, criteria: Sequence[ir.Predicate]) -> set[str]:
    match one:
        case ir.BudgetConstraint():
            return ENFORCED if one.max else NOTHING  # nothing could be refused by a limit without an amount
        case ir.DeadlineConstraint():
            return ENFORCED if one.by else NOTHING
        case ir.RuleConstraint():
            return ENFORCED if _readable(one.keeps) else NOTHING
        case ir.JurisdictionConstraint():
            # No page says whether the addresses of criteria are hosts of the plan.
            looked = [c.url for c in criteria if isinstance(c, ir.ExternalPredicate) and is_address(c.url)]
            return _jurisdiction(one, known, []) | _jurisdiction(one, known, looked)
        case ir.QualityConstraint():
            return _quality(one, known)
        case _:
            return NOTHING


def _quality(one: ir.QualityConstraint, known: Known) -> set[str]:
    found = measures(one, known.plan, known.manifests)
    if sum(number.clear for number in found) > 1 or all(number.fits is False for number in found):
        return NOTHING  # it is one call that measures
    return CHECKED if len(found) == 1 and found[0].clear and found[0].fits else CHECKED | NOTHING


def _readable(keeps: str) -> bool:
    try:
        return bool(keeps) and bool(ir.parse_keeps(keeps))
    except ir.PromiseError:
        return False


def _jurisdiction(one: ir.JurisdictionConstraint, known: Known, looked: Sequence[str]) -> set[str]:
    if not all(re.fullmatch("[A-Z][A-Z]", code) for code in (*one.allow, *one.deny)):
        return NOTHING  # a country by another name can be held to nothing
    hosts = [origin(url) for url in looked if "${" not in url]
    seen = True
    for node, _ in known.plan.root.walk():
        if node.sub_dispatch is not None:
            seen = False
        if node.tool_call is None or node.tool_call.tool_ref not in known.manifests:
            continue
        manifest = known.manifests[node.tool_call.tool_ref]
        for name in manifest.scope.urls:
            text = node.tool_call.args.get(name, "")
            if "${" in text:
                seen = False
            elif text:
                hosts.append(origin(text))
    if not hosts:
        return NOTHING if seen else NOTHING | ENFORCED
    if any(host not in known.regions for host in hosts):
        return NOTHING
    if not all(may_go(known.regions[host], one) for host in hosts):
        return NOTHING
    return ENFORCED if seen else NOTHING | ENFORCED


def _criterion(one: ir.Predicate, intent: ir.Intent, known: Known) -> set[str]:
    match one:
        case ir.DeliveredPredicate():
            return _delivered(one.artifact, intent)
        case ir.SignedOffPredicate():
            return SIGNED if not one.by or one.by in known.users else NOTHING
        case ir.ExternalPredicate():
            return CHECKED if is_address(one.url) and _check(one.check) else NOTHING
        case ir.CommandPredicate():
            runs = runs_command(one, known.manifests)
            return CHECKED | NOTHING if runs is None else CHECKED if runs else NOTHING
        case ir.AttestationPredicate():
            cited = re.fullmatch(r"[a-z][a-z0-9+.-]*:\S+", one.topic)  # attestations cite addresses
            return CHECKED if (cited or not one.topic) and one.source in known.keys else NOTHING
        case _:
            return (
                SIGNED | NOTHING if one.type == "x:criterion" else NOTHING
            )  # coding agents sign it elsewhere


def _delivered(artifact: str, intent: ir.Intent) -> set[str]:
    values = [entry.value for entry in intent.frame.objects if entry.name == artifact]
    path = values[0] if values else artifact
    if not path or path.startswith(("/", "~")) or ".." in path.split("/") or "\x00" in path:
        return NOTHING
    if "${" in path or "." not in path.strip("./"):
        return CHECKED | NOTHING  # a file may be called so; and it may be words, or a folder
    if any(name in (".git", ".env", ".ssh") for name in path.split("/")):
        return NOTHING  # no tool may look there, so it can never hold
    return CHECKED


def is_address(url: str) -> bool:
    """Is it an address in full, without credentials?"""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return False
    return parts.username is None and parts.password is None


def _check(text: str) -> bool:
    if text in ("",) or re.fullmatch(r"(status=)?[1-5][0-9][0-9]", text):
        return True
    if text.startswith("contains:"):
        return text != "contains:"
    if text.startswith("json:"):
        return re.fullmatch(r"json:\$(\.[A-Za-z_]\w*|\[[0-9]+\])+(=.+)?", text) is not None
    return re.fullmatch(r"sha256=[0-9a-f]{64}", text) is not None


# ---- What a run may still do.


@dataclass
class Level:
    """One Intent that runs: that of the goal, or of a dispatch below it, and what was used for it."""

    intent: ir.Intent
    plan_budget: ir.Budget | None = None
    above: Level | None = None
    over: bool = False  # did it begin so long ago that no time is left?
    calls: int = 0
    agents: int = 0
    costs: dict[str, Decimal] = field(default_factory=dict)
    files: frozenset[str] = frozenset()

    def levels(self) -> Iterator[Level]:
        """This one and those above it: what is done here is done there too."""
        level: Level | None = self
        while level is not None:
            yield level
            level = level.above

    def budgets(self) -> list[ir.Budget]:
        return [one for one in (self.intent.budget, self.plan_budget) if one is not None]

    def hard(self) -> list[ir.Constraint]:
        return [one for one in self.intent.frame.constraints if one.hard]

    def most_calls(self) -> list[int]:
        found = [one.max_calls for one in self.budgets() if one.max_calls is not None]
        for one in self.hard():
            if isinstance(one, ir.RuleConstraint) and _readable(one.keeps):
                rule = ir.parse_keeps(one.keeps)
                found += [rule.most] if rule.kind == "at most calls" else []
        return found

    def most_cost(self) -> list[ir.AssetAmount]:
        found = [one.max_cost for one in self.budgets() if one.max_cost is not None]
        return found + [one.max for one in self.hard() if isinstance(one, ir.BudgetConstraint) and one.max]

    def late(self) -> bool:
        """Is its time over? In these runs a deadline lies years back or years ahead."""
        ends = [self.intent.deadline]
        ends += [one.by for one in self.hard() if isinstance(one, ir.DeadlineConstraint)]
        timed = any(one.max_time for one in self.budgets())
        return (timed and self.over) or any(end and end < "2026" for end in ends)

    def leaves(self, manifest: Manifest | None) -> bool:
        """Do the limits of this Intent leave one more call?"""
        if self.late() or any(self.calls >= most for most in self.most_calls()):
            return False
        cost = manifest.cost if manifest else None
        if cost is None or not cost.value:
            return True
        spent = self.costs.get(cost.asset, Decimal(0)) + cost.value
        return all(one.asset == cost.asset and spent <= one.value for one in self.most_cost())


def may_begin(level: Level, manifest: Manifest | None) -> bool:
    """Do the limits leave one more call, of a tool or of the model?"""
    return all(one.leaves(manifest) for one in level.levels())


def may_dispatch(level: Level) -> bool:
    """Do the limits leave one more sub-agent?"""
    for one in level.levels():
        most = [budget.max_agents for budget in one.budgets() if budget.max_agents is not None]
        if one.late() or any(one.agents >= limit for limit in most):
            return False
    return True


def judged(level: Level, call: Made, world: World, regions: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """What the hard promises of all levels say of a call, and the one that says so."""
    found = (PASS, "")
    for one in level.levels():
        for held in one.hard():
            if not isinstance(held, ir.RuleConstraint | ir.JurisdictionConstraint):
                continue
            said = verdict(held, call, world, regions, one.files)
            if said == REFUSE:
                return REFUSE, str(held)
            if said == SILENT:
                found = (SILENT, str(held))
    return found


def must_ask(level: Level, call: Made, world: World) -> str:
    """Must a person be asked because a promise says so? REFUSE: not without."""
    for one in level.levels():
        for held in one.hard():
            if isinstance(held, ir.RuleConstraint) and held.keeps == "ask before each":
                return asked(call, world)
    return PASS


def begin(level: Level, manifest: Manifest | None, changed: Sequence[str] = ()) -> None:
    """A call begins: it is counted."""
    for one in level.levels():
        one.calls += 1
        one.files |= frozenset(changed)
        if manifest is not None and manifest.cost is not None:
            cost = manifest.cost
            one.costs[cost.asset] = one.costs.get(cost.asset, Decimal(0)) + cost.value


def begin_agent(level: Level) -> None:
    """A dispatch begins: it is counted where it is dispatched, and above."""
    for one in level.levels():
        one.agents += 1
