"""`mcl correct`: a person changes a goal, or what a run of it is to do: before it runs, while it does, and
after it failed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.errors import LifecycleError, ScopeError
from executor.gate.measures import Find
from executor.gate.standings import unchecked
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.lifecycle.corrections import Correction
from executor.store.lifecycle.view import View, way_on
from executor.store.materiality import Change
from executor.store.materiality.plans import has_effect, is_leaf
from executor.walker.undo.records import read_history
from ir import Intent, IntentCompiledBody, IntentCorrectBody, PlanProposedBody, canonical_bytes
from ir.errors import REFUSED
from ir.results import called
from mcl.catalog.tools.foreign import all_tools
from mcl.compiler.corrected_plan import corrected_plan, require_agreement
from mcl.compiler.promised import promised
from mcl.compiler.stages.request import GoalChange
from mcl.compiler.stages.signoff import require_person
from mcl.core.errors import InputError
from mcl.core.home import open_home, sealed
from mcl.language.skills import Skills
from mcl.usecases.correction_body import (
    body_of,
    judged,
    operations_between,
    operations_of_fields,
    operations_of_plan,
    read_operations,
)
from mcl.usecases.goal_corrections import corrected_goal, goal_change
from mcl.usecases.installed import installed
from mcl.usecases.intents import find_intent, read_view

if TYPE_CHECKING:
    from executor import Verdict
    from mcl.model import Model
    from mcl.usecases.intents import Shown

_SLOT: Final = re.compile(r"slot\.[A-Za-z_][\w-]*")


@dataclass(frozen=True, kw_only=True)
class Proposal(Correction):
    """What a person would sign (`body`), and what would follow from it. review: why it should be read with
    care. stays: nodes that have had effects and run again; what they did stays as it is."""

    intent_id: str
    body: IntentCorrectBody
    review: str = ""
    stays: tuple[str, ...] = ()


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
    words: str = "",
    answers: Mapping[str, str] | None = None,
    patches: bytes | Sequence[dict[str, Any]] = (),
    changes: Iterable[str] = (),
    removed: Iterable[str] = (),
    reason: str = "",
    retry_from: str = "",
    model: "Path | Model | None" = None,
    ai: bool = True,
    skills: Sequence[Path] = (),
    home: Home | None = None,
) -> Proposal:
    """What a correction would come to; nothing is signed or kept.

    words: what is to be otherwise, in plain words; answers: texts by the field of a question that they leave
    open. patches: RFC 6902 operations on {"intent": …, "plan": …} (JSON bytes, or the operations). changes:
    `slot.name=value`, or `path=value` as `fields.patches_of` says; removed: slots and paths; they follow the
    patches. A goal (words, slots) and fields are not corrected together. retry_from: a node from which the
    run is to be repeated. model, ai: what reads the words (default: what read the goal). skills: further
    folders. The plan follows the goal, and what it says of promises, by themselves.

    Raises InputError, EXTRA_MISSING where a tool that it brings in is not installed, PROMISE_UNCHECKABLE
    where it promises what nobody here can check, CORRECTION_MIXED, SAID_BY_SLOT where the plan would do what
    the goal does not say, UNDONE, and what `corrected_goal` raises, QUESTIONS_OPEN among it; LifecycleError
    STALE_CORRECTION, CORRECTION_INVALID, CORRECTION_TOO_LATE, ILLEGAL_EVENT where nothing can be corrected.
    """
    home = home or open_home()
    id = find_intent(home, intent)
    view = _correctable(home, read_view(home, id), id)
    if view.intent is None or view.plan is None:
        raise _nothing_there(view, id)
    at, review, goal = home.clock.now(), "", b""
    known = installed(home.path, skills) if view.intent.compile_metadata is not None else None
    operations = read_operations(patches)
    fields, others, gone = _parted(view.intent, known, list(changes), list(removed))

    def found(operations: list[dict[str, Any]]) -> Correction:
        return judged(view, body_of(view, operations, reason, retry_from, goal), id=id, at=at)

    if words.strip() or fields or answers:
        if operations or others or gone:
            raise InputError(
                "CORRECTION_MIXED",
                "words and slots correct the goal, and the plan follows it; a field is corrected by itself",
                place="correction",
                fix="sign them one after the other",
            )
        change = goal_change(words, {**fields, **(answers or {})})
        skilled = known if known is not None else installed(home.path, skills)
        made = corrected_goal(home, view, change, skills=skilled, model=model, ai=ai)
        operations = operations_between(view, made.intent, made.plan)
        review, goal = made.review, change.data()
    else:
        if others or gone:
            operations += operations_of_fields(view, operations, (others, gone), id=id, at=at)
        if operations and known is not None:
            operations += _follows(home, view, found(operations), known)
    if told := _told_anew(home, view, found(operations)):
        operations.append(told)
    comes_to = found(operations)
    if not comes_to.changes and not comes_to.again:
        raise LifecycleError(
            "CORRECTION_INVALID",
            "it changes nothing",
            place=retry_from or "patches",
            fix=f"say what shall be different; mcl show {id} and mcl plan {id} tell what counts now",
            state=view.state,
            legal=view.legal(),
        )
    body = body_of(view, operations, reason, retry_from, goal)
    stays = _stays(view, comes_to)
    return Proposal(intent_id=id, body=body, review=review, stays=stays, **vars(comes_to))


def _parted(
    intent: Intent, skills: Skills | None, changes: list[str], removed: list[str]
) -> tuple[dict[str, str], list[str], list[str]]:
    """What is said of slots, by their fields; then the changes and removals of other fields."""
    made = intent.compile_metadata
    skill = skills.get(made.skill_id) if skills is not None and made is not None else None
    known = {slot.name for slot in skill.slots} - set(Intent.model_fields) if skill is not None else set()

    def slot(path: str) -> str:
        path = path.strip()
        return f"slot.{path}" if path in known else path if _SLOT.fullmatch(path) else ""

    said = [one.partition("=") for one in changes]
    fields = {slot(path): text for path, sign, text in said if sign and slot(path)}
    fields |= {slot(path): "" for path in removed if slot(path)}
    others = [path + sign + text for path, sign, text in said if not (sign and slot(path))]
    return fields, others, [path for path in removed if not slot(path)]


def _follows(home: Home, view: View, found: Correction, skills: Skills) -> list[dict[str, Any]]:
    """The patches of the plan that follow from what was corrected of the Intent alone. Raises InputError
    SAID_BY_SLOT where the plan alone was corrected, and would do what the Intent does not say."""
    assert view.intent is not None, "asked before"
    assert view.plan is not None, "asked before"
    if found.intent.frame.objects == view.intent.frame.objects:
        require_agreement(home, view.intent, view.plan, found.plan, skills)
    follows = corrected_plan(home, view.intent, found.intent, found.plan, skills)
    return operations_of_plan(found.plan, follows)


def _stays(view: View, found: Correction) -> tuple[str, ...]:
    """The nodes that run again and have had effects, in the order of the plan that ran."""
    plan = view.walked or view.plan
    nodes = [node for node, _ in plan.root.walk()] if plan is not None else []
    return tuple(node.id for node in nodes if node.id in found.again and is_leaf(node) and has_effect(node))


def _told_anew(home: Home, view: View, found: Correction) -> dict[str, Any]:
    """The patch of what the plan says of promises, where they are others by this correction; {} for none.

    Raises InputError PROMISE_UNCHECKABLE where it brings in a hard one that nobody here can check.
    """
    if found.intent == view.intent and found.plan == view.plan:
        return {}

    def tools() -> Find:
        return all_tools(home).find

    now, was = promised(home, found.intent, found.plan, tools), view.plan.promises if view.plan else ()
    before = promised(home, view.intent, view.plan, tools) if view.intent and view.plan else ()
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
    return {"op": "replace", "path": "/plan/promises", "value": value}


def sign_correction(proposal: Proposal, *, home: Home | None = None, unseen: bool = False) -> Corrected:
    """Sign a proposal with the user's key; where it is material, the agent proposes the result in the same
    commit, so that `accept` and `run` go on. unseen: nobody looked at it.

    Raises LifecycleError: what `propose_correction` raises, where the run went on meanwhile, and
    MATERIALITY_CHANGED where it was not material when it was shown and is by now; InputError PERSON_ONLY
    (unseen, with an answer to what becomes of a promise that nobody can check); KeyringError.
    """
    home = home or open_home()
    view = _correctable(home, read_view(home, proposal.intent_id), proposal.intent_id)
    at = home.clock.now()
    body = replace(proposal.body, unseen=home.unseen(unseen))
    if unseen and body.goal:
        require_person(
            GoalChange.from_data(body.goal).fields,
            fix="have the person sign this correction, without --yes",
        )
    found = judged(view, body, id=proposal.intent_id, at=at)
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
    words: str = "",
    *,
    answers: Mapping[str, str] | None = None,
    patches: bytes | Sequence[dict[str, Any]] = (),
    changes: Iterable[str] = (),
    removed: Iterable[str] = (),
    reason: str = "",
    retry_from: str = "",
    model: "Path | Model | None" = None,
    ai: bool = True,
    skills: Sequence[Path] = (),
    home: Home | None = None,
) -> Corrected:
    """Correct a goal in words or by slot, or a field of its Intent or plan, signed with the user's key.

    A walk in another process goes on with it from its next node; where it is material, the walk stops, and
    `accept` then `run` go on. Arguments and errors as of `propose_correction` and `sign_correction`.
    """
    home = home or open_home()
    proposal = propose_correction(
        intent,
        words=words,
        answers=answers,
        model=model,
        ai=ai,
        skills=skills,
        patches=patches,
        changes=changes,
        removed=removed,
        reason=reason,
        retry_from=retry_from,
        home=home,
    )
    return sign_correction(proposal, home=home)


def waits_for_words(home: Home, found: "Shown") -> bool:
    """Whether the run of a compiled goal failed, and can go on once a person says what is to be otherwise."""
    intent = found.intent
    if found.state != "failed" or found.plan is None or intent is None or intent.compile_metadata is None:
        return False
    try:
        _correctable(home, found.view, found.id)
    except (LifecycleError, InputError):
        return False
    return True


def _correctable(home: Home, view: View, id: str) -> View:
    """The view, where what it tells of can be corrected. Raises LifecycleError ILLEGAL_EVENT; InputError
    UNDONE, as what a run that failed did and is not done any more would be taken for done."""
    if "intent.correct" not in view.legal() or (view.state == "failed" and not view.begun):
        raise _nothing_there(view, id)
    if view.state == "failed" and any(one.ended != "stopped" for one in read_history(home.journal, id).undos):
        raise InputError(
            "UNDONE",
            "the files of this run were put back, so it cannot go on from where it failed",
            place=id,
            fix='state the goal again: mcl compile "GOAL"',
            exit=REFUSED,
        )
    if view.state == "failed" and (rows := home.journal.forgotten(id)):
        raise InputError(
            "OUTPUT_FORGOTTEN",
            f"what lay beside row {rows[0]} was forgotten, so this run cannot go on from where it failed",
            place=f"journal:{rows[0]}",
            fix='state the goal again: mcl compile "GOAL"',
            exit=REFUSED,
        )
    return view


def _nothing_there(view: View, id: str) -> LifecycleError:
    planless = "intent.correct" in view.legal() and view.plan is None
    return LifecycleError(
        "ILLEGAL_EVENT",
        f"the intent is {view.state}{' without a plan' if planless else ''}: there is nothing to correct",
        place=id,
        fix=way_on(view.state, id),
        state=view.state,
        legal=view.legal(),
    )
