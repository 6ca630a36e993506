"""The checks V1–V15: what a well-formed file must also mean.

V1 sections · V2 verbs · V3 slot types, defaults and bounds · V4 slot names · V5 resolve · V6 unknown and
clarify · V7 prompts and their places · V8 failure reasons · V9 sub-skill pins · V10 tool pins · V11 kind ·
V12 output_cardinality · V13 identity · V14 recorded digest · V15 reachable conditions
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from ir import VERBS
from ir.checks import is_pinned
from ir.frame import valid_verb
from mcl.core.words import ACTIONS, CORTEX_KEYS, FAILURE_REASONS, GIVEN_KINDS, MEMORY_TYPES, SKILL_KEYS
from mcl.language.mtx.ast import (
    SECTIONS,
    Condition,
    ConfidenceIs,
    Entry,
    File,
    On,
    Setting,
    SlotIs,
    VerbIs,
    prompt_names,
)
from mcl.language.mtx.codec import file_digest
from mcl.language.mtx.procedure import is_late
from mcl.language.mtx.procedure_checks import bad_verb, check_procedure, check_slots, no_memory_type
from mcl.language.mtx.source import MAX_FINDINGS, MtxFinding, found, nearest
from mcl.language.phrases import PREFIX, read_phrase

# ---- What a skill is called: its id and version, also where its file names none that can be used.

NO_VERSION: Final = "0.0.0"
_NUMBER: Final = r"(?:0|[1-9]\d*)"
_LABEL: Final = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_LABEL}(?:\.{_LABEL})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
MAX_VERSION: Final = 128  # characters


def valid_version(text: str) -> bool:
    """Whether a text is a semantic version (semver.org 2.0.0) of at most 128 characters."""
    return len(text) <= MAX_VERSION and SEMVER.fullmatch(text) is not None


def skill_id(settings: Mapping[str, str], folder: Path) -> str:
    """The `id=` of §SKILL; where there is none that can be used, the folder's name, fit for an address."""
    written = settings.get("id", "")
    if ID.fullmatch(written):
        return written
    return _ODD.sub("-", folder.absolute().name).lstrip("._-")[:128] or "skill"


def skill_version(settings: Mapping[str, str]) -> str:
    """The `version=` of §SKILL, or 0.0.0 where there is none that can be used."""
    written = settings.get("version", "")
    return written if valid_version(written) else NO_VERSION


MAX_DESCRIPTION = 280
_SECTION_OF = {"matrix://tool/": "§TOOLS", "matrix://skill/": "§SUB_SKILLS"}
_DIGEST = re.compile(r"(?:sha256:)?[0-9a-f]{64}", re.ASCII | re.IGNORECASE)
_STRICT = ("V13", "V14", "V15")  # warnings, because real files break them


def check(file: File, *, name: str = "", strict: bool = False) -> list[MtxFinding]:
    """Everything that is wrong with a parsed file, in the order of its lines (of each kind of check at most
    200 things).

    name: the id that V13 expects (the folder's name; "" for none). strict: V13–V15 are errors throughout.
    """
    parts = (
        _sections(file),
        _header(file, name),
        _keys(file),
        _phrases(file),
        _verbs(file),
        _given(file),
        check_slots(file),
        _cortex(file),
        _references(file),
        check_procedure(file),
        check_reach(file),
        _failures(file),
        _hash(file),
    )
    findings = {finding for part in parts for finding in islice(part, MAX_FINDINGS)}
    if strict:
        findings = {
            replace(finding, severity="error") if finding.code in _STRICT else finding for finding in findings
        }
    return sorted(findings)


def _sections(file: File) -> Iterator[MtxFinding]:
    present = {section.name for section in file.sections}
    for name in SECTIONS:
        if name not in present and name != "HASH":
            hint = f"add §{name}" + ("" if name == "SKILL" else " with `none` below it")
            yield MtxFinding(1, 1, "V1", f"there is no section §{name}", "", hint)


def _header(file: File, name: str) -> Iterator[MtxFinding]:
    section = file.section("SKILL")
    if section is None:
        return
    settings = {entry.key: entry for entry in section.entries if isinstance(entry, Setting)}
    for key, valid, what in (
        ("id", ID.fullmatch, "a name of letters, digits, dots, - and _"),
        ("version", valid_version, "a semantic version such as 1.0.0"),
    ):
        entry = settings.get(key)
        if entry is None or not entry.value.value:
            message, hint = f"§SKILL has no {key}", f"add {key}=, {what}"
            yield found(entry or section, "V13", message, key, hint, warning=True)
        elif not valid(entry.value.value):
            yield found(entry.value, "V13", f"{key} is not {what}", entry.value.value, warning=True)
    value = settings["id"].value if "id" in settings else None
    if value is not None and name and value.value != name and ID.fullmatch(value.value):
        message = f"the id is {value.value!r} and the folder (or file) is called {name!r}"
        yield found(value, "V13", message, value.value, "give both the same name", warning=True)
    description = settings.get("description")
    if description is None or not description.value.value:
        at = description or section
        hint = "say in a sentence what it does: goals are matched with it"
        yield found(at, "V13", "§SKILL has no description", "description", hint, warning=True)
    elif len(description.value.value) > MAX_DESCRIPTION:
        message = f"{len(description.value.value)} characters; a description has at most {MAX_DESCRIPTION}"
        yield found(description.value, "V13", message, description.value.value[:40], warning=True)


def _keys(file: File) -> Iterator[MtxFinding]:
    """§SKILL takes any setting; one that is nearly a known one is most likely misspelt."""
    section = file.section("SKILL")
    for entry in section.entries if section else ():
        own = isinstance(entry, Setting) and "." in entry.key.removeprefix("mcl.")  # a name of its author's
        if isinstance(entry, Setting) and entry.key not in SKILL_KEYS and not own:
            hint = nearest(entry.key, SKILL_KEYS, likeness=0.8)
            if hint:
                yield found(entry, "KEY", f"nothing reads {entry.key}=", entry.key, hint, warning=True)


def _phrases(file: File) -> Iterator[MtxFinding]:
    """A phrase has words, and places of inputs that there are."""
    section, slots = file.section("SKILL"), [slot.name for slot in file.slots()]
    for entry in section.entries if section else ():
        if not (isinstance(entry, Setting) and entry.key.startswith(PREFIX)):
            continue
        phrase = read_phrase(entry.value.value)
        if phrase.flaw:
            yield found(
                entry.value, "PHRASE", phrase.flaw, entry.value.value[:40], "how many {slot} in {file}"
            )
        for slot in (*phrase.slots, *(name for name, _ in phrase.members)):
            if slot not in slots:
                hint = nearest(slot, slots) or f"inputs: {' '.join(slots) or 'none'}"
                yield found(entry.value, "PHRASE", f"no input is called {slot}", "{" + slot + "}", hint)


def _verbs(file: File) -> Iterator[MtxFinding]:
    section = file.section("SKILL")
    if section is None:
        return
    entry = next((e for e in section.entries if isinstance(e, Setting) and e.key == "mcl.verbs"), None)
    if entry is None or not entry.value.value.split():
        hint = f"add mcl.verbs= with some of: {' '.join(VERBS)}"
        message = "§SKILL names no mcl.verbs, so a goal with any verb may choose it"
        yield found(entry or section, "V2", message, "", hint, warning=True)
        return
    seen: set[str] = set()
    for verb in entry.value.value.split():
        if not valid_verb(verb):
            yield bad_verb(entry.value, verb)
        elif verb in seen:
            message = f"the verb {verb!r} is named twice"
            yield found(entry.value, "V2", message, verb, "keep one of them", warning=True)
        seen.add(verb)


def _given(file: File) -> Iterator[MtxFinding]:
    """What an earlier wish may fill are inputs that there are, each with a kind of what is given."""
    section, slots = file.section("SKILL"), [slot.name for slot in file.slots()]
    for entry in section.entries if section else ():
        if not (isinstance(entry, Setting) and entry.key == "mcl.given"):
            continue
        for word in entry.value.value.split():
            slot, _, kind = word.partition(":")
            if slot not in slots:
                hint = nearest(slot, slots) or f"inputs: {' '.join(slots) or 'none'}"
                yield found(entry.value, "GIVEN", f"no input is called {slot!r}", word, hint)
            elif kind not in GIVEN_KINDS:
                hint = nearest(kind, GIVEN_KINDS) or f"write slot:kind, one of {' '.join(GIVEN_KINDS)}"
                yield found(entry.value, "GIVEN", f"nothing is given as {kind!r}", word, hint)


def _cortex(file: File) -> Iterator[MtxFinding]:
    section = file.section("CORTEX")
    for entry in section.entries if section else ():
        if not isinstance(entry, Setting):
            continue
        if entry.key not in CORTEX_KEYS:
            hint = nearest(entry.key, CORTEX_KEYS)
            yield found(entry, "CORTEX", f"§CORTEX has no {entry.key!r}", entry.key, hint, warning=True)
        elif entry.key == "budget":
            if not (entry.value.value.isascii() and entry.value.value.isdigit() and int(entry.value.value)):
                message = "a budget is a whole number of tokens from 1"
                yield found(entry.value, "CORTEX", message, entry.value.value, "budget=256", warning=True)
        elif entry.key != "tags":
            for word in entry.value.value.split():
                if word not in MEMORY_TYPES:
                    yield no_memory_type(entry.value, word)


def _references(file: File) -> Iterator[MtxFinding]:
    for section, code, noun in (("SUB_SKILLS", "V9", "skill"), ("TOOLS", "V10", "tool")):
        seen: set[str] = set()
        for reference in file.references(section):
            uri = reference.uri
            if not uri.startswith(f"matrix://{noun}/"):
                message = f"§{section} names matrix://{noun}/ references only"
                hint = next(
                    (f"put it into {s}" for kind, s in _SECTION_OF.items() if uri.startswith(kind)), ""
                )
                yield found(reference, code, message, uri, hint)
            elif not is_pinned(uri):
                hint = "end it with @<semver> or @sha256:<64 hex>"
                yield found(reference, code, f"this {noun} is not pinned to a version", uri, hint)
            if uri in seen:
                message = f"this {noun} is named twice"
                yield found(reference, code, message, uri, "keep one of them", warning=True)
            seen.add(uri)


def _failures(file: File) -> Iterator[MtxFinding]:
    for failure in file.failures:
        reason = failure.reason
        if reason is not None and reason.value not in FAILURE_REASONS:
            hint = nearest(reason.value, FAILURE_REASONS) or f"reasons: {' '.join(FAILURE_REASONS)}"
            yield found(reason, "V8", f"there is no failure reason {reason.value!r}", reason.value, hint)
        action = failure.action
        if action is not None and action.value not in ACTIONS:
            hint = nearest(action.value, ACTIONS) or f"actions: {' '.join(ACTIONS)}"
            message = f"nothing acts on action={action.value}"
            yield found(action, "ACTION", message, action.value, hint, warning=True)


def _hash(file: File) -> Iterator[MtxFinding]:
    section = file.section("HASH")
    for entry in section.entries if section else ():
        if not isinstance(entry, Setting) or not entry.value.value:
            continue
        legal = {"v": "1", "algo": "sha256_ast"}.get(entry.key, entry.value.value)
        if entry.value.value != legal:
            message, text = f"nothing here checks {entry.key}={entry.value.value}", entry.value.value
            yield found(entry.value, "V14", message, text, f"write {entry.key}={legal}", warning=True)
        if entry.key != "digest":
            continue
        digest, recorded = file_digest(file), entry.value.value
        if recorded.removeprefix("sha256:") != digest:
            # What is no digest, or one of zeros, was never written; else the file was changed since.
            changed = _DIGEST.fullmatch(recorded) and recorded.removeprefix("sha256:").strip("0")
            hint = f"digest={digest}" + (
                "; mcl skill publish writes it, where that is meant" if changed else ""
            )
            message = "the recorded digest is not that of this file"
            yield found(entry.value, "V14", message, recorded, hint, warning=not changed)


# ---- V15: conditions that can never be reached.
#
# Each condition is about one thing: the verb, the confidence, one slot, or whether anything is unknown. It is
# never reached where a block around it, or the blocks before it at its level or around it, leave it no value.
# Of the confidence an interval (less single points) is left, of any other thing all values but those taken.

_CONFIDENCE = "confidence"
_Wanted: TypeAlias = str | bool


class _Interval(NamedTuple):
    """What is left of the confidence."""

    low: float = 0.0
    high: float = 1.0
    low_open: bool = False
    high_open: bool = False

    def below(self, number: float, *, open: bool) -> _Interval:
        """The part under a number (and the number itself, unless `open`)."""
        if number < self.high or (number == self.high and open):
            return self._replace(high=number, high_open=open)
        return self

    def above(self, number: float, *, open: bool) -> _Interval:
        """The part over a number (and the number itself, unless `open`)."""
        if number > self.low or (number == self.low and open):
            return self._replace(low=number, low_open=open)
        return self

    @property
    def wide(self) -> bool:
        """Whether it has more than one value."""
        return self.low < self.high

    @property
    def single(self) -> bool:
        """Whether it has exactly one."""
        return self.low == self.high and not (self.low_open or self.high_open)

    def split(self, condition: ConfidenceIs) -> tuple[_Interval, _Interval]:
        """What satisfies a comparison, and what does not; for == the latter still has the number."""
        number, sign = float(condition.number), condition.comparison
        if sign in ("<", "<="):
            return self.below(number, open=sign == "<"), self.above(number, open=sign == "<=")
        if sign in (">", ">="):
            return self.above(number, open=sign == ">"), self.below(number, open=sign == ">=")
        return self.above(number, open=False).below(number, open=False), self


@dataclass
class _Left:
    """What earlier blocks of one level and phase leave to later ones."""

    span: _Interval
    taken: dict[str, set[_Wanted]] = field(default_factory=lambda: defaultdict(set))
    points: set[float] = field(default_factory=set)  # single confidences that are taken
    nothing: bool = False


class _Level:
    """One level of blocks on the way down; `phase` is that of the block that is looked into now."""

    def __init__(self, entries: Sequence[Entry], span: _Interval, fixed: tuple[str, _Wanted] | None) -> None:
        self.entries = iter(entries)
        self.fixed = fixed  # by the condition of the block around
        self.start = span
        self.left = {False: _Left(span), True: _Left(span)}
        self.phase = False
        self.inside: Condition | None = None

    @property
    def here(self) -> _Left:
        return self.left[self.phase]


def check_reach(file: File) -> Iterator[MtxFinding]:
    """One warning for each condition that never holds where it stands. Time: linear in the length of a
    file."""
    yield from _Reach(file).findings()


class _Reach:
    def __init__(self, file: File) -> None:
        self.slots = {slot.name: slot.type for slot in file.slots()}
        verbs = file.settings().get("mcl.verbs", "").split()
        extra = [name for name in prompt_names(file) if name.startswith("x:")]  # may be for steps alone
        self.domains: dict[str, frozenset[_Wanted] | None] = {
            "verb": frozenset([*verbs, *extra]) if verbs and all(map(valid_verb, verbs)) else None,
            "unknown": frozenset([True, False]),
        }
        self.levels = [_Level(file.procedure, _Interval(), None)]

    def findings(self) -> Iterator[MtxFinding]:
        levels = self.levels
        while levels:
            level = levels[-1]
            if level.inside is not None:  # the block was looked into: what it takes, no later one gets
                self.take(level.inside)
                level.inside = None
            entry = next((entry for entry in level.entries if isinstance(entry, On)), None)
            if entry is None:
                levels.pop()
                continue
            condition = entry.condition
            level.phase = is_late(condition)
            if self.reached(condition):
                level.inside = condition
                span, fixed = level.here.span, None
                if isinstance(condition, ConfidenceIs):
                    span = span.split(condition)[0]
                else:
                    fixed = self.about(condition)
                levels.append(_Level(entry.body, span, fixed))
                continue
            if self.is_wrong(condition):
                continue
            earlier = self.possible(condition, len(levels) - 1)
            message = (
                "an earlier block takes every such case" if earlier else "this condition never holds here"
            )
            about = _CONFIDENCE if isinstance(condition, ConfidenceIs) else self.about(condition)[0]
            yield found(condition, "V15", message, about, warning=True)

    def about(self, condition: Condition) -> tuple[str, _Wanted]:
        """What a condition is about, and the value that it wants."""
        if isinstance(condition, VerbIs):
            return "verb", condition.verb
        if isinstance(condition, SlotIs):
            return f"slot.{condition.slot}", condition.value.value
        return "unknown", True

    def domain(self, name: str) -> frozenset[_Wanted] | None:
        """All values of a thing; None where they are without end."""
        if name not in self.domains:
            type = self.slots.get(name.removeprefix("slot."))
            if type is not None and type.name == "enum":
                self.domains[name] = frozenset([*type.members, ""])
            else:
                is_bool = type is not None and type.name == "bool"
                self.domains[name] = frozenset(["true", "false", ""]) if is_bool else None
        return self.domains[name]

    def fixed(self, name: str) -> set[_Wanted]:
        """What the blocks around want a thing to be."""
        return {level.fixed[1] for level in self.levels if level.fixed and level.fixed[0] == name}

    def excludes(self, name: str, one: _Wanted, other: _Wanted) -> bool:
        """Whether a thing cannot be both; a list may hold several values, but not be empty then."""
        type = self.slots.get(name.removeprefix("slot."))
        many = type is not None and type.many
        return (not one) != (not other) if many else one != other

    def in_domain(self, name: str, value: _Wanted) -> bool:
        domain = self.domain(name)
        return domain is None or value in domain

    def is_wrong(self, condition: Condition) -> bool:
        """Whether another check (V2, V3) says already that there is no such verb or value."""
        if isinstance(condition, VerbIs):
            return not valid_verb(condition.verb)
        return isinstance(condition, SlotIs) and not self.in_domain(*self.about(condition))

    def reached(self, condition: Condition) -> bool:
        return not self.levels[-1].here.nothing and self.possible(condition, len(self.levels))

    def possible(self, condition: Condition, depth: int) -> bool:
        """Whether a condition can hold at the last level: `depth` says how many levels' earlier blocks
        count."""
        if isinstance(condition, ConfidenceIs):
            level = self.levels[-1]
            span = level.here.span if depth == len(self.levels) else level.start
            return self.holds_any(span.split(condition)[0], depth)
        name, value = self.about(condition)
        if not self.in_domain(name, value):
            return False
        if any(self.excludes(name, one, value) for one in self.fixed(name)):
            return False
        return not any(value in level.here.taken.get(name, ()) for level in self.levels[:depth])

    def holds_any(self, span: _Interval, depth: int) -> bool:
        return span.wide or (
            span.single and not any(span.low in level.here.points for level in self.levels[:depth])
        )

    def take(self, condition: Condition) -> None:
        """Take what a reached condition holds for from the blocks behind it."""
        left, depth = self.levels[-1].here, len(self.levels)
        if isinstance(condition, ConfidenceIs):
            left.span = left.span.split(condition)[1]
            if condition.comparison == "==":
                left.points.add(float(condition.number))
            left.nothing = not self.holds_any(left.span, depth)
            return
        name, value = self.about(condition)
        left.taken[name].add(value)
        domain = self.domain(name)
        if fixed := self.fixed(name):
            left.nothing = left.nothing or value in fixed
        elif domain is not None:
            taken = sum(len(level.here.taken.get(name, ())) for level in self.levels)  # no value twice
            left.nothing = taken >= len(domain)
