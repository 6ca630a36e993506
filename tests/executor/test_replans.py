"""A run that is about to fail is corrected by the critic: bounded, signed, never wider than was accepted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from walks import NODE, Says, Walks, code, probe, sequence, tool

import ir
from executor import Bench, Outcome, ToolError
from executor.walker.interfaces import FailureMode
from ir import IntentCorrectBody
from mcl.usecases.critic import SIGNED, RunCritic, Trouble


class Modes:
    """What a skill says of failures."""

    def __init__(self, **retries: str) -> None:
        self._modes = {name: FailureMode(retry=retry) for name, retry in retries.items()}

    def modes(self, skill_ref: str) -> Mapping[str, FailureMode]:
        return self._modes


def go(walks: Walks, root: NODE, *, most: int = 2, modes: Modes | None = None, **of_intent: Any) -> Outcome:
    return resume(walks, walks.accept(root, **of_intent), most=most, modes=modes, again=False)


def resume(
    walks: Walks, intent: str, *, most: int = 2, modes: Modes | None = None, again: bool = True, **more: Any
) -> Outcome:
    critic = RunCritic(walks.home, walks.registry(), modes or Modes(), walks.workspace, most=most)
    return walks.run(intent, resume=again, critic=critic.replan, **more)


def corrections(walks: Walks, outcome: Outcome) -> list[IntentCorrectBody]:
    found = (one.body for one in walks.home.journal.envelopes(outcome.intent_id))
    return [body for body in found if isinstance(body, IntentCorrectBody)]


class Fails:
    """A tool that fails so many times as things fail that may pass."""

    def __init__(self, walks: Walks, times: int, **manifest: Any) -> None:
        self.calls, self._times = 0, times
        walks.tools.append(probe("fails", self, **manifest))

    async def __call__(self, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        self.calls += 1
        if self.calls <= self._times:
            raise ToolError("BUSY", "not now", transient=True)
        return {"text": "at last"}


FAILS = sequence("s", tool("a", "time/now"), tool("b", "test/fails"), tool("c", "time/now"))


def test_what_may_pass_is_tried_again_by_a_signed_correction(walks: Walks) -> None:
    work = Fails(walks, 1)
    outcome = go(walks, FAILS)
    assert (outcome.state, work.calls) == ("completed", 2)
    assert set(outcome.nodes.values()) == {"completed"}
    (body,) = corrections(walks, outcome)
    assert (body.retry_from, body.unseen) == ("b", True)
    assert body.reason == "BUSY: run b again (1 of 2)"
    (told,) = walks.records(SIGNED)
    assert (told["number"], told["most"], told["rule"], told["node"], told["code"], told["material"]) == (
        *(1, 2, "again", "b", "BUSY", False),
    )
    again = [event for event in walks.watch.events if event.node_id == "b" and event.state == "pending"]
    assert "re-plan 1 of 2: run b again" in again[-1].error
    assert walks.watch.of("a").count("running") == 1
    assert walks.home.journal.verify().ok
    view = walks.home.journal.view(outcome.intent_id)
    assert [kind for kind, _ in view.unseen] == ["intent.correct"]


@pytest.mark.parametrize(("most", "calls"), [(0, 1), (1, 2), (2, 3), (5, 6)])
def test_it_is_tried_so_often_and_then_fails_as_it_would_have(walks: Walks, most: int, calls: int) -> None:
    work = Fails(walks, 100)
    outcome = go(walks, FAILS, most=most)
    assert (outcome.state, code(outcome), work.calls) == ("failed", "BUSY", calls)
    assert len(walks.records(SIGNED)) == len(corrections(walks, outcome)) == most
    assert walks.home.journal.view(outcome.intent_id).state == "failed"


def test_what_must_not_be_done_twice_is_not_done_again(walks: Walks) -> None:
    work = Fails(walks, 100, idempotent=False)
    assert (go(walks, FAILS).state, work.calls, walks.records(SIGNED)) == ("failed", 1, [])


def test_what_fails_for_good_is_not_tried_again_unless_its_skill_says_so(walks: Walks) -> None:
    node = tool("b", "fs/read", path="nowhere.txt")
    outcome = go(walks, node)
    assert (outcome.state, walks.records(SIGNED)) == ("failed", [])
    assert go(walks, node, modes=Modes(**{code(outcome).lower(): "again"})).state == "failed"
    assert len(walks.records(SIGNED)) == 2


def test_what_the_gate_or_a_person_refused_stays_refused(walks: Walks) -> None:
    walks.write("a.txt", "old")
    node = tool("b", "fs/write", "write", path="a.txt", content="x", overwrite="true")
    intent = walks.accept(node)
    outcome = resume(walks, intent, again=False, people=Says("deny"), modes=Modes(gate_denied="again"))
    assert (outcome.state, code(outcome), walks.records(SIGNED)) == ("denied", "GATE_DENIED", [])


def test_a_correction_that_the_gate_would_refuse_is_not_signed(walks: Walks) -> None:
    work = Fails(walks, 100)
    outcome = go(walks, FAILS, budget={"max_calls": 3})  # a, b, c: there is no call left to try again
    assert (outcome.state, code(outcome), work.calls) == ("failed", "BUSY", 1)
    assert (walks.records(SIGNED), corrections(walks, outcome)) == ([], [])
    assert walks.records("record.gate.refused")[-1]["code"] == "BUDGET_EXCEEDED"


def offering(id: str, which: str, effect: str, args: dict[str, str], *others: dict[str, str]) -> NODE:
    node = tool(id, which, effect, **args)
    node["tool_call"]["alternatives"] = list(others)
    return node


def test_arguments_that_the_plan_offers_are_taken_in_their_order_without_a_new_accept(walks: Walks) -> None:
    walks.write("c.txt", "found")
    read = offering("r", "fs/read", "read", {"path": "a.txt"}, {"path": "b.txt"}, {"path": "c.txt"})
    outcome = go(
        walks, sequence("s", read, tool("w", "fs/write", "write", path="o", content="${r.output.text}"))
    )
    assert (outcome.state, (walks.workspace / "o").read_text()) == ("completed", "found")
    assert [told["rule"] for told in walks.records(SIGNED)] == ["alternative"] * 2
    view = walks.home.journal.view(outcome.intent_id)
    assert view.plan is not None
    (done,) = [node.tool_call for node, _ in view.plan.root.walk() if node.id == "r"]
    assert done is not None
    assert dict(done.args) == {"path": "c.txt"}
    assert view.plan_hash != view.base_plan.hash if view.base_plan else False
    only = offering("r", "fs/read", "read", {"path": "a.txt"}, {"path": "b.txt"})
    assert go(walks, only).state == "failed"


def test_a_criterion_that_is_not_met_has_the_node_run_with_what_the_plan_offers(walks: Walks) -> None:
    tried: list[str] = []

    async def maybe(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        tried.append(str(args["text"]))
        if args["text"] == "well":
            walks.write("out.txt", "x")
        return {}

    walks.tools.append(probe("maybe", maybe, effects=("write",)))
    criteria = [{"type": "delivered", "artifact": "out.txt"}]
    node = offering("m", "test/maybe", "write", {"text": "badly"}, {"text": "well"})
    outcome = go(walks, node, criteria=criteria)
    assert (outcome.state, tried) == ("completed", ["badly", "well"])
    (told,) = walks.records(SIGNED)
    assert (told["code"], told["node"]) == ("CRITERION_NOT_MET", "m")
    without = go(
        walks, tool("m", "test/maybe", "write", text="badly"), criteria=[{**criteria[0], "artifact": "n.txt"}]
    )
    assert (without.state, code(without)) == ("failed", "CRITERION_NOT_MET")


def test_an_alternative_does_not_repeat_what_must_not_be_done_twice(walks: Walks) -> None:
    append = tool("w", "fs/append", "write", path="log.txt", content="once")
    gone = tool("d", "fs/delete", "write", path="out.txt")
    walks.write("out.txt")
    node = offering("r", "fs/list", "read", {"path": "."}, {"path": "./"})
    criteria = [{"type": "delivered", "artifact": "out.txt"}]
    outcome = go(walks, sequence("s", node, append, gone), criteria=criteria)
    assert (outcome.state, walks.records(SIGNED)) == ("failed", [])
    assert (walks.workspace / "log.txt").read_text().strip() == "once"


NAMED = {"objects": [{"name": "file", "value": "report.md"}]}


def test_another_name_is_wider_than_what_was_accepted_and_waits_for_a_new_accept(walks: Walks) -> None:
    walks.write("report.md", "of before")
    walks.write("report-2.md", "of before, too")
    node = tool("w", "fs/write", "write", path="report.md", content="new")
    modes = Modes(exists="another_name")
    criteria = [{"type": "delivered", "artifact": "report.md"}]
    outcome = go(walks, node, modes=modes, criteria=criteria, **NAMED)
    assert (outcome.state, outcome.exit, code(outcome)) == ("corrected", 10, "CORRECTED")
    assert outcome.failure is not None
    assert "call it report-3.md, as report.md is there already" in outcome.failure.message
    view = walks.home.journal.view(outcome.intent_id)
    assert view.state == "proposed"
    assert view.intent is not None
    assert view.intent.frame.objects[0].value == "report-3.md"
    assert not (walks.workspace / "report-3.md").exists()
    walks.tell(
        outcome.intent_id,
        "intent.accept",
        ir.IntentAcceptBody(view.intent_hash, walks.home.clock.now(), plan_hash=view.plan_hash),
    )
    again = resume(walks, outcome.intent_id, modes=modes)
    assert again.state == "completed"
    assert (walks.workspace / "report-3.md").read_text() == "new"
    assert (walks.workspace / "report.md").read_text() == "of before"
    assert walks.home.journal.verify().ok


def test_a_skill_that_does_not_allow_another_name_gets_none(walks: Walks) -> None:
    walks.write("report.md", "of before")
    outcome = go(walks, tool("w", "fs/write", "write", path="report.md", content="new"))
    assert (outcome.state, code(outcome), walks.records(SIGNED)) == ("failed", "EXISTS", [])


def rewriting(node: NODE) -> Any:
    """A model that writes this plan whatever went wrong."""

    def rewrite(trouble: Trouble) -> ir.PlanTree:
        assert trouble.says.startswith("r: ")
        return trouble.plan.model_copy(update={"root": ir.PlanNode.from_json(json.dumps(node))})

    return rewrite


@pytest.mark.parametrize(("path", "state"), [("d/a.txt", "completed"), ("other.txt", "corrected")])
def test_a_plan_that_a_model_writes_anew_runs_where_it_is_no_wider(
    walks: Walks, path: str, state: str
) -> None:
    walks.write("d/a.txt", "found")
    walks.write("other.txt", "found")
    intent = walks.accept(tool("r", "fs/read", path="d"))  # a folder is no file
    rewrite = rewriting(tool("r", "fs/read", path=path))
    critic = RunCritic(walks.home, walks.registry(), Modes(), walks.workspace, most=2, rewrite=rewrite)
    outcome = walks.run(intent, critic=critic.replan)
    assert outcome.state == state
    (told,) = walks.records(SIGNED)
    assert (told["rule"], told["material"]) == ("model", state == "corrected")


def test_a_rule_is_asked_before_a_model(walks: Walks) -> None:
    work = Fails(walks, 1)

    def never(trouble: Trouble) -> None:
        raise AssertionError(trouble.says)

    critic = RunCritic(walks.home, walks.registry(), Modes(), walks.workspace, most=2, rewrite=never)
    assert walks.run(walks.accept(FAILS), critic=critic.replan).state == "completed"
    assert work.calls == 2


DIES = """
import os, signal, sys
from pathlib import Path
import anyio
from executor import AlwaysApprove, Bench, Home, Registry, Walker
from executor.walker.interfaces import FailureMode
from mcl.catalog.tools.registry import shipped_tools
from mcl.usecases.critic import RunCritic

when, home, folder, intent = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]

class Modes:
    def modes(self, skill_ref):
        return {}

class Dies(RunCritic):
    def _sign(self, proposal, told):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = super()._sign(proposal, told)
        os.kill(os.getpid(), signal.SIGKILL)
        return done

async def run(opened):
    tools = Registry(shipped_tools())
    critic = Dies(opened, tools, Modes(), folder, most=2).replan
    async with Walker(opened, tools, workspace=folder, people=AlwaysApprove(), critic=critic) as walker:
        await walker.run(intent)

with Home.open(home) as opened:
    anyio.run(run, opened)
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_process_that_is_killed_around_the_signature_leaves_a_run_that_goes_on(
    walks: Walks, when: str
) -> None:
    walks.write("b.txt", "found")
    read = offering("r", "fs/read", "read", {"path": "a.txt"}, {"path": "b.txt"})
    intent = walks.accept(sequence("s", tool("n", "time/now"), read))
    script = [sys.executable, "-c", DIES, when, str(walks.home.path), str(walks.workspace), intent]
    assert subprocess.run(script, check=False).returncode == -signal.SIGKILL
    view = walks.home.journal.view(intent)
    assert (view.state, len(view.corrections)) == ("executing", int(when == "after"))
    assert len(walks.records(SIGNED)) == len(view.corrections)
    outcome = resume(walks, intent)
    assert (outcome.state, outcome.outputs["r"]["text"]) == ("completed", "found")  # type: ignore[index]
    assert len(walks.records(SIGNED)) == 1
    assert walks.home.journal.verify().ok
