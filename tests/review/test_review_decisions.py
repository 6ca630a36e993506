"""Decisions of architecture: ids that are never given twice, files that are whole, and files of strangers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from executor import FixedClock, Home, ScopeError, Workspace
from mcl.core.errors import ReviewError
from mcl.memory import MemoryStore
from mcl.plugins.review.memory.decision import KINDS
from mcl.plugins.review.memory.decisions import Decisions
from mcl.plugins.review.memory.history import ReviewMemories

AT = "2026-11-22T10:00:00.000Z"
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
FOLDER = "architecture_memory"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home", clock=FixedClock(AT)) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def workspace(home: Home, root: Path) -> Iterator[Workspace]:
    opened = Workspace(root, forbidden=(home.path,))
    yield opened
    opened.close()


@pytest.fixture
def decisions(home: Home, root: Path) -> Decisions:
    return ReviewMemories(home, root).decisions


def files(root: Path) -> list[str]:
    return sorted(str(one.relative_to(root)) for one in root.rglob("*") if not one.is_dir())


def test_a_decision_is_a_memory_and_a_file_with_front_matter(
    decisions: Decisions, workspace: Workspace, root: Path
) -> None:
    made, new = decisions.decide(
        "  One  SQLite file ", context="Files were lost.", decision="One file.", consequences="WAL.",
        files=["store/**"], workspace=workspace,
    )  # fmt: skip
    assert (made.id, new) == ("ADR-0001", True)
    assert files(root) == [f"{FOLDER}/decisions/ADR-0001-one-sqlite-file.md"]
    text = (root / made.path).read_text()
    _, front, body = text.split("---\n", 2)
    assert yaml.safe_load(front) == {
        "id": "ADR-0001",
        "title": "One SQLite file",
        "status": "accepted",
        "kind": "decisions",
        "date": "2026-11-22",
        "files": ["store/**"],
    }
    assert body == (
        "\n# ADR-0001: One SQLite file\n\n## Context\n\nFiles were lost.\n\n## Decision\n\nOne file.\n\n"
        "## Consequences\n\nWAL.\n"
    )
    assert decisions.get("ADR-0001") == made == decisions.all()[0]
    assert (made.section("decision"), made.section("Consequences"), made.section("Other")) == (
        *("One file.", "WAL."),
        "",
    )
    assert decisions.compare(workspace) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_folder(decisions: Decisions, workspace: Workspace, root: Path, kind: Any) -> None:
    made, _ = decisions.decide("x", decision="y", kind=kind, workspace=workspace)
    assert files(root) == [f"{FOLDER}/{kind}/ADR-0001-x.md"] == [made.path]


def test_ids_go_up_and_are_not_given_again_after_forgetting(
    decisions: Decisions, workspace: Workspace, home: Home, tmp_path: Path
) -> None:
    ids = [decisions.decide(f"d{n}", decision="y", workspace=workspace)[0].id for n in range(3)]
    assert ids == ["ADR-0001", "ADR-0002", "ADR-0003"]
    decisions.forget("ADR-0003")
    assert decisions.get("ADR-0003") is None
    assert [one.id for one in decisions.all()] == ids[:2]
    assert decisions.decide("d4", decision="y")[0].id == "ADR-0004"
    for id in ("ADR-0004", "ADR-0002", "ADR-0001"):
        decisions.forget(id)
    assert decisions.decide("d5", decision="y", workspace=workspace)[0].id == "ADR-0005"
    (tmp_path / "other").mkdir()
    assert ReviewMemories(home, tmp_path / "other").decisions.decide("d", decision="y")[0].id == "ADR-0001"
    with pytest.raises(ReviewError) as caught:
        decisions.forget("ADR-0003")
    assert (caught.value.code, caught.value.place) == ("DECISION_UNKNOWN", "ADR-0003")


def test_ids_of_files_that_nobody_remembers_are_not_given(
    decisions: Decisions, workspace: Workspace, root: Path
) -> None:
    folder = root / FOLDER / "rejected"
    folder.mkdir(parents=True)
    (folder / "ADR-0041-whatever.md").write_text("no decision")
    (folder / "ADR-9-no.md").write_text("no id")
    (root / FOLDER / "decisions").mkdir()
    (root / FOLDER / "decisions" / "ADR-0042-a-link.md").symlink_to("/etc/passwd")
    assert decisions.decide("d", decision="y", workspace=workspace)[0].id == "ADR-0043"


def test_the_same_decision_is_not_written_twice(
    decisions: Decisions, workspace: Workspace, home: Home, root: Path
) -> None:
    said: Any = {"decision": "y", "files": ["a/**"], "workspace": workspace}
    first, _ = decisions.decide("x", **said)
    assert decisions.decide("x", **said) == (first, False)
    assert MemoryStore(home).snapshot().size == 1
    assert decisions.decide("x", **said | {"files": []})[0].id == "ADR-0002"
    assert len(files(root)) == 2


def test_the_file_of_a_decision_that_stands_is_written_again_where_it_is_gone(
    decisions: Decisions, workspace: Workspace, root: Path, home: Home
) -> None:
    made, _ = decisions.decide("x", decision="y", workspace=workspace)
    data = (root / made.path).read_bytes()
    (root / made.path).unlink()
    assert decisions.decide("x", decision="y") == (made, False)
    again, new = decisions.decide("x", decision="y", workspace=workspace)
    assert (again.id, new, (root / made.path).read_bytes()) == (made.id, True, data)
    assert MemoryStore(home).snapshot().size == 1  # what is remembered is the same
    (root / made.path).write_text("changed by a person")
    assert decisions.decide("x", decision="y", workspace=workspace) == (made, False)
    assert (root / made.path).read_text() == "changed by a person"
    later, _ = decisions.decide("z", decision="y")
    assert decisions.decide("z", decision="y", workspace=workspace)[0].id == later.id
    assert decisions.get(later.id).sha256  # type: ignore[union-attr]


def test_where_the_file_cannot_be_written_nothing_is_remembered(
    decisions: Decisions, workspace: Workspace, root: Path, home: Home, tmp_path: Path
) -> None:
    (root / FOLDER / "decisions" / "ADR-0001-x.md").mkdir(parents=True)
    with pytest.raises(ScopeError):
        decisions.decide("x", decision="y", workspace=workspace)
    (tmp_path / "outside").mkdir()
    (root / FOLDER / "philosophy").symlink_to(tmp_path / "outside")
    with pytest.raises(ScopeError) as caught:
        decisions.decide("x", decision="y", kind="philosophy", workspace=workspace)
    assert caught.value.code == "OUT_OF_SCOPE"
    assert not list((tmp_path / "outside").iterdir())
    assert MemoryStore(home).snapshot().size == 0


def test_no_file_is_written_over(
    decisions: Decisions, workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = root / FOLDER / "decisions" / "ADR-0001-x.md"
    there.parent.mkdir(parents=True)
    there.write_text("mine")
    # As if it came just now:
    monkeypatch.setattr("mcl.plugins.review.memory.decisions._numbered", lambda workspace: frozenset())
    with pytest.raises(ScopeError) as caught:
        decisions.decide("x", decision="y", workspace=workspace)
    assert caught.value.code == "EXISTS"
    assert there.read_text() == "mine"
    assert decisions.all() == ()


def test_who_ended_between_file_and_memory_finds_the_file_again(
    decisions: Decisions, workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(MemoryStore, "write", ends)
        with pytest.raises(KeyboardInterrupt):
            decisions.decide("x", decision="y", workspace=workspace)
    assert files(root) == [f"{FOLDER}/decisions/ADR-0001-x.md"]
    assert decisions.all() == ()
    assert decisions.decide("z", decision="y", workspace=workspace)[0].id == "ADR-0002"
    assert decisions.decide("x", decision="y", workspace=workspace)[0].id == "ADR-0001"
    assert decisions.compare(workspace) == ()


def test_secrets_are_in_neither_file_nor_memory(
    decisions: Decisions, workspace: Workspace, root: Path, home: Home
) -> None:
    made, _ = decisions.decide(
        f"Use {KEY}",
        context=f"{KEY} http://u:hunter22@host",
        decision=f"the key is {KEY}",
        workspace=workspace,
    )
    documents = home.db.read("SELECT wire FROM journal WHERE kind LIKE 'record.cortex.%'")
    whole = (root / made.path).read_text() + made.path + repr(documents)
    assert KEY not in whole
    assert "hunter22" not in whole
    assert "[redacted: AWS access key]" in whole


def test_a_stranger_s_file_with_the_highest_id_stops_nobody_from_deciding(
    decisions: Decisions, workspace: Workspace, root: Path
) -> None:
    decisions.decide("first", decision="y", workspace=workspace)
    text = (root / decisions.all()[0].path).read_text()
    for number in (99_999_999, 99_999_998):
        file = root / f"architecture_memory/decisions/ADR-{number}-x.md"
        file.write_text(text.replace("ADR-0001", f"ADR-{number}").replace("first", "x"))
    assert decisions.decide("second", decision="y", workspace=workspace)[0].id == "ADR-0002"
    decisions.take_in(workspace)
    assert decisions.decide("third", decision="y", workspace=workspace)[0].id == "ADR-0003"
    assert decisions.decide("fourth", decision="y")[0].id == "ADR-0004"


def test_a_file_with_a_secret_is_taken_in_once_and_without_it(
    decisions: Decisions, workspace: Workspace, root: Path, home: Home
) -> None:
    made, _ = decisions.decide("Signing", decision="Sign it.", workspace=workspace)
    file = root / made.path
    file.write_text(file.read_text().replace("Sign it.", f"Sign it with {KEY}."))
    assert [one.what for one in decisions.take_in(workspace)] == ["changed"]
    assert decisions.compare(workspace) == ()
    assert KEY not in repr(home.db.read("SELECT wire FROM journal WHERE kind LIKE 'record.cortex.%'"))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"title": " "}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "a\x1b[2J"}, "title"),
        ({"title": "a\ufeffb"}, "title"),
        ({"decision": ""}, "body"),
        ({"decision": "x" * 15_000}, "body"),
        ({"decision": "a\n# b"}, "decision"),
        ({"context": "## b\nc"}, "context"),
        ({"consequences": "a\n##"}, "consequences"),
        ({"decision": "a\x00b"}, "body"),
        ({"decision": "a\ud800b"}, "body"),
        ({"files": ["a["]}, "files"),
        ({"files": ["/etc/*"]}, "files"),
        ({"files": [""]}, "files"),
        ({"files": ["a", "a"]}, "files"),
        ({"files": [f"{n}" for n in range(33)]}, "files"),
        ({"kind": "../x"}, "kind"),
        ({"status": "great"}, "status"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_field(
    decisions: Decisions, workspace: Workspace, root: Path, home: Home, given: dict[str, Any], field: str
) -> None:
    said = {"title": "x", "decision": "y", **given}
    with pytest.raises(ReviewError) as caught:
        decisions.decide(said.pop("title"), **said, workspace=workspace)
    assert (caught.value.code, caught.value.place) == ("DECISION_SHAPE", field)
    assert caught.value.fix
    assert files(root) == []
    assert MemoryStore(home).snapshot().size == 0


GOOD = (
    "---\nid: ADR-0001\ntitle: One\nstatus: accepted\nkind: decisions\ndate: 2026-11-22\nfiles:\n"
    "- a/**\n---\n\n# ADR-0001: One\n\nBody.\n"
)


def plant(root: Path, name: str, data: str | bytes, kind: str = "decisions") -> Path:
    there = root / FOLDER / kind / name
    there.parent.mkdir(parents=True, exist_ok=True)
    there.write_bytes(data.encode() if isinstance(data, str) else data)
    return there


def test_files_are_taken_in_all_or_none(decisions: Decisions, workspace: Workspace, root: Path) -> None:
    plant(root, "ADR-0001-one.md", GOOD)
    bad = plant(root, "ADR-0002-two.md", GOOD.replace("title: One", "title: !x One"))
    with pytest.raises(ReviewError) as caught:
        decisions.take_in(workspace)
    assert (caught.value.code, caught.value.place) == (
        "DECISION_FILE",
        f"{FOLDER}/decisions/ADR-0002-two.md:3",
    )
    assert decisions.all() == ()
    bad.unlink()
    assert [(one.what, one.id) for one in decisions.take_in(workspace)] == [("new", "ADR-0001")]
    assert decisions.take_in(workspace) == ()
    [one] = decisions.all()
    assert (one.title, one.body, one.files) == ("One", "Body.", ("a/**",))


def test_what_files_and_memory_do_not_agree_on_is_told(
    decisions: Decisions, workspace: Workspace, root: Path
) -> None:
    for title in ("one", "two", "three", "four"):
        decisions.decide(title, decision="y", workspace=workspace)
    decisions.decide("five", decision="without a file")
    one, two, three, _ = sorted((root / FOLDER / "decisions").iterdir())
    one.write_text(one.read_text().replace("accepted", "superseded"))
    two.unlink()
    decisions.forget("ADR-0004")
    plant(root, "ADR-0009-new.md", GOOD.replace("ADR-0001", "ADR-0009"))
    plant(root, "ADR-0010-odd.md", "odd")
    plant(root, "ADR-0011-other.md", GOOD.replace("ADR-0001", "ADR-0012"))
    plant(root, "ADR-0003-again.md", three.read_text())
    plant(root, "ADR-0013-there.md", GOOD.replace("ADR-0001", "ADR-0013"), kind="rejected")
    (root / FOLDER / "decisions" / "ADR-0014-link.md").symlink_to("/etc/passwd")
    os.link(one, root / FOLDER / "decisions" / "ADR-0015-second-name.md")
    plant(root, "notes.txt", "not looked at")
    told = [
        (found.id, found.what, found.path.partition(":")[0].rpartition("/")[2])
        for found in decisions.compare(workspace)
    ]
    assert told == [
        ("", "unreadable", "ADR-0001-one.md"),  # a file with two names may be anybody's
        ("ADR-0002", "missing", "ADR-0002-two.md"),
        ("ADR-0003", "unreadable", "ADR-0003-three.md"),
        ("ADR-0004", "forgotten", "ADR-0004-four.md"),
        ("ADR-0009", "new", "ADR-0009-new.md"),
        ("", "unreadable", "ADR-0010-odd.md"),
        ("", "unreadable", "ADR-0011-other.md"),
        ("", "unreadable", "ADR-0014-link.md"),
        ("", "unreadable", "ADR-0015-second-name.md"),
        ("", "unreadable", "ADR-0013-there.md"),
    ]
    for name in (
        "ADR-0003-again.md",
        "ADR-0010-odd.md",
        "ADR-0011-other.md",
        "ADR-0014-link.md",
        "ADR-0015-second-name.md",
    ):
        (root / FOLDER / "decisions" / name).unlink()
    (root / FOLDER / "rejected" / "ADR-0013-there.md").unlink()
    told = [(found.id, found.what, found.why) for found in decisions.compare(workspace)]
    assert told[0] == ("ADR-0001", "changed", "status")
    assert [(found.what, found.id) for found in decisions.take_in(workspace)] == [
        *(("changed", "ADR-0001"), ("new", "ADR-0009")),
    ]
    assert [one.id for one in decisions.all()] == ["ADR-0001", "ADR-0002", "ADR-0003", "ADR-0005", "ADR-0009"]
    assert decisions.get("ADR-0001").status == "superseded"  # type: ignore[union-attr]
    assert [found.what for found in decisions.compare(workspace)] == ["missing", "forgotten"]


def test_a_folder_that_cannot_be_opened_is_told_and_does_not_end_the_comparison(
    decisions: Decisions, workspace: Workspace, root: Path, tmp_path: Path
) -> None:
    plant(root, "ADR-0001-one.md", GOOD)
    (root / FOLDER / "rejected").symlink_to(tmp_path)
    (root / FOLDER / "boundaries").write_text("no folder")
    told = [(one.what, one.path) for one in decisions.compare(workspace)]
    assert told == [
        ("unreadable", f"{FOLDER}/boundaries"),
        ("new", f"{FOLDER}/decisions/ADR-0001-one.md"),
        ("unreadable", f"{FOLDER}/rejected"),
    ]
    with pytest.raises(ReviewError):
        decisions.take_in(workspace)
    with pytest.raises(ScopeError):
        decisions.decide("x", decision="y", workspace=workspace)
    assert decisions.all() == ()


def test_a_file_of_ten_megabytes_is_not_read(decisions: Decisions, workspace: Workspace, root: Path) -> None:
    plant(root, "ADR-0001-one.md", GOOD.encode() + b"x" * (10 << 20))
    [told] = decisions.compare(workspace)
    assert (told.what, told.path) == ("unreadable", f"{FOLDER}/decisions/ADR-0001-one.md")
    assert "65,536 bytes" in told.why


def test_a_review_is_told_three_standing_decisions_the_closest_first(decisions: Decisions) -> None:
    def decide(title: str, *globs: str, **more: Any) -> str:
        return decisions.decide(title, decision="y", files=globs, **more)[0].id

    everywhere, older = decide("everywhere"), decide("older", "src/**")
    newer, exact = decide("newer", "src/**"), decide("exact", "docs/*", "src/store/db.py")
    decide("elsewhere", "tests/**")
    decide("replaced", "src/store/db.py", status="superseded")
    decide("dropped", "src/store/db.py", status="deprecated")
    decide("declined", "src/store/db.py", status="rejected")
    assert [one.id for one in decisions.relevant("src/store/db.py")] == [exact, newer, older]
    assert [one.id for one in decisions.relevant("src/store/db.py", 1)] == [exact]
    assert len(decisions.relevant("src/store/db.py", 9)) == 3
    assert [one.id for one in decisions.relevant("setup.py")] == [everywhere]
    tried = decide("no ORM", "src/**", kind="rejected")  # what was tried and rejected stands as a decision
    assert [one.id for one in decisions.relevant("src/a.py")] == [tried, newer, older]


def test_what_a_person_made_of_the_memory_is_no_decision(decisions: Decisions, home: Home) -> None:
    made, _ = decisions.decide("x", decision="y")
    id_ = made.uri.rpartition("/")[2].partition("@")[0]
    MemoryStore(home).put(
        "Constraint", "something else", id=id_, tags=MemoryStore(home).memories().resolve(made.uri).tags
    )  # type: ignore[union-attr]
    assert decisions.all() == ()
    assert decisions.get("ADR-0001") is None
    assert decisions.decide("z", decision="y")[0].id == "ADR-0002"
    assert decisions.get("nonsense") is None
