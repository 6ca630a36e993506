"""What changed between two plans: their own fields, then node by node, then what waits for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from executor.store.materiality.intents import compare_budgets, compare_intents, plain
from executor.store.materiality.rules import Change, changed
from ir import Intent, OutputRef, PlanNode, PlanTree, parse_references
from ir.errors import IrError
from ir.plan import BRANCH_KINDS, TERMINAL_KINDS, Gate, ToolCall

# ---- A plan as it is compared: its nodes by id, what each waits for, and what effects are made from.


def is_leaf(node: PlanNode) -> bool:
    """A node that does something itself."""
    return node.kind not in BRANCH_KINDS


def well_formed(node: PlanNode) -> bool:
    """A branch with nothing but children, or a terminal with nothing but the payload of its kind."""
    payloads = [kind for kind in TERMINAL_KINDS if getattr(node, kind) is not None]
    if is_leaf(node):
        return payloads == [node.kind] and not node.children and node.map is None
    return not payloads and (node.map is not None) == (node.kind == "map")


def has_effect(node: PlanNode) -> bool:
    """Whether a node may change something, or hands work to somebody who may; what is malformed may."""
    if not well_formed(node):
        return True
    if node.tool_call is not None:
        return node.tool_call.side_effect_class != "read"
    # Of a kind that no rule here speaks of, the worst is assumed.
    return is_leaf(node) and node.step is None and node.gate is None


class Shape:
    """What is asked of one plan. `clear`: whether its ids tell its nodes apart."""

    def __init__(self, plan: PlanTree) -> None:
        self.plan = plan
        self.order = [node for node, _ in plan.root.walk()]
        self.nodes: Mapping[str, PlanNode] = {node.id: node for node in self.order}
        self.clear = len(self.nodes) == len(self.order) and "" not in self.nodes

    @cached_property
    def parents(self) -> Mapping[str, str]:
        """By node id, the id of the branch that it stands in; "" for the root."""
        found = {self.plan.root.id: ""}
        for node in self.order:
            found.update((child.id, node.id) for child in node.children)
        return found

    @cached_property
    def templates(self) -> Mapping[str, str]:
        """By id of each node that is done for one member of a map, the id of the node that it is."""
        return {
            f"{node.id}/{number}/{below.id}": below.id
            for node in self.order
            if node.map is not None
            for child in node.children
            for below, _ in child.walk()
            for number in range(1, node.map.bound + 1)
        }

    def waits(self, bits: Mapping[str, int]) -> dict[str, int]:
        """By id, the leaves that must have completed before a node begins, as a sum of their `bits`."""
        below = self._below(bits)
        found: dict[str, int] = {self.plan.root.id: 0}
        for node in self.order:
            earlier = found[node.id]
            for child in node.children:
                found[child.id] = earlier
                if node.kind != "parallel":
                    earlier |= below[child.id]
        return found

    def _below(self, bits: Mapping[str, int]) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in reversed(self.order):
            found[node.id] = bits.get(node.id, 0)
            for child in node.children:
                found[node.id] |= found[child.id]
        return found

    @cached_property
    def sources(self) -> frozenset[str]:
        """Ids of the nodes that effects are made from: named in their texts, or in those of such a node."""
        waiting = [node.id for node in self.order if has_effect(node)]
        found: set[str] = set()
        while waiting:
            more = self.named(waiting.pop()) - found
            found |= more
            waiting.extend(more)
        return frozenset(found)

    def named(self, node_id: str) -> set[str]:
        """Ids of the nodes whose outputs the texts of a node name, or of a node below it, and those below."""
        node = self.nodes.get(node_id)
        found: set[str] = set()
        for one in (below for below, _ in node.walk()) if node is not None else ():
            if one.id != node_id:
                found.add(one.id)  # the output of a branch is that of what stands below it
            found.update(_named_in(one))
        # Whether it is done, and how often, is made from what the branches above it name.
        above = node_id
        while above := self.parents.get(above, ""):
            found.update(_named_in(self.nodes[above]))
        return found

    def circumstances(self, node_id: str) -> tuple[object, ...]:
        """Under which conditions a node is done, and over which lists, outermost last."""
        found: list[object] = []
        while node_id := self.parents.get(node_id, ""):
            node = self.nodes[node_id]
            found += [(node.id, node.map, node.when)] if node.map or node.when else []
        return tuple(found)


def _named_in(node: PlanNode) -> Iterator[str]:
    for _, text in node.texts():
        try:
            parts = parse_references(text)
        except IrError:
            continue
        yield from (part.node_id for part in parts if isinstance(part, OutputRef))


# ---- What waited for what: an effect that waits for less than before is material.


def compare_order(before: Shape, after: Shape) -> Iterator[Change]:
    """What is gone, and what is not waited for any more.

    An effect waits for everything that stands before it; every other node for the gates before it.
    """
    leaves = [node for node in before.order if is_leaf(node)]
    bits = {node.id: 1 << place for place, node in enumerate(leaves)}
    gates = sum(bits[node.id] for node in leaves if node.kind == "gate")
    gone = sum(bits[node.id] for node in leaves if node.id not in after.nodes)
    waited, waits = before.waits(bits), after.waits(bits)
    freed: dict[int, str] = {}  # by the place of a leaf, the first that does not wait for it any more
    missed = told = 0
    for node in leaves:
        if node.id not in after.nodes:
            continue
        lost = waited[node.id] & ~waits[node.id]
        counts = lost if has_effect(node) or has_effect(after.nodes[node.id]) else lost & gates
        missed |= counts & gone
        for place in _places(counts & ~gone & ~told):
            freed[place] = node.id
        told |= counts
    for node in before.order:
        if node.id not in after.nodes:
            if node.kind == "gate":
                code = "GATE_REMOVED"
            else:
                code = "CHECK_REMOVED" if bits.get(node.id, 0) & missed else "NODE_REMOVED"
            yield changed(code, f"plan.{node.id}", plain(node), None)
    for place, first in sorted(freed.items()):
        node = leaves[place]
        code = "GATE_MOVED" if node.kind == "gate" else "ORDER_CHANGED"
        yield changed(code, f"plan.{node.id}", f"before {first}", "not before it")


def _places(bits: int) -> Iterator[int]:
    """The places of the ones, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


# ---- What changed in one node, and what a new one brings.

# Arguments of calls that read which say what is looked for, not where, by their names in the built-in tools.
WORDS: Final = frozenset(
    {"query", "pattern", "text", "regex", "word", "whole_word", "ignore_case", "language", "context"}
    | {"since", "until", "from", "to", "columns", "header", "staged", "seconds"}
)
MOST: Final = frozenset({"limit", "count", "max_bytes", "max_results"})  # how much at most: fewer is narrower


def added(node: PlanNode, before: Shape) -> Iterator[Change]:
    """What a node brings that the plan did not have."""
    place = f"plan.{node.id}"
    if not well_formed(node):
        yield changed("FIELD_CHANGED", place, None, plain(node), "no rule speaks of such a node")
    elif node.map is not None:
        yield changed("FIELD_CHANGED", place, None, plain(node), "what stands in it is done for each member")
    elif not is_leaf(node):
        yield changed("NODE_ADDED", place, None, node.kind)
    elif node.gate is not None:
        yield changed("GATE_ADDED", place, None, plain(node.gate))
    elif node.step is not None:
        yield changed("NODE_ADDED", place, None, plain(node.step))
    elif node.sub_dispatch is not None:
        yield changed("SUB_AGENT_ADDED", place, None, plain(node.sub_dispatch))
    elif node.tool_call is None:
        yield changed("FIELD_CHANGED", place, None, plain(node), "no rule speaks of such a node")
    elif has_effect(node):
        yield changed("EFFECT_ADDED", place, None, plain(node.tool_call))
    else:
        call = node.tool_call
        alike = [one for one in _reads(before) if one.tool_ref == call.tool_ref]
        code = "TOOL_ADDED" if not alike else "SCOPE_WIDER"
        if any(_within(one.args, call.args) for one in alike):
            code = "NODE_ADDED"
        yield changed(code, place, None, plain(call))


def changes_of(old: PlanNode, new: PlanNode, before: Shape, *, used: bool) -> Iterator[Change]:
    """Every difference between a node and its successor, but for where it stands.

    used: whether some effect is made from its output.
    """
    place = f"plan.{old.id}"
    if old.description != new.description:
        yield changed("TEXT_CHANGED", f"{place}.description", plain(old.description), plain(new.description))
    branches = not is_leaf(old) and not is_leaf(new) and "map" not in (old.kind, new.kind)
    if old.kind != new.kind and not branches:
        yield changed("NODE_KIND_CHANGED", f"{place}.kind", old.kind, new.kind)
        return
    if old.kind != new.kind:
        yield changed("NODE_MOVED", f"{place}.kind", old.kind, new.kind)
    for name in PlanNode.model_fields:
        was, now_is = getattr(old, name), getattr(new, name)
        if name in ("id", "kind", "description", "children") or was == now_is:
            continue
        if name not in TERMINAL_KINDS or was is None or now_is is None:
            yield changed("FIELD_CHANGED", f"{place}.{name}", plain(was), plain(now_is))
        elif name == "tool_call":
            yield from _calls(was, now_is, place, before, used=used)
        elif name == "gate":
            yield from _gates(was, now_is, place)
        elif name == "step":
            yield changed("ARGS_CHANGED" if used else "STEP_CHANGED", place, plain(was), plain(now_is))
        elif name == "sub_dispatch":
            yield changed("SUB_AGENT_CHANGED", place, plain(was), plain(now_is))
        else:  # no rule of its own speaks of this kind of node: whatever differs is material
            yield changed("FIELD_CHANGED", f"{place}.{name}", plain(was), plain(now_is))


def _calls(old: ToolCall, new: ToolCall, place: str, before: Shape, *, used: bool) -> Iterator[Change]:
    reads = old.side_effect_class == new.side_effect_class == "read"
    for name in ToolCall.model_fields:
        was, now_is = getattr(old, name), getattr(new, name)
        if was == now_is:
            continue
        where = f"{place}.{name}"
        if name == "tool_ref":
            same = was.rpartition("@")[0] == now_is.rpartition("@")[0] != ""
            yield changed("TOOL_PIN_CHANGED" if same else "TOOL_CHANGED", where, plain(was), plain(now_is))
        elif name == "side_effect_class":
            yield changed("EFFECT_CLASS_CHANGED", where, plain(was), plain(now_is))
        elif name == "timeout_ms":
            yield changed("READ_CHANGED" if reads else "TIMEOUT_CHANGED", where, plain(was), plain(now_is))
        elif name == "args" and new.args in old.alternatives:
            yield changed("ALTERNATIVE_TAKEN", where, plain(was), plain(now_is))
        elif name != "args":
            yield changed("FIELD_CHANGED", where, plain(was), plain(now_is))
        elif not reads:
            yield from _args(was, now_is, where)
        else:
            known = [old.args, *(one.args for one in _reads(before) if one.tool_ref == new.tool_ref)]
            yield from _read_args(was, now_is, where, known, used=used)


def _args(old: Mapping[str, str], new: Mapping[str, str], place: str) -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield changed("ARGS_CHANGED", f"{place}.{name}", old.get(name), new.get(name))


def _read_args(
    old: Mapping[str, str],
    new: Mapping[str, str],
    place: str,
    known: Sequence[Mapping[str, str]],
    *,
    used: bool,
) -> Iterator[Change]:
    """known: arguments of calls of this tool that were accepted."""
    elsewhere = not any(_within(one, new) for one in known)
    for name in sorted(old.keys() | new.keys()):
        was, now_is = old.get(name), new.get(name)
        if was == now_is:
            continue
        if _narrower(name, was, now_is):
            code = "ARGS_NARROWED"
        elif name not in WORDS and elsewhere:
            code = "SCOPE_WIDER"
        else:
            code = "ARGS_CHANGED" if used else "READ_CHANGED"
        yield changed(code, f"{place}.{name}", was, now_is)


def _within(accepted: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Does a call that reads stay where an accepted one of the same tool was?"""
    return all(
        accepted.get(name) == wanted.get(name) or _narrower(name, accepted.get(name), wanted.get(name))
        for name in (accepted.keys() | wanted.keys()) - WORDS
    )


def _narrower(name: str, old: str | None, new: str | None) -> bool:
    """A path below the old one, or a smaller number of what is read at most."""
    if old is None or new is None or "$" in old + new:
        return False
    if name in MOST:
        whole = old.isascii() and old.isdigit() and new.isascii() and new.isdigit()
        return whole and 0 < int(new[:18]) < int(old[:18]) and len(old) <= 18
    parts = new.split("/")
    below = name not in WORDS and "://" not in old + new and not {"", ".", ".."} & set(parts)
    return below and old != "" and new.startswith(old.rstrip("/") + "/")


def _gates(old: Gate, new: Gate, place: str) -> Iterator[Change]:
    for name in Gate.model_fields:
        was, now_is = getattr(old, name), getattr(new, name)
        if was == now_is:
            continue
        if name == "refuses":
            code = "GATE_OPTIONS_NARROWER" if set(was) <= set(now_is) else "GATE_OPTIONS_WIDER"
        elif name == "options":
            code = _options(set(was), set(now_is))
        elif name in ("question", "rule_ref"):
            code = "GATE_CHANGED"
        else:
            code = "GATE_TIMEOUT_CHANGED" if name == "timeout_ms" else "FIELD_CHANGED"
        yield changed(code, f"{place}.{name}", plain(was), plain(now_is))


def _options(old: set[str], new: set[str]) -> str:
    """No options: free text, which is not fewer answers than any list."""
    if old == new:
        return "SAME_VALUE"
    return "GATE_OPTIONS_NARROWER" if new and new < old else "GATE_OPTIONS_WIDER"


def _reads(shape: Shape) -> list[ToolCall]:
    return [node.tool_call for node in shape.order if node.tool_call is not None and not has_effect(node)]


FIXED_IN_PLAN: Final = (
    "id",
    "v",
    "intent_id",
    "created_at",
    "created_by",
    "skill_ref",
    "model_digest",
    "grammar",
)


def compare_plans(before: PlanTree, after: PlanTree) -> Iterator[Change]:
    """Every difference. Nodes are the same where their ids are."""
    for name in PlanTree.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if name == "hash" or old == new:
            continue
        place = f"plan.{name}"
        if name == "root":
            yield from _trees(Shape(before), Shape(after))
        elif name == "budget":
            yield from compare_budgets(before.budget, after.budget, place)
        elif name == "promises":
            yield changed("PROMISES_TOLD", place, plain(old), plain(new))
        else:
            code = "IDENTITY_CHANGED" if name in FIXED_IN_PLAN else "FIELD_CHANGED"
            yield changed(code, place, plain(old), plain(new))


def _trees(before: Shape, after: Shape) -> Iterator[Change]:
    if not (before.clear and after.clear):
        old, new = plain(before.plan.root), plain(after.plan.root)
        yield changed(
            "FIELD_CHANGED", "plan.root", old, new, "two nodes have one id, so nobody can compare them"
        )
        return
    told = [
        *(change for node in after.order for change in _node(node.id, before, after)),
        *compare_order(before, after),
    ]
    yield from told
    moved = _moved(before, after)
    if moved and not any(change.code in ("GATE_MOVED", "ORDER_CHANGED") for change in told):
        yield changed("NODE_MOVED", "plan.root", moved[0], moved[1])


def _node(node_id: str, before: Shape, after: Shape) -> Iterator[Change]:
    old, new = before.nodes.get(node_id), after.nodes[node_id]
    if old is None:
        yield from added(new, before)
        return
    was, now_is = before.circumstances(node_id), after.circumstances(node_id)
    if was != now_is and is_leaf(new):
        yield changed("FIELD_CHANGED", f"plan.{node_id}", plain(was), plain(now_is), "when it is done")
    if old != new:
        yield from changes_of(old, new, before, used=node_id in before.sources or node_id in after.sources)


def _moved(before: Shape, after: Shape) -> tuple[object, object] | None:
    """The order of the nodes that both plans have, each with its branch, where it is another one."""
    both = before.nodes.keys() & after.nodes.keys()

    def laid_out(shape: Shape) -> list[str]:
        return [f"{shape.parents[node.id]}/{node.id}" for node in shape.order if node.id in both]

    old, new = laid_out(before), laid_out(after)
    return None if old == new else (old, new)


# ---- Two Intents, two plans, or an Intent with its plan and what shall take their place.


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
