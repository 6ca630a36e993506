"""Our own goals (goals.txt) answered by the model alone and by the whole compile; no torch is needed.

python -m training.development_goals [--model FILE] [--wrong]
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ir import (
    AttestationPredicate,
    BudgetConstraint,
    DeadlineConstraint,
    DeliveredPredicate,
    Intent,
    JurisdictionConstraint,
    QualityConstraint,
    SignedOffPredicate,
)
from mcl.compiler.compiler import Compiled, GoalOptions, Outcome, Refused, compile_goal
from mcl.compiler.stages.constraints import FIELD_OF_PATH
from mcl.core.home import open_home
from mcl.language.skills import Skill, Skills
from mcl.model.loader import load_model
from mcl.model.protocol import REST, Candidate, ExtractForm, Model, SlotForm
from mcl.plugins.train.tuner import development
from mcl.plugins.train.tuner.utterances import Utterance
from training.answers import (
    NONE,
    Figures,
    FoundValue,
    GoalAnswer,
    by_skill,
    confusions,
    figures_of,
    kinds,
    worst,
)

SAID_AT = "2026-11-21T10:00:00Z"
"""The moment at which all goals are said, so that their dates are read alike whenever they are measured."""
_QUOTED = re.compile("“(.+?)”")


def wanted(goal: Utterance) -> frozenset[FoundValue]:
    """The values of a goal."""
    return frozenset(FoundValue(mark.field, mark.value) for mark in goal.marks)


def bare(goals: Sequence[Utterance], skills: Skills, model: Model) -> list[GoalAnswer]:
    """The model alone, shown all skills at once; values are read under the right skill's form."""
    shown = [Candidate(s.id, s.display, s.description, s.verbs, s.examples) for s in skills]
    answers = []
    for goal in goals:
        choice = model.choose(goal.text, shown)
        name, verb, found, least = goal.skill[1], choice.verb, frozenset[FoundValue](), 1.0
        skill = skills.get(name) if name != NONE else None
        if skill is not None:
            spans = model.extract(goal.text, _form(skill))
            found = frozenset(FoundValue(span.field, span.value) for span in spans if span.field != REST)
            least = min((span.probability for span in spans), default=1.0)  # words left over count, too
            if choice.skill_id != skill.id:
                one = [candidate for candidate in shown if candidate.skill_id == skill.id]
                verb = model.choose(goal.text, one).verb
        answers.append(
            GoalAnswer(
                text=goal.text,
                wanted_skill=name,
                wanted_verb=goal.verb,
                wanted=wanted(goal),
                skill=choice.skill_id or NONE,
                verb=verb,
                found=found,
                confidence=choice.skill_probability * choice.verb_probability * least,
                skill_probability=choice.skill_probability,
            )
        )
    return answers


def _form(skill: Skill) -> ExtractForm:
    slots = (SlotForm(s.name, s.type, s.hint, s.options, s.required, s.most) for s in skill.slots)
    return ExtractForm(skill.id, skill.description, tuple(slots))


def whole(goals: Sequence[Utterance], skills: Skills, model: Model) -> list[GoalAnswer]:
    """The whole compile: skill, verb and values as the Intent has them, or as the questions quote them."""
    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Path(folder) / "home")
        return [
            _compiled(
                goal,
                compile_goal(
                    goal.text,
                    home=home,
                    skills=skills,
                    model=model,
                    options=GoalOptions(at=SAID_AT),
                    store=False,
                ),
                skills,
            )
            for goal in goals
        ]


def _compiled(goal: Utterance, outcome: Outcome, skills: Skills) -> GoalAnswer:
    answer = GoalAnswer(
        text=goal.text,
        wanted_skill=goal.skill[1],
        wanted_verb=goal.verb or "",
        wanted=wanted(goal),
        skill=NONE,
        verb="",
        found=frozenset(),
        confidence=0.0,  # a refusal does not say how sure it is
        outcome="refused",
    )
    if isinstance(outcome, Refused):
        return answer
    intent = outcome.intent
    skill = skills.get(intent.compile_metadata.skill_id) if intent.compile_metadata else None
    if skill is None:  # the compiler asks which skill is meant
        return replace(answer, outcome="clarify", confidence=intent.confidence)
    label = "clarify"
    if isinstance(outcome, Compiled):
        label = "review" if outcome.review else "compiled"
    return replace(
        answer,
        skill=skill.id,
        verb=intent.frame.verb,
        found=frozenset((*_stated(intent), *_asked(intent))),
        confidence=intent.confidence,
        outcome=label,
        invented=tuple(_invented(intent, skill)),
    )


def _stated(intent: Intent) -> Iterator[FoundValue]:
    """What the Frame says: the words of the goal that it was read from, options as they are declared."""
    marks = intent.compile_metadata.spans if intent.compile_metadata else ()
    places = {mark.field: intent.prose[mark.start : mark.end] for mark in marks}
    frame = intent.frame
    for i, entry in enumerate(frame.objects):
        text = places.get(f"frame.objects[{i}]", "")
        if entry.type.startswith("enum"):
            yield FoundValue(f"slot.{entry.name}", entry.value)
        elif text:
            yield FoundValue(f"slot.{entry.name}", text)
    for i, constraint in enumerate(frame.constraints):
        if text := places.get(f"frame.constraints[{i}]", ""):
            yield FoundValue(_field(constraint), text)
    for i, sign in enumerate(frame.success_criteria):
        if text := places.get(f"frame.success_criteria[{i}]", ""):
            yield FoundValue(_field(sign), text)
    for i, _ in enumerate(frame.preferences):
        if text := places.get(f"frame.preferences[{i}]", ""):
            yield FoundValue("preference", text)
    for path, text in places.items():
        if path.startswith("budget."):
            yield FoundValue("budget", text)


def _field(stated: object) -> str:
    if isinstance(stated, JurisdictionConstraint):
        return "jurisdiction_allow" if stated.allow else "jurisdiction_deny"
    names: dict[type[object], str] = {
        BudgetConstraint: "budget", DeadlineConstraint: "deadline", QualityConstraint: "quality",
        DeliveredPredicate: "delivered", SignedOffPredicate: "signed_off",
        AttestationPredicate: "attestation",
    }  # fmt: skip
    kind = getattr(stated, "type", "")
    return names.get(type(stated), "external" if kind == "external" else "rule")


def _asked(intent: Intent) -> Iterator[FoundValue]:
    """What was found and could not be read: the question quotes it."""
    for unknown in intent.unknowns:
        field = FIELD_OF_PATH.get(unknown.field, unknown.field)
        quoted = _QUOTED.search(unknown.rationale)
        if quoted and quoted[1] in intent.prose and field not in ("skill", "frame.verb"):
            yield FoundValue(field, quoted[1])


def _invented(intent: Intent, skill: Skill) -> Iterator[str]:
    """Values of slots that no words of the goal, no option and no default stand for."""
    marks = intent.compile_metadata.spans if intent.compile_metadata else ()
    placed = {mark.field for mark in marks}
    slots = {slot.name: slot for slot in skill.slots}
    for i, entry in enumerate(intent.frame.objects):
        slot = slots[entry.name]
        known = f"frame.objects[{i}]" in placed or entry.value in (*slot.options, *slot.default)
        if not known and entry.value not in intent.prose:
            yield entry.value


def measure(model: Model) -> tuple[Figures, list[GoalAnswer]]:
    """Figures of both, with tables by skill, pairs and kinds of error; and the answers of the compile."""
    goals, skills = development.load(), development.shipped()
    alone, compiled = bare(goals, skills, model), whole(goals, skills, model)
    figures: Figures = {"bare": figures_of(alone), "whole": figures_of(compiled)}
    figures["by skill"] = by_skill(compiled)
    figures["confusions"] = confusions(compiled)
    figures["errors"] = kinds(compiled)
    return figures, compiled


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a GGUF (default: the bundled one)")
    parser.add_argument("--wrong", action="store_true", help="also print every wrong answer")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures, answers = measure(load_model(given.model, home_path=Path(folder)))
    print(json.dumps(figures, indent=1))
    for a in worst(answers, len(answers) if given.wrong else 0):
        print(
            f"{a.confidence:.2f} {a.wanted_skill}/{a.wanted_verb} -> {a.skill}/{a.verb}: {a.text}\n"
            f"     missed {sorted(a.wanted - a.found)}\n     extra  {sorted(a.found - a.wanted)}"
        )


if __name__ == "__main__":
    main()
