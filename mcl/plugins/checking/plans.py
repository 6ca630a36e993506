"""Plans: what would run, what the gate says to it, how two differ, and pictures; what `mcl.plans` offers."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from executor import Verdict
from executor.gate.decide import BEFOREHAND
from executor.gate.verdict import Deny
from executor.store.home import Home
from ir import VERBS, Intent, MclError, PlanTree, content_hash, is_ulid, valid_verb, with_hash
from mcl.catalog.extras import missing_for
from mcl.core.errors import InputError
from mcl.core.home import open_home
from mcl.plugins.checking.comparison import MaterialityReport as MaterialityReport
from mcl.plugins.checking.comparison import compare as compare
from mcl.usecases.intents import find_intent, read_view
from mcl.usecases.plans import Planned as Planned
from mcl.usecases.plans import preflight as preflight
from mcl.usecases.plans import show as show
from mcl.usecases.verification import read_document

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
    from mcl.plugins.checking import graphs

    states = read_view(home, seen.intent.id).nodes
    shown = graphs.picture_of(
        seen.unfolded, goal=seen.intent.prose, state=seen.state, verdicts=seen.verdicts, states=states
    )
    if form == "mermaid":
        return graphs.mermaid_text(shown).encode()
    text = graphs.dot_text(shown)
    return text.encode() if form == "dot" else graphs.draw(text, form, boxes=len(shown.boxes))
