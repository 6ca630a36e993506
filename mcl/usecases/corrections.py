"""`mcl correct`: a person changes what a run is to do, while it runs."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from executor.core.errors import LifecycleError, ScopeError
from executor.gate.standings import unchecked
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.lifecycle.corrections import Correction, correction, target_of
from executor.store.lifecycle.patches import MAX_BYTES, PatchFlaw, read_patches
from executor.store.lifecycle.view import View, way_on
from executor.store.materiality import Change
from ir import (
    IntentCompiledBody,
    IntentCorrectBody,
    PlanProposedBody,
    canonical_bytes,
    check_plan,
)
from ir.inline_secrets import find_secret
from ir.results import called
from mcl.catalog.extras import require_extras_of
from mcl.compiler.promised import promised
from mcl.core.errors import InputError
from mcl.core.home import open_home, sealed
from mcl.usecases.fields import patches_of
from mcl.usecases.intents import find_intent, read_view

if TYPE_CHECKING:
    from executor.walker import Verdict

_INTENT, _PLAN = "/intent", "/plan"


@dataclass(frozen=True, kw_only=True)
class Proposal(Correction):
    """What a person would sign (`body`), and what would follow from it."""

    intent_id: str
    body: IntentCorrectBody


@dataclass(frozen=True)
class Corrected:
    """What was signed. state: as it was, or `proposed` where it needs a new accept; envelope: its id."""

    intent_id: str = field(metadata=called("intent"))
    state: str
    material: bool
    changes: tuple[Change, ...]
    again: tuple[str, ...]
    intent_hash: str
    plan_hash: str
    envelope: str


def propose_correction(
    intent: str,
    *,
    patches: bytes | Sequence[dict[str, Any]] = (),
    changes: Iterable[str] = (),
    removed: Iterable[str] = (),
    reason: str = "",
    retry_from: str = "",
    home: Home | None = None,
) -> Proposal:
    """What a correction would come to; nothing is signed or kept.

    patches: RFC 6902 operations on {"intent": …, "plan": …} (JSON bytes, or the operations). changes:
    `path=value`, removed: paths, as `fields.patches_of` says; they follow the patches. retry_from: a node
    from which the run is to be repeated. What the plan says of promises follows by itself. Raises InputError,
    EXTRA_MISSING where a tool that it brings in is not installed, PROMISE_UNCHECKABLE where it promises what
    nobody here can check; LifecycleError STALE_CORRECTION, CORRECTION_INVALID, CORRECTION_TOO_LATE,
    ILLEGAL_EVENT where the intent has no run that could be corrected.
    """
    home = home or open_home()
    id = find_intent(home, intent)
    view = _running(read_view(home, id), id)
    if view.intent is None or view.plan is None:
        raise _none_runs(view, id)
    operations = _operations(patches)
    given = list(changes), list(removed)
    if any(given):
        operations += _after(view, operations, given, id=id, at=home.clock.now())
    body = _body(view, operations, reason, retry_from)
    found = _judged(view, body, id=id, at=home.clock.now())
    if told := _told_anew(home, view, found):
        body = _body(view, [*operations, told], reason, retry_from)
        found = _judged(view, body, id=id, at=home.clock.now())
    if not found.changes and not found.again:
        raise LifecycleError(
            "CORRECTION_INVALID",
            "it changes nothing",
            place=retry_from or "patches",
            fix=f"say what shall be different; mcl show {id} and mcl plan {id} tell what counts now",
            state=view.state,
            legal=view.legal(),
        )
    return Proposal(intent_id=id, body=body, **vars(found))


def _told_anew(home: Home, view: View, found: Correction) -> dict[str, Any]:
    """The patch of what the plan says of promises, where they are others by this correction; {} for none.

    Raises InputError PROMISE_UNCHECKABLE where it brings in a hard one that nobody here can check.
    """
    if found.intent == view.intent and found.plan == view.plan:
        return {}
    now, was = promised(home, found.intent, found.plan), view.plan.promises if view.plan else ()
    before = promised(home, view.intent, view.plan) if view.intent and view.plan else ()
    known = {one.says for one in unchecked(before)}
    if new := next((one for one in unchecked(now) if one.says not in known), None):
        raise InputError(
            "PROMISE_UNCHECKABLE",
            f"nobody here can check “{new.says}”: {new.why}",
            place=new.place,
            fix="make it a wish (hard = false), or a criterion that you sign off: type signed_off, what …",
        )
    if not was or now == was:
        return {}
    value = [json.loads(canonical_bytes(one)) for one in now]
    return {"op": "replace", "path": f"{_PLAN}/promises", "value": value}


def sign_correction(proposal: Proposal, *, home: Home | None = None, unseen: bool = False) -> Corrected:
    """Sign a proposal with the user's key; where it is material, the agent proposes the result in the same
    commit, so that `accept` and `run` go on. unseen: nobody looked at it.

    Raises LifecycleError: what `propose_correction` raises, where the run went on meanwhile, and
    MATERIALITY_CHANGED where it was not material when it was shown and is by now; KeyringError.
    """
    home = home or open_home()
    view = _running(read_view(home, proposal.intent_id), proposal.intent_id)
    at = home.clock.now()
    body = replace(proposal.body, unseen=home.unseen(unseen))
    found = _judged(view, body, id=proposal.intent_id, at=at)
    if found.material and not proposal.material:
        raise LifecycleError(
            "MATERIALITY_CHANGED",
            "it needs a new accept by now, which it did not when it was shown",
            place=proposal.intent_id,
            fix="look at it again, and sign that",
            state=view.state,
            legal=view.legal(),
        )
    signed = sealed(home, "intent.correct", body, intent=proposal.intent_id, at=at, causation=view.last_id)
    with home.db.write():
        home.journal.append(signed)
        if found.material:
            home.journal.tell(
                proposal.intent_id,
                Statement("intent.compiled", IntentCompiledBody(canonical_bytes(found.intent))),
                Statement("plan.proposed", PlanProposedBody(canonical_bytes(found.plan))),
            )
    return Corrected(
        proposal.intent_id,
        "proposed" if found.material else view.state,
        found.material,
        found.changes,
        found.again,
        found.intent.hash,
        found.plan.hash,
        signed.id,
    )


def refusals(
    proposal: Proposal,
    *,
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    home: Home | None = None,
) -> tuple["Verdict", ...]:
    """What the gate would refuse of a corrected plan, as things are: of the nodes that are yet to run.

    workspace: the folder of the run. Raises ScopeError where it cannot be used; where none is named and the
    current folder cannot be one, nothing is said.
    """
    from mcl.usecases.plans import preflight as judging

    home = home or open_home()
    try:
        with judging(home, workspace, skills) as walker:
            verdicts = walker.preflight_plan(proposal.intent, proposal.plan)
    except ScopeError:
        if workspace is not None:
            raise
        verdicts = []
    nodes = read_view(home, proposal.intent_id).nodes
    done = {id for id, state in nodes.items() if state == "completed"} - set(proposal.again)
    return tuple(one for one in verdicts if one.decision == "deny" and one.node_id not in done)


def correct(
    intent: str,
    *,
    patches: bytes | Sequence[dict[str, Any]] = (),
    changes: Iterable[str] = (),
    removed: Iterable[str] = (),
    reason: str = "",
    retry_from: str = "",
    home: Home | None = None,
) -> Corrected:
    """Correct the Intent or the plan of a run that has begun, signed with the user's key.

    A walk in another process goes on with it from its next node; where it is material, the walk stops, and
    `accept` then `run` go on. Arguments and errors as of `propose_correction` and `sign_correction`.
    """
    home = home or open_home()
    proposal = propose_correction(
        intent,
        patches=patches,
        changes=changes,
        removed=removed,
        reason=reason,
        retry_from=retry_from,
        home=home,
    )
    return sign_correction(proposal, home=home)


def _running(view: View, id: str) -> View:
    if view.state != "executing" and not (view.corrections and "intent.correct" in view.legal()):
        raise _none_runs(view, id)
    return view


def _none_runs(view: View, id: str) -> LifecycleError:
    other = "" if view.terminal else f"; or state the goal as it is meant: mcl cancel {id}"
    return LifecycleError(
        "ILLEGAL_EVENT",
        f"the intent is {view.state}: there is no run to correct",
        place=id,
        fix=f"{way_on(view.state, id)}{other}",
        state=view.state,
        legal=view.legal(),
    )


def _operations(patches: bytes | Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    data = patches if isinstance(patches, bytes) else json.dumps(list(patches)).encode()
    try:
        operations = read_patches(data)
    except PatchFlaw as flaw:
        raise _bad(flaw.message, flaw.place) from flaw
    for number, operation in enumerate(operations):
        for pointer in (operation["path"], operation.get("from", operation["path"])):
            if not any(pointer == root or pointer.startswith(root + "/") for root in (_INTENT, _PLAN)):
                fix = "begin it with /intent/ or /plan/, as in /intent/budget/max_calls"
                raise InputError(
                    "PATCH_WRONG", f"{pointer!r} leads nowhere", place=f"patches[{number}]", fix=fix
                )
    return operations


def _bad(message: str, place: str) -> InputError:
    fix = f"a JSON list of RFC 6902 operations, at most {MAX_BYTES} bytes"
    return InputError("PATCH_WRONG", message, place=place, fix=fix)


def _after(
    view: View,
    operations: list[dict[str, Any]],
    given: tuple[list[str], list[str]],
    *,
    id: str,
    at: str,
) -> list[dict[str, Any]]:
    """The patches of single fields, made for what the patches before them leave."""
    intent, plan = view.intent, view.plan
    if operations:
        found = _judged(view, _body(view, operations, "", ""), id=id, at=at)
        intent, plan = found.intent, found.plan
    assert intent is not None, "asked before"
    assert plan is not None, "asked before"
    return patches_of(intent, plan, *given)


def _body(view: View, operations: list[dict[str, Any]], reason: str, retry_from: str) -> IntentCorrectBody:
    """The body: of one document where all operations are about it, else of both."""
    if found := find_secret("reason", reason):
        message, fix = f"the reason looks like {found}", "leave it out; reasons are kept in the journal"
        raise InputError("SECRET_INLINE", message, place="reason", fix=fix)
    pointers = [one[name] for one in operations for name in ("path", "from") if name in one]
    of_intent = any(pointer.startswith(_INTENT) for pointer in pointers)
    of_plan = any(pointer.startswith(_PLAN) for pointer in pointers) or not of_intent
    if of_intent != of_plan:
        root = _INTENT if of_intent else _PLAN
        operations = [
            {
                name: value.removeprefix(root) if name in ("path", "from") else value
                for name, value in one.items()
            }
            for one in operations
        ]
    target = target_of(of_intent, of_plan, view)
    data = json.dumps(operations, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")
    return IntentCorrectBody(target, data, reason, retry_from)


def _judged(view: View, body: IntentCorrectBody, *, id: str, at: str) -> Correction:
    found = correction(view, body, at=at, intent=id)
    secret = next((flaw for flaw in check_plan(found.plan) if flaw.code == "SECRET_INLINE"), None)
    if secret is not None:
        raise InputError("SECRET_INLINE", secret.message, place=f"plan.{secret.place}", fix=secret.fix)
    require_extras_of(found.plan, before=view.plan)
    return found
