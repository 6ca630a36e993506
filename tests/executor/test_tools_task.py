"""Tasks written down for others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from walks import NODE, Walks, parallel, tool

from executor import FixedClock, ToolError, Workspace
from mcl.plugins.agents.tools.task.assign import run


def assign(assignee: str = "ada", task: str = "Check the invoices of March", **args: str) -> NODE:
    return tool("n1", "task/assign", "write", assignee=assignee, task=task, **args)


def head_of(place: Path) -> tuple[dict[str, Any], str]:
    start, head, body = place.read_text().split("---\n", 2)
    assert start == ""
    return yaml.safe_load(head), body


def test_a_task_is_a_markdown_file_with_a_head_that_says_whose_it_is(walks: Walks) -> None:
    made = walks.ask(assign(due="2026-12-01", terms="100 EUR: half before", **{"from": "bo@example.org"}))
    place = walks.workspace / made["path"]
    head, body = head_of(place)
    assert {name: head[name] for name in ("id", "assignee", "from", "due", "status", "terms")} == {
        "id": made["id"],
        "assignee": "ada",
        "from": "bo@example.org",
        "due": "2026-12-01",
        "status": "open",
        "terms": "100 EUR: half before",
    }
    assert body == "\n# Check the invoices of March\n\n**Terms:** 100 EUR: half before\n"
    assert place.name == f"{head['created'][:10]}-check-the-invoices-of-march-{made['id'][:8]}.md"
    assert made["text"] == f"{made['path']}: for ada, due 2026-12-01"


def test_the_same_task_twice_changes_nothing_and_tells_how_far_it_is(walks: Walks) -> None:
    first = walks.ask(assign())
    place = walks.workspace / first["path"]
    # On another day, with another status and notes below, it is the same task still.
    moved = place.with_name(f"2020-01-01-renamed-{first['id'][:8]}.md")
    moved.write_text(place.read_text().replace('"open"', "in-progress") + "\nHalf done.\n")
    place.unlink()
    again = walks.ask(assign())
    assert (again["created"], again["path"], again["id"]) == (False, f"tasks/{moved.name}", first["id"])
    assert again["status"] == "in-progress"
    assert "has this task already (in-progress)" in again["text"]
    assert [one.name for one in (walks.workspace / "tasks").iterdir()] == [moved.name]


def test_tasks_are_written_down_at_once_also_the_same_one_twice(walks: Walks) -> None:
    said = [("ada", "One"), ("bo", "Two"), ("ada", "One")]
    nodes = [{**assign(*one), "id": f"n{number}"} for number, one in enumerate(said)]
    outcome = walks.go(parallel("all", *nodes))
    assert outcome.failure is None, outcome.failure
    made: Any = outcome.outputs
    assert made["n0"]["path"] == made["n2"]["path"]
    assert len(list((walks.workspace / "tasks").iterdir())) == 2


def test_a_task_that_somebody_wrote_down_at_the_same_moment_is_there(tmp_path: Path) -> None:
    class Late(Workspace):
        """Another process writes the same task between our look and our write."""

        def write(self, path: str, data: bytes, **more: Any) -> Any:
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_bytes(data.replace(b"10:00:00", b"09:59:59"))
            return super().write(path, data, **more)

    class Bench:
        clock = FixedClock("2026-11-21T10:00:00Z")
        workspace = Late(tmp_path)

    bench: Any = Bench()
    made: Any = anyio.run(run, {"assignee": "ada", "task": "One", "folder": "tasks"}, bench)
    bench.workspace.close()
    assert (made["created"], made["status"]) == (False, "open")


def test_another_task_of_the_same_name_is_another_file(walks: Walks) -> None:
    paths = {
        walks.ask(node)["path"]
        for node in (
            assign(),
            assign("bo"),
            assign(due="2026-12-01"),
            assign(terms="x"),
            assign(folder="other"),
        )
    }
    assert len(paths) == 5


def test_a_file_that_only_looks_like_the_task_is_not_taken_for_it(walks: Walks) -> None:
    first = walks.ask(assign())
    place = walks.workspace / first["path"]
    place.write_text("---\nid: other\n---\n")
    assert walks.refusal(assign()) == "EXISTS"
    assert place.read_text() == "---\nid: other\n---\n"


@pytest.mark.parametrize(
    "assignee",
    [
        "../ada",
        "/etc/passwd",
        "-rf",
        "ada\x00",
        "ada\x1b[31m",
        "",
        "a..b",
        "ada: x {",
        "<script>",
        "a" * 201,
        "@ada",
    ],
)
def test_an_unsafe_assignee_is_refused(walks: Walks, assignee: str) -> None:
    assert walks.refusal(assign(assignee)) in ("BAD_ASSIGNEE", "INVALID_ARGS")
    assert not (walks.workspace / "tasks").exists()


@pytest.mark.parametrize(
    "assignee",
    ["Ada Lovelace", "ada@example.org", "did:key:z6MkAbc", "matrix://agent/did:key:z6Mk", "Jörg", "O'Neill"],
)
def test_people_and_agents_are_named_as_they_are(walks: Walks, assignee: str) -> None:
    made = walks.ask(assign(assignee))
    assert head_of(walks.workspace / made["path"])[0]["assignee"] == assignee


@pytest.mark.parametrize(
    ("folder", "code"),
    [
        ("../out", "OUT_OF_SCOPE"),
        ("/tmp/out", "OUT_OF_SCOPE"),
        (".git", "PROTECTED_PATH"),
        ("a\nb", "OUT_OF_SCOPE"),
    ],
)
def test_an_unsafe_folder_is_refused(walks: Walks, folder: str, code: str) -> None:
    assert walks.refusal(assign(folder=folder)) == code
    assert list(walks.workspace.parent.glob("out*")) == []


def test_a_folder_that_is_a_link_is_not_followed(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside"
    outside.mkdir()
    (walks.workspace / "tasks").symlink_to(outside)
    assert walks.refusal(assign()) == "OUT_OF_SCOPE"
    assert walks.refusal(assign(folder="tasks")) == "OUT_OF_SCOPE"
    assert list(outside.iterdir()) == []


def test_a_due_time_needs_an_offset_and_is_kept_in_utc(walks: Walks) -> None:
    assert walks.refusal(assign(due="friday")) == "BAD_TIME"
    made = walks.ask(assign(due="2026-12-01T10:00:00+01:00"))
    assert head_of(walks.workspace / made["path"])[0]["due"] == "2026-12-01T09:00:00.000Z"


def test_a_task_of_nothing_is_refused_and_one_in_any_script_has_a_name(walks: Walks) -> None:
    assert walks.refusal(assign(task=" \n ")) == "NO_TASK"
    assert walks.ask(assign(task="確認してください"))["path"].partition("-task-")[2]
    assert "/" not in Path(walks.ask(assign(task="../../etc/passwd"))["path"]).name


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, TEXT, st.sampled_from(["ada", "Zoë B", "did:key:z6Mk"]))
def test_whatever_is_said_the_head_is_read_back_and_the_name_is_plain(
    tmp_path: Path, task: str, terms: str, assignee: str
) -> None:
    class Bench:
        clock = FixedClock("2026-11-21T10:00:00Z")
        workspace = Workspace(tmp_path)

    bench: Any = Bench()
    args = {"assignee": assignee, "task": task, "terms": terms, "folder": "tasks"}
    try:
        made: Any = anyio.run(run, args, bench)
        again = anyio.run(run, args, bench)
    except ToolError as problem:
        if problem.code != "NO_TASK" or task.strip():
            raise
        return
    finally:
        bench.workspace.close()
    assert (again["path"], again["created"]) == (made["path"], False)
    head, _ = head_of(tmp_path / made["path"])
    assert (head["assignee"], head["terms"], head["status"]) == (assignee, terms.strip(), "open")
    assert set(Path(made["path"]).name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    for one in (tmp_path / "tasks").iterdir():
        one.unlink()
