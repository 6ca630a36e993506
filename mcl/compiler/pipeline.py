"""The stages, in the order that `grammars/core/pipeline.mtx` gives: a request in, an outcome out. Nothing is
stored here."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from executor.gate.standings import unchecked
from executor.store.home import Home
from ir import (
    ClarifyQuestion,
    CompileMetadata,
    Frame,
    Intent,
    PlanTree,
    key_of,
    with_hash,
)
from mcl.compiler.outcome import Clarify, Compiled, CompileReasons, Outcome, Refused
from mcl.compiler.promised import Finder, always_undone, is_undone, with_promises
from mcl.compiler.skill_plans import SkillPlans
from mcl.compiler.stages.classify import Classified, OutOfScope, classify
from mcl.compiler.stages.clauses import Clauses
from mcl.compiler.stages.commands import declared_in
from mcl.compiler.stages.coverage_words import SECOND
from mcl.compiler.stages.extract import Understanding, extract
from mcl.compiler.stages.gaps import Gap, questions_of, unknowns_of
from mcl.compiler.stages.memories import Recall, look_up, prefetch, resolve
from mcl.compiler.stages.proposals import Choosing, settled
from mcl.compiler.stages.repeats import WHEN, as_said, with_moments, with_repeats
from mcl.compiler.stages.request import GoalRequest, normalise
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.score import Provenance, ScoreVerdict, build, score
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.compiler.stages.signoff import KeyNames, asked_about, left_open, open_words
from mcl.compiler.stages.slips import SlipWords, without_slips
from mcl.compiler.stages.topics import topics_of, with_topic
from mcl.language.mtx.codec import value_digest
from mcl.language.mtx.core import Core
from mcl.language.mtx.procedure import ResolveRule, SlotValue
from mcl.language.plans.planner import KnownTools
from mcl.language.skills import Skill, Skills, mtx_digest
from mcl.memory import Bundle, MemoryStore, Snapshot
from mcl.model.cues import with_cues
from mcl.model.protocol import Model, plan_writer, takes_all

if TYPE_CHECKING:  # a compile that has no plan written pays for none of it
    from executor.tools.registry import Registry
    from mcl.compiler.plan_writing import Attempt

_WRITTEN: Final = "a model wrote this plan: read every node of it before you sign"


Made = TypeVar("Made")


class Pipeline:
    """The stages over a home's memories and the installed skills. timer: seconds that only grow. tools: makes
    the tools that may check a promise, or that a model may put into a plan of its own; None: none does.
    again: it is compiled for a replay: what was asked about promises then is answered, and keys and grants
    are others now.

    Raises SkillError NO_SETTING, BAD_SETTING where a core module does not say what is needed.
    """

    def __init__(
        self,
        home: Home,
        skills: Skills,
        core: Core,
        registry: KnownTools | None,
        timer: Callable[[], float],
        tools: "Callable[[], Registry] | None" = None,
        *,
        again: bool = False,
    ) -> None:
        self._again = again
        self.skills, self.core, self._tools = skills, core, tools
        self.rules = core.once(Rules.of)
        self.topics, self.slips = core.once(topics_of), core.once(SlipWords.of)
        self.stages = core.once(_ordered)
        self.memory = MemoryStore(home)
        self.home = home
        self._timer = timer
        self.known = tools  # what a wish may use is read from these
        self._plans = SkillPlans(skills, self.rules, registry, tools, self.ms)
        self._started = timer()

    def run(self, request: GoalRequest, model: Model, snapshot: Snapshot | None = None) -> Outcome:
        """Compile a request against the memories of `snapshot` (default: now).

        Raises what the stages raise; SkillError PLAN_FLAWED, TOOL_MISSING where the skill's plan cannot run
        and the skill does not say what follows then.
        """
        snapshot = snapshot or self.memory.snapshot()
        goal = _Goal(self, request, model, snapshot)
        for name in self.stages:
            ended = STAGES[name].run(goal)
            if ended is None and name not in _QUICK:
                ended = self._late(goal)
            if ended is not None:
                return ended
        return self._outcome(goal, snapshot)

    def among(self, skills: Sequence[Skill]) -> "Pipeline":
        """The same, where only these skills may be chosen."""
        other = copy(self)
        other.skills = Skills({one.id: one for one in skills})
        return other

    def ms(self) -> float:
        """Milliseconds since the pipeline was made, without what `apart` took."""
        return (self._timer() - self._started) * 1000

    def apart(self, work: Callable[[], Made], /) -> Made:
        """What `work` gives; the time it takes counts for nothing."""
        began = self._timer()
        made = work()
        # Loading a model takes seconds, once, and so does its reading of the skills: the limit is for work on
        # a goal.
        self._started += self._timer() - began
        return made

    def too_many_rounds(self, id: str, rounds: int) -> Refused:
        """What is said where a goal is still unclear after all the rounds that there may be."""
        ending = self.rules.endings["too_many_rounds"]
        message = ending.message or f"it is still unclear after {rounds} rounds of questions"
        return Refused(id, ending.reason, message, (), self.ms())

    def _late(self, goal: "_Goal") -> Refused | None:
        """What is said where the stages so far took longer than all of them may."""
        ms, ending, rules = self.ms(), self.rules.endings["out_of_time"], self.rules
        most = rules.timeout_ms if plan_writer(goal.model) is None else rules.chat_timeout_ms
        if ms <= most:
            return None
        message = ending.message or f"compiling took {ms:.0f} ms; at most {most} are allowed"
        return Refused(goal.request.id, ending.reason, message, (), ms)

    def out_of_scope(self, goal: "_Goal", found: OutOfScope) -> Outcome:
        """What is said where no skill does this: a refusal, or the question which skill is meant."""
        ending, request, nearest = self.rules.endings["no_skill_fits"], goal.request, found.nearest
        near = ", ".join(nearest)
        message = ending.message or self.rules.no_goal.get(found.kind, "no skill here does this")
        if not ending.clarify and not self.rules.no_goal.get(found.kind):
            message += f"; the nearest are {near}" if near else ""
            message += "; mcl skill new makes one"
        if not ending.clarify:
            reasons = CompileReasons(self.rules, "refused", found.shares)
            return Refused(request.id, ending.reason, message, nearest, self.ms(), reasons=reasons)
        gap = Gap("skill", "SkillRef", "blocking", message, options=nearest)
        model, core = goal.model, value_digest({"skill": None, "core": self.core.digests})
        metadata = CompileMetadata(
            mtx_digest=core,
            model_digest=model.digest,
            model_version=model.version,
            grammar=with_cues(model.grammar),
        )
        intent = Intent(
            id=request.id,
            actor=request.actor,
            agent=request.agent,
            prose=request.prose,
            frame=Frame(verb=request.verb),
            unknowns=unknowns_of([gap]),
            state="clarifying",
            created_at=request.at,
            expires_at=request.expires,
            goal_id=request.goal_id,
            signed_by=key_of(request.actor).hex(),
            compile_metadata=metadata,
        )
        reasons = CompileReasons(self.rules, "clarify", found.shares, open=(gap,))
        return Clarify(with_hash(intent), self._questions((gap,)), self.ms(), reasons=reasons)

    def _outcome(self, goal: "_Goal", snapshot: Snapshot) -> Outcome:
        """The Intent with its plan, or what must be known first."""
        skill, model, verdict = goal.classified.skill, goal.model, goal.verdict
        provenance = Provenance(
            mtx_digest(skill, self.core), model.digest, model.version, with_cues(model.grammar), snapshot.root
        )

        def intent_of(verdict: ScoreVerdict) -> Intent:
            return build(goal.understood, verdict, provenance)

        planned = None
        if verdict.outcome == "clarify" and (undone := self._if_undone(goal, intent_of)) is not None:
            verdict, planned = undone
        if verdict.outcome == "clarify" and (missing := self._missing(goal, verdict, intent_of)) is not None:
            verdict = _asking(verdict, (missing,))
        intent = intent_of(verdict)
        if verdict.outcome != "clarify":
            plan, goal.attempts = planned or self._plans.of(goal.classified, intent, model)
            if isinstance(plan, PlanTree):
                plan = with_promises(self.home, intent, plan, self._finder)
                opens = self._opens(goal, plan)
                if not opens <= goal.request.opens:  # what was read is compiled again without them
                    request = replace(goal.request, opens=goal.request.opens | opens)
                    return self.run(request, goal.model, snapshot)
                if unsure := (*self._left_out(goal, intent, verdict, plan), *self._unsure(goal, plan)):
                    verdict = _asking(verdict, unsure)
                    return self._clarify(goal, verdict, intent_of(verdict))
            if isinstance(plan, Refused):
                return plan
            # The model's verb may not do what the plan does, and one other may: nothing is left for a person
            # to choose. Compiled again as if that had been answered; once, as the verb is given then.
            open_verb = isinstance(plan, Gap) and plan.field == "frame.verb" and not goal.request.verb
            if isinstance(plan, Gap) and open_verb and len(plan.options) == 1:  # only that one may do it
                answers = {**goal.request.answers, plan.field: plan.options[0]}
                return self.run(goal.request.answered(answers), goal.model, snapshot)
            if not isinstance(plan, Gap):
                made, why_not = (None, plan) if isinstance(plan, str) else (plan, "")
                written = made is not None and bool(made.grammar)
                look = goal.understood.extraction.look or verdict.outcome == "review"
                review, said = look or written, _WRITTEN if written else verdict.said
                prompt, attempts = goal.understood.extraction.prompt, goal.attempts
                reasons = CompileReasons.of(goal.understood, verdict, self.rules)
                return Compiled(
                    intent, made, review, why_not, self.ms(), said, prompt, attempts, reasons=reasons
                )
            verdict = _asking(verdict, (plan,))
            intent = intent_of(verdict)
        return self._clarify(goal, verdict, intent)

    def _if_undone(
        self, goal: "_Goal", intent_of: Callable[[ScoreVerdict], Intent]
    ) -> "tuple[ScoreVerdict, tuple[PlanTree, tuple[Attempt, ...]]] | None":
        """The verdict that shows what else is asked about, where it may: the plan that follows from it, given
        with how it was made, can be undone."""
        verdict = score(goal.understood, self.rules, undone=True)
        if verdict.outcome == "clarify":
            return None
        plan, attempts = self._plans.of(goal.classified, intent_of(verdict), goal.model)
        return (verdict, (plan, attempts)) if isinstance(plan, PlanTree) and self._is_undone(plan) else None

    def _missing(
        self, goal: "_Goal", verdict: ScoreVerdict, intent_of: Callable[[ScoreVerdict], Intent]
    ) -> Gap | None:
        """What a plan lacks that is asked for first, where else only words that nothing read says are asked
        about: what they say may be of that."""
        asked = verdict.gaps[: verdict.asked]
        skill = goal.classified.skill
        if skill.takes_any or not asked or any(not gap.field.startswith(PROMISE) for gap in asked):
            return None
        plan, _ = self._plans.of(
            goal.classified, intent_of(score(goal.understood, self.rules, undone=True)), goal.model
        )
        return plan if isinstance(plan, Gap) and plan.field.startswith("slot.") else None

    def _clarify(self, goal: "_Goal", verdict: ScoreVerdict, intent: Intent) -> Clarify:
        prompt = goal.understood.extraction.prompt
        reasons = CompileReasons.of(goal.understood, verdict, self.rules)
        questions = self._questions(verdict.gaps[: verdict.asked])
        return Clarify(intent, questions, self.ms(), prompt, reasons=reasons)

    def keys(self, request: GoalRequest) -> KeyNames:
        """Whom names in a goal may mean, as the keys were when it was said."""
        return KeyNames.of(self.home.keyring.entries(), request.at)

    def _left_out(
        self, goal: "_Goal", intent: Intent, verdict: ScoreVerdict, plan: PlanTree
    ) -> tuple[Gap, ...]:
        """What is open of the goal's own words, where a plan would leave out a wish, or do what no undo puts
        back, and its further wishes that no skill does: a plan that a model writes does the first. One for
        any goal keeps all."""
        if goal.classified.skill.takes_any:
            return ()
        undone = (one.prose for one in intent.frame.further if not one.skill_ref)
        further = [open_words(SECOND, words, goal.rules.choices) for words in undone]
        gaps = [gap for gap in verdict.gaps if gap.field.startswith(PROMISE) and gap.severity != "optional"]
        # Where nothing of a goal was read for a skill that may not be meant, what is open may be all of it.
        sure = self.rules.routing(goal.classified.skill_probability).route == "compiled"
        read = any(mark.field.startswith("frame.objects") for mark in goal.understood.extraction.spans)
        if gaps and (sure or read) and self._is_undone(plan):
            wished, signing = goal.understood.wished, self.rules.coverage.signing
            gaps = [gap for gap in gaps if gap.field in wished or signing.search(gap.field)]
        return tuple(replace(gap, severity="blocking") for gap in (*gaps, *further))

    def _is_undone(self, plan: PlanTree) -> bool:
        """Whether a person can take back what a plan does; of a replay, whether it was thought so."""
        if self.known is None:
            return self._again
        return is_undone(plan, self.skills, self.known().find)

    def _opens(self, goal: "_Goal", plan: PlanTree) -> frozenset[str]:
        """The words of what a plan that can be undone promises, and nobody here can check."""
        unseen = unchecked(plan.promises)
        if not unseen or goal.classified.skill.takes_any or not self._is_undone(plan):
            return frozenset()
        return left_open(unseen, goal.understood.extraction.said)

    def _unsure(self, goal: "_Goal", plan: PlanTree) -> tuple[Gap, ...]:
        """The questions about what it promises and nobody here can check."""
        unseen = unchecked(plan.promises)
        if not unseen or self._again:
            return ()
        keys = KeyNames.of(self.home.keyring.entries(), self.home.clock.now())
        return asked_about(unseen, goal.understood.extraction.said, self.rules.choices, keys)

    @property
    def _finder(self) -> Finder | None:
        tools = self._tools
        return (lambda: tools().find) if tools is not None else None

    def _questions(self, gaps: tuple[Gap, ...]) -> tuple[ClarifyQuestion, ...]:
        return questions_of(gaps, self.rules.question, self.rules.asked)


class _Goal:
    """One goal on its way through the stages. What a stage reads, one before it has set (`_ordered` sees to
    it)."""

    said: GoalRequest
    fell: tuple[str, ...]  # words that the goal takes back itself
    classified: Classified
    understood: Understanding
    verdict: ScoreVerdict
    moment: Mapping[str, str]  # what is told of it beside the inputs

    def __init__(self, pipeline: Pipeline, request: GoalRequest, model: Model, snapshot: Snapshot) -> None:
        self.pipeline, self.rules = pipeline, pipeline.rules
        self.request, self.model, self.snapshot = request, model, snapshot
        self.memories = pipeline.memory.memories(snapshot)
        self.bundle = Bundle()
        self.recall = Recall(self.memories)
        self.attempts: tuple[Attempt, ...] = ()

    def normalise(self) -> Outcome | None:
        prose = normalise(self.request.prose, longest=self.rules.longest_prose)
        self.request = replace(self.request, prose=prose)
        return None

    def classify(self) -> Outcome | None:
        if self._remembers:
            self.request = self.recall.choice(self.request, self.pipeline.skills)
        skills = self.pipeline.skills
        found, self.said = classify(self.request, skills, self.model, self.rules), self.request
        there = self.request.files.there
        clauses = Clauses(self.request.prose, None, self.rules.coverage)
        plain, self.fell = without_slips(clauses, self.pipeline.slips)
        if self.fell:
            self.request, clauses = replace(self.request, prose=plain), Clauses(plain, None, clauses.words)
            found = classify(self.request, skills, self.model, self.rules)
        about = with_topic(clauses, self.pipeline.topics, there.has if there else lambda path: False)
        if about != plain:
            self.request = replace(self.request, prose=about)
            told, found = found, classify(self.request, skills, self.model, self.rules)
            # What is told may say more of the skill than what is left: "the branch is merged, delete it".
            if isinstance(told, Classified) and isinstance(found, Classified) and told.skill != found.skill:
                doubtful = self.rules.routing(told.skill_probability).route == "clarify"
                found = found if doubtful else replace(told, begins=found.begins)
        if skills.derived.by_id:
            from mcl.compiler.stages.derived_choice import with_derived  # few homes have some

            found = with_derived(found, self.request, skills, self.model, self.rules)
        found = settled(Choosing(self.request, skills, self.model, self.rules), found)
        if isinstance(found, OutOfScope):
            self.request = replace(self.request, prose=self.said.prose)
            return self.pipeline.out_of_scope(self, found)
        self.classified = found
        return None

    def prefetch(self) -> Outcome | None:
        self.bundle = prefetch(self.request, self.classified, self.memories, self.rules)
        return None

    def extract(self) -> Outcome | None:
        known = self._known if self._remembers else None
        if self._remembers:
            self.request = self.recall.fields(self.request, self.classified.skill, self.rules)
        chosen, said = self.classified, self.said
        repeated = with_repeats(self.request, chosen.skill)
        self.request, self.moment = with_moments(repeated, chosen.skill, chosen.verb)
        keys = self.pipeline.keys(self.request)
        rules, model = self.rules, self.model
        declared = partial(declared_in, self.pipeline.home.path)
        read = extract(self.request, self.classified, self.bundle, model, rules, known, keys, declared)
        if read.wishes:
            from mcl.compiler.further import WishContext, with_wishes  # few goals have some

            pipeline, words = self.pipeline, self.rules.coverage
            compares, run = takes_all(self.model), self._by_itself
            context = WishContext(self.request, pipeline.skills, words, pipeline.known, compares, run)
            read = with_wishes(read, self.classified.skill, context)
        if self.request.changes:
            from mcl.compiler.stages.changes import corrected  # only a correction has some

            read = corrected(
                read, self.request, self.classified, self.bundle, model, rules, known, keys, declared
            )
        if unread := self.moment.get("unread"):
            read = replace(read, look=True, rest=(*read.rest, unread))
        if self.fell:
            read = replace(read, look=True, rest=(*read.rest, *self.fell))
        if self.request.prose != said.prose:
            read = as_said(read, self.request.told, said.told)
            self.request = replace(self.request, prose=said.prose)
        self.understood = Understanding(self.request, self.classified, read)
        return None

    def _by_itself(self, request: GoalRequest, among: Sequence[Skill] = ()) -> Outcome:
        """Compile a goal. among: the only skills that may be chosen; (): all."""
        pipeline = self.pipeline.among(among) if among else self.pipeline
        with request.files.beside(request.prose) as files:
            return pipeline.run(replace(request, files=files), self.model, self.snapshot)

    def resolve(self) -> Outcome | None:
        self.understood = resolve(self.understood, self.memories, self.rules, self.recall)
        return None

    def score(self) -> Outcome | None:
        known, skill = self.pipeline.known, self.classified.skill
        left = any(gap.field.startswith(PROMISE) for gap in self.understood.extraction.gaps)
        undone = left and known is not None and always_undone(skill, known().find)
        self.verdict = score(self.understood, self.rules, undone=undone)
        if asked := self.moment.get("asked"):
            gaps = self.verdict.gaps
            gaps = tuple(replace(one, prompt=asked) if one.field == f"slot.{WHEN}" else one for one in gaps)
            self.verdict = replace(self.verdict, gaps=gaps)
        return None

    @property
    def _remembers(self) -> bool:
        """Whether words become addresses of memories here, and answers are those of earlier ones."""
        return "resolve" in self.pipeline.stages

    def _known(self, rule: ResolveRule, value: str) -> SlotValue | None:
        """What a person gave for a slot, with its address."""
        found = look_up(rule, value, self.memories, self.rules)
        return SlotValue(value, found[0].uri, value) if len(found) == 1 else None


class Stage(NamedTuple):
    """One stage: what it does, what earlier stages must have given, what it gives, and who reads that."""

    run: Callable[[_Goal], Outcome | None]
    needs: tuple[str, ...]
    gives: str
    read_by: str = ""


STAGES: Final[Mapping[str, Stage]] = {
    "normalise": Stage(_Goal.normalise, (), "a goal"),
    "classify": Stage(_Goal.classify, ("a goal",), "a skill"),
    "prefetch": Stage(_Goal.prefetch, ("a skill",), "memories", "extract"),
    "extract": Stage(_Goal.extract, ("a skill",), "a Frame"),
    "resolve": Stage(_Goal.resolve, ("a Frame",), "addresses", "score"),
    "score": Stage(_Goal.score, ("a Frame",), "a verdict"),
}
_LAST: Final = "score"
_QUICK: Final = ("normalise",)  # takes no time worth looking at the clock for


def _ordered(core: Core) -> tuple[str, ...]:
    """The names of the stages in the order of the module `pipeline`. Raises SkillError NO_SETTING,
    BAD_SETTING."""
    pipeline = core["pipeline"]
    names = pipeline.words("stages", tuple(STAGES))
    given: set[str] = set()
    for place, name in enumerate(names):
        stage = STAGES[name]
        for need in stage.needs:
            if need not in given:
                giver = next(other for other in STAGES if STAGES[other].gives == need)
                why = f"has {name} without {giver} before it: it needs {need}"
                raise pipeline.bad("stages", why, f"put {giver} before {name}")
        if stage.read_by and stage.read_by not in names[place:]:
            why = f"has {name} and no {stage.read_by} after it: nothing reads {stage.gives}"
            raise pipeline.bad("stages", why, f"put {name} before {stage.read_by}, or leave it out")
        given.add(stage.gives)
    if names[-1:] != (_LAST,):
        raise pipeline.bad("stages", f"does not end with {_LAST}", f"put {_LAST} last")
    return names


def _asking(verdict: ScoreVerdict, gaps: tuple[Gap, ...]) -> ScoreVerdict:
    """The verdict that asks these questions, and no other."""
    fields = {gap.field for gap in gaps}
    others = (gap for gap in verdict.gaps if gap.field not in fields)
    return replace(verdict, outcome="clarify", gaps=(*gaps, *others), asked=len(gaps))
