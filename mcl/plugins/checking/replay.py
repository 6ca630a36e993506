"""`mcl replay`: is what ran still what its goal, answers and corrections make of it, with the skill, model
and memories of then?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from executor import View
from executor.store.home import Home
from executor.store.lifecycle.corrections import correction
from ir import Intent, IntentCorrectBody, PlanTree, canonical_bytes, content_hash, with_hash
from ir.errors import MclError
from ir.intent import CompileMetadata, seed_of
from ir.results import JsonResult
from mcl.catalog.tools import registry
from mcl.compiler.plan_writing import PlanOrigin, write_plan
from mcl.compiler.recompilation import recompile
from mcl.compiler.stages.request import GoalChange
from mcl.compiler.stages.rules import Rules
from mcl.core.errors import InputError
from mcl.core.home import open_home
from mcl.core.text import some
from mcl.language.mtx.core import core_of
from mcl.language.plans.binding import Bindings
from mcl.language.plans.planner import make_plan
from mcl.language.skills import Skill, Skills, mtx_digest
from mcl.memory import MemoryStore, Snapshot
from mcl.model.cues import with_cues
from mcl.model.protocol import plan_writer
from mcl.plugins.checking.chain import Chain, CorrectionLink, Hashes
from mcl.plugins.checking.replay_items import Answer, ReplayItem, compared, missing
from mcl.usecases.compile import open_model, tools_of
from mcl.usecases.goal_corrections import corrected_goal
from mcl.usecases.installed import installed
from mcl.usecases.intents import find_intent, read_view
from mcl.usecases.models import Models

if TYPE_CHECKING:
    from mcl.model import Model

_CORTEX = "matrix://cortex/"
# The same weights add up to other last digits where the processor adds in another order. Only where skill,
# model, grammar, memory and seed are proved the same, and only this far.
_LAST_DIGITS = 0.005
_ROWS = 10  # that are named
_ROUNDS = "the same model; processors round their sums differently"


@dataclass(frozen=True)
class Replay(JsonResult):
    """All that was compared, in order: the first compile, each correction, what was accepted, what ran.

    of: how far the intent came, and so what `same` is said of.
    """

    JSON: ClassVar = "intent=intent_id same of items"
    intent_id: str
    items: tuple[ReplayItem, ...]
    of: Literal["compiled", "accepted", "ran"] = "compiled"

    @property
    def same(self) -> bool:
        """Whether everything was compared and is the same."""
        return all(item.verdict == "same" for item in self.items)


def replay(
    intent: str,
    *,
    model: "Path | Model | None" = None,
    skills: Sequence[Path] = (),
    steps: bool = False,
    home: Home | None = None,
) -> Replay:
    """Check what an Intent records, then make it again with its id, time and memories, and compare the bytes.

    The whole chain: the first compile with its answers, each correction, what was accepted, and the documents
    under which nodes ran.

    model: where the weights are, when this home does not know them. skills: further folders. steps: also put
    each step of a run to its model again, and compare the answers. What is gone
    or has changed is an item of the Replay, not an error. Raises InputError (no such intent, or it was
    never compiled), and what reading the journal raises.
    """
    home = home or open_home()
    id = find_intent(home, intent)
    now = read_view(home, id, fresh=True)
    chain = Chain.of(home.journal.envelopes(id))
    view = chain.first
    if view.intent is None or view.intent.compile_metadata is None:
        raise InputError(
            "NOT_COMPILED",
            f"this intent is {now.state}; there is nothing to replay",
            place=id,
            fix=f"mcl show {id}",
        )
    found = installed(home.path, skills)
    again = _Again(home, view, view.intent, view.intent.compile_metadata, found, model)
    items = tuple(again.items(chain))
    if steps:
        from mcl.plugins.checking.replayed_steps import ReplayedSteps

        items += tuple(ReplayedSteps(home, found, again.model).items(home.journal.envelopes(id)))
    return Replay(id, items, "ran" if chain.ran else "accepted" if chain.accepted else "compiled")


@dataclass
class _Again:
    home: Home
    view: View
    intent: Intent
    made: CompileMetadata
    skills: Skills
    given: "Path | Model | None"
    model: "Model | None" = None

    def items(self, chain: Chain) -> Iterator[ReplayItem]:
        """The first compile, then what followed from it."""
        first = list(self._compiled())
        yield from first
        verdicts = {_hashes(self.view): _worst([one.verdict for one in first])}
        for number, link in enumerate(chain.corrections, 1):
            item, hashes = self._correction(f"correction {number}", link)
            yield item
            verdicts[hashes] = _worst([item.verdict, verdicts.get(_hashes(link.before), "different")])
        if chain.accepted is not None:
            yield _told("accepted", [chain.accepted], verdicts, f"signed by {chain.accepted_by}")
        if chain.ran:
            ended = f", and {chain.ended}" if chain.ended else ""
            nodes = f"{chain.nodes} node{'s' if chain.nodes > 1 else ''} began{ended}"
            yield _told("ran", chain.ran, verdicts, nodes)

    def _correction(self, name: str, link: CorrectionLink) -> tuple[ReplayItem, Hashes]:
        """What a correction came to, made again: from what was said of the goal, or from its patches."""
        view, body = link.before, link.envelope.body
        assert isinstance(body, IntentCorrectBody), "the lifecycle says so"
        found = correction(view, body, at=link.envelope.at, intent=self.intent.id)
        hashes = found.intent.hash, found.plan.hash
        recorded = _both(hashes)
        if not body.goal:
            return ReplayItem(name, "same", recorded, recorded, "by its patches"), hashes
        if self.model is None:
            return missing(name, recorded, "it was read by a model that is not here"), hashes
        try:
            change = GoalChange.from_data(body.goal)
            made = corrected_goal(self.home, view, change, skills=self.skills, model=self.model, again=True)
        except MclError as error:
            return missing(name, recorded, f"{error.code}: {error.message}"), hashes
        intent, plan = with_hash(made.intent), _as_known(made.plan, found.plan)
        note = (
            f"differs in {_differing(found.intent, intent)}" if intent != found.intent else "the plan differs"
        )
        return compared(name, recorded, _both((intent.hash, plan.hash)), note), hashes

    def _compiled(self) -> Iterator[ReplayItem]:
        """Each comparison in turn. The signature was checked when the view was read from the journal."""
        yield ReplayItem("signature", "same", self.home.keyring.agent.did)
        yield compared("hash", self.intent.hash, content_hash(self.intent))
        yield compared("seed", self.made.seed, self._seed())
        parts = [self._skill(), self._model(), self._grammar(), self._memory()]
        yield from parts
        yield from self._bytes(parts)
        if self.view.plan is not None:
            yield self._plan(self.view.plan)
        yield from self._outputs()

    def _outputs(self) -> Iterator[ReplayItem]:
        """Outputs that a person had forgotten: their hashes stand in their rows, and nothing can be compared
        with them."""
        if gone := self.home.journal.forgotten(self.intent.id):
            rows = f"row{'s' if len(gone) > 1 else ''} {some(list(map(str, gone)), _ROWS)}"
            yield ReplayItem("outputs", "same", f"forgotten: what lay beside {rows}; the hashes stand")

    def _seed(self) -> str:
        seed = seed_of(self.intent)
        assert seed is not None, "it was compiled"
        return seed.hex

    def _skill(self) -> ReplayItem:
        """The skill and the core modules together, as the Intent records them."""
        wanted = f"{self.made.skill_id}@{self.made.skill_version}"
        try:
            skill = self.skills.get(self.made.skill_id)
        except MclError as error:
            return missing("skill", self.made.mtx_digest, f"{wanted} is broken: {error}")
        if skill is None:
            return missing(
                "skill", self.made.mtx_digest, f"{wanted} is not installed; name its folder with --skills"
            )
        digest = mtx_digest(skill, core_of(self.home.path))
        now = f"{skill.id}@{skill.version}"
        note = (
            f"{now} or a core module reads otherwise now"
            if now == wanted
            else f"compiled with {wanted}, here is {now}"
        )
        return compared("skill", self.made.mtx_digest, digest, note)

    def _model(self) -> ReplayItem:
        try:
            if self.given is not None:
                self.model = open_model(self.home, self.given, ai=True)
            else:
                self.model = Models(self.home).with_digest(self.made.model_digest)
        except MclError as error:
            return missing("model", self.made.model_digest, str(error))
        if self.model is None:
            where = f"{self.made.model_version} is not here; name its file with --model, or mcl model add it"
            return missing("model", self.made.model_digest, where)
        return compared("model", self.made.model_digest, self.model.digest, f"here is {self.model.version}")

    def _grammar(self) -> ReplayItem:
        if self.model is None:
            return missing("grammar", self.made.grammar, "it comes with the model")
        return compared("grammar", self.made.grammar, with_cues(self.model.grammar))

    def _memory(self) -> ReplayItem:
        root = self.made.cortex_snapshot_hash
        snapshot = MemoryStore(self.home).snapshot_of(root)
        if snapshot is None:
            return missing("memory", root, "this home never had these memories; replay where it was compiled")
        store = MemoryStore(self.home)
        rested = dict.fromkeys(one.uri for one in self.intent.references if one.uri.startswith(_CORTEX))
        for uri in rested:
            if why := _unproved(store, uri, snapshot):
                return ReplayItem("memory", "different", root, snapshot.root, why)
        now = store.snapshot()
        later = now.size - snapshot.size
        notes = [f"{len(rested)} referred to and proved"] if rested else []
        notes += [f"{later} later changes were left out"] if later else []
        return ReplayItem("memory", "same", root, now.root, "; ".join(notes))

    def _bytes(self, parts: list[ReplayItem]) -> Iterator[ReplayItem]:
        """Compile again; whatever differs among the parts is named as the likely cause."""
        if self.view.fired_by:
            yield self._fired()
            return
        causes = ", ".join(part.name for part in parts if part.verdict != "same")
        if self.model is None or self.view.draft is None:
            yield missing("bytes", self.intent.hash, f"cannot be compiled without: {causes}")
            return
        try:
            again = recompile(
                self.intent,
                self.view.draft,
                answers=self.view.answers,
                home=self.home,
                skills=self.skills,
                model=self.model,
                tools=tools_of(self.home),
            )
        except MclError as error:
            yield missing("bytes", self.intent.hash, f"{error.code}: {error.message}")
            return
        here, then = again.confidence, self.intent.confidence
        if not causes and 0 < abs(here - then) <= _LAST_DIGITS:
            yield ReplayItem("confidence", "same", f"{then:.4f}, {here:.4f} by this processor", note=_ROUNDS)
            again = with_hash(again.model_copy(update={"confidence": then}))
        verdict: Answer = "same" if canonical_bytes(again) == canonical_bytes(self.intent) else "different"
        note = "" if verdict == "same" else f"differs in {_differing(self.intent, again)}"
        yield ReplayItem("bytes", verdict, self.intent.hash, again.hash, note)

    def _fired(self) -> ReplayItem:
        """A firing was not compiled: it follows from its schedule, as reading the rows of that works out."""
        above = read_view(self.home, self.view.fired_by, fresh=True)
        firing = above.firings.get(self.intent.id)
        note = f"the schedule {self.view.fired_by} was not fired for it"
        return compared("bytes", self.intent.hash, firing.intent_hash if firing else "", note)

    def _plan(self, plan: PlanTree) -> ReplayItem:
        skill = self._installed()
        if skill is None:
            return missing("plan", plan.hash, "the skill is not installed")
        if plan.grammar:
            return self._written(plan, skill)
        try:
            again = make_plan(
                skill,
                self.intent,
                id=plan.id,
                created_at=plan.created_at,
                created_by=plan.created_by,
                binder=Bindings(self.skills),
            )
        except MclError as error:
            return missing("plan", plan.hash, f"{error.code}: {error.message}")
        again = _as_known(again, plan)
        return compared("plan", plan.hash, again.hash, "the skill's plan.yaml makes another plan now")

    def _written(self, plan: PlanTree, skill: Skill) -> ReplayItem:
        """A plan that a model wrote: have it written again, under the grammar of now."""
        writer = plan_writer(self.model) if self.model is not None else None
        if writer is None:
            return missing("plan", plan.hash, "a model wrote it, and that model is not here")
        rules, origin = (
            core_of(self.home.path).once(Rules.of),
            PlanOrigin(plan.id, plan.created_at, plan.created_by),
        )
        try:
            made = write_plan(
                writer, skill, self.intent, origin, registry(),
                nodes=rules.plan_nodes, repairs=rules.plan_repairs, binder=Bindings(self.skills),
            )  # fmt: skip
        except MclError as error:
            return missing("plan", plan.hash, f"{error.code}: {error.message}")
        if made.plan is None:
            return missing("plan", plan.hash, made.why)
        note = "the skill, its tools, the grammar or the model is another one now"
        return compared("plan", plan.hash, _as_known(made.plan, plan).hash, note)

    def _installed(self) -> Skill | None:
        try:
            return self.skills.get(self.made.skill_id)
        except MclError:
            return None


def _as_known(again: PlanTree, plan: PlanTree) -> PlanTree:
    """A plan with how promises were kept as it was known then: keys and grants are others by now."""
    return with_hash(again.model_copy(update={"promises": plan.promises})) if plan.promises else again


def _unproved(store: MemoryStore, uri: str, snapshot: Snapshot) -> str:
    """What is wrong with the proof that a memory is in a snapshot; "" where it holds."""
    from mcl.memory.proof import prove

    try:
        wrong = [check for check in prove(store, uri, snapshot=snapshot).checks() if not check.ok]
    except MclError as error:
        return f"{uri}: {error.code}: {error.message}"
    return f"{uri}: {wrong[0].said}" if wrong else ""


def _hashes(view: View) -> Hashes:
    return view.intent_hash, view.plan_hash


def _both(hashes: Hashes) -> str:
    return " + ".join(one for one in hashes if one)


def _worst(verdicts: Sequence[Answer]) -> Answer:
    """Of a chain, what may be said of its last link."""
    return max(verdicts, key=("same", "not available", "different").index, default="same")


def _told(name: str, pairs: Sequence[Hashes], verdicts: Mapping[Hashes, Answer], note: str) -> ReplayItem:
    """Of documents that counted: as much as was proved of the links of the chain that made them."""
    verdict = _worst([verdicts.get(pair, "different") for pair in pairs])
    recorded = ", then ".join(map(_both, pairs))
    if verdict == "same":
        return ReplayItem(name, verdict, recorded, recorded, note)
    return ReplayItem(name, verdict, recorded, "", f"it rests on what is {verdict} above; {note}")


def _differing(old: Intent, new: Intent) -> str:
    """The fields of the two that differ, but for the hash, which always follows."""
    before, after = old.model_dump(), new.model_dump()
    names = []
    for name in before:
        if name != "hash" and before[name] != after[name]:
            if isinstance(before[name], dict) and isinstance(after[name], dict):
                names += [
                    f"{name}.{key}" for key in before[name] if before[name][key] != after[name].get(key)
                ]
            else:
                names.append(name)
    return ", ".join(names) or "the hash alone"
