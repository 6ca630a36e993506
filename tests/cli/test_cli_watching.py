"""Watching a run: the tree on a terminal of any size, and one JSON line an event."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import ir
from executor import GateAnswer, GateQuestion, WalkEvent
from mcl.cli.run import Events, ToldPeople
from mcl.cli.views.rows import Rows
from mcl.cli.views.walk import LiveTree


def a_plan(children: int, description: str = "Read it") -> ir.PlanTree:
    leaves = [
        {
            "id": f"n{place}",
            "kind": "tool_call",
            "description": description,
            "tool_call": {"tool_ref": "matrix://tool/fs/read@1.0.0", "side_effect_class": "read"},
        }
        for place in range(children)
    ]
    root = {"id": "root", "kind": "sequential", "children": leaves}
    return ir.PlanTree.from_json(json.dumps({"id": "p", "v": "mcl/0.1", "root": root}))


class Screen:
    """A terminal of some size, on which a run is watched."""

    def __init__(self, plan: ir.PlanTree, width: int, height: int, encoding: str = "utf-8") -> None:
        self.file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
        self.console = Console(
            file=self.file, width=width, height=height, force_terminal=True, color_system=None, markup=False
        )
        self.tree = LiveTree(plan, self.console)

    def tell(self, node: str, state: str, **more) -> None:
        self.tree.on(WalkEvent(node, more.pop("kind", "tool_call"), state, **more))

    def drawn(self) -> list[str]:
        with self.console.capture() as held:
            self.console.print(self.tree._draw())
        return held.get().splitlines()

    def last(self) -> str:
        """What stays on the terminal."""
        with self.console.capture() as held:
            self.tree.__exit__()
        return held.get()


def test_each_node_has_one_line_with_its_state_and_time():
    screen = Screen(a_plan(3), 100, 30)
    screen.tell("root", "running", kind="sequential")
    screen.tell("n0", "running")
    screen.tell("n0", "completed", verdict="allow", ms=1200)
    screen.tell("n1", "running")
    lines = screen.drawn()
    assert len(lines) == 5
    assert "├─ n0" in lines[1]
    assert "✓ completed 1.2 s" in lines[1]
    assert "running" in lines[2]
    assert "└─ n2" in lines[3]
    assert "· pending" in lines[3]
    assert lines[4].startswith("  1 of 3 · 1 running · 1 completed")


@pytest.mark.parametrize(("width", "height"), [(30, 10), (44, 12), (80, 24), (110, 60)])
@pytest.mark.parametrize("at", [0, 1, 77, 198, 199])
def test_a_long_plan_is_shown_around_what_runs_and_the_rest_is_counted(width, height, at):
    screen = Screen(a_plan(200, "漢字 and a long description " * 3), width, height)
    screen.tell("root", "running", kind="sequential")
    for place in range(at):
        screen.tell(f"n{place}", "completed", ms=1)
    screen.tell(f"n{at}", "running")
    lines = screen.drawn()
    assert len(lines) <= height
    assert all(cell_len(line) <= width for line in lines)
    (now,) = [line for line in lines if f"n{at} " in line]
    assert "completed" not in now
    above, below = (
        sum(int(line.split()[1]) for line in lines if word in line) for word in ("above:", "below:")
    )
    shown = sum("─" in line or "root" in line for line in lines)
    assert above + shown + below == 201
    assert f"{at} of 200" in lines[-1]


def test_an_attempt_that_failed_is_told_until_the_node_completes():
    screen = Screen(a_plan(1), 100, 20)
    screen.tell("n0", "running")
    screen.tell("n0", "running", error="attempt 1: TIMEOUT: no answer within 1 s")
    assert any("attempt 1: TIMEOUT" in line for line in screen.drawn())
    screen.tell("n0", "completed", ms=3)
    assert "TIMEOUT" not in screen.last()


def test_nodes_of_a_plan_that_is_made_on_the_way_come_below_their_node():
    screen = Screen(a_plan(3), 100, 20)
    screen.tell("n1", "running")
    screen.tell("n1/root", "running", kind="sequential", depth=2)
    screen.tell("n1/a", "completed", depth=3)
    screen.tell("n1/b", "running", depth=3)
    lines = screen.drawn()
    for line, begin in zip(
        lines[2:6], ("├─ n1 ", "│  └─ n1/root ", "│     ├─ n1/a ", "│     └─ n1/b "), strict=True
    ):
        assert line.startswith("  " + begin)
    assert "└─ n2" in lines[6]


def test_what_stays_of_a_very_large_plan_is_what_did_not_go_well():
    screen = Screen(a_plan(1000), 80, 24)
    for place in range(1000):
        state = "failed" if place == 500 else "completed" if place < 500 else "skipped"
        screen.tell(f"n{place}", state, error="BROKEN: it broke" if place == 500 else "")
    last = screen.last()
    assert len(last.splitlines()) < 10
    assert "BROKEN: it broke" in last
    assert "1000 of 1000" in last


def test_a_run_that_never_began_leaves_no_tree_behind():
    assert Screen(a_plan(3), 80, 24).last() == ""


def test_a_terminal_without_unicode_gets_plain_signs():
    screen = Screen(a_plan(2), 60, 20, encoding="latin-1")
    screen.tell("n0", "completed")
    assert all(line.isascii() for line in screen.drawn())


@given(text=st.text(max_size=60))
def test_no_text_of_a_node_reaches_the_terminal_as_a_command(text):
    screen = Screen(a_plan(1, text), 80, 20)
    screen.tell("n0", "failed", error=text)
    said = "".join(screen.drawn())
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in said)


@given(depths=st.lists(st.integers(0, 3), max_size=12))
def test_guides_lead_from_each_node_to_its_branch(depths):
    def node(number: int) -> dict[str, object]:
        return {"id": f"n{number}", "kind": "sequential", "children": []}

    root, path = node(-1), []
    path = [root]
    for number, depth in enumerate(depths):
        del path[depth + 1 :]
        child = node(number)
        path[-1]["children"].append(child)
        path.append(child)
    rows = Rows(ir.PlanTree.from_json(json.dumps({"id": "p", "v": "mcl/0.1", "root": root}))).all()
    for place, row in enumerate(rows[1:], 1):
        assert len(row.guide) == 3 * row.depth
        rest = [one.depth for one in rows[place + 1 :]]
        until = next((index for index, depth in enumerate(rest) if depth < row.depth), len(rest))
        assert ("├" in row.guide) == (row.depth in rest[:until])


def test_a_run_with_json_is_one_line_an_event_with_these_keys(mcl):
    id = mcl(
        *("compile", "remember to water the plants", "--no-ai", "--skill", "general", "--verb", "build"),
        *("--slot", "object=plants", "--json"),
    ).document["id"]
    assert mcl("accept", id, "--yes").code == 0
    done = mcl("run", id, "--yes-gates", "--json")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [events[0]["event"], events[-1]["event"]] == ["run", "outcome"]
    assert (events[0]["intent"], events[-1]["state"]) == (id, "completed")
    keys = {
        "run": {"event", "intent", "plan_hash", "nodes", "at"},
        "node": {
            *("event", "node", "kind", "state", "depth", "description", "verdict", "ms"),
            *("preview", "error", "at"),
        },
        "question": {
            *("event", "gate", "node", "kind", "question", "options", "expires_at", "tool", "args", "at"),
            *("refuses", "again"),
        },
    }
    for event in events[:-1]:
        assert set(event) == keys[event["event"]]
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert "question" in {event["event"] for event in events}
    again = mcl("run", id, "--json")
    assert (again.code, list(again.document)) == (4, ["error"])


def test_a_question_is_an_event_before_it_is_put(capsys):
    import anyio

    class Asked:
        async def ask(self, gate: GateQuestion) -> GateAnswer:
            assert json.loads(capsys.readouterr().out.splitlines()[-1])["gate"] == gate.gate_id
            return GateAnswer("approve")

    question = GateQuestion("01G", "01I", "n1", "gate", "Go on?", ("approve", "deny"))
    answer = anyio.run(ToldPeople(Asked(), Events()).ask, question)
    assert answer is not None
    assert answer.decision == "approve"
