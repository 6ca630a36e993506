"""Places of the parser and of an editor are told into each other for any text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.language.mtx.parser import parse
from mcl.plugins.editor.document import OpenDocument, rows

ENCODINGS = ("utf-8", "utf-16", "utf-32")
texts = st.text(
    st.sampled_from('ab §🙂é\u0301e\u0327\n\r\t\u2028가ᄀ ᅡ\ufeff{}"#=\x0b') | st.characters(), max_size=60
)


def units(text: str, encoding: str) -> int:
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(text.encode({1: "utf-8", 2: "utf-16-le", 4: "utf-32-le"}[width], "surrogatepass")) // width


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_finding_behind_astral_characters_has_the_place_that_an_editor_counts(encoding, ending, bom):
    line = 'description="🙂🙂 é" x'
    text = bom + "§SKILL" + ending + line + ending
    document = OpenDocument(text, encoding)
    finding = next(finding for finding in parse(document.data).findings if finding.code == "JUNK")
    assert (finding.line, finding.column) == (2, line.index(" x") + 2)
    assert document.point(finding.line, finding.column) == (1, units(line[:-1], encoding))
    assert document.place(1, units(line[:-1], encoding)) == (2, len(line))


def test_a_bom_counts_for_the_editor_and_not_for_the_parser():
    document = OpenDocument("\ufeff§SKILL\n")
    assert document.lines[0] == "§SKILL"
    assert document.point(1, 1) == (0, 1)
    assert document.place(0, 1) == (1, 1)
    assert document.place(0, 0) == (1, 1)


def test_a_decomposed_letter_before_the_place_is_one_character_for_the_parser():
    decomposed = unicodedata.normalize("NFD", 'hint="é ü" x')
    document = OpenDocument(f"§SKILL\n{decomposed}\n")
    assert document.point(2, len('hint="é ü" x')) == (1, len(decomposed) - 1)
    assert document.place(1, len(decomposed) - 1) == (2, len('hint="é ü" x'))


def test_a_lone_carriage_return_ends_a_line_for_the_editor_only():
    document = OpenDocument("ab\rcd\nef")
    assert document.lines == ["ab\rcd", "ef"]
    assert document.point(1, 4) == (1, 0)
    assert document.place(1, 1) == (1, 5)
    assert document.point(2, 2) == (2, 1)


@given(texts, st.sampled_from(ENCODINGS))
def test_every_place_of_the_parser_comes_back_from_the_editor(text, encoding):
    document = OpenDocument(text, encoding)
    for number, line in enumerate(document.lines, 1):
        for column in range(1, len(line) + 2):
            point = document.point(number, column)
            back = document.place(*point)
            assert back.line == number
            assert document.point(*back) == point
            if unicodedata.is_normalized("NFC", text):
                assert back.column == column


@given(texts, st.integers(-3, 99), st.integers(-3, 99), st.sampled_from(ENCODINGS))
def test_no_place_is_outside_the_text(text, line, character, encoding):
    document = OpenDocument(text, encoding)
    place = document.place(line, character)
    assert 1 <= place.line <= len(document.lines)
    assert 1 <= place.column <= len(document.line(place.line)) + 1
    point = document.point(line, character)
    assert (0, 0) <= point <= document.end()


@given(texts)
def test_the_lines_are_those_that_the_parser_counts(text):
    document = OpenDocument(text)
    parsed = parse(document.data).text.split("\n")
    shown = [line for line in document.lines if line]
    assert len(document.lines) in (len(parsed), len(parsed) - 1) or not shown
    assert "".join(rows(text)) == text
