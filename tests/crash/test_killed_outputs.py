"""A run is killed while a program speaks: what was seen is there, and the run goes on."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from executor import Grants, Home
from tests.cli.conftest import Shell, mcl  # noqa: F401  # the fixture
from tests.cli.skill_writing import SKILL

SPEAKS = """\
import pathlib, time
again = pathlib.Path("again").exists()
pathlib.Path("again").touch()
for number in range(3 if again else 600):
    print("heard", number, flush=True)
    time.sleep(0.2)
"""
PLAN = """\
version: 1
plans:
  - root:
      id: all
      kind: sequential
      children:
        - id: look
          kind: tool_call
          tool_call:
            tool_ref: matrix://tool/fs/read@1.0.0
            side_effect_class: read
            args: {path: "${slot.file}"}
        - id: speak
          kind: tool_call
          tool_call: {tool_ref: "matrix://tool/process/run-speak@1.0.0", side_effect_class: shell}
"""


@pytest.fixture
def speaking(mcl: Shell) -> Shell:  # noqa: F811
    """A shell with a skill that reads a file and runs a program that takes its time."""
    with Home.open(mcl.home) as home:
        Grants(home).grant(home.keyring.agent.did, ["shell"])
    (mcl.folder / "speaks.py").write_text(SPEAKS)
    argv = json.dumps([sys.executable, "speaks.py"])
    (mcl.home / "commands.toml").write_text(
        f'[speak]\ndescription = "Speaks."\nargv = {argv}\neffect = "write"\nidempotent = true\n'
    )
    folder: Path = mcl.home / "skills" / "read-page"
    folder.mkdir(parents=True)
    tools = "matrix://tool/fs/read@1.0.0"
    (folder / "SKILL.mtx").write_text(
        SKILL.replace(tools, f"{tools}\nmatrix://tool/process/run-speak@1.0.0").replace(
            "mcl.verbs=find", "mcl.verbs=modify"
        )
    )
    (folder / "plan.yaml").write_text(PLAN)
    return mcl


def test_what_was_heard_before_a_kill_is_there_and_the_run_goes_on(speaking: Shell) -> None:
    compile = ("compile", "read the page notes/monday.txt", "--no-ai", "--skill", "read-page")
    made = speaking(*compile, "--verb", "modify", "--slot", "file=notes/monday.txt", "--json")
    assert made.code == 0, made.out + made.err
    id = made.document["id"]
    assert speaking("accept", id, "--yes").code == 0

    program = speaking.start("run", id, "--yes-gates", "--json")
    assert program.stdout is not None
    heard = ""
    for line in program.stdout:
        event = json.loads(line)
        if event["event"] == "output":
            assert event["node"] == "speak"
            heard += event["text"]
        if "heard 2\n" in heard:
            break
    program.send_signal(signal.SIGKILL)
    program.wait(60)
    assert heard.startswith("heard 0\nheard 1\nheard 2\n")

    shown = speaking("show", id, "--json").document
    assert shown["state"] == "executing"
    assert shown["said"]["speak"].startswith(heard)
    assert "heard 1" in speaking("show", id).out
    rows = [row for row in speaking("log", id, "--json").document["rows"] if row["kind"] == "plan.output"]
    assert "heard 0" in rows[0]["says"]
    assert speaking("log", "verify").code == 0

    ran = speaking("run", id, "--resume", "--yes-gates", "--json")
    assert ran.code == 0, ran.out + ran.err
    shown = speaking("show", id, "--json").document
    assert "heard 2" in shown["outputs"]["speak"]["text"]
    assert shown["said"].get("speak", "") in ("heard 0\nheard 1\nheard 2\n", "")

    first, ends = str(rows[0]["row"]), rows[0]["self_hash"]
    assert speaking("log", "forget", first, "--yes").code == 0
    whole = speaking("log", first, "--json").document
    assert (whole["beside"], whole["body"]["chunk"], whole["self_hash"]) == ("gone", "", ends)
    assert "forgotten" in speaking("log", id).out
    verified = speaking("log", "verify", "--json").document
    assert verified["ok"]
    assert any(note["seq"] == rows[0]["row"] and "forgotten" in note["message"] for note in verified["notes"])
    replayed = speaking("replay", id, "--json").document
    (note,) = (one["recorded"] for one in replayed["items"] if one["name"] == "outputs")
    assert note.startswith("forgotten: what lay beside row")  # the second run may have said the same
    assert first in note
    assert "the hashes stand" in " ".join(speaking("replay", id).out.split())
    assert speaking("log", "forget", first, "--yes").code == 4
    assert speaking.other("log", "forget", str(rows[-1]["row"]), stdin=b"\n").code == 4
