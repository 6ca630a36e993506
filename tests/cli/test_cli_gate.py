"""mcl gate: questions seen whole and decided from other processes, also when the walker is gone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from walks import NODE, Walks, gate, sequence, tool

from executor import Home
from ir import PolicyGateBody
from mcl.usecases.gates import decide_gate, open_gates, show_gate

OVERWRITE = sequence(
    "root",
    tool("n0", "time/now"),
    tool(
        "n1",
        "fs/write",
        "write",
        path="a.txt",
        content="new\x1b[2J\n" + "x" * 300 + "  \nend",
        overwrite="true",
    ),
)


@pytest.fixture
def accepted(mcl: Any) -> Callable[[NODE], str]:
    """Accepts a plan in the home of the shell, and gives the intent's id."""

    def accept(root: NODE) -> str:
        (mcl.folder / "a.txt").write_text("old")
        with Home.open(mcl.home) as home:
            return Walks(home, mcl.folder).accept(root)

    return accept


def until(found: Callable[[], Any], what: str) -> Any:
    """What ``found`` gives, once it gives anything."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if result := found():
            return result
        time.sleep(0.05)
    raise AssertionError(f"no {what} within a minute")


@contextmanager
def running(mcl: Any, id: str, *more: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A run in another process that waits at a gate, and the gate's id. Its standard input stays open."""
    process = mcl.start("run", id, *more)
    try:
        with Home.open(mcl.home) as home:
            yield process, until(lambda: open_gates(home=home), "gate")[0].id
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, (out + err).decode()


def test_a_gate_is_listed_shown_whole_and_approved_while_the_run_waits_elsewhere(
    mcl: Any, accepted: Any
) -> None:
    with running(mcl, accepted(OVERWRITE)) as (process, id):
        [listed] = mcl("gate", "list", "--json").document["gates"]
        assert (listed["id"], listed["node_id"]) == (id, "n1")
        shown = mcl("gate", "show", id[:20]).out.replace("\n    ↪", "")
        assert f"    | new\\x1b[2J\n    | {'x' * 300}\\s{{2}}\n    | end\n" in shown
        assert "which no verb and no plan covers" in shown
        document = mcl("gate", "show", id, "--json").document
        assert document["args"]["content"].endswith("  \nend")
        assert (document["standing"], document["holds"], document["goal"]) == (
            "open",
            True,
            "a goal in words",
        )
        assert set(document["bound"]) == {"intent", "plan", "node", "tool", "args", "policy", "expires_at"}
        done = mcl("gate", "approve", id, "--reason", "I looked at it", "--json").document
        assert (done["decision"], done["reason"], done["gate"]) == ("approve", "I looked at it", id)
        process.wait(timeout=60)  # its standard input is still open: it asks until it hears of the decision
        code, said = ended(process)
    assert code == 0, said
    assert "closed: decided elsewhere" in said  # the terminal that still asks says why it does not wait
    assert (mcl.folder / "a.txt").read_text().startswith("new")
    after = mcl("gate", "show", id, "--json").document
    assert (after["standing"], after["decision"], after["by"]) == ("decided", "approve", done["by"])
    assert after["reason"] == "I looked at it"
    assert mcl("log", "verify").code == 0
    assert mcl("gate", "list").out == "nothing is waiting\n"


def test_a_gate_denied_elsewhere_stops_the_run_which_says_who_and_why(mcl: Any, accepted: Any) -> None:
    with running(mcl, accepted(OVERWRITE)) as (process, id):
        assert mcl("gate", "deny", id, "--reason", "not this file").code == 0
        code, said = ended(process)
    assert code == 4
    assert "GATE_DENIED" in said
    assert "not this file" in said
    assert "did:key:" in said
    assert (mcl.folder / "a.txt").read_text() == "old"


def killed_at_its_gate(mcl: Any, id: str) -> str:
    with running(mcl, id) as (process, gate_id):
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    return gate_id


def test_an_approval_given_after_the_walker_was_killed_is_used_by_the_run_that_goes_on(
    mcl: Any, accepted: Any
) -> None:
    intent = accepted(OVERWRITE)
    gate_id = killed_at_its_gate(mcl, intent)
    assert mcl("gate", "approve", gate_id).code == 0
    resumed = mcl.other("run", intent, "--resume")  # nobody is there to be asked
    assert resumed.code == 0, resumed.out + resumed.err
    assert (mcl.folder / "a.txt").read_text().startswith("new")


def test_a_refusal_given_after_the_walker_was_killed_holds_for_the_run_that_goes_on(
    mcl: Any, accepted: Any
) -> None:
    intent = accepted(OVERWRITE)
    gate_id = killed_at_its_gate(mcl, intent)
    assert mcl("gate", "deny", gate_id, "--reason", "wrong file").code == 0
    resumed = mcl.other("run", intent, "--resume", "--yes-gates")
    assert resumed.code == 4
    assert "GATE_DENIED" in resumed.out
    assert "wrong file" in resumed.out
    assert (mcl.folder / "a.txt").read_text() == "old"


def test_a_question_that_a_resumed_run_puts_again_is_decided_once_and_where_it_was_put_last(
    mcl: Any, accepted: Any
) -> None:
    intent = accepted(OVERWRITE)
    first = killed_at_its_gate(mcl, intent)
    process = mcl.start("run", intent, "--resume")
    try:
        with Home.open(mcl.home) as home:
            [second] = until(lambda: [one for one in open_gates(home=home) if one.id != first], "second gate")
        late = mcl("gate", "approve", first)
        assert (late.code, "GATE_CLOSED" in late.err) == (4, True)
        assert mcl("gate", "show", first, "--json").document["standing"] == "asked again"
        assert mcl("gate", "approve", second.id).code == 0
        assert ended(process)[0] == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("rounds", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_of_two_people_racing_the_first_record_wins_and_the_second_is_told(
    mcl: Any, accepted: Any, rounds: int
) -> None:
    for _ in range(rounds):
        with running(mcl, accepted(OVERWRITE)) as (process, id):
            racers = {word: mcl.start("gate", word, id, "--json") for word in ("approve", "deny")}
            told = {
                word: (*racer.communicate(timeout=60), racer.returncode) for word, racer in racers.items()
            }
            [first] = [word for word, (_, _, code) in told.items() if code == 0]
            [(out, err, code)] = [one for word, one in told.items() if word != first]
            error = json.loads(out)["error"]
            assert (code, error["code"], error["decision"]) == (4, "GATE_RESOLVED", first)
            assert error["by"].startswith("did:key:")
            assert error["at"] in err.decode()
            assert ended(process)[0] == (0 if first == "approve" else 4)
        assert (mcl.folder / "a.txt").read_text().startswith("new" if first == "approve" else "old")


def test_a_listed_option_is_chosen_and_its_words_reach_the_plan(mcl: Any, accepted: Any) -> None:
    write = tool("n2", "fs/write", "write", path="c.txt", content="${n1.output.answer}")
    root = sequence("root", gate("n1", options=["red", "blue"]), write)
    with running(mcl, accepted(root)) as (process, id):
        wrong = mcl("gate", "approve", id, "--option", "green")
        assert (wrong.code, "NOT_AN_OPTION" in wrong.err) == (2, True)
        assert mcl("gate", "approve", id, "--option", "blue").code == 0
        assert ended(process)[0] == 0
    assert (mcl.folder / "c.txt").read_text() == "blue"


def test_about_a_node_in_doubt_an_approval_must_say_which(mcl: Any, accepted: Any) -> None:
    intent = accepted(OVERWRITE)
    with Home.open(mcl.home) as home:
        body = PolicyGateBody(
            "matrix://rule/in-doubt", "Again?", node_id="n1", options=("retry", "done", "stop")
        )
        Walks(home, mcl.folder).tell(intent, "policy.gate", body)
        [asked] = open_gates(home=home)
    refused = mcl("gate", "approve", asked.id)
    assert (refused.code, "code  NOT_AN_OPTION" in refused.err) == (2, True)
    assert "retry" in refused.err
    assert mcl("gate", "approve", asked.id, "--option", "done").code == 0


def test_a_gate_that_is_none_or_not_one_is_named_with_those_that_wait(mcl: Any) -> None:
    refused = mcl("gate", "approve", "01ZZZ")
    assert (refused.code, "code  GATE_UNKNOWN" in refused.err) == (2, True)
    assert mcl("gate", "show", "01ZZZ", "--json").document["error"]["code"] == "GATE_UNKNOWN"
    assert mcl("gate", "deny", "01ZZZ", "--reason", "x" * 1001).code == 2


# ---- by the library, where the clock can be set ----


class Late:
    def __init__(self, at: str, home: Home) -> None:
        self.at, self.ids = at, home.clock

    def now(self) -> str:
        return self.at

    def new_id(self) -> str:
        return self.ids.new_id()


def waiting(mcl: Any, accepted: Any) -> str:
    return killed_at_its_gate(mcl, accepted(OVERWRITE))


def test_what_comes_too_late_is_refused_with_what_to_do(mcl: Any, accepted: Any) -> None:
    id = waiting(mcl, accepted)
    with Home.open(mcl.home) as home:
        home.clock = Late("2199-01-01T00:00:00.000Z", home)
        with pytest.raises(Exception, match="closed at") as caught:
            decide_gate(id, "approve", home=home)
        assert (caught.value.code, caught.value.exit) == ("GATE_EXPIRED", 4)  # type: ignore[attr-defined]
        assert "--resume" in caught.value.fix  # type: ignore[attr-defined]
        assert open_gates(home=home) == ()
        assert show_gate(id, home=home).standing == "expired"


def test_an_intent_that_has_ended_asks_nothing_any_more(mcl: Any, accepted: Any) -> None:
    id = waiting(mcl, accepted)
    assert mcl("cancel", "@last").code == 0
    refused = mcl("gate", "approve", id)
    assert (refused.code, "GATE_CLOSED" in refused.err) == (4, True)


def test_a_question_whose_record_says_other_arguments_is_not_shown_as_sound(
    mcl: Any, accepted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = waiting(mcl, accepted)
    from mcl.usecases import gates

    true = gates._PlanQuestion._asked
    altered = json.dumps({"path": "b.txt", "content": "harmless"})
    monkeypatch.setattr(gates._PlanQuestion, "_asked", lambda *given: {**true(*given), "args_json": altered})
    assert mcl("gate", "show", id, "--json").document["holds"] is False
    assert "do not approve this" in mcl("gate", "show", id).out
    refused = mcl("gate", "approve", id)
    assert (refused.code, "code  APPROVAL_MISMATCH" in refused.err) == (4, True)
    assert mcl("gate", "deny", id).code == 0


# ---- two runs in one workspace ----


def test_two_runs_of_two_processes_never_write_to_one_place_at_once_and_the_dead_hold_nothing(
    mcl: Any, accepted: Any
) -> None:
    mcl("grant", "add", "shell")
    (mcl.home / "policy.toml").write_text("lock_seconds = 1\n")
    (mcl.folder / "Makefile").write_text("test:\n\ttouch started; while [ -e started ]; do sleep 0.1; done\n")
    slow = accepted(tool("n1", "process/tests", "shell", suite="make"))
    quick = accepted(tool("n1", "fs/write", "write", path="b.txt", content="x"))
    process = mcl.start("run", slow)
    try:
        until(lambda: (mcl.folder / "started").exists(), "start of the tests")
        refused = mcl.other("run", quick)
        assert refused.code == 4, refused.out + refused.err
        assert "SCOPE_CONTENTION" in refused.out
        assert slow in refused.out
        assert not (mcl.folder / "b.txt").exists()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        (mcl.folder / "started").unlink(missing_ok=True)  # ends what the dead run had started
    again = accepted(tool("n1", "fs/write", "write", path="b.txt", content="x"))
    assert mcl.other("run", again).code == 0
    assert (mcl.folder / "b.txt").read_text() == "x"


def test_what_follows_an_answer_from_a_pipe_begins_a_line_of_its_own(mcl: Any, accepted: Any) -> None:
    said = mcl.fed(b"perhaps\n", "run", accepted(OVERWRITE))
    assert said.code == 4
    assert len(re.findall(r"no answer refuses[^\n]*: \n", said.err)) == 2  # asked again, and then its end
    assert "'perhaps' is no answer to this" in said.err


def test_a_gate_that_there_is_not_is_called_so(mcl: Any) -> None:
    said = mcl("gate", "show", "nope")
    assert (said.code, "no gate's id begins with nope" in said.err) == (2, True)


def test_a_run_without_a_terminal_can_wait_for_whoever_decides(mcl: Any, accepted: Any) -> None:
    with running(mcl, accepted(OVERWRITE), "--wait-gates") as (process, id):
        process.stdin.close()  # type: ignore[union-attr]  # a pipe: its end answers nothing
        process.stdin = None
        until(lambda: mcl("gate", "list", "--json").document["gates"], "gate")
        assert mcl("gate", "approve", id).code == 0
        code, said = ended(process)
    assert code == 0, said
    assert f"n1 waits: mcl gate show {id}" in said
    assert mcl("run", "@last", "--wait-gates", "--yes-gates").code == 2
