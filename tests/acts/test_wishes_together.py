"""Goals of two and three wishes, from their words to what is done: what one gives the next is given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import mcl
from executor import AlwaysApprove, Home, Outcome
from mcl.compiler.outcome import Clarify, Compiled
from mcl.core.home import open_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A folder with some files, which is the current one, and a home."""
    here = tmp_path / "work"
    (here / "docs").mkdir(parents=True)
    for name in "abcd":
        (here / "docs" / f"{name}.md").write_text(f"invoice {name}\n")
    for name in "ab":
        (here / f"{name}.csv").write_text("name,amount\nx,1\ny,2\n")
    monkeypatch.chdir(here)
    return open_home(tmp_path / "home")


def compiled(goal: str, home: Home, *, ai: bool = True) -> Compiled:
    made = mcl.compile_goal(goal, ai=ai, home=home)
    assert isinstance(made, Compiled), made
    return made


def run(made: Compiled, home: Home) -> Outcome:
    mcl.accept(made.intent.id, home=home)
    done: Outcome = mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    return done


LIST = "docs/a.md\ndocs/b.md\ndocs/c.md\ndocs/d.md\n"
FOUND = "".join(f"docs/{name}.md:1: invoice {name}\n" for name in "abcd")


@pytest.mark.parametrize(
    ("goal", "files"),
    [
        ("list all markdown files in docs and save them as a list", {"result.txt": LIST}),
        ("find the word invoice in docs, then save the result to hits.txt", {"hits.txt": FOUND}),
        (
            "find all markdown files in docs, and if there are more than 3, save them to m.txt",
            {"m.txt": LIST},
        ),
        ("find all markdown files in docs, and if there are more than 4, save them to m.txt", {}),
        (
            "search for invoice in docs, then write it to a new file called h.txt and note that it is done",
            {"h.txt": FOUND, "notes.md": "- it is done\n"},
        ),
        ("hitta ordet invoice i docs och spara resultatet i funnet.txt", {"funnet.txt": FOUND}),
        ("kolla om docs nämner invoice, spara det i x.txt om det finns några", {"x.txt": FOUND}),
        ("kolla om docs nämner faktura, spara det i x.txt om det finns några", {}),
        (
            "leta efter ordet faktura i docs, och om inget hittas, anteckna att fakturorna saknas",
            {"notes.md": "- fakturorna saknas\n"},
        ),
    ],
)
def test_what_one_wish_gives_the_next_is_given(home: Home, goal: str, files: Mapping[str, str]) -> None:
    made = compiled(goal, home)
    outcome = run(made, home)
    assert outcome.failure is None, outcome.failure
    made_files = {one.name: one.read_text() for one in Path().iterdir() if one.suffix in (".txt", ".md")}
    assert made_files == files
    assert mcl.replay(made.intent.id, home=home).same


def test_what_is_done_for_each_of_a_list_is_bounded_and_scoped_before_it_is_signed(home: Home) -> None:
    goal = "find all csv files, summarise them and save the result to sums.txt"
    made = compiled(goal, home)
    each, saved = made.intent.frame.further
    assert [(one.slot, one.wish, one.output, one.each) for one in each.given] == [("file", 0, "files", True)]
    assert [(one.slot, one.wish, one.each) for one in saved.given] == [("text", 1, False)]
    assert each.scope_uri == "matrix://scope/read?path=**/*.csv"
    assert made.plan is not None
    (node,) = [node for node, _ in made.plan.root.walk() if node.map is not None]
    assert (node.map and node.map.most, node.map and node.map.scope_uri) == (32, each.scope_uri)
    assert run(made, home).failure is None
    text = Path("sums.txt").read_text()
    assert "a.csv" in text
    assert "b.csv" in text
    assert mcl.replay(made.intent.id, home=home).same


@pytest.mark.parametrize(
    "goal",
    [
        "find the word invoice in docs and then encrypt them",
        "find all csv files and deploy them",
        "hitta ordet invoice i docs och publicera dem",
    ],
)
@pytest.mark.parametrize("ai", [True, False])
def test_what_nothing_here_does_or_gives_is_asked_about(home: Home, goal: str, ai: bool) -> None:
    made = mcl.compile_goal(goal, ai=ai, home=home)
    assert isinstance(made, Clarify), made
    assert any(one.field.startswith("promise.") for one in made.questions), made.questions


def test_a_condition_on_what_nobody_gives_is_asked_about(home: Home) -> None:
    goal = "make a note that it rains, and if there are more than three, save them to x.txt"
    assert isinstance(mcl.compile_goal(goal, home=home), Clarify)


def test_without_a_model_rules_suffice_where_the_words_are_plain(home: Home) -> None:
    made = compiled("list all markdown files in docs and save them to l.txt", home, ai=False)
    assert run(made, home).failure is None
    assert Path("l.txt").read_text() == LIST


@pytest.mark.parametrize(
    ("goal", "there", "gone"),
    [
        ("find all csv files and copy them to archive", ["archive/a.csv", "archive/b.csv", "a.csv"], []),
        (
            "lista alla filer i mappen docs och kopiera dem till arkiv",
            ["arkiv/a.md", "arkiv/d.md", "docs/a.md"],
            [],
        ),
        ("find the word invoice in docs and move the files to old", ["old/a.md", "old/d.md"], ["docs/a.md"]),
        (
            "find all csv files and zip them to all.zip if there are more than 1, then note that it is done",
            ["all.zip", "notes.md"],
            [],
        ),
        ("find all csv files and zip them to all.zip if there are more than 2", ["a.csv"], ["all.zip"]),
        ("find the word rain in docs and move the files to old", ["docs/a.md"], ["old"]),
    ],
)
def test_files_that_are_found_are_handed_on(home: Home, goal: str, there: list[str], gone: list[str]) -> None:
    made = compiled(goal, home)
    assert all(one.scope_uri for one in made.intent.frame.further if one.given)
    outcome = run(made, home)
    assert outcome.failure is None, outcome.failure
    assert [one for one in there if not Path(one).exists()] == []
    assert [one for one in gone if Path(one).exists()] == []
    assert mcl.replay(made.intent.id, home=home).same


def test_a_file_that_is_there_is_kept_and_the_run_fails(home: Home) -> None:
    Path("hits.txt").write_text("mine")
    outcome = run(compiled("find the word invoice in docs, then save the result to hits.txt", home), home)
    assert outcome.failure is not None
    assert outcome.failure.code == "EXISTS"
    assert Path("hits.txt").read_text() == "mine"
