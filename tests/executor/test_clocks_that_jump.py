"""Order is the place in the journal: clocks that are set forwards and back between any two steps decide
nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

import anyio
import pytest
from walks import Says, Walks, probe, sequence, tool

from executor import Bench, FixedClock, Home, Outcome, Statement
from ir import IntentCancelBody, PolicyGateBody, PolicyGateResolveBody

IN_DOUBT = "matrix://rule/in-doubt"
NOON = datetime.fromisoformat("2026-11-22T12:00:00+00:00")
JUMPS = [-1, 1]  # hours


class Machine:
    """One home in process after process, each with a clock that stands somewhere else."""

    def __init__(self, path: Path) -> None:
        self.path, self.hours, self.count, self.intent = path, 0, 0, ""
        self.dies = True
        (path / "work").mkdir()

    async def _call(self, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        self.count += 1
        if self.dies:
            raise KeyboardInterrupt
        return {}

    def at(self, hours: int) -> Home:
        self.hours += hours
        # A second between processes, so that no id comes twice where a clock comes to the same moment again.
        at = NOON + timedelta(hours=self.hours, seconds=self.count + len(list(self.path.iterdir())))
        (self.path / f"process{len(list(self.path.iterdir()))}").touch()
        return Home.open(self.path / "home", clock=FixedClock(at.isoformat()))

    def walks(self, home: Home) -> Walks:
        walks = Walks(home, self.path / "work")
        walks.tools.append(probe("call", self._call, idempotent=False, effects=("write",)))
        return walks

    def accept(self, hours: int) -> None:
        with self.at(hours) as home:
            self.intent = self.walks(home).accept(sequence("n0", tool("n1", "test/call", "write")))

    def killed(self, hours: int, people: object = None, *, resume: bool = True) -> None:
        more = {"people": people} if people else {}
        with self.at(hours) as home, pytest.raises(KeyboardInterrupt):
            self.walks(home).run(self.intent, resume=resume, **more)

    def resumed(self, hours: int, people: object) -> Outcome:
        with self.at(hours) as home:
            return self.walks(home).run(self.intent, resume=True, people=people)


class Dies:
    """A person whose process is killed while they are asked."""

    async def ask(self, gate: object) -> None:
        await anyio.sleep(0)
        raise KeyboardInterrupt


def answer(home: Home, intent: str, decision: str) -> None:
    view = home.journal.view(intent)
    gate = next(id for id, one in view.gates.items() if not one.decision)
    home.journal.tell(
        intent, Statement("policy.gate.resolve", PolicyGateResolveBody(gate, decision, home.clock.now()))
    )


@pytest.mark.parametrize("jumps", list(product(JUMPS, repeat=4)))
def test_an_answer_about_one_attempt_never_counts_for_the_next(
    tmp_path: Path, jumps: tuple[int, ...]
) -> None:
    machine = Machine(tmp_path)
    machine.accept(0)
    machine.killed(jumps[0], resume=False)
    machine.killed(jumps[1], Dies())
    with machine.at(jumps[2]) as home:
        answer(home, machine.intent, "retry")
    machine.killed(jumps[3])
    assert machine.count == 2
    machine.dies = False
    people = Says(None)
    outcome = machine.resumed(-1, people)
    assert [asked.kind for asked in people.asked] == ["in_doubt"]
    assert outcome.failure is not None
    assert (outcome.failure.code, machine.count) == ("GATE_DENIED", 2)


@pytest.mark.parametrize("jumps", list(product(JUMPS, repeat=3)))
def test_an_answer_given_while_nothing_ran_counts_once_for_its_attempt(
    tmp_path: Path, jumps: tuple[int, ...]
) -> None:
    machine = Machine(tmp_path)
    machine.accept(0)
    machine.killed(jumps[0], resume=False)
    machine.killed(jumps[1], Dies())
    with machine.at(jumps[2]) as home:
        answer(home, machine.intent, "done")
    people = Says()
    outcome = machine.resumed(-1, people)
    assert (outcome.state, machine.count, people.asked) == ("completed", 1, [])


@pytest.mark.parametrize("jumps", list(product(JUMPS, repeat=2)))
def test_a_cancel_is_the_last_word_whatever_the_clock_says(tmp_path: Path, jumps: tuple[int, ...]) -> None:
    machine = Machine(tmp_path)
    machine.accept(0)
    machine.killed(jumps[0], resume=False)
    with machine.at(jumps[1]) as home:
        home.journal.tell(machine.intent, Statement("intent.cancel", IntentCancelBody(home.clock.now())))
        assert home.journal.view(machine.intent).state == "cancelled"
        assert home.journal.verify().ok
    with machine.at(-2) as home:
        assert home.journal.view(machine.intent).state == "cancelled"


@pytest.mark.parametrize("rule", [f"{IN_DOUBT}/{'0' * 64}", "matrix://rule/plan-gate"])
def test_an_answer_to_a_question_about_another_attempt_or_for_another_reason_is_none(
    tmp_path: Path, rule: str
) -> None:
    machine = Machine(tmp_path)
    machine.accept(0)
    machine.killed(0, resume=False)
    with machine.at(0) as home:
        body = PolicyGateBody(rule, "Again?", node_id="n1", options=("retry", "done", "stop"))
        home.journal.tell(machine.intent, Statement("policy.gate", body))
        answer(home, machine.intent, "retry")
    people = Says(None)
    outcome = machine.resumed(0, people)
    assert ([asked.kind for asked in people.asked], machine.count) == (["in_doubt"], 1)
    assert outcome.failure is not None
