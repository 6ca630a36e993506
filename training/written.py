"""Goals written by many hands (training/written/*/*.txt), labelled. Their markup: written/README.md.

python -m training.written [PART/WRITER]: reads all strictly and counts, or one writer's goals.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcl.model import form
from mcl.model.protocol import BOOLEAN, SlotForm
from mcl.plugins.train.tuner.generator.skills import GENERAL
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark

FOLDER = Path(__file__).parent / "written"
PARTS = ("train", "development", "test")
LANGUAGES = ("en", "sv", "de", "fr")
NOT_GOALS = ("none", "question", "chat")
KINDS_OF_CORRECTION = ("change", "add", "drop", "again", "undo", "new")
SLOT_TYPES = ("string", "uint", "float", "bool", "date", "time", "duration", "money", "path", "url", "email")
CODES = {
    "B": "budget", "D": "deadline", "ALLOW": "jurisdiction_allow", "DENY": "jurisdiction_deny",
    "Q": "quality", "R": "rule", "TO": "delivered", "OK": "signed_off", "X": "external",
    "A": "attestation", "P": "preference", "E": "recurrence",
}  # fmt: skip
MAX_WISHES, MAX_WORDS, MAX_SLOTS = 3, 120, 32
_WISH = re.compile(r"([a-z]+) ([a-z][a-z-]*)")
_OPEN = re.compile(r"\[([A-Z]+|[a-z][a-z0-9_]*)(?:=([^\[\]:]+))?(:)?")
_ESCAPES = {"[", "]", "\\", "#", "=", "@"}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SLOT = re.compile(r"[a-z][a-z0-9_]*")


class WriterFileError(ValueError):
    """A line that is not as the markup wants it: file, line, what is wrong."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that a goal wants: verb, skill (`general` or a known one), where its words begin."""

    verb: str
    skill: str
    start: int
    marks: tuple[LabelMark, ...]


@dataclass(frozen=True, slots=True)
class WrittenGoal:
    """A goal with its labels: `kind` is goal, correction, or one of NOT_GOALS (then there are no wishes).

    A correction says in `before` what was wanted first and in `change` which kind of correction it is.
    """

    text: str
    kind: str
    wishes: tuple[Wish, ...]
    language: str
    writer: str
    line: int
    before: WrittenGoal | None = None
    change: str = ""


@dataclass(frozen=True)
class GoalWriter:
    """One hand: the part it writes for, who it is, the skills it invented, its goals."""

    part: str
    name: str
    persona: str
    skills: Mapping[str, WrittenSkill]
    goals: tuple[WrittenGoal, ...]


@dataclass(frozen=True)
class WrittenSkill:
    """A skill, the other ways in which it describes itself, the names of those it could be taken for.

    ships: the shipped skill that takes its goals, "" for none: by `slot=option` as marked, "" for all else.
    """

    skill: CorpusSkill
    also: tuple[str, ...]
    near: tuple[str, ...]
    ships: Mapping[str, str]

    def shipped(self, wish: Wish) -> str:
        """The shipped skill that takes such a wish, "" for none."""
        marked = (f"{mark.field.removeprefix('slot.')}={mark.value}" for mark in wish.marks)
        return next((self.ships[one] for one in marked if one in self.ships), self.ships[""])


def shelf(folder: Path = FOLDER) -> dict[str, WrittenSkill]:
    """The skills that everybody writes for."""
    return _skills(folder / "shelf.toml", "shelf")


def writers(folder: Path = FOLDER, parts: Sequence[str] = PARTS) -> list[GoalWriter]:
    """All writers of these parts, in the order of parts and names. Raises WriterFileError."""
    common = shelf(folder)
    return [
        read_writer(path, common)
        for part in parts
        for path in sorted((folder / part).glob("*.txt"))
    ]  # fmt: skip


def of_one_wish(parts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Goals of one wish, the skill that takes each ("" for none here), and its verb ("" for no goal)."""
    common = shelf()
    for writer in writers(parts=parts):
        for goal in writer.goals:
            one = goal.before or goal
            if len(one.wishes) > 1 or (goal.change and not goal.before):
                continue
            wish = one.wishes[0] if one.wishes else None
            known = common[wish.skill].shipped(wish) if wish is not None and wish.skill in common else ""
            yield one.text, known, wish.verb if wish else ""


def read_writer(path: Path, common: Mapping[str, WrittenSkill]) -> GoalWriter:
    """The goals in `path` and the skills beside it. Raises WriterFileError."""
    own = _skills(path.with_suffix(".toml"), path.stem) if path.with_suffix(".toml").exists() else {}
    if both := sorted(own.keys() & common.keys()):
        raise WriterFileError(f"{path.stem}.toml: {', '.join(both)} stands on the shelf already")
    known = {**common, **own}
    head: dict[str, str] = {}
    goals: list[WrittenGoal] = []
    section = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        try:
            if line.startswith("@ "):
                key, _, value = line[2:].partition(": ")
                if key not in ("persona", "language") or not value.strip():
                    raise ValueError("a head line is `@ persona: WHO` or `@ language: en`")
                if key == "language" and value not in LANGUAGES:
                    raise ValueError(f"no language {value!r}")
                head[key] = value
            elif line.startswith("== "):
                section = line[3:]
                _section(section, known)
            elif line.strip() and not line.startswith("#"):
                if not section or len(head) < 2:
                    raise ValueError("`@ persona:`, `@ language:` and a section come before the first goal")
                goals.append(_goal(line, section, known, head["language"], path.stem, number))
        except ValueError as error:
            raise WriterFileError(f"{path.parent.name}/{path.name}:{number}: {error}") from None
    return GoalWriter(path.parent.name, path.stem, head.get("persona", ""), own, tuple(goals))


def _skills(path: Path, source: str) -> dict[str, WrittenSkill]:
    found: dict[str, WrittenSkill] = {}
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise WriterFileError(f"{path.name}: {error}") from None
    for name, row in rows.items():
        try:
            found[name] = _skill(name, row, source)
        except (ValueError, TypeError, KeyError) as error:
            raise WriterFileError(f"{path.name}: [{name}]: {error}") from None
    return found


def _skill(name: str, row: Mapping[str, Any], source: str) -> WrittenSkill:
    if not _NAME.fullmatch(name):
        raise ValueError("a skill is named by small letters with - between words")
    if extra := sorted(row.keys() - {"verbs", "description", "also", "near", "slots", "ships"}):
        raise ValueError(f"unknown: {', '.join(extra)}")
    if not row["verbs"] or (wrong := [verb for verb in row["verbs"] if verb not in form.VERBS]):
        raise ValueError(f"no such verb: {', '.join(wrong)}")
    slots = tuple(_slot(slot, told) for slot, told in row.get("slots", {}).items())
    if len(slots) > MAX_SLOTS:
        raise ValueError(f"more than {MAX_SLOTS} slots")
    skill = CorpusSkill(source, name, str(row["description"]), slots, tuple(row["verbs"]))
    ships = row.get("ships", name)
    by_option = {"": ships} if isinstance(ships, str) else dict(ships)
    return WrittenSkill(skill, tuple(row.get("also", ())), tuple(row.get("near", ())), by_option)


def _slot(name: str, told: str | Mapping[str, Any]) -> SlotForm:
    row = {"hint": told} if isinstance(told, str) else dict(told)
    if not _SLOT.fullmatch(name) or name == "as":
        raise ValueError(f"a slot is named by small letters with _ between words, not {name!r}")
    if extra := sorted(row.keys() - {"hint", "type", "options", "required", "many"}):
        raise ValueError(f"slot {name}: unknown: {', '.join(extra)}")
    if row.get("type", "string") not in SLOT_TYPES:
        raise ValueError(f"slot {name}: no type {row['type']!r}")
    return SlotForm(
        name=name,
        type=str(row.get("type", "string")),
        hint=str(row["hint"]),
        options=BOOLEAN if row.get("type") == "bool" else tuple(row.get("options", ())),
        required=bool(row.get("required", False)),
        many=int(row.get("many", 1)),
    )


def _section(section: str, known: Mapping[str, WrittenSkill]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Kind of the goals of a section, and verb and skill of each wish."""
    if section.startswith("- "):
        if section[2:] not in NOT_GOALS:
            raise ValueError(f"what is no goal is one of {', '.join(NOT_GOALS)}")
        return section[2:], ()
    kind, rest = ("correction", section[2:]) if section.startswith("~ ") else ("goal", section)
    wishes = []
    for part in rest.split(" + "):
        match = _WISH.fullmatch(part)
        if not match:
            raise ValueError("a section is `== VERB SKILL`, with ` + ` between several wishes")
        verb, name = match.groups()
        if name != "general" and name not in known:
            raise ValueError(f"no skill {name!r}")
        if verb not in (form.VERBS if name == "general" else known[name].skill.verbs):
            raise ValueError(f"{verb!r} is no verb of {name}")
        wishes.append((verb, name))
    if len(wishes) > MAX_WISHES or (kind == "correction" and len(wishes) > 1):
        raise ValueError("too many wishes in one section")
    return kind, tuple(wishes)


def _goal(
    line: str, section: str, known: Mapping[str, WrittenSkill], language: str, writer: str, number: int
) -> WrittenGoal:
    kind, wanted = _section(section, known)
    if kind != "correction":
        return _labelled(line, kind, wanted, known, language, writer, number)
    first, arrow, second = line.partition(" => ")
    match = re.match(r"\[as=([a-z]+)\] ", second)
    if not arrow or not match or match[1] not in KINDS_OF_CORRECTION:
        raise ValueError(
            f"a correction is `last goal => [as=KIND] words`, KIND one of {', '.join(KINDS_OF_CORRECTION)}"
        )
    before = _labelled(first, "goal", wanted, known, language, writer, number)
    told = second[match.end() :]
    if match[1] in ("undo", "new") and "[" in told.replace("\\[", ""):
        raise ValueError(f"nothing is marked in a correction of the kind {match[1]}")
    goal = _labelled(told, kind, wanted, known, language, writer, number)
    return WrittenGoal(goal.text, kind, goal.wishes, language, writer, number, before, match[1])


def _labelled(
    line: str, kind: str, wanted: tuple[tuple[str, str], ...], known: Mapping[str, WrittenSkill],
    language: str, writer: str, number: int,
) -> WrittenGoal:  # fmt: skip
    text, marks, starts = parse(line)
    units = form.words(text)
    if len(units) > MAX_WORDS:
        raise ValueError(f"more than {MAX_WORDS} words")
    if not wanted and (marks or len(starts) > 1):
        raise ValueError("what is no goal has no marks")
    if wanted and len(starts) != len(wanted):
        raise ValueError(f"{len(wanted)} wishes, but {len(starts)} begin: put [+] before each further one")
    begins, ends = {unit.start for unit in units}, {unit.end for unit in units}
    wishes = []
    for at, (verb, name) in enumerate(wanted):
        until = starts[at + 1] if at + 1 < len(starts) else len(text) + 1
        own = tuple(
            mark
            for mark in marks
            if (mark.start is None and at == 0)
            or (mark.start is not None and starts[at] <= mark.start < until)
        )
        skill = GENERAL if name == "general" else known[name].skill
        for mark in own:
            _check(mark, skill, begins, ends)
        wishes.append(Wish(verb, name, starts[at], own))
    return WrittenGoal(text, kind, tuple(wishes), language, writer, number)


def _check(mark: LabelMark, skill: CorpusSkill, begins: set[int], ends: set[int]) -> None:
    if mark.start is not None and (mark.start not in begins or mark.end not in ends):
        raise ValueError(f"the mark of {mark.field} does not begin and end with a word")
    if not mark.field.startswith("slot."):
        return
    slot = next((slot for slot in skill.slots if f"slot.{slot.name}" == mark.field), None)
    if slot is None:
        raise ValueError(f"{skill.name} has no slot {mark.field[5:]!r}")
    if slot.options and mark.value not in slot.options:
        raise ValueError(
            f"{mark.value!r} is no option of {slot.name}: [{slot.name}=OPTION:words], one of {slot.options}"
        )
    if mark.start is None and not slot.options:
        raise ValueError(f"{slot.name} has no options: mark words of the goal")


def parse(line: str) -> tuple[str, list[LabelMark], list[int]]:
    """Text, marks, and where each wish begins (the first at 0). Raises ValueError."""
    text, marks, starts, at = "", [], [0], 0
    inside: tuple[str, str | None, int] | None = None
    while at < len(line):
        char = line[at]
        if char == "\\":
            if line[at + 1 : at + 2] not in _ESCAPES:
                raise ValueError(f"unknown escape {line[at : at + 2]!r}")
            text, at = text + line[at + 1], at + 2
        elif line.startswith("[+]", at):
            if inside:
                raise ValueError("[+] inside a mark")
            starts.append(len(text))
            at += 3
        elif char == "[":
            match = _OPEN.match(line, at)
            if not match or inside:
                raise ValueError(f"a bracket that opens nothing: {line[at : at + 16]!r}")
            name, option, colon = match.groups()
            field = CODES.get(name) if name.isupper() else f"slot.{name}"
            if field is None or (option is None and not colon) or (option and name.isupper()):
                raise ValueError(f"a bracket that opens nothing: {line[at : at + 16]!r}")
            at = match.end()
            if colon:
                inside = field, option, len(text)
            else:
                if line[at : at + 1] != "]" or text.strip():
                    raise ValueError("a choice `[slot=option]` without words stands before the text")
                marks.append(LabelMark(field, option or "", None, None))
                at += 1 + (line[at + 1 : at + 2] == " ")
        elif char == "]":
            if not inside:
                raise ValueError("a bracket closes that was never opened")
            field, option, start = inside
            words = text[start:]
            if not words.strip() or words != words.strip():
                raise ValueError(f"an empty mark, or one with blanks at its edges: {words!r}")
            marks.append(LabelMark(field, option or words, start, len(text)))
            inside, at = None, at + 1
        else:
            text, at = text + char, at + 1
    if inside:
        raise ValueError("a bracket is not closed")
    if not text or text != text.strip():
        raise ValueError("blanks at the edges, or nothing")
    return text, marks, starts


def repeated(all_: Sequence[GoalWriter]) -> Iterator[str]:
    """Goals that say what another said, but for case, punctuation and blanks; many people say "ok"."""
    seen: dict[str, str] = {}
    for writer in all_:
        for goal in writer.goals:
            if not goal.wishes:
                continue
            said = (goal.before.text + " " if goal.before else "") + goal.text
            same = " ".join(re.findall(r"\w+", said.lower()))
            place = f"{writer.part}/{writer.name}.txt:{goal.line}"
            if same in seen:
                yield f"{place}: said already at {seen[same]}: {goal.text}"
            seen.setdefault(same, place)


def counts(all_: Sequence[GoalWriter]) -> Iterator[str]:
    """What there is, line by line: by writer, kind, language, skill and constraint."""
    goals = [goal for writer in all_ for goal in writer.goals]
    skills = Counter(wish.skill for goal in goals for wish in goal.wishes)
    own = {name for writer in all_ for name in writer.skills}
    fields = Counter(
        mark.field
        for goal in goals
        for wish in goal.wishes
        for mark in wish.marks
        if not mark.field.startswith("slot.")
    )
    kinds = Counter("several wishes" if len(goal.wishes) > 1 else goal.kind for goal in goals)
    for writer in all_:
        place = f"{writer.part}/{writer.name}"
        yield f"{len(writer.goals):6} {place}: {len(writer.skills)} skills · {writer.persona}"
    for title, counter in (("kinds", kinds), ("languages", Counter(goal.language for goal in goals))):
        yield f"{title}: " + " · ".join(f"{name} {count}" for name, count in counter.most_common())
    yield "constraints: " + " · ".join(f"{CODE} {fields[field]}" for CODE, field in CODES.items())
    yield "shelf: " + " · ".join(f"{n} {c}" for n, c in skills.most_common() if n not in own)
    few = " · ".join(f"{name} {skills[name]}" for name in sorted(own, key=lambda name: skills[name])[:12])
    yield f"own skills: {len(own)}, {sum(skills[name] for name in own)} wishes; fewest: {few}"
    yield f"{len(goals)} goals of {len(all_)} writers"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read strictly and print the counts; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("writer", nargs="?", help="PART/WRITER, such as train/nurse")
    name = parser.parse_args(arguments).writer
    try:
        found = [read_writer(FOLDER / f"{name}.txt", shelf())] if name else writers()
    except (WriterFileError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    wrong = list(repeated(found))
    print("\n".join([*counts(found), *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
