"""What intent.correct changes: a person patches an Intent, its plan or both, before a run, in it, or after it
failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from executor.core.errors import LifecycleError
from executor.store.lifecycle.patches import PatchFlaw, apply_patches
from executor.store.lifecycle.view import PersistentMap, View, has_ended
from executor.store.materiality import FIXED_IN_INTENT, FIXED_IN_PLAN, Change, Documents, compare, is_material
from executor.store.materiality.plans import Shape, is_leaf
from ir import (
    Intent,
    IntentCorrectBody,
    MclError,
    PlanNode,
    PlanTree,
    as_document,
    canonical_bytes,
    check_plan,
    with_hash,
)

# ---- Which nodes have begun, and which of them run again after a correction.

BEGUN: Final = frozenset({"running", "completed", "failed", "denied", "cancelled"})


def owner(node_id: str, shape: Shape) -> str:
    """The node of a plan that a node of a run belongs to: itself, the one that dispatched it, or the one that
    was done for a member of a map; else ""."""
    while node_id and node_id not in shape.nodes:
        template = shape.templates.get(node_id)
        node_id = node_id.rpartition("/")[0] if template is None else template
    return node_id


def same_work(one: PlanNode, other: PlanNode) -> bool:
    """Whether two nodes do the same, whatever people read of them and whatever stands below them."""
    blank = {"description": "", "children": ()}
    return one.model_copy(update=blank) == other.model_copy(update=blank)


def from_on(retry_from: str, shape: Shape) -> frozenset[str]:
    """The leaves at or below a node, and all that wait for them."""
    node = shape.nodes.get(retry_from)
    if node is None:
        return frozenset()
    leaves = [one.id for one in shape.order if is_leaf(one)]
    bits = {leaf: 1 << place for place, leaf in enumerate(leaves)}
    waits = shape.waits(bits)
    below = {one.id for one, _ in node.walk() if is_leaf(one)}
    wanted = sum(bits[leaf] for leaf in below)
    return frozenset(leaf for leaf in leaves if leaf in below or waits[leaf] & wanted)


def with_users(leaves: frozenset[str], shape: Shape) -> frozenset[str]:
    """These leaves and every one whose texts name the output of one of them, directly or not."""
    found = set(leaves)
    for node in shape.order:  # what is named stands earlier
        if is_leaf(node) and found & shape.named(node.id):
            found.add(node.id)
    return frozenset(found)


def kept(nodes: Mapping[str, str], again: frozenset[str], shape: Shape) -> dict[str, str]:
    """The states that stay when these leaves run again: not theirs, nor those of branches that lead to them.

    A completed branch below which something has not completed is not completed any more either.
    """
    states = {id: state for id, state in nodes.items() if (own := owner(id, shape)) and own not in again}
    for node in reversed(shape.order):
        if is_leaf(node) or states.get(node.id) == "running":
            continue
        if node.map is None and any(not has_ended(child, states) for child in node.children):
            states.pop(node.id, None)
    return states


def too_late(
    nodes: Mapping[str, str], before: Shape, after: Shape, again: frozenset[str]
) -> tuple[str, str] | None:
    """The first node that has begun and may not be changed as it was, with why; None where there is none.

    again: leaves that run again, and may be anything.
    """
    leading = {branch for leaf in again for branch in _above(leaf, after)}
    free = again | leading
    owners = dict.fromkeys(owner(id, before) for id, state in nodes.items() if state in BEGUN)
    begun = [id for id in owners if id in before.nodes and id not in free]
    for id in begun:
        if id not in after.nodes:
            return id, "it has begun, and cannot be taken away"
        if not same_work(before.nodes[id], after.nodes[id]):
            return id, "it has begun, and cannot be another one"
        if before.parents[id] != after.parents[id]:
            return id, "it has begun, and cannot be moved"
        if nodes.get(id) not in ("running", None) and (late := _below_ended(id, nodes, after, free)):
            return late, f"nothing can be added below {id}, which has ended"
    return _before_begun(set(begun), after)


def _below_ended(branch: str, nodes: Mapping[str, str], after: Shape, free: Iterable[str]) -> str:
    node = after.nodes[branch]
    below = (child.id for child in node.children) if node.map is None else ()
    return next((id for id in below if id not in nodes and id not in free), "")


def _before_begun(begun: set[str], after: Shape) -> tuple[str, str] | None:
    for branch in after.order:
        if branch.kind != "sequential":
            continue
        waiting = ""
        for child in branch.children:
            if child.id not in begun:
                waiting = waiting or child.id
            elif waiting:
                return waiting, f"it would come before {child.id}, which has begun"
    return None


def _above(node_id: str, shape: Shape) -> list[str]:
    found = []
    while node_id := shape.parents.get(node_id, ""):
        found.append(node_id)
    return found


BOTH: Final = "+"  # between the two hashes in the target of patches of {"intent": …, "plan": …}


@dataclass(frozen=True)
class Correction:
    """What a correction comes to.

    intent, plan: as they are to be, with their hashes. changes: against what counts now, and what is material
    against what was last accepted. again: the nodes that have begun and run again, in walk order. proposed:
    nothing is accepted (it never was, an earlier correction waits for that, or the run failed), so this waits
    for an accept too.
    """

    intent: Intent
    plan: PlanTree
    changes: tuple[Change, ...]
    again: tuple[str, ...]
    proposed: bool = False

    @property
    def material(self) -> bool:
        """Whether it needs a new accept."""
        return self.proposed or is_material(self.changes)


def target_of(intent: bool, plan: bool, view: View) -> str:
    """What patches of the Intent, of the plan, or of both name as their target."""
    hashes = [hash for wanted, hash in ((intent, view.intent_hash), (plan, view.plan_hash)) if wanted]
    return BOTH.join(hashes)


def correction(view: View, body: IntentCorrectBody, *, at: str, intent: str) -> Correction:
    """What a correction would come to, judged at a moment.

    view: of an intent with a plan. at: ISO 8601 UTC, when it is signed; what remains of a deadline is
    counted from then. intent: how errors name it.

    Raises:
        LifecycleError: STALE_CORRECTION, another Intent or plan counts by now; CORRECTION_INVALID, the
            patches cannot be applied, change nothing, or make something that is no Intent or plan that could
            run; CORRECTION_TOO_LATE, they change what has begun. `place` names the operation, path or node.
    """
    old = _accepted(view, intent)
    documents = _patched(view, old, body)
    if documents == old and not (body.retry_from and view.begun):
        raise _refused(
            view, "CORRECTION_INVALID", "it changes nothing", "patches", "say what shall be different"
        )
    assert old.plan is not None, "asked above"
    assert documents.intent is not None, "patched from one"
    assert documents.plan is not None, "patched from one"
    before, after = Shape(old.plan), Shape(documents.plan)
    if body.retry_from and body.retry_from not in after.nodes:
        message = f"no node of the plan is called {body.retry_from}"
        raise _refused(view, "CORRECTION_INVALID", message, "retry_from", f"one of: {_some(after)}")
    changes = compare(old, documents, now=at)
    base = Documents(view.base_intent, view.base_plan)
    if base != old and base.intent is not None:
        known = {(change.code, change.place) for change in changes}
        drifted = (one for one in compare(base, documents, now=at) if one.material)
        changes += tuple(one for one in drifted if (one.code, one.place) not in known)
    proposed = view.state in ("proposed", "failed")
    again = from_on(body.retry_from or view.retry_from, after)
    if proposed or is_material(changes):
        again |= changed_leaves(Shape(view.walked) if view.walked is not None else before, after)
    elif (late := too_late(view.nodes, before, after, again)) is not None:
        fix = f"run it again from there (retry_from {late[0]}), or correct what comes later"
        raise _refused(view, "CORRECTION_TOO_LATE", late[1], f"plan.{late[0]}", fix)
    again = with_users(again, after)
    begun = tuple(node.id for node in after.order if node.id in again and view.nodes.get(node.id) in BEGUN)
    return Correction(documents.intent, documents.plan, changes, begun, proposed)


def corrected(view: View, body: IntentCorrectBody, *, at: str, intent: str) -> dict[str, Any]:
    """The fields of the view that a correction changes. Raises what `correction` raises."""
    found = correction(view, body, at=at, intent=intent)
    if found.material:
        nothing = dict.fromkeys(
            ("intent_hash", "plan_hash", "accepted_hash", "accepted_plan_hash", "accepted_by"), ""
        )
        return {
            "state": "proposed",
            "intent": None,
            "plan": None,
            **nothing,
            "gates": PersistentMap(),
            "walked": (view.walked or view.plan) if view.begun else None,
            "retry_from": body.retry_from or view.retry_from,
            "reason": "",
            "outcome": "",
        }
    return {
        "intent": found.intent,
        "intent_hash": found.intent.hash,
        "accepted_hash": found.intent.hash,
        "plan": found.plan,
        "plan_hash": found.plan.hash,
        "accepted_plan_hash": found.plan.hash,
        **_restarted(view, frozenset(found.again), Shape(found.plan)),
    }


def carried(view: View, walked: PlanTree, plan: PlanTree) -> dict[str, Any]:
    """What an accept keeps of a run that a correction stopped: the states of what stays as it was.

    What changed runs again, and what was named to run again, and whatever is made from either.
    """
    before, after = Shape(walked), Shape(plan)
    restarts = view.restarts + 1  # a run that has not noticed yet begins again
    if not (before.clear and after.clear):
        return {"nodes": PersistentMap(), "restarts": restarts}
    again = with_users(from_on(view.retry_from, after) | changed_leaves(before, after), after)
    kept_nodes, unended = _anew(view, again, after)
    return {"nodes": kept_nodes, "again": view.again | unended, "restarts": restarts}


def changed_leaves(before: Shape, after: Shape) -> frozenset[str]:
    """The leaves of a plan that the other one does not have, or has as something else."""
    return frozenset(
        node.id
        for node in after.order
        if is_leaf(node) and (node.id not in before.nodes or not same_work(before.nodes[node.id], node))
    )


def _restarted(view: View, again: frozenset[str], shape: Shape) -> dict[str, Any]:
    """The run without what runs again: its states, and what people said at its gates."""
    if not again:
        return {}
    nodes, unended = _anew(view, again, shape)
    gates = {id: gate for id, gate in view.gates.items() if owner(gate.node_id, shape) not in again}
    return {
        "nodes": nodes,
        "gates": PersistentMap(gates),
        "again": view.again | unended,
        "restarts": view.restarts + 1,
    }


def _anew(view: View, again: frozenset[str], shape: Shape) -> tuple[PersistentMap[str, str], frozenset[str]]:
    """The states that stay, and the nodes whose end is yet to come and will not count."""
    states = kept(view.nodes, again, shape)
    running = {id for id, state in view.nodes.items() if state == "running" and id not in states}
    leaves = {id for id in running if id not in shape.nodes or is_leaf(shape.nodes[id])}
    return PersistentMap(states), frozenset(leaves)


def _accepted(view: View, intent: str) -> Documents:
    if view.intent is None or view.plan is None:
        raise LifecycleError(
            "NO_PLAN_ACCEPTED",
            "no plan was accepted, so there is nothing to correct",
            place=intent,
            fix="state the goal again",
            state=view.state,
            legal=view.legal(),
        )
    return Documents(view.intent, view.plan)


def _patched(view: View, old: Documents, body: IntentCorrectBody) -> Documents:
    wanted = {target_of(intent, plan, view): (intent, plan) for intent, plan in _CHOICES}
    parts = wanted.get(body.target)
    if parts is None:
        message = f"it corrects {body.target}; what counts now is {view.intent_hash} and {view.plan_hash}"
        raise _refused(
            view, "STALE_CORRECTION", message, "target", "look at it as it is now, and correct that"
        )
    given = {"intent": _loose(old.intent), "plan": _loose(old.plan)}
    whole = given if parts == (True, True) else given["intent" if parts[0] else "plan"]
    try:
        patched = apply_patches(whole, body.patches)
    except PatchFlaw as flaw:
        raise _refused(view, "CORRECTION_INVALID", flaw.message, flaw.place, _RFC) from flaw
    if parts == (True, True):
        if not isinstance(patched, dict) or patched.keys() != given.keys():
            raise _refused(view, "CORRECTION_INVALID", "there are an Intent and a plan", "patches", _RFC)
        given = patched
    else:
        given["intent" if parts[0] else "plan"] = patched
    said = bool(body.goal)
    intent = _intent(view, old.intent, given["intent"], said=said)
    return Documents(intent, _plan(view, old.plan, given["plan"]))


_CHOICES: Final = ((True, False), (False, True), (True, True))
_RFC: Final = "patch with the operations of RFC 6902"


def _loose(document: Intent | PlanTree | None) -> dict[str, Any]:
    assert document is not None, "an executing intent has both"
    return {name: value for name, value in as_document(document).items() if name != "hash"}


def _read(view: View, model: type[Any], value: object, name: str) -> Any:
    if not isinstance(value, dict) or "hash" in value:
        raise _refused(view, "CORRECTION_INVALID", f"this is no {model.__name__}", name, _RFC)
    try:
        return with_hash(model.from_json(canonical_bytes(value)))
    except MclError as error:
        place = f"{name}{error.place.removeprefix('$')}"
        raise _refused(view, "CORRECTION_INVALID", error.message, place, error.fix or _RFC) from error


def _intent(view: View, old: Intent | None, value: object, *, said: bool) -> Intent:
    """said: it follows from what was said of the goal, whose words stand behind those of before."""
    new: Intent = _read(view, Intent, value, "intent")
    assert old is not None, "an executing intent has both"
    _hold_fixed(view, old, new, FIXED_IN_INTENT)
    if any(unknown.severity == "blocking" for unknown in new.unknowns):
        fix = "answer it instead"
        raise _refused(view, "CORRECTION_INVALID", "a question is open that stops the run", "unknowns", fix)
    if not new.frame.verb:
        raise _refused(view, "CORRECTION_INVALID", "the verb is missing", "frame.verb", "say what is wanted")
    made = new.compile_metadata
    other = new.prose != old.prose and not (said and new.prose.startswith(old.prose))
    if other and made is not None and made.spans:  # they point into the old words
        new = with_hash(new.model_copy(update={"compile_metadata": made.model_copy(update={"spans": ()})}))
    return new


def _plan(view: View, old: PlanTree | None, value: object) -> PlanTree:
    new: PlanTree = _read(view, PlanTree, value, "plan")
    assert old is not None, "an executing intent has both"
    _hold_fixed(view, old, new, FIXED_IN_PLAN)
    # Which texts look like secrets may be judged otherwise some day, and a journal must stay what it is.
    flaws = [flaw for flaw in check_plan(new) if flaw.code != "SECRET_INLINE"]
    if flaws:
        place = f"plan.{flaws[0].place}" if flaws[0].place else "plan"
        more = f" (and {len(flaws) - 1} more)" if len(flaws) > 1 else ""
        message = f"{flaws[0].code}: {flaws[0].message}{more}"
        raise _refused(view, "CORRECTION_INVALID", message, place, flaws[0].fix)
    return new


def _hold_fixed(view: View, old: Intent | PlanTree, new: Intent | PlanTree, fixed: tuple[str, ...]) -> None:
    for name in fixed:
        if getattr(old, name) != getattr(new, name):
            place = name if isinstance(new, Intent) else f"plan.{name}"
            message = "this says which document it is, and stays"
            raise _refused(view, "CORRECTION_INVALID", message, place, "leave it as it is")


def _some(shape: Shape) -> str:
    ids = [node.id for node in shape.order]
    return ", ".join(ids[:20]) + ("…" if len(ids) > 20 else "")


def _refused(view: View, code: str, message: str, place: str, fix: str) -> LifecycleError:
    return LifecycleError(code, message, place=place, fix=fix, state=view.state, legal=view.legal())
