"""Goals by hand through the whole compile, as a person has it: development writers, foreign texts, own goals.

python -m training.compiled_goals [--part development] [--data ../shared/data] [--model FILE] [--goals N]
                                  [--wrong FILE]

All right: the verb, the skill (a goal of no skill: that it is kept as one), what it is about, each limit and
sign by type and value, and nothing that was not said. Values are compared as the compiler reads them (a date,
an amount); texts without case, articles and marks around them. As many goals are drawn as --goals says, the
same each time. How long a goal takes is told, and is no reason to refuse it. Needs no torch.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ir import Intent
from mcl.compiler.compiler import Clarify, Compiled, GoalOptions, Outcome, Refused, compile_goal
from mcl.compiler.stages.constraints import FIELD_OF_PATH
from mcl.compiler.stages.frame_draft import FrameDraft
from mcl.compiler.stages.gaps import Gap
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.core.home import open_home
from mcl.language.mtx.core import load_core
from mcl.language.skills import Skill, Skills, find_skills, skill_folders
from mcl.model.loader import load_model
from mcl.model.protocol import Model, Span
from mcl.plugins.train.tuner import development
from mcl.values.slots import read_slot
from training import foreign, written
from training.answers import ValueCount, calibration_error, share
from training.corpus_skills import member, write_shelf

SAID_AT = "2026-11-21T10:00:00Z"
ZONE = "Europe/Stockholm"
_SEED = 1
NONE, GENERAL = "none", "general"
_EDGES = re.compile(
    r"^(?:(?:the|a|an|my|our|this|that|en|ett|den|det|min|mitt|der|die|das|le|la|les|l['’])\s+)+|[\s.,;:!?\"'“”]+$",
    re.I,
)
_QUOTED = re.compile("“(.+?)”")
Value = tuple[str, str]


@dataclass
class GoalVerdict:
    """What came of one goal beside what was wanted. least: how sure its least sure part is; blocked: whether
    something had to be asked however sure all is."""

    goal: written.WrittenGoal
    outcome: str
    skill: str = ""
    verb: str = ""
    wanted: frozenset[Value] = frozenset()
    found: frozenset[Value] = frozenset()
    main: Value | None = None
    confidence: float = 0.0
    invented: int = 0
    asked: tuple[str, ...] = ()
    least: float = 1.0
    blocked: bool = False

    @property
    def meant(self) -> bool:
        """Whether somebody wants something that can be worked at."""
        return self.goal.kind == "goal"

    @property
    def right_skill(self) -> bool:
        wanted = self.goal.wishes[0].skill if self.meant else NONE
        return self.skill == wanted

    @property
    def right_verb(self) -> bool:
        return not self.meant or self.verb == self.goal.wishes[0].verb

    @property
    def right(self) -> bool:
        """All of it, of the first wish."""
        if not self.meant:
            return self.skill == NONE
        return self.right_skill and self.right_verb and self.wanted == self.found and not self.invented

    @property
    def essential(self) -> bool:
        """As the aims count it: verb, main object, limits and signs, nothing invented."""
        if not self.meant:
            return self.skill == NONE
        main = self.main is None or self.main in self.found
        return self.right_verb and main and _limits(self.wanted) == _limits(self.found) and not self.invented


def _limits(values: frozenset[Value]) -> frozenset[Value]:
    return frozenset(one for one in values if not one[0].startswith("slot."))


def plain(text: str) -> str:
    """A text as it is compared."""
    text, before = " ".join(text.split()).casefold(), None
    while text != before:
        before, text = text, _EDGES.sub("", text).strip()
    return text


@dataclass
class GoalMeasure:
    """Compiles goals against the shelf and a writer's own skills."""

    model: Model
    rules: Rules = field(default_factory=lambda: Rules.of(load_core()))

    def of(
        self, goals: Sequence[written.WrittenGoal], own: Mapping[str, written.WrittenSkill]
    ) -> list[GoalVerdict]:
        """What comes of each, compiled anew; nothing is stored."""
        shipped = {one.id for one in find_skills(skill_folders(None))}
        more = [told.skill for name, told in (*written.shelf().items(), *own.items()) if name not in shipped]
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            several = frozenset((s.name, slot.name) for s in more for slot in s.slots if slot.many > 1)
            write_shelf(more, place / "skills", several=several)
            home = open_home(place / "home")
            skills = find_skills([*skill_folders(None), place / "skills"])
            return [self._verdict(goal, skills, home) for goal in goals if not goal.change]

    def _verdict(self, goal: written.WrittenGoal, skills: Skills, home: object) -> GoalVerdict:
        options = GoalOptions(at=SAID_AT, zone=ZONE)
        outcome = compile_goal(
            goal.text,
            home=home,
            skills=skills,
            model=self.model,
            options=options,
            store=False,  # type: ignore[arg-type]
            timer=lambda: 0.0,
        )
        wanted, main = self._wanted(goal, skills)
        found = _said(outcome, skills)
        read = self._read(goal.text, found.values, skills.get(found.skill))
        read |= wanted & self._defaults(skills.get(found.skill))
        return GoalVerdict(
            goal, found.outcome, found.skill, found.verb, wanted, read, main, found.confidence,
            found.invented, found.asked, found.least, found.blocked,
        )  # fmt: skip

    def _defaults(self, skill: Skill | None) -> frozenset[Value]:
        """What stands in a Frame where a goal says nothing of it."""
        slots = skill.slots if skill else ()
        return frozenset((f"slot.{slot.name}", plain(value)) for slot in slots for value in slot.default)

    def _wanted(self, goal: written.WrittenGoal, skills: Skills) -> tuple[frozenset[Value], Value | None]:
        if not goal.wishes:
            return frozenset(), None
        wish = goal.wishes[0]
        skill = skills.get(wish.skill)
        rows = [(m.field, m.value, m.start, m.end) for m in wish.marks]
        values = self._read(goal.text, rows, skill)
        first = next((row for row in rows if row[0].startswith("slot.")), None)
        main = next(iter(self._read(goal.text, [first], skill)), None) if first else None
        return values, main

    def _read(
        self, prose: str, rows: Sequence[tuple[str, str, int | None, int | None]], skill: Skill | None
    ) -> frozenset[Value]:
        """Values as the compiler reads them, so that "fifty euros" is "50 euro"."""
        request = GoalRequest(
            prose=prose, id="01J0000000000000000000000A", at=SAID_AT, zone=ZONE, actor="", agent=""
        )
        slots = {slot.name: slot for slot in skill.slots} if skill else {}
        found: set[Value] = set()
        for name, value, start, end in rows:
            if name.startswith("slot."):
                slot = slots.get(name[5:])
                read = read_slot(value, slot.type, slot.options, SAID_AT, ZONE, slot.name) if slot else None
                found.add((name, plain(member(value) if slot and slot.options else read or value)))
                continue
            told = (
                FrameDraft(request, self.rules).read(Span(name, value, start, end, 1.0))
                if start is not None
                else None
            )
            kind = "rule" if name == "recurrence" else name
            if (
                told is None
                or isinstance(told, Gap)
                or name
                in ("rule", "recurrence", "preference", "delivered", "external", "signed_off", "attestation")
            ):
                found.add((kind, plain(value)))
            else:
                found.add((kind, told.model_dump_json(exclude={"hard", "rank"})))
        return frozenset(found)


@dataclass
class _Said:
    outcome: str
    skill: str = NONE
    verb: str = ""
    values: list[tuple[str, str, int | None, int | None]] = field(default_factory=list)
    confidence: float = 0.0
    invented: int = 0
    asked: tuple[str, ...] = ()
    least: float = 1.0
    blocked: bool = False


def _said(outcome: Outcome, skills: Skills) -> _Said:
    if isinstance(outcome, Refused):
        return _Said("refused")
    intent = outcome.intent
    label = "clarify"
    asked: tuple[str, ...] = ()
    if isinstance(outcome, Compiled):
        label = "review" if outcome.review else "compiled"
    elif isinstance(outcome, Clarify):
        asked = tuple(one.prompt for one in outcome.questions)
    skill = skills.get(intent.compile_metadata.skill_id) if intent.compile_metadata else None
    if skill is None:
        return _Said(label, confidence=intent.confidence, asked=asked)
    values = [*_stated(intent, skill), *_open(intent)]
    invented = sum(_invented(intent, skill))
    reasons = outcome.reasons
    shares = [
        share for share in (dict(reasons.skills).get(skill.id), reasons.verb_share) if share is not None
    ]
    shares += [one.probability for one in reasons.readings if one.probability is not None]
    sure = {"least": min(shares, default=1.0), "blocked": reasons.blocked}
    return _Said(label, skill.id, intent.frame.verb, values, intent.confidence, invented, asked, **sure)


def _stated(intent: Intent, skill: Skill) -> Iterator[tuple[str, str, int | None, int | None]]:
    marks = intent.compile_metadata.spans if intent.compile_metadata else ()
    marks = tuple(one for one in marks if not one.field.startswith("frame.further"))  # the first wish counts
    for mark in marks:
        text = intent.prose[mark.start : mark.end]
        group, _, rest = mark.field.partition("[")
        place = int(rest.partition("]")[0]) if rest else -1
        if group == "frame.objects":
            entry = intent.frame.objects[place]
            yield (
                f"slot.{entry.name}",
                entry.value if entry.type.startswith("enum") else text,
                mark.start,
                mark.end,
            )
        else:
            yield _field(intent, group, place), text, mark.start, mark.end
    placed = {mark.field for mark in marks}
    options = {slot.name: slot for slot in skill.slots if slot.options}
    for place, entry in enumerate(intent.frame.objects):
        slot = options.get(entry.name)
        if slot and f"frame.objects[{place}]" not in placed and entry.value not in slot.default:
            yield f"slot.{entry.name}", entry.value, None, None


def _field(intent: Intent, group: str, place: int) -> str:
    if group == "frame.preferences":
        return "preference"
    if group.startswith("budget"):
        return "budget"
    stated = (intent.frame.constraints if group == "frame.constraints" else intent.frame.success_criteria)[
        place
    ]
    if stated.type == "jurisdiction":
        return "jurisdiction_allow" if stated.allow else "jurisdiction_deny"
    return str(stated.type)


def _open(intent: Intent) -> Iterator[tuple[str, str, int | None, int | None]]:
    """What was found and could not be read: the question quotes it."""
    for unknown in intent.unknowns:
        name = FIELD_OF_PATH.get(unknown.field, unknown.field)
        quoted = _QUOTED.search(unknown.rationale)
        if (
            quoted
            and quoted[1] in intent.prose
            and name not in ("skill", "frame.verb")
            and not name.startswith("promise.")
        ):
            start = intent.prose.index(quoted[1])
            yield name, quoted[1], start, start + len(quoted[1])


def _invented(intent: Intent, skill: Skill) -> Iterator[bool]:
    marks = intent.compile_metadata.spans if intent.compile_metadata else ()
    placed = {mark.field for mark in marks}
    slots = {slot.name: slot for slot in skill.slots}
    for i, entry in enumerate(intent.frame.objects):
        slot = slots[entry.name]
        known = f"frame.objects[{i}]" in placed or entry.value in (*slot.options, *slot.default)
        yield not known and entry.value not in intent.prose


def figures(verdicts: Sequence[GoalVerdict]) -> dict[str, float | int]:
    """In percent, of goals that somebody could work at and of what is none."""
    meant = [one for one in verdicts if one.meant]
    other = [one for one in verdicts if not one.meant]
    limits, values = ValueCount(), ValueCount()
    for one in meant:
        limits.add(set(_limits(one.wanted)), set(_limits(one.found)))
        values.add(set(one.wanted), set(one.found))
    told = {
        "goals": len(meant),
        "skill": share(one.right_skill for one in meant),
        "verb": share(one.right_verb for one in meant),
        "main": share(one.main is None or one.main in one.found for one in meant),
        "values F1": values.f1,
        "constraints F1": limits.f1,
        "all right": share(one.essential for one in meant),
        "with every slot": share(one.right for one in meant),
        "asked": share(one.outcome == "clarify" for one in meant),
        "lost": share(one.outcome == "refused" for one in meant),
        "wrong and not marked": share(one.outcome == "compiled" and not one.essential for one in meant),
        "wrong but marked": share(one.outcome == "review" and not one.essential for one in meant),
        "ECE": calibration_error([(one.confidence, one.essential) for one in meant if one.confidence]),
        "no goals": len(other),
        "told from goals": share(one.outcome == "refused" or one.skill == NONE for one in other),
    }
    return {k: v if isinstance(v, int) else round(100 * v, 1) for k, v in told.items()} | {
        "invented": sum(one.invented for one in verdicts)
    }


def line(one: GoalVerdict) -> str:
    """One goal with what went wrong."""
    goal = one.goal
    wish = goal.wishes[0] if goal.wishes else None
    want = f"{wish.skill}/{wish.verb}" if wish else goal.kind
    return (
        f"{one.confidence:.2f} {one.outcome} {goal.writer}:{goal.line} {want} -> {one.skill}/{one.verb}: "
        f"{goal.text}\n"
        f"     missed {sorted(one.wanted - one.found)}\n     extra  {sorted(one.found - one.wanted)}\n"
        + "".join(f"     asked  {text}\n" for text in one.asked)
    )


def own_goals() -> list[written.WrittenGoal]:
    """The goals of goals.txt in the same shape."""
    found = []
    for number, one in enumerate(development.load(), 1):
        nobody = one.skill == development.NOBODY
        wishes = () if nobody else (written.Wish(one.verb, one.skill[1], 0, one.marks),)
        found.append(written.WrittenGoal(one.text, "none" if nobody else "goal", wishes, "en", "own", number))
    return found


def drawn(
    part: str, most: int
) -> Iterator[tuple[str, list[written.WrittenGoal], dict[str, written.WrittenSkill]]]:
    """Who wrote goals of a part, which of them are measured, and the skills of their own. most: goals of all
    writers together, drawn with a fixed seed; 0: all."""
    sets = [(one.name, list(one.goals), dict(one.skills)) for one in written.writers(parts=(part,))]
    if part == "development":
        sets.append(("own", own_goals(), {}))
    every = [(name, goal.line) for name, goals, _ in sets for goal in goals if not goal.change]
    kept = set(random.Random(_SEED).sample(every, min(most, len(every))) if most else every)
    for name, goals, skills in sets:
        if chosen := [goal for goal in goals if (name, goal.line) in kept]:
            yield name, chosen, skills


def measured(model: Model, part: str, data: Path | None, most: int = 0) -> dict[str, list[GoalVerdict]]:
    """Verdicts by language of a part's writers; of foreign texts, where there are. most: see `drawn`."""
    measure = GoalMeasure(model)
    found: dict[str, list[GoalVerdict]] = defaultdict(list)
    for name, goals, skills in drawn(part, most):
        for one in measure.of(goals, skills):
            found["own" if name == "own" else one.goal.language].append(one)
    if data is not None:
        found["foreign"] = measure.of(foreign.load(data), {})
    return dict(found)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", default="development", choices=("development", "test"))
    parser.add_argument(
        "--data", type=Path, help="folder of the public sets, for foreign texts (with --part test)"
    )
    parser.add_argument("--model", type=Path, help="a GGUF (default: the bundled one)")
    parser.add_argument("--goals", type=int, default=0, help="how many goals, drawn of all (default: all)")
    parser.add_argument("--wrong", type=Path, help="where to write what went wrong")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, began = load_model(given.model, home_path=Path(folder)), time.monotonic()
        found = measured(model, given.part, given.data, given.goals)
        seconds = time.monotonic() - began
    count = sum(map(len, found.values()))
    print(f"{count} goals, {seconds / max(count, 1):.2f} s a goal")
    if len(found) > 1:
        found = {"together": [one for rows in found.values() for one in rows], **found}
    for name, verdicts in found.items():
        print(json.dumps({name: figures(verdicts)}), flush=True)
        print(dict(Counter(one.outcome for one in verdicts if one.meant)))
    if given.wrong:
        given.wrong.write_text("".join(line(one) for one in next(iter(found.values())) if not one.essential))


if __name__ == "__main__":
    main()
