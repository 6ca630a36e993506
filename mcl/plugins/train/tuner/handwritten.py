"""Goals written by hand (written/*.txt) as labelled utterances. The markup is told in written/README.md."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcl.model import form
from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.generator.skills import GENERAL
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance

FOLDER = Path(__file__).parent / "written"
NOBODY = ("written", "none")
"""The skill of goals that no skill takes."""
CODES = {
    "B": "budget", "D": "deadline", "ALLOW": "jurisdiction_allow", "DENY": "jurisdiction_deny",
    "Q": "quality", "R": "rule", "TO": "delivered", "OK": "signed_off", "X": "external",
    "A": "attestation", "P": "preference",
}  # fmt: skip
_SECTION = re.compile(r"== ([a-z]+|-) ([a-z][a-z-]*)")
_OPEN = re.compile(r"\[([A-Za-z_]+)([:=])")
_ESCAPES = {"[": "[", "]": "]", "\\": "\\", "#": "#", "=": "=", "n": "\n"}


class WrittenError(ValueError):
    """A line that is not as the markup wants it: file, line, what is wrong."""


def skills(folder: Path = FOLDER) -> dict[tuple[str, str], CorpusSkill]:
    """The skills that goals may be written for: `general` of the generator, and those of skills.toml."""
    found = {("own", "general"): GENERAL}
    for name, row in _rows(folder):
        slots = tuple(SlotForm(s[0], "string", s[1], tuple(s[2]) if len(s) > 2 else ()) for s in row["slots"])
        found["written", name] = CorpusSkill(
            "written", name, row["descriptions"][0], slots, tuple(row["verbs"])
        )
    return found


def descriptions() -> dict[str, tuple[str, ...]]:
    """What the skills of skills.toml may say of themselves."""
    return {name: tuple(row["descriptions"]) for name, row in _rows(FOLDER)}


def _rows(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    return list(tomllib.loads((folder / "skills.toml").read_text(encoding="utf-8")).items())


def load(folder: Path = FOLDER) -> list[Utterance]:
    """All goals, in the order of files and lines. Raises WrittenError."""
    known = skills(folder)
    seen: dict[str, str] = {}
    goals: list[Utterance] = []
    for path in sorted(folder.glob("*.txt")):
        for number, goal in read(path, known):
            same = " ".join(goal.text.lower().split())
            if same in seen:
                raise WrittenError(f"{path.name}:{number}: said already at {seen[same]}")
            seen[same] = f"{path.name}:{number}"
            goals.append(goal)
    return goals


def read(path: Path, known: Mapping[tuple[str, str], CorpusSkill]) -> Iterator[tuple[int, Utterance]]:
    """Line number and goal of each goal in a file. Raises WrittenError."""
    key, verb = NOBODY, None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        try:
            if line.startswith("=="):
                key, verb = _section(line, known)
            elif verb is None:
                raise ValueError("no section before the first goal")
            else:
                yield number, _goal(line, key, verb, known.get(key))
        except ValueError as error:
            raise WrittenError(f"{path.name}:{number}: {error}") from None


def _section(line: str, known: Mapping[tuple[str, str], CorpusSkill]) -> tuple[tuple[str, str], str]:
    match = _SECTION.fullmatch(line)
    if not match:
        raise ValueError("a section is `== verb skill`")
    verb, name = match.groups()
    if name == "none":
        if verb != "-":
            raise ValueError("goals of no skill have the verb -")
        return NOBODY, ""
    key = ("own" if name == "general" else "written", name)
    if key not in known:
        raise ValueError(f"no skill {name!r}")
    if verb not in (known[key].verbs or form.VERBS):
        raise ValueError(f"{verb!r} is no verb of {name}")
    return key, verb


def _goal(line: str, key: tuple[str, str], verb: str, skill: CorpusSkill | None) -> Utterance:
    text, marks = parse(line)
    units = form.words(text)
    starts, ends = {unit.start for unit in units}, {unit.end for unit in units}
    if len(units) > form.WINDOW_UNITS:
        raise ValueError(f"more than {form.WINDOW_UNITS} words")
    slots = {f"slot.{slot.name}": slot for slot in skill.slots} if skill else {}
    for mark in marks:
        slot = slots.get(mark.field)
        if mark.field not in form.FIELDS and (slot is None or bool(slot.options) != (mark.start is None)):
            raise ValueError(f"{mark.field!r} cannot be marked so for {key[1]}")
        if slot is not None and slot.options and mark.value not in slot.options:
            raise ValueError(f"{mark.value!r} is no option of {mark.field}")
        if mark.start is not None and (mark.start not in starts or mark.end not in ends):
            raise ValueError(f"{mark.value!r} does not begin and end with a word")
    if key == NOBODY and marks:
        raise ValueError("goals of no skill have no marks")
    return Utterance(text, key, tuple(marks), verb)


def parse(line: str) -> tuple[str, list[LabelMark]]:
    """Text and marks of a line. Raises ValueError."""
    text, marks, at = "", [], 0
    open_: tuple[str, int] | None = None
    while at < len(line):
        char = line[at]
        if char == "\\":
            if line[at + 1 : at + 2] not in _ESCAPES or at + 1 >= len(line):
                raise ValueError(f"unknown escape {line[at : at + 2]!r}")
            text += _ESCAPES[line[at + 1]]
            at += 2
        elif char == "[":
            match = _OPEN.match(line, at)
            if not match or open_:
                raise ValueError(f"a bracket that opens nothing: {line[at : at + 12]!r}")
            field = CODES.get(match[1], f"slot.{match[1]}" if match[1].islower() else "")
            if not field:
                raise ValueError(f"unknown field {match[1]!r}")
            at = match.end()
            if match[2] == "=":
                end = line.find("]", at)
                if end < at + 1 or text.strip():
                    raise ValueError("a choice `[slot=option]` stands before the text")
                marks.append(LabelMark(field, line[at:end], None, None))
                at = end + 1 + (line[end + 1 : end + 2] == " ")
            else:
                open_ = field, len(text)
        elif char == "]":
            if not open_:
                raise ValueError("a bracket closes that was never opened")
            field, start = open_
            if not text[start:].strip() or text[start:] != text[start:].strip():
                raise ValueError(f"an empty mark, or one with blanks at its edges: {text[start:]!r}")
            marks.append(LabelMark(field, text[start:], start, len(text)))
            open_, at = None, at + 1
        else:
            text, at = text + char, at + 1
    if open_:
        raise ValueError("a bracket is not closed")
    if text != text.strip() or not text:
        raise ValueError("blanks at the edges")
    return text, marks


def main() -> None:
    """Read all and print how many goals there are by skill and verb."""
    from collections import Counter

    goals = load()
    for (name, verb), count in sorted(Counter((g.skill[1], g.verb or "-") for g in goals).items()):
        print(f"{count:5} {verb:10} {name}")
    print(f"{len(goals):5} goals, {sum(len(g.marks) for g in goals)} marks")


if __name__ == "__main__":
    main()
