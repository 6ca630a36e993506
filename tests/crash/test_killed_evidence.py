"""A run is killed between an effect and its evidence, or between a look and what is attested: what is
attested was seen by whoever attests it, and nothing else is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import killed_evidence
import pytest
from walks import NODE, Walks, tool

from executor import Home, Outcome

ROOT = Path(__file__).parents[2]
COUNT = tool("count", "test/count", "write")
ROWS = {"type": "quality", "hard": True, "metric": "rows", "min": 1}


@pytest.fixture
def walks(tmp_path: Path) -> Iterator[Walks]:
    workspace = tmp_path / "work"
    workspace.mkdir()
    with Home.open(tmp_path / "home") as home:
        yield Walks(home, workspace)


def looks(name: str) -> dict[str, Any]:
    """A criterion that the tool `kept` looks at, by a name of its own."""
    data = json.dumps({"text": name})
    return {"type": "x:test.kept", "schema": "matrix://tool/test/kept@1.0.0", "data": data}


def killed(walks: Walks, where: str, root: NODE, **promised: Any) -> str:
    """The intent of a run that was killed there."""
    walks.tools = killed_evidence.tools()
    intent = walks.accept(root, **promised)
    (walks.workspace / "kill").write_text(where)
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests", ROOT / "tests" / "crash")))
    arguments = [str(walks.home.path), str(walks.workspace), intent, "retry"]
    ended = subprocess.run(
        [sys.executable, killed_evidence.__file__, *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    assert not (walks.workspace / "kill").exists()
    assert walks.home.journal.view(intent).state == "executing"
    assert attested(walks, intent) == []
    return intent


def attested(walks: Walks, intent: str) -> list[Any]:
    return [json.loads(one.body.evidence_json) for one in bodies(walks, intent, "intent.attest")]


def bodies(walks: Walks, intent: str, kind: str) -> list[Any]:
    return [one for one in walks.home.journal.envelopes(intent) if one.kind == kind]


def go_on(walks: Walks, intent: str, answer: str = "retry") -> Outcome:
    outcome = killed_evidence.walk(walks.home, walks.workspace, intent, answer)
    assert walks.home.journal.verify().ok
    return outcome


def test_what_was_done_and_not_seen_is_measured_by_nobody(walks: Walks) -> None:
    intent = killed(walks, "count", COUNT, constraints=[ROWS])
    assert (walks.workspace / "log.txt").read_text() == "row\n"  # the effect is there, its evidence is not
    outcome = go_on(walks, intent, "done")
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code) == ("failed", "CRITERION_NOT_MET")
    assert "count.output.rows is no number" in outcome.failure.message
    assert attested(walks, intent) == []
    (failed,) = bodies(walks, intent, "intent.fail")
    (promise,) = json.loads(failed.body.evidence_json)["promises"]
    assert (promise["verdict"], promise["evidence"]["value"]) == ("broken", None)


def test_what_was_done_again_is_measured_as_it_is_then(walks: Walks) -> None:
    intent = killed(walks, "count", COUNT, constraints=[ROWS])
    assert go_on(walks, intent, "retry").state == "completed"
    (evidence,) = attested(walks, intent)
    assert evidence["promises"][0]["evidence"]["value"] == 2


@pytest.mark.parametrize("where", ["first", "second"])
def test_a_look_that_nobody_attested_is_made_again(walks: Walks, where: str) -> None:
    promised = {"constraints": [ROWS], "criteria": [looks("first"), looks("second")]}
    intent = killed(walks, where, COUNT, **promised)
    seen = [one for one in walks.records("record.gate.looked") if one["holds"]]
    assert len(seen) == ["first", "second"].index(where)
    (walks.workspace / "log.txt").unlink()  # what held then holds no more
    outcome = go_on(walks, intent)
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code) == ("failed", "CRITERION_NOT_MET")
    assert [one.holds for one in outcome.criteria] == [True, False, False]
    assert attested(walks, intent) == []


def test_what_still_holds_is_attested_once_by_the_second_look(walks: Walks) -> None:
    intent = killed(walks, "second", COUNT, criteria=[looks("first"), looks("second")])
    assert go_on(walks, intent).state == "completed"
    (evidence,) = attested(walks, intent)
    assert [one["verdict"] for one in evidence["promises"]] == ["kept", "kept"]
    assert go_on(walks, intent).state == "completed"  # of one that has completed it is told once more
    assert len(attested(walks, intent)) == 1
