"""V15 agrees with the interpreter: a condition is warned of just when no goal can ever reach its block."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from mtx_writing import EXAMPLE

from mcl.language.mtx.ast import (
    AnyUnknown,
    ConfidenceIs,
    Entry,
    File,
    On,
    Position,
    SlotIs,
    Text,
    UnknownNode,
    VerbIs,
)
from mcl.language.mtx.checks import check_reach
from mcl.language.mtx.layout import format_file
from mcl.language.mtx.parser import parse
from mcl.language.mtx.procedure import interpret

BASE = parse(EXAMPLE.encode()).file
WORLDS = list(
    product(
        ("find", "acquire"),
        ("economy", "premium", "business", ""),
        ((), ("a",), ("b",), ("a", "b"), ("c",)),
        (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 1.0),
        ((), ("gap",)),
    )
)
conditions = st.one_of(
    st.builds(VerbIs, st.sampled_from(["find", "acquire", "build"])),
    st.builds(
        ConfidenceIs,
        st.sampled_from(["<", "<=", ">", ">=", "=="]),
        st.sampled_from(["0", "0.25", "0.5", "1"]),
    ),
    st.builds(
        SlotIs, st.just("cabin"), st.builds(Text, st.sampled_from(["economy", "premium", "business", ""]))
    ),
    st.builds(SlotIs, st.just("tags"), st.builds(Text, st.sampled_from(["a", "b", ""]))),
    st.just(AnyUnknown()),
)
blocks = st.recursive(
    st.builds(On, conditions),
    lambda inner: st.builds(On, conditions, st.lists(inner, max_size=4).map(tuple)),
    max_leaves=10,
)


@dataclass(frozen=True)
class Script:
    file: File


def numbered(entries: tuple[On, ...], count: list[int]) -> tuple[Entry, ...]:
    """The blocks with a line of its own for each condition, and an `unknown` in each that names the line."""
    made: list[Entry] = []
    for entry in entries:
        count[0] += 1
        line = count[0]
        mark = UnknownNode("target", reason=Text(str(line)))
        inner = tuple(one for one in entry.body if isinstance(one, On))
        body = (mark, *numbered(inner, count))
        made.append(On(replace(entry.condition, at=Position(line, 1)), body, at=Position(line, 1)))
    return tuple(made)


def with_procedure(entries: tuple[Entry, ...]) -> File:
    return File(
        tuple(
            replace(section, entries=entries) if section.name == "PROCEDURE" else section
            for section in BASE.sections
        )
    )


def parents(entries: tuple[Entry, ...], above: frozenset[int], found: dict[int, frozenset[int]]) -> None:
    for entry in entries:
        if isinstance(entry, On):
            found[entry.at.line] = above
            parents(entry.body, above | {entry.at.line}, found)


@given(st.lists(blocks, min_size=1, max_size=5).map(tuple))
@settings(max_examples=60, deadline=None)
def test_a_block_is_warned_of_just_when_nothing_reaches_it(entries: tuple[On, ...]) -> None:
    count = [0]
    file = with_procedure(numbered(entries, count))
    reached: set[int] = set()
    for verb, cabin, tags, confidence, unknowns in WORLDS:
        said = interpret(
            Script(file),
            verb=verb,
            prose="",
            slots={"cabin": cabin or (), "tags": tags},
            confidence=confidence,
            unknowns=unknowns,
        )
        reached |= {int(rule.reason) for rule in said.unknowns}
    above: dict[int, frozenset[int]] = {}
    parents(file.procedure, frozenset(), above)
    never = set(range(1, count[0] + 1)) - reached
    told = {finding.line for finding in check_reach(file)}
    assert told == {line for line in never if not above[line] & never}  # what is inside is not told again


def test_a_thousand_levels_are_checked_interpreted_and_formatted() -> None:
    depth = 990
    opened = "".join(f"{' ' * level}on slot.tags=t{level}\n" for level in range(depth))
    closed = "".join(f"{' ' * level}end\n" for level in reversed(range(depth)))
    block = f"{opened}{' ' * depth}kind=code\n{closed}"
    start, stop = EXAMPLE.index("§PROCEDURE\n") + len("§PROCEDURE\n"), EXAMPLE.index("§OUTPUTS")
    parsed = parse((EXAMPLE[:start] + block + EXAMPLE[stop:]).encode())
    assert parsed.findings == ()
    assert list(check_reach(parsed.file)) == []
    tags = [f"t{level}" for level in range(depth)]
    assert interpret(Script(parsed.file), verb="find", prose="", slots={"tags": tags}).kind == "code"
    assert interpret(Script(parsed.file), verb="find", prose="", slots={"tags": tags[1:]}).kind == ""
    again = parse(format_file(parsed).encode())
    assert again.findings == ()
    assert format_file(again) == format_file(parsed)
