"""Reviews that are killed and go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scripted import Scripted
from yards import Yard

from mcl import list_intents, run
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.usecases.models import Models

HERE = Path(__file__).parent
SCAN = "import subprocess\n\n\ndef run(words):\n    return subprocess.call(words, shell=True)\n"


def killed(yard: Yard, digest: str) -> str:
    """Kill a review in the middle of a question to its model; the id of its intent."""
    yard.write("run.py", SCAN)
    path = os.pathsep.join((str(HERE), str(HERE.parents[1])))
    process = subprocess.Popen(
        [sys.executable, str(HERE / "killed_review.py"), digest],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    process.stdout.close()
    with yard.opened() as home:
        [intent] = list_intents(home=home)
    assert intent.state == "executing"
    return intent.id


@pytest.mark.slow
def test_a_killed_review_goes_on_with_its_own_model_and_does_nothing_twice(yard: Yard) -> None:
    id = killed(yard, "d" * 64)
    assert f"mcl run {id} --resume" in yard.mcl("show", id).out
    for words, code in (((), "MODEL_MISSING"), (("--no-ai",), "MODEL_CHANGED")):
        told = yard.mcl("run", id, "--resume", *words)
        assert (told.code, code in told.err) == (2 if code == "MODEL_MISSING" else 4, True)
        assert yard.mcl("show", id, "--json").document["state"] == "executing"
    (yard.folder / "run.py").unlink()  # what was looked at is not looked at again
    with yard.opened() as home:
        model = Scripted(lambda request: "[CRITICAL] run.py:5\nA shell.", digest="d" * 64)
        outcome = run(id, resume=True, model=model, home=home)
        assert outcome.state == "completed", outcome.failure
        [last] = ReviewMemories(home, yard.folder).history.last("run.py")
        assert [one.severity for one in last.findings][:2] == ["CRITICAL", "RISK"]


def test_the_command_line_goes_on_with_the_model_that_was_signed(yard: Yard) -> None:
    with yard.opened() as home:
        digest = next(one.digest for one in Models(home).list() if one.name == "bundled")
    id = killed(yard, digest)
    told = yard.mcl("run", "@last", "--resume")
    assert told.code == 1, told.out + told.err  # as the review itself would have ended
    assert yard.mcl("show", id, "--json").document["state"] == "completed"
    with yard.opened() as home:
        [last] = ReviewMemories(home, yard.folder).history.last("run.py")
        assert (last.intent, last.model, last.blocking > 0) == (id, "bundled", True)
    assert yard.mcl("log", "verify").code == 0
