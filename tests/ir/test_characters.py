"""The table of characters, against the Unicode data; and the view of what is signed."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from ir.characters import (
    HIDDEN,
    INVISIBLE,
    MEANINGLESS,
    UNICODE,
    UNSEEN,
    kind_of,
    without,
    written_in_json,
    written_out,
)
from ir.display import beginning, bounded, clear, clear_json, lines_of, pieces, quoted

ALL = [chr(code) for code in range(sys.maxunicode + 1)]
TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
# Where two texts come near each other: escapes that somebody typed, blanks, marks, other spellings.
PARTS = (
    *'\\ns{}"= a1é\xa0\n\t\r\u200b\u2800\u0301Å\u212b\u1100\u1161가\ud800\u0378\u0338ガカ\u3099\u2028',
    *("  ", " " * 200, "\\x20", "\\s{2}", "\\n", "\\u200b", "e\u0301", "\U000e0100", "👨\u200d👩"),
    "… (200 characters)",
)
NEAR = st.lists(st.sampled_from(PARTS), max_size=9).map("".join)


def test_each_code_point_is_of_the_kind_that_the_unicode_data_says() -> None:
    assert unicodedata.unidata_version == UNICODE
    of = {"Cc": "control", "Zl": "line", "Zp": "line", "Cs": "surrogate", "Co": "private", "Zs": "blank"}
    for char in ALL:
        kind, category = kind_of(char), unicodedata.category(char)
        if category in of and char != " ":
            assert kind == of[category], ascii(char)
        elif category in ("Cf", "Cn"):
            assert kind in UNSEEN, ascii(char)
        elif kind is not None:  # seen as Unicode has it, and not by people: these, and no others
            assert kind in ("joiner", "variation", "filler"), ascii(char)
    assert sum(map(bool, map(kind_of, map(chr, range(0x20, 0x7F))))) == 0


def test_every_default_ignorable_character_is_invisible() -> None:
    ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    found = [char for char in ALL if ignorable.match(char)]
    assert len(found) == 4174
    assert {char for char in found if kind_of(char) not in INVISIBLE} == set()
    others = {char for char in ALL if kind_of(char) in INVISIBLE} - set(found)
    assert others == set("\u2800\ufff9\ufffa\ufffb\ufffc")


def test_every_character_that_turns_the_direction_is_known_as_such() -> None:
    turns = regex.compile(r"\p{Bidi_Control}")
    assert {char for char in ALL if turns.match(char)} == {
        char for char in ALL if kind_of(char) == "direction"
    }


def test_the_classes_lie_within_each_other() -> None:
    assert MEANINGLESS < INVISIBLE < HIDDEN < UNSEEN
    assert without("a\u200bb\xa0c", INVISIBLE) == "ab\xa0c"
    assert written_out("a\u200b\xa0\n", HIDDEN) == "a\\u200b\xa0\n"
    assert written_in_json('"\u200b\U000e0041"') == '"\\u200b\\udb40\\udc41"'


def test_nothing_unseen_is_left_in_any_view() -> None:
    for char in ALL:
        for view in (clear(char), bounded(char), quoted(f"a{char}b"), clear_json(char)):
            assert len(view) >= 1
            assert not any(kind_of(one) in HIDDEN for one in view), ascii(char)
        if kind_of(char) is not None:
            assert clear(char) != char


def _back(view: str) -> str:
    """The text of a view, by a reader of its own."""

    def meant(found: re.Match[str]) -> str:
        said = found[0]
        if said[1] == "s":
            return " " * int(said[3:-1])
        if said[1] in "xuU":
            return chr(int(said[2:], 16))
        return {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"'}[said[1]]

    escapes = r"\\(?:s\{\d+\}|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[ntr\\\"])"
    return re.sub(escapes, meant, view)


@given(st.one_of(TEXT, NEAR))
@example("a" + " " * 200 + "EVIL")
@example("x\U000e0100\U000e0155")
@example("\\s{200}")
@example("\\")
@example(" {2}")
def test_a_view_says_which_text_it_is_of(text: str) -> None:
    view = clear(text)
    assert _back(view) == text
    assert "\n" not in view
    assert "  " not in view
    assert view == view.strip()
    assert view.isascii() or unicodedata.is_normalized("NFC", view)
    inside = bounded(text)
    assert inside[0] == inside[-1] == '"'
    assert _back(inside[1:-1]) == text
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', inside)
    assert quoted(text) == inside or quoted(text) == text
    assert "".join(pieces(inside)) == inside
    assert [_back(line) for line in lines_of(text)] == text.split("\n")


@given(NEAR, NEAR)
@example("a b", "a\xa0b")
@example("é", "e\u0301")
@example("a", "a\u200b")
@example("x" * 300, "x" * 200 + "… (300 characters)")
def test_two_texts_never_look_the_same(one: str, two: str) -> None:
    for view in (clear, bounded, quoted, lambda text: "\n| ".join(lines_of(text))):
        if unicodedata.normalize("NFC", view(one)) == unicodedata.normalize("NFC", view(two)):
            assert one == two
    if beginning(one, 4) == beginning(two, 4):
        assert one[:4] == two[:4]
        assert len(one) == len(two)


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("notes/a.md", "notes/a.md"),
        ("a" + " " * 200 + "EVIL", '"a\\s{200}EVIL"'),
        (" a b ", '"\\x20a b\\x20"'),
        ("", '""'),
        ("a\nfs/read path=b", '"a\\nfs/read path=b"'),
        ("C:\\dir", '"C:\\\\dir"'),
        ("räksmörgås", "räksmörgås"),
        ("ra\u0308k", '"ra\\u0308k"'),
        ("a=b", '"a=b"'),
        ("a\u2800b", '"a\\u2800b"'),
        ("ไทย้", "ไทย้"),
    ],
)
def test_values_as_they_are_shown(text: str, view: str) -> None:
    assert quoted(text) == view


def test_what_is_cut_says_of_how_much() -> None:
    assert beginning("ab" * 300, 4) == '"abab"… (600 characters)'
    assert beginning("abab", 4) == "abab"
    assert pieces(clear("one\ntwo\\n three\n")) == ["one\\n", "two\\\\n three\\n"]
