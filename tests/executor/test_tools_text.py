"""Text files line by line, and sums: what changes, what is told, and what is refused and stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import NODE, Walks, code, tool

from executor import ToolError
from executor.walker.undo.undo import undo
from mcl.plugins.text.answers import answers
from mcl.plugins.text.arithmetic import compute, plain_number
from mcl.plugins.text.lines import TextLines


def node(name: str, **args: Any) -> NODE:
    said = {key: value if isinstance(value, str) else json.dumps(value) for key, value in args.items()}
    return tool("n1", name, "read" if name in READS else "write", **said)


READS = ("text/answer", "text/count", "text/head", "calc/expression", "calc/sum", "calc/days")


@pytest.mark.parametrize(
    ("name", "args", "before", "after"),
    [
        ("text/replace", {"old": "colour", "new": "color"}, "colour colours\r\n", "color colours\r\n"),
        ("text/replace", {"old": "a.b", "new": "", "words": False}, "xa.by axb", "xy axb"),
        ("text/replace", {"old": "Å", "new": "\\1", "ignore_case": True}, "å ån\n", "\\1 ån\n"),
        ("text/sort", {}, "öl\nBanana\napple\nål\n", "apple\nBanana\nål\nöl\n"),
        ("text/sort", {"order": "descending", "by": "number"}, "a 9\nb 10\nc\n", "c\nb 10\na 9\n"),
        ("text/sort", {"unique": True}, "b\na\nb", "a\nb"),
        ("text/unique", {}, "b\na\n\nb\n\na \nB\n", "b\na\n\n\nB\n"),
        ("text/unique", {"ignore_case": True, "keep_blank": False}, "b\n\n\n B\n", "b\n\n"),
        ("text/lines", {"what": "keep", "word": "error"}, "ok\nERROR 1\nerror 2\n", "ERROR 1\nerror 2\n"),
        ("text/lines", {"what": "drop", "word": "ERROR", "match_case": True}, "ERROR\nerror\n", "error\n"),
        ("text/lines", {"what": "drop_blank"}, "\na\n \nb\n", "a\nb\n"),
    ],
)
def test_a_file_is_changed_in_its_place_and_as_it_was_written(
    walks: Walks, name: str, args: dict[str, Any], before: str, after: str
) -> None:
    place = walks.workspace / "a.txt"
    place.write_bytes(before.encode())
    places = {"paths": ["a.txt"]} if name == "text/replace" else {"path": "a.txt", "to": "a.txt"}
    walks.ask(node(name, **places, **args))
    assert place.read_bytes().decode() == after


def test_another_file_gets_the_result_and_is_never_replaced(walks: Walks) -> None:
    walks.write("a.txt", "b\na\n")
    answer = walks.ask(node("text/sort", path="a.txt", to="sorted/a.txt"))
    assert (walks.workspace / "sorted/a.txt").read_text() == "a\nb\n"
    assert answer["lines"] == 2
    assert (walks.workspace / "a.txt").read_text() == "b\na\n"
    walks.write("other.txt", "mine")
    assert walks.refusal(node("text/sort", path="a.txt", to="other.txt")) == "EXISTS"
    assert (walks.workspace / "other.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "args", "refused"),
    [
        ("text/lines", {"what": "keep", "word": "zzz"}, "NO_MATCH"),
        ("text/lines", {"what": "drop"}, "NO_WORD"),
        ("text/sort", {"path": "missing.txt", "to": "missing.txt"}, "NOT_FOUND"),
        ("text/sort", {"path": "missing.txt", "to": "new.txt"}, "NOT_FOUND"),
        ("text/sort", {"path": "bin.dat", "to": "bin.dat"}, "NOT_TEXT"),
        ("text/sort", {"path": "uv.lock", "to": "uv.lock"}, "PROTECTED_PATH"),
        ("text/sort", {"path": "../a.txt", "to": "a.txt"}, "OUT_OF_SCOPE"),
        ("text/sort", {"path": ".env", "to": ".env"}, "PROTECTED_PATH"),
    ],
)
def test_what_cannot_be_done_is_refused_and_the_file_stays(
    walks: Walks, name: str, args: dict[str, Any], refused: str
) -> None:
    places = {"a.txt": b"a\nb\n", "bin.dat": b"a\0b", "uv.lock": b"{}\n", ".env": b"K=1\n"}
    for path, data in places.items():
        (walks.workspace / path).write_bytes(data)
    whole = {"path": "a.txt", "to": "a.txt", **args}
    assert walks.refusal(node(name, **whole)) == refused
    assert {path: (walks.workspace / path).read_bytes() for path in places} == places


def test_lines_words_and_a_word_are_counted(walks: Walks) -> None:
    walks.write("a.txt", "the fox\nThe end\n")
    walks.write("b.txt", "another\n")
    found = walks.ask(node("text/count", paths=["a.txt", "b.txt"], word="the"))
    assert (found["lines"], found["words"], found["times"]) == (3, 5, 2)
    assert found["text"] == "a.txt: 'the' 2 times\nb.txt: 'the' 0 times\ntogether: 'the' 2 times"
    only = walks.ask(node("text/count", paths=["a.txt"], what="lines"))
    assert only["text"] == "a.txt: 2 lines"
    walks.write("in/c.txt", "the\n")
    walks.write("in/d.bin", "a\0b")
    assert walks.ask(node("text/count", paths=["in"], word="the"))["text"] == "in/c.txt: 'the' 1 time"


def test_the_ends_of_a_file_are_shown_also_of_a_large_one(walks: Walks) -> None:
    walks.write("a.txt", "".join(f"line {n}\n" for n in range(1, 1_000_001)))
    first = walks.ask(node("text/head", path="a.txt", lines=2))
    last = walks.ask(node("text/head", path="a.txt", lines=2, part="last"))
    assert first["text"] == "line 1\nline 2"
    assert last["text"] == "line 999999\nline 1000000"
    walks.write("b.txt", "\x1b[2Jx\n")
    assert "\x1b" not in walks.ask(node("text/head", path="b.txt"))["text"]


LETTERS = {
    "mail/ida.eml": "From: Ida Ek <ida@example.org>\nSubject: Resit in physics\n\nHi!\n\n"
    "It is on Friday 4 December at 9.00, in room C7.\n\nIda\n",
    "people.csv": "name,phone,town\nGreta Sand,070-555 19 40,Ystad\nOlle Ek,070-555 20 11,Lund\n",
    "recept/kaka.md": "# Sockerkaka\n\n- 3 dl mjöl\n- 2 ägg\n\n175 grader, 40 minuter.\n",
    "möte.txt": "Protokoll\nfika 7 december: Fatima\nfika 14 december: Bo\n",
}


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("when is the physics resit and in which room? Ida wrote about it", ("mail/ida.eml", 6)),
        ("what is Greta's phone number", ("people.csv", 2)),
        ("vad har Greta för telefonnummer?", ("people.csv", 2)),
        ("hur länge ska sockerkakan vara inne", ("recept/kaka.md", 6)),
        ("vem tar fikat den 14 december", ("möte.txt", 3)),
    ],
)
def test_a_question_is_answered_by_the_lines_that_say_it(
    walks: Walks, question: str, line: tuple[str, int]
) -> None:
    for path, text in LETTERS.items():
        walks.write(path, text)
    walks.write("image.bin", "\0Greta phone 1234567")
    found = walks.ask(node("text/answer", question=question))
    told = [(one["path"], one["line"]) for one in found["lines"]]
    assert line in told[:2]
    assert f"{line[0]}:{line[1]}: " in found["text"]
    assert "Olle" not in found["text"]  # rows beside one say nothing of it
    assert found["searched"] == len(LETTERS)


def test_what_no_file_says_has_no_answer_and_only_the_named_folder_is_read(walks: Walks) -> None:
    for path, text in LETTERS.items():
        walks.write(path, text)
    nobody = walks.ask(node("text/answer", question="who won the boat race in 1951"))
    assert (nobody["count"], nobody["text"]) == (0, "nothing in 4 files answers that")
    here = walks.ask(node("text/answer", question="Greta's phone number", path="mail"))
    assert (here["lines"], here["searched"]) == ([], 1)
    assert walks.refusal(node("text/answer", question="x", path="gone")) == "NOT_FOUND"
    assert walks.refusal(node("text/answer", question="x", path="../etc")) == "OUT_OF_SCOPE"


@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=4))
def test_any_question_of_any_text_gets_lines_that_are_there(question: str, texts: list[str]) -> None:
    named = [(f"{place}.txt", text) for place, text in enumerate(texts)]
    for one in answers(question, named, 5):
        assert dict(named)[one.path].splitlines()[one.number - 1] == one.text


def test_files_are_put_together_in_their_order(walks: Walks) -> None:
    walks.write("a.txt", "a")
    walks.write("b.txt", "b\r\nc\r\n")
    walks.ask(node("text/join", paths=["b.txt", "a.txt"], to="all.txt", titles=True))
    assert (walks.workspace / "all.txt").read_text() == "# b.txt\n\nb\nc\n\n# a.txt\n\na\n"
    assert walks.refusal(node("text/join", paths=["a.txt", "./a.txt"], to="x.txt")) == "SAME_FILE"
    assert walks.refusal(node("text/join", paths=["a.txt", "b.txt"], to="all.txt")) == "EXISTS"
    assert walks.refusal(node("text/join", paths=["a.txt"], to="x.txt")) == "TOO_FEW"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("2+2", "4"),
        ("0.1 + 0.2", "0.3"),
        ("what is 12 * (3 + 4)?", "84"),
        ("15 % of 2,400 kr", "360"),
        ("80 + 25 %", "100"),
        ("25 procent av 1 200", "300"),
        ("17 % moms på 300", "51"),
        ("sju gånger åtta", "56"),
        ("hundred and twenty divided by four", "30"),
        ("the square root of 144", "12"),
        ("2 ^ 10", "1024"),
        ("-3 + 5", "2"),
        ("1/3", "0.3333333333333333333333333333"),
    ],
)
def test_expressions_are_computed_exactly(said: str, value: str) -> None:
    assert plain_number(compute(said)) == value


@pytest.mark.parametrize(
    "said", ["", "rm -rf /", "__import__('os')", "1/0", "9^9^9^9", "(" * 200, "1 2", "2 +"]
)
def test_what_is_no_expression_is_refused(said: str) -> None:
    with pytest.raises(ToolError) as told:
        compute(said)
    assert told.value.code in ("BAD_EXPRESSION", "NO_VALUE")


def test_numbers_are_added_up_and_days_are_counted(walks: Walks) -> None:
    found = walks.ask(node("calc/sum", numbers=["1,5", "2.25", "-0.75"], figure="mean"))
    assert (found["sum"], found["mean"]) == ("3", "1")
    days = walks.ask(node("calc/days", first="2026-11-21", last="2026-12-24"))
    assert (days["days"], days["weekdays"]) == (33, 23)
    assert days["text"].startswith("33 days from 2026-11-21 to 2026-12-24 (Thursday), 4 weeks and 5 days")
    assert walks.refusal(node("calc/days", last="soon")) == "BAD_DATE"
    assert code(walks.go(node("calc/sum", numbers=["x"]))) == "BAD_EXPRESSION"


def test_what_is_added_to_a_list_is_an_entry_or_the_lines_of_files(walks: Walks) -> None:
    place, _ = walks.write("list.txt", "milk\n"), walks.write("more.txt", "")
    assert walks.refusal(node("text/add", path="list.txt")) == "BAD_ARGUMENTS"
    both = node("text/add", path="list.txt", entry="tea", sources=["more.txt"])
    assert walks.refusal(both) == "BAD_ARGUMENTS"
    assert walks.go(node("text/add", path="list.txt", sources=["more.txt"])).failure is None
    assert place.read_text() == "milk\n"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60))
def test_lines_that_are_not_changed_give_the_same_file(text: str) -> None:
    data = text.encode()
    lines = TextLines.read(data, "a.txt")
    if "\r" not in text:
        assert lines.data(lines.lines) == data


def test_a_replacement_in_several_files_is_undone_in_all(walks: Walks) -> None:
    places = [walks.write(name, f"colour of {name}\n") for name in ("a.txt", "b.txt")]
    outcome = walks.go(node("text/replace", paths=["a.txt", "b.txt"], old="colour", new="color"))
    assert outcome.failure is None
    assert [place.read_text() for place in places] == ["color of a.txt\n", "color of b.txt\n"]
    assert undo(walks.home, outcome.intent_id).state == "undone"
    assert [place.read_text() for place in places] == ["colour of a.txt\n", "colour of b.txt\n"]


@pytest.mark.parametrize(
    ("paths", "old", "refused"),
    [
        (["a.txt", "b.txt"], "colour", "NO_MATCH"),
        (["a.txt"], "color", "NO_CHANGE"),
        (["a.txt", "gone.txt"], "colour", "NOT_FOUND"),
        (["a.txt", "uv.lock"], "colour", "PROTECTED_PATH"),
        (["a.txt", "../c.txt"], "colour", "OUT_OF_SCOPE"),
    ],
)
def test_where_one_file_cannot_be_changed_none_is(
    walks: Walks, paths: list[str], old: str, refused: str
) -> None:
    texts = {"a.txt": "colour\n", "b.txt": "blue\n", "uv.lock": "colour\n"}
    for path, text in texts.items():
        walks.write(path, text)
    assert walks.refusal(node("text/replace", paths=paths, old=old, new="color")) == refused
    assert {path: (walks.workspace / path).read_text() for path in texts} == texts
