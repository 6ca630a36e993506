"""Goals that go on from the last one: found by their words, shown as a difference, signed like any other."""

from __future__ import annotations

import pytest

import mcl as library
from ir import MclError
from mcl.usecases.follow_up_words import follow_up_in
from tests.cli.test_cli_do import typing


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("also in the archive", "also in the archive"),
        ("only markdown", "only markdown"),
        ("the same for october", "for october"),
        ("No, by month!", "by month"),
        ("no, not that, by month", "by month"),
        ("and now for costs.csv", "for costs.csv"),
        ("även i arkivet", "även i arkivet"),
        ("samma för oktober", "för oktober"),
        ("samma sak för oktober", "för oktober"),
        ("nej, per månad", "per månad"),
        ("bara markdown", "bara markdown"),
        ("which files mention invoice", None),
        ("notes about the same for october", None),
        ("nothing in the archive", None),
        ("alsoran", None),
        ("also remind me to call the bank about the loan for the house on friday", None),
        ("no", None),
        ("", None),
    ],
)
def test_words_that_go_on_from_the_last_goal_are_known_by_how_they_begin(said, words):
    found = follow_up_in(said)
    assert (found.words if found is not None else None) == words


@pytest.mark.parametrize("said", ["undo that", "Undo that.", "ångra det", "ångra", "take that back"])
def test_words_for_undoing_are_known(said):
    found = follow_up_in(said)
    assert found is not None
    assert found.undo


def objects(done) -> dict[str, str]:
    return {one.name: one.value for one in done.result.intent.frame.objects}


def test_each_goes_on_from_what_the_last_came_to(mcl):
    (mcl.folder / "archive").mkdir()
    (mcl.folder / "archive" / "old.md").write_text("Invoice 1\n")
    (mcl.folder / "archive" / "old.txt").write_text("Invoice 2\n")
    first = library.do("which files in notes mention invoice")
    assert objects(first) == {"text": "invoice", "folder": "notes"}
    second = library.do("also in the archive")
    assert objects(second) == {"text": "invoice", "folder": "archive"}
    assert second.result.intent.id != first.result.intent.id  # that has ended, and stays what it was
    third = library.do("only markdown")
    assert objects(third) == {"text": "invoice", "folder": "archive", "pattern": "*.md"}
    for done in (first, second, third):
        assert done.outcome.state == "completed"
        assert library.replay(done.result.intent.id).same
    kinds = [row["kind"] for row in mcl("log", third.result.intent.id, "--json").document["rows"]]
    assert kinds.count("intent.correct") == kinds.count("intent.accept") == 1
    assert [one["kind"] for one in mcl("show", "@last", "--json").document["unseen"]] == [
        "intent.correct",
        "intent.accept",
    ]


@pytest.mark.slow
def test_a_value_takes_the_place_of_the_one_behind_the_same_word(mcl):
    for name in ("sales", "costs"):
        (mcl.folder / f"{name}.csv").write_text("region,month,amount\nN,jan,1\nS,feb,2\n")
    assert library.do("summarise sales.csv by region", skill="data-summary").outcome.state == "completed"
    for words, found in (
        ("no, by month", {"file": "sales.csv", "axis": "month"}),
        ("the same for costs.csv", {"file": "costs.csv", "axis": "month"}),
    ):
        done = library.do(words, agree=lambda proposal: "yes")
        assert (objects(done), done.outcome.state) == (found, "completed")


def test_at_a_terminal_it_is_shown_as_a_difference_and_signed_by_one_answer(mcl):
    given = {"skill": "note-write", "verb": "build", "slots": {"note": "milk", "file": "shopping.md"}}
    assert library.do("add milk to shopping.md", agree=lambda proposal: "yes", **given).exit == 0
    asked = typing(mcl, "do", "no, to todo.md")
    asked.until("hy > ")
    assert "this becomes otherwise" in asked.seen
    assert not (mcl.folder / "todo.md").exists()
    asked.type("y\n")
    assert asked.end() == 0, asked.seen
    assert (mcl.folder / "todo.md").read_text() == "- milk\n"
    undone = typing(mcl, "do", "undo that")
    undone.until("[y/N] ")
    undone.type("y\n")
    assert undone.end() == 0
    assert not (mcl.folder / "todo.md").exists()
    assert (mcl.folder / "shopping.md").exists()


def test_what_is_said_of_an_intent_that_waits_corrects_it(mcl):
    given = {"skill": "note-write", "verb": "build", "slots": {"note": "milk", "file": "shopping.md"}}
    left = library.do("add milk to shopping.md", **given)
    assert (left.code, left.signed) == ("NOT_SIGNED", None)
    done = library.do("no, to todo.md", agree=lambda proposal: "yes")
    assert (done.result.intent.id, done.outcome.state) == (left.result.intent.id, "completed")
    assert not (mcl.folder / "shopping.md").exists()


def test_where_there_is_nothing_to_go_on_from_it_is_a_goal_like_any_other(mcl):
    assert library.do("also in the archive", ai=False).signed is None
    with pytest.raises(MclError) as refused:
        library.do("undo that")
    assert refused.value.code == "UNDO_APART"
    piped = mcl("do", "undo that", "--no-ai")  # no terminal: it is compiled, and nothing is signed or undone
    assert "undone" not in piped.out
    assert mcl.compiled()
    sure = library.do("also which files in notes mention coffee", agree=lambda proposal: "no")
    assert objects(sure)["text"] == "coffee"
