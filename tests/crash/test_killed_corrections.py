"""A process that is killed while it signs a correction: the correction and the Intent and plan that follow
from it are there together or not at all, and the run goes on either way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from walks import without_critic

import mcl
from executor import AlwaysApprove, Home
from mcl.core.home import open_home

ROOT = Path(__file__).resolve().parents[2]
GOAL = "write the lines with invoice in notes to report.md"
SLOTS = {"text": "invoice", "folder": "notes", "pattern": "*", "report": "report.md"}
KILLED = """
import os, signal, sys
from pathlib import Path
import mcl
from executor.store.journal.journal import Journal
from mcl.core.home import open_home

home, id, where = open_home(Path(sys.argv[1])), sys.argv[2], sys.argv[3]
proposal = mcl.corrections.propose_correction(id, changes=["report=other.md"], home=home)

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

real = Journal.append
def append(self, *given, **more):
    real(self, *given, **more)
    die()

if where == "before the correction":
    Journal.append = die
elif where == "after the correction, before the new plan":
    Journal.append = append
elif where == "as the new plan is written":
    Journal.tell = die
mcl.corrections.sign_correction(proposal, home=home)
die()
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "work" / "notes").mkdir(parents=True)
    (tmp_path / "work" / "notes" / "a.md").write_text("invoice 12\n")
    return open_home(tmp_path / "home")


@pytest.mark.parametrize(
    ("where", "corrected"),
    [
        ("before the correction", False),
        ("after the correction, before the new plan", False),
        ("as the new plan is written", False),
        ("after all of it", True),
    ],
)
@pytest.mark.parametrize("ran", [False, True], ids=["before it runs", "after it failed"])
def test_a_correction_and_its_plan_are_there_together_or_not_at_all(
    home: Home, tmp_path: Path, where: str, *, corrected: bool, ran: bool
) -> None:
    work = tmp_path / "work"
    without_critic(home)
    given = {"skill": "files-report", "verb": "deliver", "slots": SLOTS, "ai": False, "home": home}
    id = mcl.compile_goal(GOAL, **given).require().intent.id
    if ran:
        (work / "report.md").write_text("mine")
        mcl.accept(id, home=home)
        assert mcl.run(id, workspace=work, people=AlwaysApprove(), home=home).state == "failed"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(home.path), id, where],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=300,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    view = home.journal.view(id, fresh=True)
    assert home.journal.verify().ok
    assert (view.state, bool(view.corrections)) == (
        "proposed" if corrected or not ran else "failed",
        corrected,
    )
    assert view.intent is not None
    assert view.plan is not None
    report = next(one.value for one in view.intent.frame.objects if one.name == "report")
    call = next(node.tool_call for node, _ in view.plan.root.walk() if node.id == "write")
    assert call is not None
    assert report == call.args["path"] == ("other.md" if corrected else "report.md")
    if not corrected:  # what was killed is simply done again
        mcl.correct(id, changes=["report=other.md"], home=home)
    mcl.accept(id, home=home)
    assert mcl.run(id, workspace=work, people=AlwaysApprove(), home=home).state == "completed"
    assert "invoice 12" in (work / "other.md").read_text()
    assert mcl.replay(id, home=home).same
