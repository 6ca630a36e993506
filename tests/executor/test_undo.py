"""What tools wrote is put back: those files only, all of them or none, and nothing that others changed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import Says, Walks, parallel, sequence, tool

from executor import Bench, Grants, Home, ScopeError, Tool, ToolError, UndoError, WalkError
from executor.tools.manifest import Manifest
from executor.walker.undo import restoration
from executor.walker.undo.images import Images, prune
from executor.walker.undo.undo import undo

Tree = dict[str, tuple[int, bytes | None]]


def tree(folder: Path) -> Tree:
    """Every file and folder below, with its permission bits and content."""
    found = sorted(folder.rglob("*"))
    return {
        str(one.relative_to(folder)): (
            stat.S_IMODE(one.lstat().st_mode),
            one.read_bytes() if one.is_file() else None,
        )
        for one in found
    }


def write(id: str, path: str, content: str, **more: str) -> dict[str, Any]:
    return tool(id, "fs/write", "write", path=path, content=content, **more)


def append(id: str, path: str, text: str) -> dict[str, Any]:
    return tool(id, "fs/append", "write", path=path, content=text)


def ran(walks: Walks, *nodes: dict[str, Any], **more: Any) -> str:
    """The id of an intent whose plan ran to its end."""
    outcome = walks.go(sequence("root", *nodes), **more)
    assert outcome.failure is None, outcome.failure
    return outcome.intent_id


def refused(walks: Walks, intent: str, **more: Any) -> UndoError:
    with pytest.raises(UndoError) as caught:
        undo(walks.home, intent, **more)
    return caught.value


def meddling(name: str, do: Any, *, paths: Mapping[str, str], effects: tuple[str, ...] = ("write",)) -> Tool:
    """A tool that does what the test says to the files of its workspace."""
    manifest = Manifest.model_validate(
        {
            "uri": f"matrix://tool/test/{name}@1.0.0",
            "description": "A tool of a test.",
            "effects": list(effects),
            "operation": "write",
            "idempotent": False,
            "timeout_ms": 5000,
            "max_output": 1000,
            "safety": "D" if "shell" in effects else "C",
            "scope": {"kind": "workspace", "paths": dict(paths)},
            "args": {
                "type": "object",
                "additionalProperties": False,
                "required": list(paths),
                "properties": {name: {"type": "string"} for name in paths},
            },
            "output": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"path": {"type": "string"}},
            },
        }
    )

    async def adapter(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return do(bench.workspace.root) or {}

    return Tool(manifest, adapter)


def test_files_that_were_changed_are_what_they_were_and_new_ones_are_gone(walks):
    place = walks.write("notes/a.md", "one\n")
    place.chmod(0o640)
    walks.write("mine.md", "not touched\n")
    before = tree(walks.workspace)
    intent = ran(
        walks,
        append("n1", "notes/a.md", "two\n"),
        write("n2", "out/deep/b.md", "new\n"),
        append("n3", "notes/a.md", "three\n"),
        append("n4", "out/deep/b.md", "more\n"),
    )
    assert (walks.workspace / "notes/a.md").read_text() == "one\ntwo\nthree\n"
    report = undo(walks.home, intent)
    assert tree(walks.workspace) == before
    assert (report.state, report.restored, report.removed) == ("undone", ("notes/a.md",), ("out/deep/b.md",))
    assert set(report.folders) == {"out", "out/deep"}


def test_looking_changes_nothing_and_says_what_would_happen(walks):
    intent = ran(walks, write("n1", "new/b.md", "b\n"))
    after = tree(walks.workspace)
    report = undo(walks.home, intent, check=True)
    assert (report.state, report.removed, report.folders) == ("ready", ("new/b.md",), ("new",))
    assert tree(walks.workspace) == after


def test_a_second_undo_says_that_there_was_one(walks):
    intent = ran(walks, write("n1", "b.md", "b\n"))
    assert undo(walks.home, intent).state == "undone"
    assert undo(walks.home, intent).state == "already"
    walks.write("b.md", "of a person\n")
    assert undo(walks.home, intent).state == "already"
    assert (walks.workspace / "b.md").read_text() == "of a person\n"


def test_what_somebody_changed_since_is_listed_and_nothing_is_touched(walks):
    walks.write("a.md", "one\n")
    intent = ran(walks, append("n1", "a.md", "two\n"), write("n2", "b.md", "b\n"), write("n3", "c.md", "c\n"))
    walks.write("a.md", "mine\n")
    (walks.workspace / "b.md").unlink()
    (walks.workspace / "b.md").mkdir()
    after = tree(walks.workspace)
    error = refused(walks, intent)
    assert error.code == "CHANGED_SINCE"
    assert {one["path"] for one in error.data["changed"]} == {"a.md", "b.md"}
    assert tree(walks.workspace) == after
    assert [one["code"] for one in walks.records("record.undo.refused")] == ["CHANGED_SINCE"]
    report = undo(walks.home, intent, check=True)
    assert (report.state, len(report.changed)) == ("changed", 2)


def test_a_changed_mode_counts_as_a_change(walks):
    intent = ran(walks, write("n1", "run.sh", "echo\n"))
    (walks.workspace / "run.sh").chmod(0o755)
    assert refused(walks, intent).code == "CHANGED_SINCE"


def test_files_may_be_left_out_and_undone_later(walks):
    walks.write("a.md", "one\n")
    intent = ran(walks, append("n1", "a.md", "two\n"), write("n2", "b.md", "b\n"))
    walks.write("a.md", "mine\n")
    assert undo(walks.home, intent, leave=["a.md"]).removed == ("b.md",)
    assert (walks.workspace / "a.md").read_text() == "mine\n"
    assert refused(walks, intent).code == "CHANGED_SINCE"
    walks.write("a.md", "one\ntwo\n")
    assert undo(walks.home, intent).restored == ("a.md",)
    assert (walks.workspace / "a.md").read_text() == "one\n"
    assert undo(walks.home, intent).state == "already"


def test_one_node_is_undone_where_no_other_came_after_it(walks):
    walks.write("a.md", "one\n")
    intent = ran(
        walks, append("n1", "a.md", "two\n"), write("n2", "b.md", "b\n"), append("n3", "a.md", "3\n")
    )
    error = refused(walks, intent, node="n1")
    assert (error.code, error.data["changed"][0]["why"]) == ("CHANGED_SINCE", "node n3 changed it too")
    assert undo(walks.home, intent, node="n3").restored == ("a.md",)
    assert (walks.workspace / "a.md").read_text() == "one\ntwo\n"
    assert undo(walks.home, intent, node="n1").restored == ("a.md",)
    assert undo(walks.home, intent).removed == ("b.md",)
    assert list(tree(walks.workspace)) == ["a.md"]
    assert refused(walks, intent, node="n9").code == "NODE_UNKNOWN"


def test_a_branch_is_undone_with_all_that_is_below_it(walks):
    branch = parallel("p", write("n1", "a.md", "a\n"), sequence("s", write("n2", "new/b.md", "b\n")))
    intent = ran(walks, branch, write("n3", "c.md", "c\n"))
    assert set(undo(walks.home, intent, node="p").removed) == {"a.md", "new/b.md"}
    assert list(tree(walks.workspace)) == ["c.md"]
    assert undo(walks.home, intent, node="n1").state == "already"
    assert undo(walks.home, intent, node="root").removed == ("c.md",)


def test_a_change_between_two_nodes_is_not_lost(walks):
    walks.write("a.md", "one\n")

    def meddle(root: Path) -> None:
        with (root / "a.md").open("a") as file:
            file.write("of a person\n")

    walks.tools = [meddling("meddle", meddle, paths={"path": "list"}, effects=("write",))]
    intent = ran(
        walks,
        append("n1", "a.md", "two\n"),
        tool("n2", "test/meddle", "write", path="."),
        append("n3", "a.md", "three\n"),
    )
    error = refused(walks, intent)
    assert error.data["changed"][0]["why"] == "somebody changed it before node n3 ran"


def test_a_run_that_did_not_end_is_not_undone(walks):
    intent = walks.accept(sequence("root", write("n1", "a.md", "a\n")))
    assert refused(walks, intent).code == "NOT_ENDED"
    assert undo(walks.home, ran(walks, tool("n1", "time/now"))).state == "nothing"


def test_a_deleted_file_and_a_deleted_folder_come_back(walks):
    walks.write("old.md", "old\n").chmod(0o600)
    (walks.workspace / "empty").mkdir(mode=0o750)
    (walks.workspace / "empty").chmod(0o750)
    before = tree(walks.workspace)
    intent = ran(
        walks,
        tool("n1", "fs/delete", "write", path="old.md"),
        tool("n2", "fs/delete", "write", path="empty"),
        verb="modify",
    )
    assert tree(walks.workspace) == {}
    undo(walks.home, intent)
    assert tree(walks.workspace) == before


def test_a_file_that_was_replaced_unread_comes_back(walks):
    walks.write("a.bin").write_bytes(bytes(range(256)) * 10)
    before = tree(walks.workspace)
    intent = ran(walks, write("n1", "a.bin", "text", overwrite="true"))
    undo(walks.home, intent)
    assert tree(walks.workspace) == before


def test_what_a_failed_run_wrote_is_undone_too(walks):
    def fail(root: Path) -> None:
        (root / "half.md").write_text("half\n")
        raise ToolError("BROKEN", "it broke", place="here")

    walks.tools = [meddling("fail", fail, paths={"path": "write"})]
    outcome = walks.go(
        sequence("root", write("n1", "a.md", "a\n"), tool("n2", "test/fail", "write", path="half.md"))
    )
    assert outcome.state == "failed"
    assert undo(walks.home, outcome.intent_id).state == "undone"
    assert tree(walks.workspace) == {}


def test_a_tool_that_adds_to_a_folder_has_just_its_own_file_removed(walks):
    walks.write("tasks/mine.md", "mine\n")
    before = tree(walks.workspace)

    def also(root: Path) -> dict[str, object]:
        (root / "tasks/made.md").write_text("made\n")
        (root / "tasks/of-a-person.md").write_text("by chance at the same moment\n")
        return {"path": "tasks/made.md"}

    walks.tools = [meddling("add", also, paths={"folder": "add"})]
    intent = ran(walks, tool("n1", "test/add", "write", folder="tasks"))
    report = undo(walks.home, intent)
    assert report.removed == ("tasks/made.md",)
    assert [one.path for one in report.not_undone] == ["tasks/of-a-person.md"]
    (walks.workspace / "tasks/of-a-person.md").unlink()
    assert tree(walks.workspace) == before


def test_tasks_and_reminders_are_taken_back(walks):
    walks.write("tasks/mine.md", "mine\n")
    before = tree(walks.workspace)
    assign = tool("n1", "task/assign", "write", assignee="ada", task="Read this", folder="tasks")
    other = tool("n2", "task/assign", "write", assignee="ada", task="And this", folder="elsewhere/tasks")
    event = tool("n3", "calendar/add", "write", title="Tea", start="2026-12-01T10:00:00Z", path="tea.ics")
    intent = ran(walks, parallel("p", assign, other, event))
    assert len(tree(walks.workspace)) > len(before)
    report = undo(walks.home, intent)
    assert tree(walks.workspace) == before
    assert report.not_undone == ()


def test_a_whole_folder_that_a_tool_changed_is_put_back(walks):
    walks.write("site/a.html", "a")
    walks.write("site/deep/b.html", "b")
    before = tree(walks.workspace)

    def rebuild(root: Path) -> None:
        (root / "site/a.html").write_text("changed")
        (root / "site/deep/b.html").unlink()
        (root / "site/deep").rmdir()
        (root / "site/new").mkdir()
        (root / "site/new/c.html").write_text("c")

    walks.tools = [meddling("site", rebuild, paths={"folder": "write"})]
    intent = ran(walks, tool("n1", "test/site", "write", folder="site"))
    undo(walks.home, intent)
    assert tree(walks.workspace) == before


def test_what_cannot_be_put_back_is_said(walks, monkeypatch):
    monkeypatch.setattr("executor.walker.undo.images.Images", lambda home: Images(home, file_limit=10))
    walks.write("large.md", "more than ten bytes\n")
    Grants(walks.home).grant(walks.home.keyring.agent.did, ["read", "shell", "write"])
    walks.tools = [
        meddling("sh", lambda root: None, paths={"folder": "write"}, effects=("shell", "write")),
        meddling("memory", lambda root: None, paths={}),
    ]
    intent = ran(
        walks,
        append("n1", "large.md", "more\n"),
        tool("n2", "test/sh", "shell", folder="."),
        tool("n3", "test/memory", "write"),
    )
    report = undo(walks.home, intent)
    assert report.state == "nothing"
    said = {one.node: (one.path, one.why) for one in report.not_undone}
    assert said["n1"] == ("large.md", "it is larger than 10 bytes")
    assert said["n2"] == ("", "what a process does is not undone")
    assert said["n3"] == ("", "it names no file of the workspace that it changes")


def test_a_call_does_not_run_when_its_files_cannot_be_kept(walks, monkeypatch):
    walks.write("a.md", "one\n")
    (walks.home.path / "undo").write_text("a file where the folder should be")
    outcome = walks.go(sequence("root", append("n1", "a.md", "two\n")))
    assert outcome.failure is not None
    assert outcome.failure.code == "HOME_UNREADABLE"
    assert (walks.workspace / "a.md").read_text() == "one\n"


def test_images_are_private_kept_once_and_named_by_their_content(walks):
    walks.write("a.md", "same\n")
    walks.write("b.md", "same\n")
    ran(walks, append("n1", "a.md", "x\n"), append("n2", "b.md", "y\n"))
    files = [one for one in (walks.home.path / "undo").rglob("*") if one.is_file()]
    assert [one.read_text() for one in files] == ["same\n"]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    assert {stat.S_IMODE(one.stat().st_mode) for one in (walks.home.path / "undo", files[0].parent)} == {
        0o700
    }


def test_an_image_that_was_tampered_with_is_not_put_back(walks):
    walks.write("a.md", "one\n")
    intent = ran(walks, append("n1", "a.md", "two\n"))
    (image,) = [one for one in (walks.home.path / "undo").rglob("*") if one.is_file()]
    image.write_text("evil\n")
    assert refused(walks, intent).code == "IMAGE_DAMAGED"
    assert (walks.workspace / "a.md").read_text() == "one\ntwo\n"
    assert list(tree(walks.workspace)) == ["a.md"]
    image.unlink()
    assert refused(walks, intent).code == "IMAGE_MISSING"


def test_a_link_in_place_of_the_file_or_of_its_folder_is_not_followed(walks, tmp_path):
    walks.write("notes/a.md", "one\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    intent = ran(walks, append("n1", "notes/a.md", "two\n"), write("n2", "new/b.md", "b\n"))
    (outside / "a.md").write_text("one\ntwo\n")
    (outside / "b.md").write_text("b\n")
    (walks.workspace / "notes/a.md").unlink()
    (walks.workspace / "notes/a.md").symlink_to(outside / "a.md")
    (walks.workspace / "new").rename(tmp_path / "moved")
    (walks.workspace / "new").symlink_to(outside)
    error = refused(walks, intent)
    assert {one["path"] for one in error.data["changed"]} == {"notes/a.md", "new/b.md"}
    assert tree(outside) == {"a.md": (0o644, b"one\ntwo\n"), "b.md": (0o644, b"b\n")}
    (walks.workspace / "notes/a.md").unlink()
    os.link(outside / "a.md", walks.workspace / "notes/a.md")
    assert "hard links" in json.dumps(refused(walks, intent).data)


def test_a_workspace_that_leads_elsewhere_now_is_refused_and_a_moved_one_can_be_named(walks, tmp_path):
    intent = ran(walks, write("n1", "a.md", "a\n"))
    walks.workspace.rename(tmp_path / "moved")
    assert refused(walks, intent).code == "WORKSPACE_MOVED"
    walks.workspace.symlink_to(tmp_path / "moved")
    assert refused(walks, intent).code == "WORKSPACE_MOVED"
    undo(walks.home, intent, workspace=tmp_path / "moved")
    assert tree(tmp_path / "moved") == {}


def test_a_folder_that_is_swapped_while_it_is_undone_leads_nowhere(walks, tmp_path, monkeypatch):
    walks.write("notes/a.md", "one\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("one\ntwo\n")
    intent = ran(walks, append("n1", "notes/a.md", "two\n"))
    real = restoration.alone

    def swapped(*given: Any) -> Any:
        (walks.workspace / "notes").rename(walks.workspace / "aside")
        (walks.workspace / "notes").symlink_to(outside)
        return real(*given)

    monkeypatch.setattr(restoration, "alone", swapped)
    undo(walks.home, intent)
    assert (outside / "a.md").read_text() == "one\ntwo\n"
    assert [one.name for one in outside.iterdir()] == ["a.md"]


def test_a_file_that_is_swapped_while_it_is_undone_takes_everything_back(walks, monkeypatch):
    walks.write("a.md", "one\n")
    walks.write("b.md", "one\n")
    intent = ran(walks, append("n1", "a.md", "two\n"), append("n2", "b.md", "two\n"))
    real = restoration._second_name

    def swapped(name: str, *given: Any, **more: Any) -> None:
        if name == "a.md":
            (walks.workspace / "a.md").unlink()
            walks.write("a.md", "of a person\n")
        real(name, *given, **more)

    monkeypatch.setattr(restoration, "_second_name", swapped)
    assert refused(walks, intent).code == "CHANGED_SINCE"
    assert {path: data for path, (_, data) in tree(walks.workspace).items()} == {
        "a.md": b"of a person\n",
        "b.md": b"one\ntwo\n",
    }
    monkeypatch.undo()
    walks.write("a.md", "one\ntwo\n")
    assert undo(walks.home, intent).state == "undone"


@pytest.mark.parametrize("links", [True, False], ids=["with hard links", "without hard links"])
def test_a_swap_that_fails_takes_everything_back(walks, monkeypatch, links):
    walks.write("a.md", "one\n")
    walks.write("b.md", "one\n")
    intent = ran(
        walks, append("n1", "a.md", "two\n"), append("n2", "b.md", "two\n"), write("n3", "c.md", "c")
    )
    after = tree(walks.workspace)
    real_rename, real_link = os.rename, os.link

    def rename(old: str, new: str, **more: Any) -> None:
        if new == "a.md" and old.endswith("-new.tmp"):
            raise OSError(28, "No space left on device")
        real_rename(old, new, **more)

    def link(*given: Any, **more: Any) -> None:
        if not links:
            raise PermissionError(1, "no links here")
        real_link(*given, **more)

    monkeypatch.setattr(os, "rename", rename)
    monkeypatch.setattr(os, "link", link)
    with pytest.raises(ScopeError):
        undo(walks.home, intent)
    monkeypatch.undo()
    assert tree(walks.workspace) == after
    assert undo(walks.home, intent).state == "undone"


def test_an_intent_that_is_run_at_this_moment_is_not_undone(walks):
    from executor.walker.history import run_lock

    intent = ran(walks, write("n1", "a.md", "a\n"))
    with run_lock(walks.home.path, intent), pytest.raises(WalkError) as caught:
        undo(walks.home, intent)
    assert caught.value.code == "ALREADY_RUNNING"


def test_a_journal_that_does_not_hold_undoes_nothing(walks):
    intent = ran(walks, write("n1", "a.md", "a\n"))
    with walks.home.db.write() as connection:
        connection.execute("DROP TRIGGER journal_stays")
        connection.execute("DELETE FROM journal WHERE kind = 'record.undo.kept'")
    error = refused(walks, intent)
    assert (error.code, error.exit) == ("VERIFICATION_FAILED", 6)


def images(walks: Walks, **limits: int) -> list[str]:
    """The contents that are kept."""
    return sorted(one.read_text()[:1] for one in (walks.home.path / "undo").rglob("*") if one.is_file())


def test_old_images_make_room_for_new_ones_and_nothing_is_silently_unprotected(walks, monkeypatch):
    monkeypatch.setattr("executor.walker.undo.images.Images", lambda home: Images(home, store_limit=2500))
    intents = []
    for letter in "abcd":
        walks.write(f"{letter}.md", letter * 1000)
        intents.append(ran(walks, append(f"n{letter}", f"{letter}.md", "x")))
    assert images(walks) == ["c", "d"]
    assert refused(walks, intents[0]).code == "IMAGE_MISSING"
    assert undo(walks.home, intents[3]).restored == ("d.md",)
    walks.write("large.md", "l" * 1200)
    walks.write("larger.md", "m" * 1400)
    full = ran(walks, append("n1", "large.md", "x"), append("n2", "larger.md", "x"))
    report = undo(walks.home, full)
    assert report.restored == ("large.md",)
    assert [(one.path, one.why) for one in report.not_undone] == [
        ("larger.md", "the store of before-images is full")
    ]


def test_pruning_takes_what_is_old_and_what_is_nobodys(walks):
    walks.write("a.md", "a\n")
    old = ran(walks, append("n1", "a.md", "x\n"))
    walks.write("b.md", "b\n")
    waiting = walks.accept(sequence("root", append("n1", "b.md", "x\n"), append("n2", "b.md", "y\n")))
    die_in(walks, waiting, "n1", after=True)
    (walks.home.path / "undo" / "left-over.part").write_text("half")
    assert prune(walks.home, days=30).images == 0
    pruned = prune(walks.home, days=0)
    assert (pruned.images, pruned.intents) == (1, (old,))
    assert images(walks) == ["b"]
    assert refused(walks, old).code == "IMAGE_MISSING"
    assert walks.run(waiting, resume=True, people=Says("retry")).state == "completed"
    assert undo(walks.home, waiting).restored == ("b.md",)


def test_a_folder_that_holds_something_stays(walks):
    intent = ran(walks, write("n1", "new/deep/a.md", "a\n"))
    walks.write("new/mine.md", "mine\n")
    report = undo(walks.home, intent)
    assert (report.folders, report.left) == (("new/deep",), ("new",))
    assert list(tree(walks.workspace)) == ["new", "new/mine.md"]


def test_a_full_disk_leaves_everything_as_it_was(walks, disk, tmp_path):
    script = f"""
import sys; sys.path[:0] = {[str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]!r}
from walks import Walks, sequence, tool
from executor.walker.undo.undo import undo
from executor import ScopeError
work = DISK / "work"; work.mkdir()
with Home.open(Path({str(tmp_path / "other")!r})) as home:
    walks = Walks(home, work)
    for name in "ab":
        walks.write(name, name * 200_000)
    nodes = [tool("n" + name, "fs/write", "write", path=name, content="x", overwrite="true") for name in "ab"]
    intent = walks.go(sequence("root", *nodes)).intent_id
    fill(250_000)
    try:
        undo(home, intent)
    except ScopeError as problem:
        code = problem.code
    left = sorted((one.name, one.stat().st_size) for one in work.iterdir())
    (DISK / "ballast").unlink()
    state = undo(home, intent).state
    print(json.dumps([code, left, state, (work / "a").stat().st_size]))
"""
    assert disk.run(script) == ["DISK_FULL", [["a", 1], ["b", 1]], "undone", 200_000]


def test_of_an_interrupted_call_what_the_first_attempt_found_counts(walks):
    walks.write("a.md", "one\n")
    intent = walks.accept(sequence("root", append("n1", "a.md", "two\n"), append("n2", "b.md", "b\n")))
    die_in(walks, intent, "n1", after=True)
    assert (walks.workspace / "a.md").read_text() == "one\ntwo\n"
    assert walks.run(intent, resume=True, people=Says("retry")).state == "completed"
    assert (walks.workspace / "a.md").read_text() == "one\ntwo\ntwo\n"
    undo(walks.home, intent)
    assert tree(walks.workspace) == {"a.md": (0o644, b"one\n")}


def test_what_a_person_counted_as_done_is_undone_too(walks):
    walks.write("a.md", "one\n")
    intent = walks.accept(sequence("root", append("n1", "a.md", "two\n")))
    die_in(walks, intent, "n1", after=True)
    assert walks.run(intent, resume=True, people=Says("done")).state == "completed"
    assert undo(walks.home, intent).restored == ("a.md",)
    assert (walks.workspace / "a.md").read_text() == "one\n"


@pytest.mark.parametrize("after", [True, False])
def test_an_interrupted_call_that_nobody_settled_is_undone_only_where_it_did_nothing(walks, after):
    walks.write("a.md", "one\n")
    intent = walks.accept(sequence("root", append("n1", "a.md", "two\n")))
    die_in(walks, intent, "n1", after=after)
    walks.run(intent, resume=True, people=Says("stop"))
    if after:
        error = refused(walks, intent)
        assert "interrupted" in error.data["changed"][0]["why"]
    else:
        assert undo(walks.home, intent).state == "nothing"
    assert (walks.workspace / "a.md").read_text() == ("one\ntwo\n" if after else "one\n")


def die_in(walks: Walks, intent: str, node: str, *, after: bool) -> None:
    """Run an intent in another process, which kills itself before or after the append of a node."""
    import subprocess
    import sys

    tests = Path(__file__).parents[1]
    script = f"""
import os, signal, sys
from pathlib import Path
from walks import Walks
from executor import Home
from executor.sandbox.paths import Workspace
real = Workspace.append
def dying(self, *given, **more):
    if {after}:
        real(self, *given, **more)
    os.kill(os.getpid(), signal.SIGKILL)
Workspace.append = dying
with Home.open(Path({str(walks.home.path)!r})) as home:
    Walks(home, Path({str(walks.workspace)!r})).run({intent!r})
"""
    path = os.pathsep.join([str(tests.parent), str(tests)])
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == -9


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["a.md", "d/b.md", "d/e/c.md"]),
        st.sampled_from(["write", "append", "delete", "edit"]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=15)
@given(operations=OPERATIONS, there=st.sets(st.sampled_from(["a.md", "d/b.md"])))
def test_whatever_tools_did_undo_gives_the_files_as_they_were(tmp_path_factory, operations, there):
    folder = tmp_path_factory.mktemp("any")
    (folder / "work").mkdir()
    with Home.open(folder / "home") as home:
        walks = Walks(home, folder / "work")
        for path in there:
            walks.write(path, "before\n")
        before = tree(walks.workspace)
        nodes = []
        for place, (path, what, number) in enumerate(operations):
            id = f"n{place}"
            match what:
                case "write":
                    nodes.append(write(id, path, f"text {number}\n", overwrite="true"))
                case "append":
                    nodes.append(append(id, path, f"line {number}\n"))
                case "delete":
                    nodes.append(tool(id, "fs/delete", "write", path=path))
                case _:
                    nodes.append(tool(id, "fs/edit", "write", path=path, old="\n", new="!\n", all="true"))
        outcome = walks.go(sequence("root", *nodes), verb="modify")
        undo(home, outcome.intent_id)
        assert tree(walks.workspace) == before
