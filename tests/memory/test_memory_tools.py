"""Memories as tools of a plan: found and put through the gate, with addresses that last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from walks import Walks, sequence, tool

from executor import Home, Outcome, Registry
from mcl.catalog.tools import registry
from mcl.memory import MemoryStore


class Plans(Walks):
    """Plans that may call every tool of this build."""

    def registry(self) -> Registry:
        return registry(lambda: self.home)


@pytest.fixture
def plans(home: Home, tmp_path: Path) -> Plans:
    (tmp_path / "work").mkdir()
    return Plans(home, tmp_path / "work")


def code(outcome: Outcome) -> str:
    return outcome.failure.code if outcome.failure else outcome.state


def output(outcome: Outcome, node: str = "n1") -> Any:
    assert outcome.failure is None, outcome.failure
    return outcome.outputs[node]


def test_what_is_found_can_be_cited_by_the_address_of_its_version(plans: Plans, cortex: MemoryStore) -> None:
    cortex.put("Fact", "The office is in Oslo", id="office", tags=["place"])
    cortex.put("Fact", "The office is in Bergen", id="office", tags=["place"])
    cortex.put("Fact", "Paper is bought from Acme", id="paper")
    outcome = plans.go(
        sequence(
            "n0",
            tool("n1", "cortex/find", near="where is the office", types='["Fact"]', tags='["place"]'),
            tool("n2", "fs/write", "write", path="a.txt", content="see ${n1.output.memories[0].uri}"),
        )
    )
    found = output(outcome)
    assert [one["uri"] for one in found["memories"]] == ["matrix://cortex/Fact/office@v2"]
    assert (found["count"], found["size"], found["root"]) == (1, 3, cortex.snapshot().root)
    assert (plans.workspace / "a.txt").read_text() == "see matrix://cortex/Fact/office@v2"


def test_without_words_the_most_important_memories_come(plans: Plans, cortex: MemoryStore) -> None:
    for number, importance in enumerate((0.1, 0.9, 0.5)):
        cortex.put("Fact", f"fact {number}", importance=importance)
    found = output(plans.go(tool("n1", "cortex/find", limit="2"), verb="find"))
    assert [one["text"] for one in found["memories"]] == ["fact 1", "fact 2"]
    assert output(plans.go(tool("n1", "cortex/find", near="nothing like it")))["memories"] == []


def test_what_is_put_names_the_intent_and_the_node_and_is_in_the_journal(
    plans: Plans, cortex: MemoryStore
) -> None:
    node = tool(
        "n1", "cortex/put", "write", type="Fact", text="Acme delivers on Monday", id="acme",
        tags='["supplier"]', about='["matrix://cortex/Fact/paper@v1"]', confidence="0.6",
    )  # fmt: skip
    outcome = plans.go(node)
    assert output(outcome)["uri"] == "matrix://cortex/Fact/acme@v1"
    memory = cortex.memories().resolve("matrix://cortex/Fact/acme")
    assert memory is not None
    assert memory.source == f"matrix://intent/{outcome.intent_id}#n1"
    assert dict(memory.data) == {"intent": outcome.intent_id, "node": "n1"}
    assert memory.edges == (
        ("of", f"matrix://intent/{outcome.intent_id}"),
        ("about", "matrix://cortex/Fact/paper@v1"),
    )
    assert (memory.confidence, memory.tags) == (0.6, ("supplier",))
    assert [body["uri"] for body in plans.records("record.cortex.put")] == [memory.uri]
    assert plans.home.journal.verify().ok


def test_saying_it_again_changes_nothing(plans: Plans, cortex: MemoryStore) -> None:
    node = tool("n1", "cortex/put", "write", type="Fact", text="Acme delivers on Monday")
    first, second = output(plans.go(node)), output(plans.go(node))
    assert (first["written"], second["written"]) == (True, False)
    assert first["uri"] == second["uri"]
    assert cortex.snapshot().size == 1


def test_what_is_remembered_is_only_followed_by_what_has_read_it(plans: Plans, cortex: MemoryStore) -> None:
    cortex.put("Fact", "The office is in Oslo", id="office")
    put = {"type": "Fact", "text": "The office is in Bergen", "id": "office"}
    assert code(plans.go(tool("n1", "cortex/put", "write", **put))) == "EXISTS"
    stale = {**put, "base": "matrix://cortex/Fact/office@v7"}
    assert code(plans.go(tool("n1", "cortex/put", "write", **stale))) == "STALE_MEMORY"
    missing = {**put, "id": "other", "base": "matrix://cortex/Fact/other@v1"}
    assert code(plans.go(tool("n1", "cortex/put", "write", **missing))) == "STALE_MEMORY"
    assert cortex.snapshot().size == 1
    read = tool("n1", "cortex/find", near="office")
    outcome = plans.go(
        sequence("n0", read, tool("n2", "cortex/put", "write", **put, base="${n1.output.memories[0].uri}"))
    )
    assert output(outcome, "n2")["uri"] == "matrix://cortex/Fact/office@v2"
    assert [one.text for one in cortex.memories().history("matrix://cortex/Fact/office")] == [
        "The office is in Oslo",
        "The office is in Bergen",
    ]


@pytest.mark.parametrize(
    ("put", "wanted"),
    [
        ({"type": "Preference", "id": "learned-0123"}, "RESERVED_MEMORY"),
        ({"type": "Constraint", "id": "mcl.learning"}, "RESERVED_MEMORY"),
        ({"type": "Fact", "tags": '["pinned"]'}, "RESERVED_MEMORY"),
        ({"type": "Preference", "tags": '["learned"]'}, "RESERVED_MEMORY"),
        ({"type": "Fact", "tags": '["mcl.review.meaning"]'}, "RESERVED_MEMORY"),
        ({"type": "Rumour"}, "INVALID_ARGS"),
        ({"type": "Fact", "id": "../x"}, "INVALID_ARGS"),
        ({"type": "Fact", "importance": "2"}, "INVALID_ARGS"),
        ({"type": "Fact", "tags": '["UPPER"]'}, "MEMORY_SHAPE"),
        ({"type": "Fact", "about": '["no address"]'}, "MEMORY_SHAPE"),
    ],
)
def test_a_plan_puts_no_memory_that_steers_mcl_or_is_none(
    plans: Plans, cortex: MemoryStore, put: dict[str, str], wanted: str
) -> None:
    assert code(plans.go(tool("n1", "cortex/put", "write", text="x", **put))) == wanted
    assert cortex.snapshot().size == 0


def test_a_goal_that_only_looks_remembers_nothing(plans: Plans, cortex: MemoryStore) -> None:
    node = tool("n1", "cortex/put", "write", type="Fact", text="x")
    assert code(plans.go(node, verb="find")) == "INTENT_MISMATCH"
    node = tool("n1", "cortex/put", "read", type="Fact", text="x")
    assert code(plans.go(node)) == "SERVER_MISMATCH"
    assert cortex.snapshot().size == 0


def test_secrets_and_terminal_escapes_are_not_remembered(plans: Plans, cortex: MemoryStore) -> None:
    plans.write("a.txt", "the key is sk-" + "a" * 30 + " and \x1b[2J")
    read = tool("n1", "fs/read", path="a.txt")
    put = tool("n2", "cortex/put", "write", type="Fact", text="${n1.output.text}", id="key")
    outcome = plans.go(sequence("n0", read, put))
    memory = cortex.memories().resolve(output(outcome, "n2")["uri"])
    assert memory is not None
    assert "sk-a" not in memory.text
    assert "\x1b" not in memory.text


def test_the_tools_need_no_home_until_they_are_called(tmp_path: Path) -> None:
    def never() -> Home:
        raise AssertionError("nobody called a tool")

    uris = [manifest.uri for manifest in registry(never).manifests]
    assert uris == sorted(uris)
    assert {"matrix://tool/cortex/find@1.0.0", "matrix://tool/cortex/put@1.0.0"} <= set(uris)
