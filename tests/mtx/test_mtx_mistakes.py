"""One mistake in a good file is told once, with its code and in its line, and nothing else is."""

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from mtx_writing import Writer, files

from mcl.language.mtx.ast import File
from mcl.language.mtx.parser import parse

Mistake = Callable[[str], str]
STRING = re.compile(r'\s*[\w.-]+="(?:[^"\\]|\\.)*"')
OPENER = re.compile(r"\s*(?:on |unknown |clarify |prompt$)")


def put(pattern: str, instead: str) -> Mistake:
    """The first match in a line replaced; the same line where there is none."""
    return lambda line: re.sub(pattern, instead, line, count=1)


# what is done to one line, and what is then told of it
MISTAKES: dict[str, tuple[Mistake, str]] = {
    "a misspelt word": (put(r"^(\s+)required$", r"\1requird"), "UNEXPECTED"),
    "a word in another case": (put(r"^(\s+)optional$", r"\1Optional"), "UNEXPECTED"),
    "a value for a word that takes none": (put(r"^(\s+required)$", r"\1=true"), "UNEXPECTED"),
    "a misspelt modifier": (put(r"^(\s+)hint=", r"\1hnt="), "UNEXPECTED"),
    "a misspelt field": (put(r"^(\s+)severity=", r"\1sevrity="), "UNEXPECTED"),
    "a misspelt end": (put(r"^(\s*)end$", r"\1edn"), "UNEXPECTED"),
    "a misspelt opener": (put(r"^(\s*)prompt$", r"\1promt"), "UNEXPECTED"),
    "a misspelt resolve": (put(r"^(\s*)resolve ", r"\1resolv "), "UNEXPECTED"),
    "a misspelt slot": (put(r"^slot ", "slt "), "UNEXPECTED"),
    "a misspelt condition": (put(r"^(\s*)on verb=", r"\1on vreb="), "UNEXPECTED"),
    "a wrong comparison": (put(r"confidence[<>=]=?", "confidence="), "UNEXPECTED"),
    "no sign": (put(r"^(\s+)(hint|reason|prompt|suggest)=", r"\1\2 "), "UNEXPECTED"),
    "no colon": (put(r"^(slot [\w-]+):", r"\1 "), "UNEXPECTED"),
    "an unknown type": (put(r"^(slot [\w-]+:)string", r"\1strng"), "UNKNOWN_TYPE"),
    "a call that is not closed": (put(r"^(\s*resolve .*)\)$", r"\1"), "INCOMPLETE"),
    "a list that is not closed": (put(r"^(\s+(?:options|default)=\[.*)\]$", r"\1"), "INCOMPLETE"),
    "a section that is misspelt": (put(r"^§INPUTS", "§INPUT"), "UNKNOWN_SECTION"),
    "a section that does not start its line": (put(r"^§", " §"), "INDENT"),
    "an unknown escape": (put(r'^(\s*[\w.-]+=")', r"\1\\q"), "BAD_ESCAPE"),
    "junk": (lambda line: line + " junk" if STRING.fullmatch(line) else line, "JUNK"),
    "a string that is not closed": (
        lambda line: line[:-1] if STRING.fullmatch(line) else line,
        "UNCLOSED_STRING",
    ),
    "a tab": (put(r"^  ", " \t"), "TAB"),
    "a NUL": (put(r"^(\s*\w)", "\\1\0"), "CONTROL"),
    "no indentation": (put(r"^  (required|optional|default|hint|max|suggest|action)", r"\1"), "INDENT"),
    "a hidden blank": (put(r"^(\s*)(?=\w)", "\\1\u00a0"), "UNEXPECTED"),
    "an address without its scheme": (put(r"^matrix://", "//"), "UNEXPECTED"),
}


def told(lines: list[str]) -> list[tuple[str, int]]:
    return [(one.code, one.line) for one in parse("\n".join(lines).encode()).findings]


@pytest.mark.parametrize("name", MISTAKES)
@given(files(), st.data())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_one_mistake_in_one_line_is_told_once(name: str, file: File, data: st.DataObject) -> None:
    change, code = MISTAKES[name]
    lines = Writer().write(file).split("\n")
    places = [place for place, line in enumerate(lines) if change(line) != line]
    assume(places)
    place = data.draw(st.sampled_from(places))
    lines[place] = change(lines[place])
    assert told(lines) == [(code, place + 1)], "\n".join(lines)


def opener_of(lines: list[str], end: int) -> int:
    """The line in which the block opens that ends in this one."""
    depth = 0
    for place in range(end, -1, -1):
        depth += (lines[place].strip() == "end") - bool(OPENER.match(lines[place]))
        if depth == 0:
            return place
    raise AssertionError("no opener")


@given(files(), st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_missing_end_is_told_where_its_block_opens(file: File, data: st.DataObject) -> None:
    lines = Writer().write(file).split("\n")
    places = [place for place, line in enumerate(lines) if line.strip() == "end"]
    # a block with nothing in it does not show how deep it goes
    places = [place for place in places if not OPENER.match(lines[place - 1])]
    assume(places)
    place = data.draw(st.sampled_from(places))
    opener = opener_of(lines, place)
    del lines[place]
    assert told(lines) == [("UNCLOSED_BLOCK", opener + 1)], "\n".join(lines)


@given(files(), st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_an_end_too_many_is_told_where_it_stands(file: File, data: st.DataObject) -> None:
    lines = Writer().write(file).split("\n")
    places = [place for place, line in enumerate(lines) if line.strip() == "end"]
    assume(places)
    place = data.draw(st.sampled_from(places))
    lines.insert(place + 1, lines[place])
    assert told(lines) == [("STRAY_END", place + 2)], "\n".join(lines)


@given(files(), st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_line_said_twice_is_told_the_second_time(file: File, data: st.DataObject) -> None:
    lines = Writer().write(file).split("\n")
    places = [place for place, line in enumerate(lines) if re.match(r"\s*[\w.-]+=|\s+(?:required|opt)", line)]
    assume(places)
    place = data.draw(st.sampled_from(places))
    lines.insert(place + 1, lines[place])
    assert told(lines) == [("DUPLICATE_KEY", place + 2)], "\n".join(lines)


@given(files(), st.sampled_from(["SKILL", "INPUTS", "TOOLS", "PROCEDURE", "FAILURE_MODES"]))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_section_said_twice_is_told_once_with_all_that_is_in_it(file: File, name: str) -> None:
    lines = Writer().write(file).rstrip("\n").split("\n")
    start = lines.index(f"§{name}")
    stop = next((n for n in range(start + 1, len(lines)) if lines[n].startswith("§")), len(lines))
    again = [*lines, *lines[start:stop]]
    assert told(again) == [("DUPLICATE_SECTION", len(lines) + 1)]


@given(files(), st.lists(st.sampled_from(sorted(MISTAKES)), min_size=2, max_size=4), st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_several_mistakes_are_all_told(file: File, names: list[str], data: st.DataObject) -> None:
    lines = Writer().write(file).split("\n")
    changed: set[int] = set()
    for name in names:
        change, _ = MISTAKES[name]
        places = [place for place, line in enumerate(lines) if place not in changed and change(line) != line]
        if places:
            place = data.draw(st.sampled_from(places))
            lines[place] = change(lines[place])
            changed.add(place)
    assert {line for _, line in told(lines)} >= {place + 1 for place in changed}, "\n".join(lines)
