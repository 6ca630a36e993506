"""The numbers and words that the stages go by, read from the core modules (`grammars/core/*.mtx`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from executor.store.lifecycle.events import MAX_ROUNDS
from ir.intent import SEVERITIES
from mcl.compiler.stages.commands import CommandWords
from mcl.compiler.stages.constraints import LIMITS, SIGNS
from mcl.compiler.stages.coverage_words import SECOND, CoverageWords
from mcl.compiler.stages.expiry import ExpiryWords
from mcl.compiler.stages.limit_words import LimitWords
from mcl.compiler.stages.phrases import any_of
from mcl.compiler.stages.promises import KeptWords
from mcl.compiler.stages.signoff import Choices
from mcl.language.mtx.core import Core, CoreModule
from mcl.language.mtx.procedure import interpret
from mcl.language.mtx.source import nearest
from mcl.language.phrases import PhraseAround
from mcl.model.matcher import Lexicon

Route: TypeAlias = Literal["compiled", "review", "clarify"]
# What may follow when one of these happens.
_ENDINGS: Final = {
    "too_many_rounds": ("fail",),
    "out_of_time": ("fail",),
    "no_skill_fits": ("fail", "clarify"),
}
CONFIDENCE_DIGITS: Final = 4  # the last bits of a model's logits change with its batch size
_UNIT: Final[int] = 10**CONFIDENCE_DIGITS
_PARTS: Final = ("skill", "verb", "slots", "constraints")
_OPEN: Final = ("rule", SECOND)  # asked about by their own words
_CASES: Final = {
    "verb": ("uncertain",),
    "frame": ("required_missing", "required_unread", "optional_unread", "several"),
    "constraint": ("unread", "hard_unread"),
    "pre_resolve": ("required_not_found", "optional_not_found", "several"),
}


@dataclass(frozen=True)
class Ending:
    """What follows when a compile cannot go on: `clarify` asks, else it fails with `reason`."""

    reason: str
    clarify: bool
    message: str


@dataclass(frozen=True)
class ConfidenceRouting:
    """What follows from a confidence, and what is said of it (a question, or why it should be read)."""

    route: Route
    said: str = ""


@dataclass(frozen=True)
class Rules:
    """longest_prose in characters, bundle_tokens in tokens, timeout_ms and chat_timeout_ms (of a
    chat model) in milliseconds; certainties are
    shares.

    word_weight, example_weight, verb_weight: what shared words, a similar example and having the verb of the
    goal's first word count beside a model that is shown a few skills; familiar_weight: what it counts beside
    one that compares with all how clearly, over familiar_margin, a goal is for a skill that the model was
    taught by name; familiar_share: the exponent of the shares where all are of such skills; phrase_weight:
    what it counts that a goal has a fixed phrase of a skill; around_phrases: what counts for nothing there;
    pattern_weight: what a pattern counts beside its spans; unnamed_option: how certain it must be of an
    option that the goal does not name. lexicon: words that say a verb. weights: of the parts of a confidence,
    by name; rest_weight: of the word that most likely says something and was not read. factors: what an open
    unknown multiplies it by, by severity. severities: by module and case, as "frame.required_missing".
    plan_nodes: of a plan that a model writes; plan_repairs: how often it may be written again. kinds: the
    limits, signs and wishes that are read. kept: the words of rules that can be held; commands: those of
    commands; expiry: those for how long a goal counts; choices: what may become of promises that nobody can
    check. questions: about limits and signs, by kind. sayings: what people say for each verb. no_goal: what
    is said of words that are none, by their kind. beyond: the words of what
    nothing here can do, by its kind. soft: matches the phrases that word a wish; approximate:
    those that do it where they stand just before an amount or a moment; more, less: those with which a
    correction adds to what was said, or takes from it. limits: words that turn a limit. coverage:
    which words must not be left out.
    """

    longest_prose: int
    timeout_ms: int
    chat_timeout_ms: int
    rounds: int
    whole: int
    candidates: int
    nearest: int
    bundle_tokens: int
    word_weight: float
    example_weight: float
    verb_weight: float
    familiar_weight: float
    familiar_margin: float
    familiar_share: float
    phrase_weight: float
    around_phrases: PhraseAround
    pattern_weight: float
    unnamed_option: float
    lexicon: Lexicon
    verb_certain: float
    verb_question: str
    sayings: Mapping[str, str]
    weights: Mapping[str, float]
    rest_weight: float
    factors: Mapping[str, float]
    plan_nodes: int
    plan_repairs: int
    replans: int
    kinds: frozenset[str]
    questions: Mapping[str, str]
    soft: re.Pattern[str]
    more: re.Pattern[str]
    less: re.Pattern[str]
    guess: float
    approximate: re.Pattern[str]
    limits: LimitWords
    coverage: CoverageWords
    kept: KeptWords
    commands: CommandWords
    expiry: ExpiryWords
    choices: Choices
    memories: int
    options: int
    asked: int
    question: str
    severities: Mapping[str, str]
    endings: Mapping[str, Ending]
    no_goal: Mapping[str, str]
    beyond: Mapping[str, re.Pattern[str]]
    frame: CoreModule
    confidence: CoreModule

    @classmethod
    def of(cls, core: Core) -> "Rules":
        """Read them. Raises SkillError NO_SETTING, BAD_SETTING."""
        pipeline, verb, confidence = core["pipeline"], core["verb"], core["confidence"]
        limits, signs, memory = core["constraint"], core["predicate"], core["pre_resolve"]
        return cls(
            longest_prose=pipeline.whole("limits.max_prose", 1),
            timeout_ms=round(pipeline.number("limits.wall_clock_s") * 1000),
            chat_timeout_ms=round(pipeline.number("limits.chat_wall_clock_s") * 1000),
            rounds=pipeline.whole("limits.rounds", 0, MAX_ROUNDS),
            whole=pipeline.whole("limits.whole"),
            candidates=pipeline.whole("limits.candidates", 1),
            nearest=pipeline.whole("limits.nearest"),
            bundle_tokens=pipeline.whole("limits.bundle_tokens"),
            word_weight=verb.number("weight.words"),
            example_weight=verb.number("weight.example"),
            verb_weight=verb.number("weight.verb"),
            familiar_weight=verb.number("weight.familiar"),
            familiar_margin=verb.number("margin.familiar", -10, 10),
            familiar_share=verb.number("sharpness.familiar", 0, 1),
            phrase_weight=verb.number("weight.phrase"),
            around_phrases=PhraseAround.of(
                (*verb.phrases("before.phrase"), *core["coverage"].phrases("filler")),
                verb.phrases("between.phrase"),
            ),
            pattern_weight=core["frame"].number("weight.patterns", 0, 1),
            unnamed_option=core["frame"].number("threshold.unnamed", 0, 1),
            lexicon=Lexicon.of(verb),
            verb_certain=verb.number("threshold.certain", 0, 1),
            verb_question=verb.text("question.uncertain"),
            sayings=verb.family("say"),
            weights={name: confidence.number(f"weight.{name}") for name in _PARTS},
            rest_weight=confidence.number("weight.rest"),
            factors={name: confidence.number(f"factor.{name}", 0, 1) for name in SEVERITIES},
            plan_nodes=pipeline.whole("plan.nodes", 1, 32),
            plan_repairs=pipeline.whole("plan.repairs", 0, 2),
            replans=pipeline.whole("replans", 0, 10),
            kinds=frozenset((*limits.words("kinds", LIMITS), *signs.words("kinds", SIGNS))),
            questions={kind: limits.text(f"question.{kind}") for kind in LIMITS if kind not in _OPEN}
            | {kind: signs.text(f"question.{kind}") for kind in SIGNS},
            soft=any_of(limits.phrases("soft.phrases"), unless_behind=limits.phrases("soft.not")),
            more=any_of(core["frame"].phrases("more.phrases")),
            less=any_of(core["frame"].phrases("less.phrases")),
            guess=limits.number("threshold.guess", 0, 1),
            approximate=any_of(limits.phrases("approximate.phrases")),
            limits=LimitWords.of(limits),
            coverage=CoverageWords.of(core["coverage"], limits),
            kept=KeptWords.of(core["promise"]),
            commands=CommandWords.of(signs),
            expiry=ExpiryWords.of(limits),
            choices=Choices.of(core),
            memories=memory.whole("limits.candidates", 1),
            options=memory.whole("limits.options"),
            asked=core["unknown"].whole("limits.questions", 1),
            question=core["unknown"].text("question.default"),
            severities={
                f"{name}.{case}": _severity(core[name], case) for name in _CASES for case in _CASES[name]
            },
            endings={name: _ending(pipeline, name) for name in _ENDINGS},
            no_goal=pipeline.family("said") | pipeline.family("cannot"),
            beyond={name: any_of(pipeline.phrases(f"beyond.{name}")) for name in pipeline.family("beyond")},
            frame=core["frame"],
            confidence=confidence,
        )

    def least(self, *routes: Route) -> float:
        """The least confidence that leads to none of these routes: the module says no number but a procedure,
        so it is looked for by halves. 1 where even that leads to one of them."""
        if self.routing(0.0).route not in routes:
            return 0.0
        below, enough = 0, _UNIT
        while enough - below > 1:
            middle = (below + enough) // 2
            if self.routing(middle / _UNIT).route in routes:
                below = middle
            else:
                enough = middle
        return enough / _UNIT

    def routing(self, confidence: float) -> ConfidenceRouting:
        """What the procedure of the module `confidence` says: a clarify block asks, an unknown block wants it
        read, neither lets it pass."""
        said = interpret(self.confidence, verb="", prose="", confidence=confidence)
        if said.clarifies:
            return ConfidenceRouting("clarify", said.clarifies[0].prompt)
        return (
            ConfidenceRouting("review", said.unknowns[0].reason)
            if said.unknowns
            else ConfidenceRouting("compiled")
        )


def _severity(module: CoreModule, case: str) -> str:
    severity = module.text(f"severity.{case}")
    if severity not in SEVERITIES:
        raise module.bad(
            f"severity.{case}", f"is none of {', '.join(SEVERITIES)}", nearest(severity, SEVERITIES)
        )
    return severity


def _ending(pipeline: CoreModule, name: str) -> Ending:
    said, legal = pipeline.failure(name), _ENDINGS[name]
    action = said.action.value if said.action else "fail"
    if action not in legal:
        raise pipeline.bad(name, f"cannot be answered with {action}", f"action is {' or '.join(legal)}")
    if said.reason is None:
        raise pipeline.bad(name, "has no reason", "add reason=")
    return Ending(said.reason.value, action == "clarify", said.message.value if said.message else "")
