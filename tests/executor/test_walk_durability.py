"""What is on disk when a node has its effect, and what is left when a run dies or is cancelled in between."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from walks import NODE, Says, Walks, parallel, sequence, tool

from executor import Bench, Home, JournalError, Manifest, Statement, Tool, WalkEvent
from executor.walker.ledger import Ledger
from ir import IntentCancelBody


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    return Walks(home, tmp_path / "work")


def probe(name: str, adapter: Any, *, idempotent: bool = True) -> Tool:
    whole = {"type": "object", "additionalProperties": False, "properties": {}}
    manifest = {
        "uri": f"matrix://tool/test/{name}@1.0.0",
        "description": "For a test.",
        "effects": ["read"],
        "operation": "read",
        "idempotent": idempotent,
        "timeout_ms": 10_000,
        "max_output": 1000,
        "safety": "A",
        "scope": {"kind": "none"},
        "args": whole,
        "output": whole,
    }
    return Tool(Manifest.model_validate(manifest), adapter)


def on_disk(walks: Walks, intent: str) -> dict[str, str]:
    """The states of nodes as another process would find them now."""
    with Home.open(walks.home.path) as other:
        return dict(other.journal.view(intent).nodes)


def test_when_a_node_has_its_effect_the_ends_of_all_before_it_are_on_disk(walks: Walks) -> None:
    found: dict[str, dict[str, str]] = {}

    async def look(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        found[bench.node_id] = on_disk(walks, intent)
        return {}

    def node(id: str) -> NODE:
        return tool(id, "test/look")

    walks.tools.append(probe("look", look))
    intent = walks.accept(
        sequence(
            "root",
            node("a"),
            sequence("b", node("b1"), sequence("b2", node("b21")), node("b3")),
            parallel("c", node("c1"), sequence("c2", node("c21"), node("c22"))),
            node("d"),
        )
    )
    assert walks.run(intent).state == "completed"
    ended = "completed"
    root = {"root": "running"}
    assert found["a"] == {**root, "a": "running"}
    assert found["b1"] == {**root, "a": ended, "b": "running", "b1": "running"}
    before_b21 = {**root, "a": ended, "b": "running", "b1": ended, "b2": "running"}
    assert found["b21"] == {**before_b21, "b21": "running"}
    assert found["b3"] == {**before_b21, "b2": ended, "b21": ended, "b3": "running"}
    after_b = {**found["b3"], "b3": ended, "b": ended}
    assert found["c22"].items() >= {**after_b, "c": "running", "c21": ended, "c22": "running"}.items()
    assert found["d"] == {
        **after_b,
        **dict.fromkeys(("c", "c1", "c2", "c21", "c22"), ended),
        "d": "running",
    }
    assert set(on_disk(walks, intent).values()) == {ended}
    assert walks.home.journal.verify().findings == []


def test_the_end_of_a_node_is_on_disk_while_others_beside_it_are_still_at_work(walks: Walks) -> None:
    async def quick(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return {}

    async def slow(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        with anyio.fail_after(60):
            while {on_disk(walks, intent).get(id) for id in ("a", "b", "b1", "b2")} != {"completed"}:
                await anyio.sleep(0.01)
        return {}

    walks.tools += [probe("quick", quick), probe("slow", slow)]
    intent = walks.accept(
        parallel(
            "root",
            tool("s", "test/slow"),
            tool("a", "test/quick"),
            sequence("b", tool("b1", "test/quick"), tool("b2", "test/quick")),
        )
    )
    assert walks.run(intent).failure is None


class At:
    """Does something when a node is told to be in a state."""

    def __init__(self, node: str, state: str, act: Any) -> None:
        self.when, self.act = (node, state), act

    def on(self, event: WalkEvent) -> None:
        if (event.node_id, event.state) == self.when:
            self.act()


def test_a_cancel_between_two_nodes_keeps_the_end_of_the_first_and_begins_no_other(walks: Walks) -> None:
    made: list[str] = []

    async def mark(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        made.append(bench.node_id)
        return {}

    def cancel() -> None:
        with Home.open(walks.home.path) as other:
            body = IntentCancelBody(cancelled_at=other.clock.now())
            other.journal.tell(intent, Statement("intent.cancel", body))

    walks.tools.append(probe("mark", mark))
    intent = walks.accept(sequence("root", tool("a", "test/mark"), tool("b", "test/mark")))
    outcome = walks.run(intent, listener=At("a", "completed", cancel))
    assert outcome.state == "cancelled"
    assert made == ["a"]
    assert on_disk(walks, intent)["a"] == "completed"
    assert "b" not in on_disk(walks, intent)
    assert walks.home.journal.verify().findings == []


DIES = """
import os, sys
from pathlib import Path
import anyio
sys.path[:0] = [sys.argv[4]]
from walks import Walks
from tests.executor.test_walk_durability import At, marker
from executor import Home
with Home.open(Path(sys.argv[1])) as home:
    walks = Walks(home, Path(sys.argv[2]))
    walks.tools.append(marker(Path(sys.argv[2]), idempotent=sys.argv[5] == "True"))
    walks.run(sys.argv[3], listener=At("a", "completed", lambda: os.kill(os.getpid(), 9)))
"""


def marker(folder: Path, *, idempotent: bool) -> Tool:
    """A tool that leaves a mark for each of its calls."""

    async def mark(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        with (folder / "marks").open("a") as marks:
            marks.write(f"{bench.node_id}\n")
        return {}

    return probe("mark", mark, idempotent=idempotent)


@pytest.mark.parametrize("idempotent", [True, False])
def test_a_run_killed_between_two_nodes_leaves_the_first_in_doubt_and_loses_nothing(
    walks: Walks, idempotent: bool
) -> None:
    walks.tools.append(marker(walks.workspace, idempotent=idempotent))
    intent = walks.accept(sequence("root", tool("a", "test/mark"), tool("b", "test/mark")))
    here = Path(__file__).parent.parent
    given = [str(walks.home.path), str(walks.workspace), intent, str(here), str(idempotent)]
    done = subprocess.run([sys.executable, "-c", DIES, *given], cwd=here.parent, check=False)
    assert done.returncode == -9
    assert on_disk(walks, intent) == {"root": "running", "a": "running"}
    people = Says("done")
    assert walks.run(intent, resume=True, people=people).state == "completed"
    marks = (walks.workspace / "marks").read_text().split()
    assert marks == (["a", "a", "b"] if idempotent else ["a", "b"])
    assert [asked.kind for asked in people.asked] == ([] if idempotent else ["in_doubt"])
    assert walks.home.journal.verify().findings == []


def test_an_end_that_waits_for_the_next_start_is_on_disk_once_the_walk_waits(walks: Walks) -> None:
    intent = walks.accept(sequence("root", tool("a", "time/now"), tool("b", "time/now")))
    plan = walks.home.journal.view(intent).plan
    assert plan is not None

    async def walk() -> None:
        ledger = Ledger(walks.home, intent, plan)
        ledger.begin("a", 1)
        ledger.end("a", "completed", more=True)
        assert on_disk(walks, intent) == {"a": "running"}
        await anyio.sleep(0)
        assert on_disk(walks, intent) == {"a": "completed"}
        ledger.begin("b", 1)
        ledger.end("b", "failed", more=True)
        ledger.begin("b", 2)  # one commit with the end, and nothing is left to be written later
        size = walks.home.journal.size()
        await anyio.sleep(0)
        assert walks.home.journal.size() == size
        assert on_disk(walks, intent)["b"] == "running"

    anyio.run(walk)
    assert walks.home.journal.verify().findings == []


def test_where_nothing_tells_that_the_walk_waits_an_end_is_on_disk_at_once(walks: Walks) -> None:
    intent = walks.accept(sequence("root", tool("a", "time/now"), tool("b", "time/now")))
    plan = walks.home.journal.view(intent).plan
    assert plan is not None
    ledger = Ledger(walks.home, intent, plan)  # as on an event loop that is not asyncio's
    ledger.begin("a", 1)
    ledger.end("a", "completed", more=True)
    assert on_disk(walks, intent) == {"a": "completed"}


def test_an_end_that_could_not_be_written_while_the_walk_waited_is_told_to_who_writes_next(
    walks: Walks,
) -> None:
    intent = walks.accept(sequence("root", tool("a", "time/now"), tool("b", "time/now")))
    plan = walks.home.journal.view(intent).plan
    assert plan is not None

    async def walk() -> None:
        ledger = Ledger(walks.home, intent, plan)
        ledger.begin("a", 1)
        ledger.end("a", "completed", more=True)
        with Home.open(walks.home.path) as other, other.db.write() as connection:
            connection.execute("UPDATE tree SET root = zeroblob(32)")
        await anyio.sleep(0)
        with pytest.raises(JournalError) as caught:
            ledger.begin("b", 1)
        assert caught.value.code == "JOURNAL_DAMAGED"

    anyio.run(walk)
    assert on_disk(walks, intent) == {"a": "running"}
