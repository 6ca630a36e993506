"""An intent that counts no longer is neither begun nor gone on with; a run that began ends as it would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from walks import Walks, gate, sequence, tool

import ir
from executor import FixedClock, Home

UNTIL = "2026-11-21T12:00:00.000Z"


@contextmanager
def at(folder: Path, moment: str) -> Iterator[Walks]:
    """The same home and workspace, at a moment."""
    workspace = folder / "work"
    workspace.mkdir(exist_ok=True)
    with Home.open(folder / "home", clock=FixedClock(moment)) as home:
        yield Walks(home, workspace)


@pytest.mark.parametrize(
    ("moment", "state"), [("2026-11-21T11:59:58.000Z", "completed"), ("2026-11-21T12:00:00.001Z", "denied")]
)
@pytest.mark.parametrize("root", [tool("n", "time/now"), gate("n")])
def test_a_run_begins_until_then(tmp_path: Path, moment: str, state: str, root: dict[str, object]) -> None:
    with at(tmp_path, "2026-11-21T10:00:00.000Z") as walks:
        intent = walks.accept(root, expires_at=UNTIL)
    with at(tmp_path, moment) as walks:
        outcome = walks.run(intent)
        assert outcome.state == state, outcome.failure
        if state == "denied":
            assert outcome.failure is not None
            assert (outcome.failure.code, outcome.nodes) == ("INTENT_EXPIRED", {})
            assert UNTIL in outcome.failure.message
            assert "mcl compile" in outcome.failure.fix
            assert [one["code"] for one in walks.records("record.gate.refused")][:1] == ["INTENT_EXPIRED"]
            walker = walks.walker()
            foreseen = walker.preflight(intent)
            walker.close()
            assert (foreseen[0].kind, foreseen[0].decision) == ("intent", "deny")


def test_a_run_that_was_interrupted_does_not_go_on_after_it(tmp_path: Path) -> None:
    root = sequence("all", tool("a", "time/now"), tool("b", "time/now"))
    with at(tmp_path, "2026-11-21T10:00:00.000Z") as walks:
        intent = walks.accept(root, expires_at=UNTIL)
        plan = walks.home.journal.view(intent).plan
        assert plan is not None
        walks.tell(intent, "plan.step", ir.PlanStepBody(plan.id, "all", "running"))
    with at(tmp_path, "2026-11-21T13:00:00.000Z") as walks:
        outcome = walks.run(intent, resume=True)
        assert outcome.failure is not None
        assert (outcome.state, outcome.failure.code) == ("denied", "INTENT_EXPIRED")
        assert walks.home.journal.view(intent).state == "executing"
