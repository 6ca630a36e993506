"""Runs that are killed while they walk the plan of another skill, and go on there: real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mcl.compiler.compiler import Compiled
from mcl.core.home import open_home
from mcl.usecases.accept import accept
from mcl.usecases.compile import compile_goal
from mcl.usecases.runs import undo

SKILL = """§SKILL
id={id}
version=1.0.0
description="{id} for the tests"
mcl.verbs=build
example.1="{id} the things"

§INPUTS
slot name: string
  optional
  default=x

§CORTEX
none

§TOOLS
{tools}

§SUB_SKILLS
{below}

§PROCEDURE
prompt
  system="You are {id}."
  user="Goal: {{prose}}"
end

§OUTPUTS
none

§FAILURE_MODES
none
"""
FILES = 6
WRITE = "matrix://tool/fs/write@1.0.0"


def put(folder: Path, id: str, root: dict[str, object], *, tools: str = "none", below: str = "none") -> None:
    (folder / id).mkdir(parents=True)
    (folder / id / "SKILL.mtx").write_text(SKILL.format(id=id, tools=tools, below=below))
    (folder / id / "plan.yaml").write_text(json.dumps({"version": 1, "plans": [{"root": root}]}))


def dispatch(id: str, skill: str, name: str) -> dict[str, object]:
    objects = [{"name": "name", "value": name}]
    sub = {"skill_ref": f"matrix://skill/{skill}@1.0.0", "sub_intent": {"verb": "build", "objects": objects}}
    return {"id": id, "kind": "sub_dispatch", "sub_dispatch": sub}


def skills(folder: Path) -> None:
    """`top` has `middle` work twice, which has `low` write files."""
    ref = WRITE
    writes = [
        {
            "id": f"w{one}",
            "kind": "tool_call",
            "tool_call": {
                "tool_ref": ref,
                "side_effect_class": "write",
                "args": {"path": f"${{slot.name}}-{one}.txt", "content": f"{one}"},
            },
        }
        for one in range(FILES)
    ]
    put(folder, "low", {"id": "all", "kind": "sequential", "children": writes}, tools=ref)
    middle = {"id": "m", "kind": "sequential", "children": [dispatch("d", "low", "${slot.name}")]}
    put(folder, "middle", middle, below="matrix://skill/low@1.0.0")
    both = [dispatch("one", "middle", "a"), dispatch("two", "middle", "b")]
    put(
        folder,
        "top",
        {"id": "t", "kind": "sequential", "children": both},
        below="matrix://skill/middle@1.0.0",
    )


def run(place: Path, intent: str, *, kill_at: int = 0, kill_on: str = "") -> int:
    """Run until so many events were told, or one with this text, then kill; else to its end. Gives the exit
    status."""
    command = [sys.executable, "-m", "mcl", "run", intent, "--resume", "--json", "--yes-gates"]
    environment = {**os.environ, "MCL_HOME": str(place / "home")}
    process = subprocess.Popen(
        [*command, "--workspace", str(place / "work"), "--skills", str(place / "skills")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=place,
        text=True,
    )
    assert process.stdout is not None
    for number, event in enumerate(process.stdout, 1):
        if number == kill_at or (kill_on and kill_on in event):
            process.send_signal(signal.SIGKILL)
            break
    process.stdout.close()
    return process.wait()


def hold(place: Path, kills: list[int]) -> None:
    (place / "work").mkdir()
    skills(place / "skills")
    with open_home(place / "home") as home:
        made = compile_goal("top the things", skill="top", ai=False, skills=[place / "skills"], home=home)
        assert isinstance(made, Compiled), made
        intent = made.intent.id
        accept(intent, home=home)
    for kill_at in kills:
        assert run(place, intent, kill_at=kill_at) == -signal.SIGKILL
    assert run(place, intent) == 0
    written = {one.name: one.read_text() for one in (place / "work").iterdir()}
    assert written == {f"{name}-{one}.txt": str(one) for name in "ab" for one in range(FILES)}
    with open_home(place / "home") as home:
        assert home.journal.verify().findings == []
        assert len(home.journal.rows(kind="intent.dispatch")) == 4
        view = home.journal.view(intent)
        assert view.state == "completed"
        assert set(view.nodes.values()) == {"completed"}
        assert len(view.nodes) == 1 + 2 * (1 + 1 + 1 + 1 + FILES)


def test_a_run_that_is_killed_below_two_dispatches_goes_on_there(tmp_path: Path) -> None:
    hold(tmp_path, [14])


@pytest.mark.slow
@pytest.mark.parametrize("first", [1, 3, 5, 8])
def test_a_run_that_is_killed_again_and_again_loses_and_doubles_nothing(tmp_path: Path, first: int) -> None:
    hold(tmp_path, [first, *range(3, 20, 3)])


def test_a_run_that_is_killed_between_two_wishes_does_each_once_and_is_undone_whole(tmp_path: Path) -> None:
    (tmp_path / "work" / "notes").mkdir(parents=True)
    (tmp_path / "skills").mkdir()
    goal = "find the word invoice in the folder notes and then make a note that the ship sails"
    with open_home(tmp_path / "home") as home:
        made = compile_goal(goal, ai=False, home=home, workspace=tmp_path / "work")
        assert isinstance(made, Compiled), made
        assert len(made.intent.frame.further) == 1
        intent = made.intent.id
        accept(intent, home=home)
    assert run(tmp_path, intent, kill_on='"completed"') == -signal.SIGKILL
    with open_home(tmp_path / "home") as home:
        assert home.journal.view(intent).state == "executing"
    assert run(tmp_path, intent) == 0
    with open_home(tmp_path / "home") as home:
        assert home.journal.verify().findings == []
        assert len(home.journal.rows(kind="intent.dispatch")) == 1
        assert home.journal.view(intent).state == "completed"
        assert (tmp_path / "work" / "notes.md").read_text() == "- the ship sails\n"
        undo(intent, workspace=tmp_path / "work", home=home)
    assert [one.name for one in (tmp_path / "work").iterdir()] == ["notes"]
