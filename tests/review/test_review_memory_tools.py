"""What reviews remember as tools of a plan: through the gate, with undo, and nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, sequence, tool

from executor import FixedClock, Home, Outcome, Registry
from mcl.catalog.tools import registry
from mcl.memory import MemoryStore
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.memory.history import ReviewMemories

AT = "2026-11-22T10:00:00.000Z"
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


class Plans(Walks):
    """Plans that may call every tool of this build."""

    def registry(self) -> Registry:
        return registry(lambda: self.home)


@pytest.fixture
def plans(tmp_path: Path) -> Iterator[Plans]:
    (tmp_path / "work").mkdir()
    with Home.open(tmp_path / "home", clock=FixedClock(AT)) as home:
        yield Plans(home, tmp_path / "work")


@pytest.fixture
def memories(plans: Plans) -> ReviewMemories:
    return ReviewMemories(plans.home, plans.workspace)


def code(outcome: Outcome) -> str:
    return outcome.failure.code if outcome.failure else outcome.state


def output(outcome: Outcome, node: str = "n1") -> Any:
    assert outcome.failure is None, outcome.failure
    return outcome.outputs[node]


def test_a_decision_of_a_plan_is_a_file_and_a_memory_that_names_the_plan(
    plans: Plans, memories: ReviewMemories
) -> None:
    node = tool(
        "n1", "review/decide", "write", title="One file", decision="All in one.", context="Files were lost.",
        consequences="WAL.", files='["store/**"]', status="proposed",
    )  # fmt: skip
    outcome = plans.go(node)
    told = output(outcome)
    path = "architecture_memory/decisions/ADR-0001-one-file.md"
    assert (told["id"], told["path"], told["written"]) == ("ADR-0001", path, True)
    assert (plans.workspace / path).read_text().startswith("---\nid: ADR-0001\ntitle: One file\n")
    memory = MemoryStore(plans.home).memories().resolve(told["uri"])
    assert memory is not None
    assert memory.source == f"matrix://intent/{outcome.intent_id}#n1"
    [decision] = memories.decisions.all()
    assert (decision.status, decision.files, decision.section("Context")) == (
        *("proposed", ("store/**",)),
        "Files were lost.",
    )
    again = output(plans.go(node))
    assert (again["id"], again["written"]) == ("ADR-0001", False)
    assert plans.home.journal.verify().ok


@pytest.mark.parametrize("kind", ["decisions", "boundaries", "philosophy", "rejected"])
def test_the_folder_that_the_gate_judges_is_the_kind(
    plans: Plans, memories: ReviewMemories, kind: str
) -> None:
    folder = f"architecture_memory/{kind}"
    told = output(plans.go(tool("n1", "review/decide", "write", title="x", decision="y", folder=folder)))
    assert told["path"] == f"{folder}/ADR-0001-x.md"
    assert memories.decisions.all()[0].kind == kind


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"folder": "src"}, "INVALID_ARGS"),
        ({"folder": "../architecture_memory/decisions"}, "INVALID_ARGS"),
        ({"status": "great"}, "INVALID_ARGS"),
        ({"files": '["/etc/**"]'}, "DECISION_SHAPE"),
        ({"decision": "a\n# b"}, "DECISION_SHAPE"),
        ({"title": "a\x1b[2J"}, "DECISION_SHAPE"),
    ],
)
def test_a_plan_decides_nothing_that_cannot_be_kept(
    plans: Plans, memories: ReviewMemories, given: dict[str, str], wanted: str
) -> None:
    node = tool("n1", "review/decide", "write", **{"title": "x", "decision": "y", **given})
    assert code(plans.go(node)) == wanted
    assert memories.decisions.all() == ()
    assert not (plans.workspace / "architecture_memory").exists()


def test_a_folder_that_leads_out_of_the_workspace_is_not_written_in(
    plans: Plans, memories: ReviewMemories, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (plans.workspace / "architecture_memory").symlink_to(tmp_path / "outside")
    node = tool("n1", "review/decide", "write", title="x", decision="y")
    assert code(plans.go(node)) == "OUT_OF_SCOPE"
    assert not list((tmp_path / "outside").iterdir())
    assert memories.decisions.all() == ()


def test_a_goal_that_only_looks_decides_and_remembers_nothing(plans: Plans, memories: ReviewMemories) -> None:
    for name, given in (
        ("review/decide", {"title": "x", "decision": "y"}),
        ("review/remember", {"text": "x"}),
    ):
        assert code(plans.go(tool("n1", name, "write", **given), verb="find")) == "INTENT_MISMATCH"
        assert code(plans.go(tool("n1", name, "read", **given))) == "SERVER_MISMATCH"
    assert MemoryStore(plans.home).snapshot().size == 0


def test_a_text_of_a_plan_is_remembered_once_with_where_it_comes_from(
    plans: Plans, memories: ReviewMemories
) -> None:
    plans.write("a.txt", f"store talks {KEY}")
    given = {"text": "${n1.output.text}", "kind": "warning", "tags": '["store"]'}
    plan = sequence(
        "n0", tool("n1", "fs/read", path="a.txt"), tool("n2", "review/remember", "write", **given)
    )
    outcome = plans.go(plan)
    first, second = output(outcome, "n2"), output(plans.go(plan), "n2")
    assert first["uri"] == second["uri"]
    [one] = memories.meanings.all()
    assert (one.text, one.kind, one.tags) == ("store talks [redacted: AWS access key]", "warning", ("store",))
    assert one.source == f"matrix://intent/{outcome.intent_id}#n2"
    refused = tool("n1", "review/remember", "write", text="x", tags='["mcl.review.decision"]')
    assert code(plans.go(refused)) == "MEANING_SHAPE"


def test_a_review_asks_for_its_context_by_the_files_it_looks_at(
    plans: Plans, memories: ReviewMemories
) -> None:
    memories.meanings.remember("app.py starts the shop", source="README.md:1")
    memories.history.record("app.py", findings=[ReviewFinding("RISK", "app.py", 3, "shell")], mode="risk")
    told = output(plans.go(tool("n1", "review/context", files='["app.py"]', mode="security"), verb="find"))
    assert [one["kind"] for one in told["parts"]] == ["meaning", "finding"]
    assert told["text"].startswith("Context of a security review of app.py. ")
    assert (told["maps"], told["left_out"]) == ("none", 0)
    assert output(plans.go(tool("n1", "review/context", files='["b.py"]')))["text"] == ""
    assert code(plans.go(tool("n1", "review/context", files='["../b.py"]'))) == "REVIEW_PATH"
    assert output(plans.go(tool("n1", "review/context", files="[]")))["parts"] == []
    short = output(plans.go(tool("n1", "review/context", files='["app.py"]', budget="500")))
    assert len(short["text"]) <= 500


def test_maps_that_cannot_be_read_are_said_and_not_used(plans: Plans, memories: ReviewMemories) -> None:
    memories.meanings.remember("app.py starts the shop")
    plans.write("generated/architecture/architecture_map.json", '{"schema": "architecture_map.v1"')
    told = output(plans.go(tool("n1", "review/context", files='["app.py"]')))
    assert told["maps"].startswith("unreadable: ")
    assert [one["kind"] for one in told["parts"]] == ["meaning"]


def test_what_is_decided_can_be_cited_by_later_nodes(plans: Plans) -> None:
    outcome = plans.go(
        sequence(
            "n0",
            tool("n1", "review/decide", "write", title="x", decision="y"),
            tool("n2", "fs/read", "read", path="${n1.output.path}"),
        )
    )
    assert "# ADR-0001: x" in output(outcome, "n2")["text"]
