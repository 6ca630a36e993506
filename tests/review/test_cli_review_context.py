"""`mcl review context` and `next`: maps are written by a signed call, and only where they differ."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from orchards import build, git, orchard, write
from yards import Yard

from executor.sandbox.paths import Workspace
from mcl.plugins.review.maps.documents import IGNORED, documents
from mcl.plugins.review.memory.history import ReviewMemories

FOLDER = "generated/architecture"
MADE = [
    "generated/.gitignore",
    *(f"{FOLDER}/{name}.json" for name in ("architecture_map", "ownership_map", "symbol_index")),
]


@pytest.fixture
def garden(yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Yard:
    """The repository of the maps, with a home of its own."""
    folder = orchard(tmp_path / "garden")
    monkeypatch.chdir(folder)
    return Yard(folder, yard.capture)


def _journal(yard: Yard) -> int:
    with yard.opened() as home:
        return int(home.db.read("SELECT size FROM tree")[0][0])


def _map(yard: Yard) -> None:
    """Put maps in place, quicker than the command."""
    with closing(Workspace(yard.folder)) as opened:
        write(yard.folder, {**documents(build(opened)), MADE[0]: IGNORED})


def _reviewed(yard: Yard, file: str, at: str) -> None:
    with yard.opened() as home:
        ReviewMemories(home, yard.folder.resolve()).history.record(file, findings=(), mode="comment", at=at)


def test_maps_are_written_by_an_intent_that_is_signed_and_walked(garden: Yard) -> None:
    told = garden("context", "build", "--yes", "--json")

    assert told.code == 0, told.err
    said = told.document
    assert (said["state"], said["files"], said["differing"]) == ("completed", 7, MADE)
    assert said["output"]["written"] == MADE
    assert said["head"] == git(garden.folder, "rev-parse", "HEAD")
    log = garden.mcl("log", said["intent_id"], "--json").out
    assert "matrix://tool/review/map@1.0.0" in log
    assert "intent.attest" in log


def test_the_call_is_shown_and_asked_about_and_without_a_yes_nothing_is_written(garden: Yard) -> None:
    told = garden.fed("n\n", "context", "build")

    assert told.code == 4
    assert "review/map@1.0.0" in told.out
    assert "would write  generated/.gitignore" in told.out
    assert "not agreed to; nothing was signed or written" in told.err
    assert not (garden.folder / "generated").exists()
    assert garden.fed("y\n", "context", "build").code == 0
    assert (garden.folder / MADE[1]).exists()


def test_where_nothing_changed_nothing_is_signed_or_written(garden: Yard) -> None:
    garden("context", "build", "--yes")
    before, records = garden.files(), _journal(garden)

    told = garden("context", "build", "--json")

    assert (told.code, told.document["state"], told.document["intent_id"]) == (0, "unchanged", None)
    assert garden.files() == before
    assert _journal(garden) == records
    assert "the maps are as they were; nothing was written" in garden("context", "build").out


def test_only_the_maps_that_differ_are_written(garden: Yard) -> None:
    garden("context", "build", "--yes")
    _reviewed(garden, "orchard/tree.py", "2026-11-22T10:00:00.000Z")

    said = garden("context", "build", "--yes", "--json").document

    assert said["output"]["written"] == [f"{FOLDER}/architecture_map.json"]
    written = json.loads((garden.folder / FOLDER / "architecture_map.json").read_bytes())
    assert written["files"]["orchard/tree.py"]["last_review_timestamp"] == "2026-11-22T10:00:00.000Z"


def test_git_sees_nothing_of_the_maps(garden: Yard) -> None:
    garden("context", "build", "--yes")

    assert git(garden.folder, "status", "--porcelain") == ""
    assert garden("context", "status").code == 0


def test_a_gitignore_that_is_there_stays_as_it_is(garden: Yard) -> None:
    garden.write("generated/.gitignore", "own\n")

    assert garden("context", "build", "--yes", "--json").document["output"]["written"] == MADE[1:]
    assert (garden.folder / "generated/.gitignore").read_text() == "own\n"


def test_a_review_reads_the_maps_and_never_writes_them(garden: Yard) -> None:
    _map(garden)
    before = garden.files()

    assert garden("orchard/tree.py", "--no-ai").code == 0
    assert garden.files() == before


def test_what_was_written_can_be_undone(garden: Yard) -> None:
    garden.write(f"{FOLDER}/note.txt", "mine\n")
    garden.write(f"{FOLDER}/symbol_index.json", "{}")
    before = garden.files()
    garden("context", "build", "--yes")

    assert garden.mcl("undo", "@last", "--yes").code == 0
    assert {name: data for name, (data, _) in garden.files().items()} == {
        name: data for name, (data, _) in before.items()
    }


def test_the_gate_refuses_where_the_agent_may_not_write(garden: Yard) -> None:
    assert garden.mcl("grant", "remove", "write").code == 0

    told = garden("context", "build", "--yes", "--json")

    assert (told.code, told.document["state"]) == (4, "denied")
    assert not (garden.folder / "generated").exists()


@pytest.mark.parametrize("place", ["generated", FOLDER, MADE[1], MADE[0]])
def test_nothing_is_written_through_a_link(garden: Yard, place: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    link = garden.folder / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "outside")

    told = garden("context", "build", "--yes")

    assert told.code == 4
    assert "OUT_OF_SCOPE" in told.err
    assert "take the link away" in told.err
    assert list((tmp_path / "outside").iterdir()) == []


def test_the_tool_refuses_another_folder(garden: Yard) -> None:
    told = garden.mcl("tool", "call", "review/map", "folder=orchard", "--yes", "--json")

    assert (told.code, told.document["state"]) == (4, "denied")
    assert told.document["failure"]["code"] == "INVALID_ARGS"
    assert not (garden.folder / "orchard/architecture_map.json").exists()


def test_status_ends_with_1_where_there_are_none_or_they_are_old(garden: Yard) -> None:
    told = garden("context", "status", "--json")
    assert (told.code, told.document) == (1, {"maps": False, "files": 0, "head": "", "stale": []})

    _map(garden)
    told = garden("context", "status", "--json")
    assert (told.code, told.document["files"], told.document["stale"]) == (0, 7, [])

    garden.write("orchard/tree.py", "x = 1\n")
    told = garden("context", "status", "--json")
    assert (told.code, told.document["stale"]) == (1, [{"path": "orchard/tree.py", "why": "changed"}])
    assert "changed orchard/tree.py" in garden("context", "status").out


def test_status_says_where_maps_are_broken(garden: Yard) -> None:
    garden.write(f"{FOLDER}/symbol_index.json", "{}")

    told = garden("context", "status")

    assert told.code == 4
    assert "BAD_MAPS" in told.err
    assert garden("context", "build", "--yes").code == 0
    assert garden("context", "status").code == 0


def test_show_tells_role_and_why_symbols_and_owner(garden: Yard) -> None:
    _map(garden)

    told = garden("context", "show", "orchard/fruit.py")
    assert told.code == 0
    for words in (
        "library module: code that others use",
        "0.091, 1 imports it",
        "2 commits, the last 2026-02-05",
        "author       Ada",
        "never",
        "ripe(one)",
    ):
        assert words in told.out
    said = garden("context", "show", str(garden.folder.resolve() / "orchard/fruit.py"), "--json").document
    assert (said["path"], said["role"], said["stale"]) == ("orchard/fruit.py", "library module", None)
    assert said["symbols"][0] == {"name": "Fruit", "kind": "class", "line": 1, "signature": ""}


def test_show_says_that_a_file_changed_since(garden: Yard) -> None:
    _map(garden)
    garden.write("orchard/fruit.py", "x = 1\n")
    (garden.folder / "orchard/tree.py").unlink()

    assert "it changed since" in garden("context", "show", "orchard/fruit.py").out
    assert "it is gone since" in garden("context", "show", "orchard/tree.py").out


def test_show_tells_what_a_review_is_told(garden: Yard) -> None:
    _map(garden)

    told = garden("context", "show", "orchard/fruit.py", "--told", "--mode", "risk").out

    assert told.startswith("Context of a risk review of orchard/fruit.py.")
    assert "orchard/fruit.py: library module, hub score 0.091" in told
    assert "function ripe(one)" in told


def test_what_a_review_is_told_is_shown_without_maps_too(garden: Yard) -> None:
    fruit = ("context", "show", "orchard/fruit.py", "--told")
    told = garden(*fruit)
    assert (told.code, told.out) == (0, "")
    assert "there are no maps, so nothing is told of role and symbols" in told.err
    assert "nothing is remembered of it" in told.err
    assert garden("remember", "Fruit is never counted twice in the orchard.").code == 0
    told = garden(*fruit)
    assert "Fruit is never counted twice" in told.out
    assert "nothing is remembered" not in told.err
    document = garden(*fruit, "--json").document
    assert (document["path"], document["told"]) == ("orchard/fruit.py", told.out.removesuffix("\n"))
    assert document["without"] == "there are no maps"


def test_what_a_review_is_told_is_shown_of_a_file_that_maps_do_not_know_or_where_they_are_broken(
    garden: Yard,
) -> None:
    _map(garden)
    garden.write("orchard/new.py", "X = 1\n")
    assert "the maps do not know orchard/new.py" in garden("context", "show", "orchard/new.py", "--told").err
    garden.write("generated/architecture/symbol_index.json", "{bad")
    told = garden("context", "show", "orchard/fruit.py", "--told")
    assert (told.code, "symbol_index.json" in told.err) == (0, True)


@pytest.mark.parametrize(
    ("words", "code"), [(("nosuch.py",), "NOT_FOUND"), (("app.py", "--mode", "x"), "UNKNOWN_MODE")]
)
def test_what_a_review_is_told_needs_a_file_and_a_mode(
    garden: Yard, words: tuple[str, ...], code: str
) -> None:
    told = garden("context", "show", "--told", *words)
    assert (told.code, code in told.err) == (4, True)


@pytest.mark.parametrize(
    ("build", "file", "code"),
    [
        (False, "a.py", "NO_MAPS"),
        (True, "a.py", "NOT_MAPPED"),
        (True, "../a.py", "NOT_MAPPED"),
        (True, "/etc/passwd", "NOT_MAPPED"),
        (True, ".env", "NOT_MAPPED"),
    ],
)
def test_show_says_what_it_does_not_know(garden: Yard, build: bool, file: str, code: str) -> None:
    if build:
        _map(garden)

    told = garden("context", "show", file)

    assert (told.code, code in told.err) == (4, True)


def test_next_puts_first_what_much_depends_on_and_what_changed_much(garden: Yard) -> None:
    said = garden("next", "--json").document

    # One file imports each of the first three: (1/11 + 0.1) × changes; where they are equal, by path.
    assert [(one["file"], one["score"], one["changes"]) for one in said["files"]] == [
        ("orchard/fruit.py", 0.382, 2),
        ("orchard/__init__.py", 0.191, 1),
        ("orchard/tree.py", 0.191, 1),
        ("orchard/__main__.py", 0.1, 1),
        ("tests/test_tree.py", 0.1, 1),
    ]
    assert said["count"] == 5
    assert not (garden.folder / "generated").exists()


def test_next_leaves_out_what_did_not_change_since_its_review(garden: Yard) -> None:
    _reviewed(garden, "orchard/fruit.py", "2026-01-20T00:00:00.000Z")
    _reviewed(garden, "orchard/tree.py", "2026-01-20T00:00:00.000Z")

    found = {one["file"]: one for one in garden("next", "--json").document["files"]}

    assert found["orchard/fruit.py"]["changes"] == 1
    assert found["orchard/fruit.py"]["last_review_timestamp"] == "2026-01-20T00:00:00.000Z"
    assert "orchard/tree.py" not in found


def test_next_counts_a_change_that_is_not_committed_once_it_came_after_the_review(garden: Yard) -> None:
    _reviewed(garden, "orchard/tree.py", "2026-01-20T00:00:00.000Z")
    garden.write("orchard/tree.py", "x = 1\n")
    assert "orchard/tree.py" in [one["file"] for one in garden("next", "--json").document["files"]]

    _reviewed(garden, "orchard/tree.py", "2099-01-20T00:00:00.000Z")
    assert "orchard/tree.py" not in [one["file"] for one in garden("next", "--json").document["files"]]


def test_next_tells_people_why_and_how_many_more(garden: Yard) -> None:
    told = garden("next", "--limit", "1")

    assert "never reviewed, 2 changes, 1 imports it" in told.out
    assert "… and 4 more" in told.out


def test_next_says_where_nothing_is_left(garden: Yard) -> None:
    for one in garden("next", "--json").document["files"]:
        _reviewed(garden, one["file"], "2099-01-01T00:00:00.000Z")

    told = garden("next")

    assert (told.code, told.out) == (0, "")
    assert "nothing changed since its last review" in told.err


def test_next_without_git_goes_by_what_imports(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Yard(tmp_path / "plain", yard.capture)
    plain.write("a.py", "import b\n")
    plain.write("b.py", "x = 1\n")
    monkeypatch.chdir(plain.folder)

    assert [one["file"] for one in plain("next", "--json").document["files"]] == ["b.py", "a.py"]
