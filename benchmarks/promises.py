"""What becomes of promises that people word in their own way: kept, asked about, or lost.

    python -m benchmarks.promises [FOLDER] [--model FILE] [--no-ai] [--list KIND] [--cost] [--json]

FOLDER has *.jsonl files, a line each: {"goal", "lang", "about", "promises": [{"words", "type", "hard",
"means"?}]} (default: tests/compiler/phrases/open). Each goal is compiled as a person would: what is asked is
answered (a promise with "sign it off yourself", all else with what is offered), until there is an Intent or
nothing more is asked. Nothing is stored. Counted of the hard promises:

| | |
|---|---|
| kept | a constraint, a criterion or a part of the plan says it |
| asked | a question quoted it |
| open | no plan leaves it out: an Unknown of the Intent, which is signed, quotes it |
| as object | it is part of what a slot took, such as "by month" in "spending by month" |
| unsigned | the goal was refused, or is still unclear: nothing was promised |
| dropped | nothing says it, and nobody was asked |
| inverted | what says it says the opposite, or holds a run to something else than was meant |
| softened | it became a wish or a sign-off, and nobody was asked; but manner, by the closed list |

and of the goals: values that the goal does not say, and those that were asked about what promises nothing.
--cost: instead, what looking at every word and at how each promise is kept costs of a warm compile.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ir import (
    Intent,
    JurisdictionConstraint,
    Promise,
    QualityConstraint,
    RuleConstraint,
    SignedOffPredicate,
    promises_of,
)
from mcl.compiler.outcome import Clarify, Compiled, Outcome, Refused
from mcl.compiler.pipeline import Pipeline
from mcl.compiler.stages.request import GoalRequest, normalise
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.core.home import open_home
from mcl.language.mtx.core import load_core
from mcl.language.skills import Skill, Skills
from mcl.model import load_model
from mcl.model.protocol import Model

OPEN: Final = Path(__file__).parent.parent / "tests/compiler/phrases/open"
SAID_AT: Final = "2026-11-21T10:00:00.000Z"
ZONE: Final = "Europe/Stockholm"
LOST: Final = ("dropped", "inverted", "softened")
FATES: Final = ("kept", "asked", "open", "as object", "unsigned", *LOST)
_ROUNDS: Final = 8
_QUOTED: Final = re.compile("“([^“”]+)”")
_NEEDED: Final = {"iso8601": "2026-12-24", "uint": "5", "AssetAmount": "100 EUR", "string[]": "Sweden"}
Place = tuple[int, int]


@dataclass
class Fate:
    """What became of one promise. by: what says or asks it."""

    words: str
    type: str
    hard: bool
    word: str
    by: str = ""


@dataclass
class GoalFates:
    """What became of one goal. asked: each question with the words of the goal that it is about."""

    goal: str
    lang: str
    about: str
    outcome: str
    skill: str = ""
    confidence: float = 0.0
    asked: list[tuple[str, str]] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    needless: list[str] = field(default_factory=list)


class PromiseCount:
    """Compiles goals with a model, the shipped skills and a home of their own."""

    def __init__(self, model: Model, skills: Skills, folder: Path) -> None:
        self._model, self._skills = model, skills
        self._home = open_home(folder)
        self._core = load_core(cache=folder / "cache")

    def of(self, line: Mapping[str, Any]) -> GoalFates:
        """What becomes of one goal and its promises."""
        prose = normalise(line["goal"], longest=8192)
        outcome, asked, given = self._whole(prose)
        result = GoalFates(prose, line["lang"], line["about"], _end(outcome), asked=asked)
        labels = [(one, _place(prose, one["words"])) for one in line["promises"]]
        if isinstance(outcome, Compiled):
            intent = outcome.intent
            result.confidence = intent.confidence
            result.skill = intent.compile_metadata.skill_id if intent.compile_metadata else ""
            result.invented = list(_invented(intent, self._skills, given))
        questions = [(name, place) for name, text in asked if (place := _place(prose, text))]
        result.fates = [_fate(one, place, outcome, questions) for one, place in labels]
        told = [place for _, place in labels if place]
        result.needless = [
            f"{name}: {text}"
            for name, text in asked
            if not (place := _place(prose, text)) or not any(_overlap(place, one) for one in told)
        ]
        return result

    def _whole(self, prose: str) -> tuple[Outcome, list[tuple[str, str]], Mapping[str, str]]:
        """The end of a goal, and what was asked and answered on the way."""
        keyring = self._home.keyring
        request = GoalRequest(
            "01KAJ0000000000000000000A1", SAID_AT, ZONE, keyring.user.did, keyring.agent.did, prose
        )
        asked: list[tuple[str, str]] = []
        for _ in range(_ROUNDS):
            pipeline = Pipeline(self._home, self._skills, self._core, None, lambda: 0.0)
            outcome = pipeline.run(request, self._model)
            if not isinstance(outcome, Clarify):
                break
            answers = dict(request.answers)
            for one in outcome.questions:
                quoted = _QUOTED.findall(one.prompt) or _QUOTED.findall(_why(outcome.intent, one.unknown_id))
                about = one.field.removeprefix(PROMISE) if one.field.startswith(PROMISE) else ""
                asked.append((one.field, about or next(iter(quoted), "")))
                answers[one.field] = _answer(one.field, one.options, one.default, one.type, one.required)
            if answers == request.answers:
                break
            request = request.answered(answers)
        return outcome, asked, request.answers


def _answer(name: str, options: Sequence[str], default: str, type_: str, required: bool) -> str:
    if name.startswith(PROMISE):
        return next(one for one in options if one.startswith("sign it"))
    if name.startswith("wish."):
        return options[-1] if options else ""
    if options or default:
        return default or options[0]
    if name.startswith("slot."):
        return _NEEDED.get(type_, "words.md")
    return "" if not required else _NEEDED.get(type_, "")


def _why(intent: Intent, id: str) -> str:
    return next((one.rationale for one in intent.unknowns if one.id == id), "")


def _end(outcome: Outcome) -> str:
    if isinstance(outcome, Compiled):
        return "review" if outcome.review else "compiled"
    return "clarify" if isinstance(outcome, Clarify) else "refused"


def _place(prose: str, words: str) -> Place | None:
    start = prose.find(words) if words else -1
    return (start, start + len(words)) if start >= 0 else None


def _overlap(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _fate(
    label: Mapping[str, Any], place: Place | None, outcome: Outcome, asked: Sequence[tuple[str, Place]]
) -> Fate:
    fate = Fate(label["words"], label["type"], label["hard"], "dropped")
    if place is None:
        fate.word, fate.by = "unsigned", "its words do not stand in the goal"
        return fate
    about = [name for name, one in asked if _overlap(one, place)]
    intent = outcome.intent if isinstance(outcome, Compiled) else None
    if intent is None:
        fate.word, fate.by = ("asked", about[0]) if about else ("unsigned", "")
        return fate
    opened = [one for one in _open(intent) if (found := _place(intent.prose, one)) and _overlap(found, place)]
    said = list(_said(intent, place))
    turned = [text for one in said if (text := _turned(label, one))]
    if turned and not about:
        fate.word, fate.by = "inverted", turned[0]
    elif about:
        fate.word, fate.by = "asked", about[0]
    elif opened:
        fate.word, fate.by = "open", opened[0]
    elif said:
        soft = all(not one.hard or (label["type"] not in _SIGNED and _signs(one)) for one in said)
        manner = label["words"].casefold() in _manner()
        fate.word = "softened" if soft and label["hard"] and not manner else "kept"
        fate.by = f"{said[0].kind}: {said[0].says}"
    elif wish := _wished(intent, place):
        fate.word, fate.by = "kept", wish
    elif slot := _slot(intent, place):
        fate.word, fate.by = "as object", slot
    return fate


@functools.cache
def _manner() -> tuple[str, ...]:
    """How something is done, by the closed list."""
    return load_core()["coverage"].phrases("manner")


_SIGNED: Final = ("signed_off", "attestation", "external")


def _signs(one: Promise) -> bool:
    return isinstance(one.item, SignedOffPredicate)


def _marked(intent: Intent, place: Place) -> Iterator[str]:
    for mark in intent.compile_metadata.spans if intent.compile_metadata else ():
        if _overlap((mark.start, mark.end), place):
            yield mark.field


def _wished(intent: Intent, place: Place) -> str:
    """The further wish that holds these words."""
    return next((one for one in _marked(intent, place) if one.startswith("frame.further")), "")


def _said(intent: Intent, place: Place) -> Iterator[Promise]:
    paths = set(_marked(intent, place))
    for one in promises_of(intent):
        if one.place in paths or (one.place == "budget" and any(path.startswith("budget") for path in paths)):
            yield one


def _open(intent: Intent) -> list[str]:
    """The words that its Unknowns quote."""
    return [one.field.removeprefix(PROMISE) for one in intent.unknowns if one.field.startswith(PROMISE)]


def _slot(intent: Intent, place: Place) -> str:
    """The slot whose value holds all of these words but for one at an edge."""
    marks = intent.compile_metadata.spans if intent.compile_metadata else ()
    for mark in marks:
        if mark.field.startswith("frame.objects") and _overlap((mark.start, mark.end), place):
            inside = min(mark.end, place[1]) - max(mark.start, place[0])
            if inside >= 0.5 * (place[1] - place[0]):
                return mark.field
    return ""


def _turned(label: Mapping[str, Any], one: Promise) -> str:
    """How what was read says the opposite, or something else, than was meant; "" where it does not."""
    item, kind = one.item, label["type"]
    if isinstance(item, JurisdictionConstraint):
        if (kind == "deny" and item.allow) or (kind == "allow" and item.deny and not item.allow):
            return one.says
        if kind == "allow" and item.deny:
            return one.says
    if isinstance(item, QualityConstraint) and kind == "budget":
        return one.says
    if isinstance(item, RuleConstraint) and item.keeps and label.get("means"):
        meant, kept = _canonical(label["means"]), _canonical(item.keeps)
        if meant != kept and not _narrower(kept, meant):
            return f"{item.keeps} (meant: {label['means']})"
    if isinstance(item, RuleConstraint) and item.keeps and kind == "rule" and not label.get("means"):
        return f"{item.keeps} (nothing that can be held was meant)"
    return ""


_SAME: Final = {
    "only read": "read only",
    "no git push": "no tool git/push",
    "no git commit": "no tool git/commit",
}


def _canonical(text: str) -> str:
    text = _SAME.get(text, text).replace("change not in", "not in").replace("change only in", "only in")
    return text.rstrip("/").replace(" and ", ", ")


def _narrower(kept: str, meant: str) -> bool:
    """Whether a run that keeps the one keeps the other too."""
    strict = {"read only", "change nothing"}
    within = {*strict, "delete nothing", "overwrite nothing", "no new files"}
    both = {"no tool git/push", "no tool git/commit, git/push"}
    return (kept in strict and meant in within) or {kept, meant} <= both


def _invented(intent: Intent, skills: Skills, answers: Mapping[str, str]) -> Iterator[str]:
    """Values that no word of the goal, no option, default or answer says."""
    marks = {one.field for one in intent.compile_metadata.spans} if intent.compile_metadata else set()
    skill = skills.get(intent.compile_metadata.skill_id) if intent.compile_metadata else None
    slots = {slot.name: slot for slot in skill.slots} if skill else {}
    for at, entry in enumerate(intent.frame.objects):
        slot = slots.get(entry.name)
        known = slot is not None and entry.value in (*slot.options, *slot.default)
        given = f"slot.{entry.name}" in answers
        if f"frame.objects[{at}]" not in marks and not known and not given:
            yield f"{entry.name}={entry.value}"
    for one in promises_of(intent):
        mine = one.place in marks or one.place in ("budget", "deadline")
        if not mine and not any(_answers(name, text, one) for name, text in answers.items()):
            yield f"{one.place}: {one.says}"


def _answers(name: str, text: str, one: Promise) -> bool:
    """Whether a promise is what an answer said."""
    return name.startswith((PROMISE, "frame.")) or bool(text and text in f"{one.says} {one.item}")


def cost(model: Model, skills: Skills, folder: Path, runs: int) -> dict[str, float]:
    """Milliseconds of one warm compile and of what it does for coverage and for standings: means over the
    goals of `benchmarks.compile` and the medians of their runs."""
    from benchmarks.compile import GOALS, median_ms
    from mcl.compiler.compiler import compile_goal
    from mcl.compiler.promised import promised
    from mcl.compiler.stages.clauses import Clauses
    from mcl.compiler.stages.coverage import Account, Coverage
    from mcl.compiler.stages.rules import Rules
    from mcl.model.cues import TextPlace

    home, core = open_home(folder), load_core(cache=folder / "cache")
    words = core.once(Rules.of).coverage
    sums: dict[str, float] = defaultdict(float)

    def compiled(goal: str) -> Outcome:
        return compile_goal(
            goal, home=home, skills=skills, model=model, core=core, store=False, timer=lambda: 0.0
        )

    def covered(intent: Intent, skill: Skill, account: Account) -> None:
        clauses = Clauses(intent.prose, skill, words)
        clauses.wishes(())
        Coverage(clauses, account).uncovered()

    def of(goal: str) -> Iterator[tuple[str, Callable[[], object]]]:
        outcome = compiled(goal)
        assert not isinstance(outcome, Refused)
        intent, plan = outcome.intent, outcome.plan if isinstance(outcome, Compiled) else None
        metadata = intent.compile_metadata
        skill = skills.get(metadata.skill_id) if metadata else None
        assert metadata is not None
        assert skill is not None
        places = [
            (one.field.startswith("frame.objects"), TextPlace(one.start, one.end)) for one in metadata.spans
        ]
        account = Account([p for mine, p in places if mine], (), [p for mine, p in places if not mine])
        yield "a compile", lambda: compiled(goal)
        yield "coverage", lambda: covered(intent, skill, account)
        if plan is not None:
            yield "standings", lambda: promised(home, intent, plan, None)

    for name, work in (one for goal in GOALS for one in of(goal)):
        work()
        taken = []
        for _ in range(runs):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
        sums[name] += median_ms(taken) / len(GOALS)
    both = sums["coverage"] + sums["standings"]
    return {**sums, "both": both, "share of a compile": both / sums["a compile"]}


def tally(found: Sequence[GoalFates]) -> dict[str, int]:
    """The sums: goals, their ends, hard promises by what became of them, what was invented or needless."""
    ends = Counter(one.outcome for one in found)
    fates = Counter(fate.word for one in found for fate in one.fates if fate.hard)
    plain = [one for one in found if not one.fates]
    return {
        "goals": len(found),
        **{f"ended {name}": ends[name] for name in ("compiled", "review", "clarify", "refused")},
        "hard promises": sum(fates.values()),
        **{name: fates[name] for name in FATES},
        "values that nobody said": sum(len(one.invented) for one in found),
        "asked about a part that promises nothing": sum(bool(one.needless) for one in found),
        "promise nothing, and were asked": sum(bool(one.asked) for one in plain),
        "promise nothing": len(plain),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", nargs="?", type=Path, default=OPEN)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--no-ai", action="store_true", help="with patterns alone")
    parser.add_argument(
        "--list", action="append", default=[], help=f"show those that were: {', '.join(FATES)}"
    )
    parser.add_argument("--cost", action="store_true", help="what it costs, in ms of the processor")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from mcl.language.skills import find_skills, skill_folders
    from mcl.model.matcher import PatternMatcher

    model: Model = PatternMatcher() if options.no_ai else load_model(options.model, home_path=None)
    lines = [
        json.loads(text)
        for path in sorted(options.folder.glob("*.jsonl"))
        for text in path.read_text(encoding="utf-8").splitlines()
    ]
    with tempfile.TemporaryDirectory() as folder:
        skills = find_skills(skill_folders(None))
        if options.cost:
            for name, figure in cost(model, skills, Path(folder), options.runs).items():
                print(f"  {name:22}{figure:8.3f}")
            return
        count = PromiseCount(model, skills, Path(folder))
        found = [count.of(line) for line in lines]
    if options.json:
        print(json.dumps(tally(found), indent=2))
        return
    for name, number in tally(found).items():
        print(f"  {name:42}{number:6}")
    for word in options.list:
        for one in found:
            _show(one, word)


def _show(one: GoalFates, word: str) -> None:
    for fate in one.fates:
        if fate.word == word and fate.hard:
            print(f"{word} [{one.lang} {one.outcome} {one.skill} {one.confidence:.2f}] {one.goal}")
            print(f"    {fate.type}: {fate.words}   <- {fate.by}")
    if word == "needless" and one.needless:
        print(f"needless [{one.lang} {one.outcome} {one.skill}] {one.goal}\n    {'; '.join(one.needless)}")
    if word == "invented" and one.invented:
        print(f"invented [{one.lang}] {one.goal}\n    {'; '.join(one.invented)}")


if __name__ == "__main__":
    main()
