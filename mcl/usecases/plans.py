"""Plans: what would run, what the gate says to it, and pictures of it; nothing runs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from executor import Verdict, Walker
from executor.core.errors import WalkError
from executor.gate.decide import BEFOREHAND
from executor.gate.verdict import Deny
from executor.store.home import Home
from ir import VERBS, Intent, MclError, PlanNode, PlanTree, content_hash, is_ulid, valid_verb, with_hash
from ir.plan import member
from mcl.catalog.extras import missing_for
from mcl.catalog.tools.foreign import all_tools
from mcl.compiler.execution import InstalledSkills
from mcl.core.errors import InputError
from mcl.core.home import open_home
from mcl.usecases.installed import installed
from mcl.usecases.intents import find_intent, read_view, shown
from mcl.usecases.materiality import compare as compare  # a verb of plans, which needs none of the rest
from mcl.usecases.step_models import StepModels
from mcl.usecases.verification import read_document

if TYPE_CHECKING:
    from mcl.model import Model

# ---- The gate asked beforehand.


@contextmanager
def preflight(
    home: Home,
    workspace: Path | None,
    skills: Sequence[Path],
    *,
    model: "Path | Model | None" = None,
    ai: bool = True,
) -> Iterator[Walker]:
    """A walker whose preflights judge as a run in `workspace` (default: the current folder) would.

    skills: further folders of skills, for sub-dispatches. model, ai: as of ``run``. Raises ScopeError where
    the workspace cannot be used.
    """
    tools = all_tools(home)
    walker = Walker(
        home,
        tools,
        workspace=workspace or Path.cwd(),
        reasoner=StepModels(home, model, ai=ai),
        sub_skills=InstalledSkills(lambda: installed(home.path, skills), tools),
    )
    try:
        yield walker
    finally:
        walker.close()


# ---- `mcl plan`: what would run, and what the gate says to it.


@dataclass(frozen=True)
class Planned:
    """An intent's plan with the gate's verdicts, in walk order.

    accepted: a person has signed exactly this plan.
    """

    intent: Intent
    plan: PlanTree
    state: str
    accepted: bool
    verdicts: tuple[Verdict, ...]

    @property
    def refused(self) -> tuple[Verdict, ...]:
        """What the gate would refuse, as things are."""
        return tuple(one for one in self.verdicts if one.decision == "deny")

    @property
    def unfolded(self) -> PlanTree:
        """The plan with those of its sub-dispatches below their nodes, as far as they are known. It is for
        eyes, not for hashes."""
        return self._with(verdict for verdict in self.verdicts if not verdict.sketched)

    @property
    def sketched(self) -> PlanTree:
        """The same with what the others would be like."""
        return self._with(self.verdicts)

    def _with(self, verdicts: Iterable[Verdict]) -> PlanTree:
        below = {verdict.node_id: verdict.below.root for verdict in verdicts if verdict.below}
        return self.plan.model_copy(update={"root": _unfolded(self.plan.root, below)})


def show(
    intent: str,
    *,
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    model: "Path | Model | None" = None,
    ai: bool = True,
    home: Home | None = None,
) -> Planned:
    """The plan of an intent, judged as it would be run in `workspace` (default: the current folder).

    skills: further folders of skills, for sub-dispatches. model, ai: as of `run`, for step nodes.

    Raises InputError; WalkError NO_PLAN; ScopeError where the workspace cannot be used.
    """
    home = home or open_home()
    found = shown(home, find_intent(home, intent))
    if found.intent is None or found.plan is None:
        raise WalkError(
            "NO_PLAN",
            f"this intent is {found.state} and has no plan",
            place=found.id,
            fix=f"mcl show {found.id} says what can be done",
        )
    with preflight(home, workspace, skills, model=model, ai=ai) as walker:
        verdicts = walker.preflight(found.id)
    accepted = bool(found.view.accepted_plan_hash) and found.view.accepted_plan_hash == found.plan.hash
    return Planned(found.intent, found.plan, found.state, accepted, tuple(verdicts))


def _unfolded(node: PlanNode, below: Mapping[str, PlanNode]) -> PlanNode:
    children = (below[node.id],) if node.id in below else node.children
    if node.map is not None and node.map.members and len(node.children) == 1:  # each as it will be done
        children = tuple(member(node, number) for number in range(1, node.map.bound + 1))
    if not children:
        return node
    return node.model_copy(update={"children": tuple(_unfolded(child, below) for child in children)})


# ---- `mcl plan check`: what each guard says of each node of a plan, before anybody signs or runs it.

Word = Literal["allowed", "needs_approval", "denied", "invalid"]
EXITS: dict[Word, int] = {"allowed": 0, "needs_approval": 10, "denied": 11, "invalid": 12}
INVALID = EXITS["invalid"]


@dataclass(frozen=True)
class PlanChecked:
    """What the gate says of a whole plan.

    verdicts: of each node in walk order; flaws of the plan itself come first (kind "plan"). verb: of the
    goal, and where it is known from. signed: was it asked who signed what (integrity, state)? Only of an
    accepted intent.
    """

    plan: PlanTree
    verb: str
    verb_from: Literal["option", "intent", "nowhere"]
    signed: bool
    verdicts: tuple[Verdict, ...]

    @property
    def missing(self) -> MclError | None:
        """The extra that has to be installed first, for which it is not signed as things are."""
        return missing_for(self.plan)

    @property
    def verdict(self) -> Word:
        """The whole in one word."""
        if any(one.kind == "plan" for one in self.verdicts):
            return "invalid"
        said = {one.decision for one in self.verdicts}
        return (
            "denied" if "deny" in said or self.missing else "needs_approval" if "ask" in said else "allowed"
        )

    @property
    def exit(self) -> int:
        """0 allowed, 10 needs approval, 11 denied, 12 invalid."""
        return EXITS[self.verdict]

    def to_json(self) -> dict[str, object]:
        """What was found as a JSON object."""
        nodes = [one for one in self.verdicts if one.kind != "plan"]
        return {
            "plan": self.plan.id,
            "hash": self.plan.hash,
            "verb": self.verb,
            "verb_from": self.verb_from,
            "signed": self.signed,
            "verdict": self.verdict,
            "exit": self.exit,
            "missing": self.missing,
            "flaws": [one.to_json() for one in self.verdicts if one.kind == "plan"],
            "nodes": [{**one.to_json(), "guards": list(self._guards(one))} for one in nodes],
        }

    def _guards(self, verdict: Verdict) -> Iterator[dict[str, object]]:
        """Every guard of a call, also those that were not asked: of these it says so."""
        if not verdict.guards:
            return
        for name, _ in BEFOREHAND:
            if name not in verdict.guards:
                yield {"guard": name, "decision": "not asked"}
            elif (reply := verdict.guards[name]) is None:
                yield {"guard": name, "decision": "allow"}
            else:
                yield reply.to_json()


def check_file(
    path: Path,
    *,
    verb: str = "",
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    home: Home | None = None,
) -> PlanChecked:
    """Judge a PlanTree (JSON) as it would be run in `workspace` (default: the current folder).

    verb: that of the goal; "": that of the Intent in this home that the plan names, else none, and three_keys
    refuses every call (MISSING_INTENT). Who signed it is not asked.

    Raises InputError VERB_UNKNOWN, or with exit 12 for a file that is no plan (`place` says where);
    ScopeError where the workspace cannot be used.
    """
    _known(verb)
    home = home or open_home()
    plan = _read(path)
    id = plan.intent_id.rpartition("/")[2]
    known = read_view(home, id).intent if is_ulid(id) and home.journal.intents(id) else None
    if not plan.intent_id:  # no intent yet: that is no flaw of a draft
        plan = plan.model_copy(update={"intent_id": home.clock.new_id()})
        id = plan.intent_id
    intent = known or _intent(home, id if is_ulid(id) else home.clock.new_id(), verb)
    said: Literal["option", "intent", "nowhere"] = "option" if verb else "intent" if known else "nowhere"
    return _judged(home, intent, plan, verb, said, workspace, skills)


def check(
    intent: str,
    *,
    verb: str = "",
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    home: Home | None = None,
) -> PlanChecked:
    """The same for the plan of an intent; of an accepted one also who signed what.

    verb: judge as if the goal had this one. Raises InputError; WalkError NO_PLAN; ScopeError.
    """
    _known(verb)
    home = home or open_home()
    seen = show(find_intent(home, intent), workspace=workspace, skills=skills, home=home)
    if verb:
        return _judged(home, seen.intent, seen.plan, verb, "option", workspace, skills)
    verb = seen.intent.frame.verb
    return PlanChecked(seen.plan, verb, "intent", seen.accepted, seen.verdicts)


def _known(verb: str) -> None:
    if verb and not valid_verb(verb):
        fix = f"one of {', '.join(VERBS)}, or x:<name>"
        raise InputError("VERB_UNKNOWN", f"there is no verb {verb!r}", place="verb", fix=fix)


def _judged(
    home: Home,
    intent: Intent,
    plan: PlanTree,
    verb: str,
    verb_from: Literal["option", "intent", "nowhere"],
    workspace: Path | None,
    skills: Sequence[Path],
) -> PlanChecked:
    if verb:
        frame = intent.frame.model_copy(update={"verb": verb})
        intent = with_hash(intent.model_copy(update={"frame": frame}))
    with preflight(home, workspace, skills) as walker:
        verdicts = walker.preflight_plan(intent, plan)
    flaws = [] if not plan.hash or plan.hash == content_hash(plan) else [_altered(plan)]
    return PlanChecked(plan, intent.frame.verb, verb_from, False, (*flaws, *verdicts))


def _altered(plan: PlanTree) -> Verdict:
    said = f"hash is {plan.hash}, the document gives {content_hash(plan)}"
    fix = "leave the hash out, or make it again"
    return Verdict("", "plan", Deny("PLAN_HASH_MISMATCH", said, fix, guard="plan", example='"hash": ""'))


def _intent(home: Home, id: str, verb: str) -> Intent:
    """An Intent that says no more than the verb; it is stored nowhere."""
    document = {
        "id": id,
        "actor": home.keyring.user.did,
        "agent": home.keyring.agent.did,
        "frame": {"verb": verb},
        "state": "proposed",
        "created_at": home.clock.now(),
    }
    return with_hash(Intent.from_json(json.dumps(document)))


def _read(path: Path) -> PlanTree:
    data = read_document(path, "name a PlanTree (JSON)", exit=INVALID)
    try:
        return PlanTree.from_json(data)
    except MclError as problem:
        place = f"{path}: {problem.place}" if problem.place else str(path)
        fix = problem.fix or "a PlanTree as mcl show --json has it"
        raise InputError(problem.code, problem.message, place=place, fix=fix, exit=INVALID) from problem


# ---- `mcl plan --graph`: the plan of an intent as a picture.

GraphForm: TypeAlias = Literal["svg", "png", "mermaid", "dot"]


def draw(
    intent: str, form: GraphForm = "svg", *, workspace: Path | None = None, home: Home | None = None
) -> bytes:
    """The plan of an intent as a picture: kinds, tools, side effects, gates; states after a run began, before
    it what the gate says.

    form: svg and png are drawn by Graphviz; mermaid and dot are text (UTF-8). Raises InputError; WalkError
    NO_PLAN; ScopeError; GraphError GRAPH_NO_PROGRAM, GRAPH_TOO_LARGE, GRAPH_FAILED.
    """
    home = home or open_home()
    return picture(show(intent, workspace=workspace, home=home), form, home)


def picture(seen: Planned, form: GraphForm, home: Home) -> bytes:
    """The same for a plan that was looked at already."""
    from mcl.core import graphs

    states = read_view(home, seen.intent.id).nodes
    shown = graphs.picture_of(
        seen.unfolded, goal=seen.intent.prose, state=seen.state, verdicts=seen.verdicts, states=states
    )
    if form == "mermaid":
        return graphs.mermaid_text(shown).encode()
    text = graphs.dot_text(shown)
    return text.encode() if form == "dot" else graphs.draw(text, form, boxes=len(shown.boxes))
