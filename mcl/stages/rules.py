"""The numbers and words that the stages go by, read from the core modules (`grammars/core/*.mtx`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mcl.mtx.core import Core, CoreModule


@dataclass(frozen=True)
class Rules:
    """longest_prose in characters, bundle_tokens in tokens, timeout_ms in milliseconds; certainties are
    shares.

    word_weight, example_weight: what shared words and a similar example count beside the model. weights: of
    the parts of a confidence, by name. factors: what an open unknown multiplies it by, by severity.
    severities: by module and case, as "frame.required_missing". soft: matches the phrases that word a wish,
    in lower case.
    """

    longest_prose: int
    timeout_ms: int
    rounds: int
    candidates: int
    nearest: int
    bundle_tokens: int
    word_weight: float
    example_weight: float
    verb_certain: float
    verb_question: str
    weights: Mapping[str, float]
    factors: Mapping[str, float]
    compiled: float
    review: float
    soft: re.Pattern[str]
    memories: int
    options: int
    questions: int
    question: str
    severities: Mapping[str, str]
    frame: CoreModule

    @classmethod
    def of(cls, core: Core) -> "Rules":
        """Read them. Raises SkillError NO_SETTING, BAD_SETTING."""
        pipeline, verb, confidence = core["pipeline"], core["verb"], core["confidence"]
        return cls(
            longest_prose=pipeline.whole("limits.max_prose"),
            timeout_ms=round(pipeline.number("limits.wall_clock_s") * 1000),
            rounds=pipeline.whole("limits.rounds"),
            candidates=pipeline.whole("limits.candidates"),
            nearest=pipeline.whole("limits.nearest"),
            bundle_tokens=pipeline.whole("limits.bundle_tokens"),
            word_weight=verb.number("weight.words"),
            example_weight=verb.number("weight.example"),
            verb_certain=verb.number("threshold.certain"),
            verb_question=verb.text("question.uncertain"),
            weights={name: confidence.number(f"weight.{name}") for name in confidence.family("weight")},
            factors={name: confidence.number(f"factor.{name}") for name in confidence.family("factor")},
            compiled=confidence.number("route.compiled"),
            review=confidence.number("route.review"),
            soft=_any_of(core["constraint"].phrases("soft.phrases")),
            memories=core["pre_resolve"].whole("limits.candidates"),
            options=core["pre_resolve"].whole("limits.options"),
            questions=core["unknown"].whole("limits.questions"),
            question=core["unknown"].text("question.default"),
            severities={
                f"{module.name}.{case}": severity
                for module in core.modules.values()
                for case, severity in module.family("severity").items()
            },
            frame=core["frame"],
        )


def _any_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(phrase.casefold()) for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)" if phrases else r"(?!)")
