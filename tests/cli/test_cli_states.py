"""Every act on an intent in every state: what is not its turn is refused with a code, and the way out that is
named is a command that can be given then."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import anyio
import pytest

from executor import Home
from mcl import aio, list_intents
from tests.cli.conftest import Ended, Shell

# What may be given in each state; `show`, `log` and `list` always, and a new goal.
LEGAL = {
    "clarifying": {"answer", "cancel"},
    "proposed": {"accept", "cancel", "correct", "plan"},
    "accepted": {"run", "cancel", "correct", "plan"},
    "executing": {"run --resume", "cancel", "correct", "plan"},
    "completed": {"replay", "undo", "plan", "run --resume"},
    "failed": {"correct", "plan"},
    "cancelled": {"plan"},
}
ALWAYS = {"show", "log", "list", "compile"}
ACTS: dict[str, tuple[str, ...]] = {
    "answer": ("answer", "ID", "u1=out.md", "--no-ai"),
    "accept": ("accept", "ID", "--yes"),
    "run": ("run", "ID", "--deny-gates"),
    "run --resume": ("run", "ID", "--deny-gates", "--resume"),
    "cancel": ("cancel", "ID"),
    "correct": ("correct", "ID", "--set", "budget.max_calls=7", "--yes"),
    "plan": ("plan", "ID"),
    "plan check": ("plan", "check", "ID"),
    "replay": ("replay", "ID"),
    "undo": ("undo", "ID", "--yes"),
}


def clarifying(mcl: Shell) -> str:
    done = mcl("compile", "write a report", "--no-ai", "--json")
    assert done.document["status"] == "clarify"
    return str(done.document["id"])


def executing(mcl: Shell) -> str:
    with Home.open(mcl.home) as home:
        before = list_intents(home=home, limit=0)

        async def cut() -> None:
            waits = {"path": "notes", "seconds": 5}
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: aio.call_tool("fs/watch", waits, agree=lambda _: True, home=home))
                found = before
                while len(found) == len(before) or found[0].state != "executing":
                    await anyio.sleep(0.05)
                    found = list_intents(home=home, limit=0)
                group.cancel_scope.cancel()

        anyio.run(cut)
        return list_intents(home=home)[0].id


def completed(mcl: Shell) -> str:
    id = mcl.signed()
    assert mcl("run", id).code == 0
    return id


def failed(mcl: Shell) -> str:
    (mcl.folder / "notes").rename(mcl.folder / "gone")
    id = mcl.signed()
    assert mcl("run", id).code == 5
    (mcl.folder / "gone").rename(mcl.folder / "notes")
    return id


def cancelled(mcl: Shell) -> str:
    id = mcl.compiled()
    assert mcl("cancel", id).code == 0
    return id


STATES: dict[str, Callable[[Shell], str]] = {
    "clarifying": clarifying,
    "proposed": Shell.compiled,
    "accepted": Shell.signed,
    "executing": executing,
    "completed": completed,
    "failed": failed,
    "cancelled": cancelled,
}


def state_of(mcl: Shell, id: str) -> str:
    return str(mcl("show", id, "--json").document["state"])


def ways_out(ended: Ended, id: str) -> set[str]:
    """The commands that an error names, about this intent or another goal."""
    said = ended.err.partition("fix")[2]
    return {f"{act} --resume" if id in said and "--resume" in rest else act
             for act, rest in re.findall(r"mcl (\w+)((?: [^;,()]*)?)", said)}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_what_is_not_its_turn_names_a_command_that_is(mcl: Shell, state: str) -> None:
    mcl("init")
    for name, words in ACTS.items():
        id = STATES[state](mcl)
        assert state_of(mcl, id) == state
        ended = mcl(*(id if word == "ID" else word for word in words))
        if ended.code in (0, 3) or (name == "correct" and ended.code == 10):
            continue
        assert re.search(r"code +[A-Z_]+", ended.err), (name, ended.err)
        named = ways_out(ended, id)
        assert named, (name, ended.err)
        assert named <= LEGAL[state] | ALWAYS, (name, ended.err)


def test_a_run_that_had_completed_says_so_when_it_is_resumed(mcl: Shell) -> None:
    id = mcl.signed()
    same = ("intent", "state", "nodes", "outputs", "failure", "envelope")
    first = mcl("run", id, "--json")
    rows = mcl("log", id, "--json").out
    for again in (mcl("run", id, "--resume"), mcl("run", id, "--resume", "--no-ai", "--deny-gates")):
        assert again.code == 0
        assert "had completed already; nothing is run again" in again.err
        assert "Invoice 4711" in again.out
    told = mcl("run", id, "--resume", "--json")
    assert told.code == 0
    before, after = (json.loads(one.out.splitlines()[-1]) for one in (first, told))
    assert [after[one] for one in same] == [before[one] for one in same]
    assert mcl("log", id, "--json").out == rows  # and nothing was written
    assert mcl("run", id).code == 4


def test_what_a_run_gave_is_shown_again_and_whole_as_json(mcl):
    (mcl.folder / "notes/many.txt").write_text("invoice \x1b[2J\n" * 40)
    id = mcl.signed()
    ran = mcl("run", id)
    assert ran.code == 0
    shown, document = mcl("show", id), mcl("show", id, "--json").document
    assert "notes/many.txt:1: invoice" in shown.out
    assert "\x1b" not in shown.out
    assert len(document["outputs"]["search"]["matches"]) >= 40
    assert mcl("show", mcl.compiled(), "--json").document["outputs"] == {}


def test_a_row_is_shown_with_its_body(mcl):
    (mcl.folder / "notes/odd.txt").write_text("invoice \x1b[2J\n")
    id = mcl.signed()
    assert mcl("run", id).code == 0
    rows = mcl("log", id, "--json").document["rows"]
    step = next(one for one in reversed(rows) if one["kind"] == "plan.step")
    whole = mcl("log", "show", str(step["row"]), "--json").document
    assert (whole["kind"], whole["body"]["status"]) == ("plan.step", "completed")
    assert "odd.txt" in str(whole["body"]["result"])
    assert whole["previous"]
    assert whole["from"].startswith("did:key:")
    shown = mcl("log", str(step["row"]))
    assert "odd.txt" in shown.out
    assert "\x1b" not in shown.out
    accepted = next(one for one in rows if one["kind"] == "intent.compiled")
    assert mcl("log", str(accepted["row"]), "--json").document["body"]["intent_json"]["id"] == id
    missing = mcl("log", "9999")
    assert (missing.code, "ROW_UNKNOWN" in missing.err) == (6, True)
