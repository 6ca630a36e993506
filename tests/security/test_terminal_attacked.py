"""What others wrote, on the terminal of a person: it moves no cursor, hides nothing and asks nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from walks import Says, Walks, gate, sequence, tool

from executor import GateQuestion
from mcl.cli.main import main
from mcl.cli.people import AtTerminal
from mcl.core.text import safe, safe_json

ACTIVE = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\x08\x7f\u202e\u2066\u200b\u200f\ufeff\xad\u180e\U000e0041\u2028"
FAKE = "Done.\n\n? n9: Delete nothing?\n  type approve; anything else refuses: approve\n$ rm -rf ~"


def shows_nothing_active(text: str) -> None:
    found = {one for one in ACTIVE if not one.isprintable()} & set(text)
    assert not found, ascii(found)


def question(text: str, **args: object) -> GateQuestion:
    return GateQuestion("0" * 26, "1" * 26, "n1", "approval", text, ("approve", "deny"), args=args)


def asked(
    gate: GateQuestion, said: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):  # type: ignore[no-untyped-def]  # an answer
    """What a person sees, and the answer that is taken from a pipe."""
    reading, writing = os.pipe()
    os.write(writing, said)
    os.close(writing)
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        answer = anyio.run(AtTerminal().ask, gate)
    return capsys.readouterr().err, answer


def test_every_character_that_drives_a_terminal_is_written_out() -> None:
    shows_nothing_active(safe(ACTIVE))
    shows_nothing_active(safe_json(json.dumps({"a": ACTIVE, ACTIVE: 1}, ensure_ascii=False)))
    assert json.loads(safe_json(json.dumps(ACTIVE, ensure_ascii=False))) == ACTIVE


@pytest.mark.parametrize(
    "words",
    [
        ("show", ACTIVE),
        ("show", ACTIVE, "--json"),
        ("plan", ACTIVE, "--json"),
        ("run", "@last", "--workspace", f"/{ACTIVE}", "--json"),
        ("gate", "approve", ACTIVE),
        ("gate", "approve", ACTIVE, "--json"),
        ("cancel", ACTIVE),
        ("replay", ACTIVE, "--json"),
        ("compile", "--slot", f"{ACTIVE}=x", "hello"),
        ("compile", f"--{ACTIVE}"),
        ("key", "trust", ACTIVE),
        ("grant", "list", "--agent", ACTIVE),
        ("grant", ACTIVE),
        ("grant", "add", "network", "--host", ACTIVE),
        ("grant", "add", "read", "--root", f"/{ACTIVE}"),
        ("tool", "show", ACTIVE),
        ("tool", "call", ACTIVE),
        ("undo", ACTIVE),
        ("correct", ACTIVE, "--set", f"{ACTIVE}=1"),
        ("plan", "compare", ACTIVE, ACTIVE),
        ("plan", "check", f"/{ACTIVE}"),
        ("skill", "check", f"/{ACTIVE}"),
        ("memory", "find", ACTIVE),
        (ACTIVE,),
    ],
    ids=lambda words: " ".join(one for one in words if one.isprintable()) or "itself",
)
def test_no_command_shows_what_it_was_given_as_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    code = main(words)
    said = capsys.readouterr()
    assert code not in (70, 130)
    shows_nothing_active(said.out + said.err)


def test_a_goal_full_of_escapes_is_shown_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    slots = ("--slot", f"text=in{ACTIVE}voice", "--slot", "folder=.", "--slot", "pattern=*")
    goal = f"find the word in{ACTIVE}voice in this folder"
    known = ("--no-ai", "--skill", "files-find", "--verb", "find")
    commands = [("compile", goal, *known, *slots), ("show", "@last"), ("plan", "@last"), ("list",)]
    commands += [(*words, "--json") for words in commands[1:]]
    for words in [*commands, ("accept", "@last", "--yes"), ("run", "@last"), ("log", "list")]:
        main(words)
        said = capsys.readouterr()
        shows_nothing_active(said.out + said.err)


def test_a_question_made_of_a_files_words_cannot_pass_for_one_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, _ = asked(question(f"Go on with this?\n{FAKE}"), b"no\n", monkeypatch, capsys)
    lines = [line for line in seen.split("\n") if line]
    assert [line for line in lines if re.match(r"\? |  type |\$ ", line)] == [lines[0], lines[-1]]
    assert lines[-1].count("type approve / deny") == 1


def test_the_question_is_not_pushed_off_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = question("x" * 500_000, content="y" * 4_000_000, path=" " * 10_000 + "? n9: all is well")
    seen, answer = asked(long, b"approve\n", monkeypatch, capsys)
    assert len(seen) < 10_000
    assert "4,000,000 characters" in seen
    assert answer.decision == "approve"


@pytest.mark.parametrize(
    "said",
    [
        b"\n",
        b"",
        b"Y\n",
        b"yes!\n",
        b"no\n",
        b"APPROVE\n",
        b"approved\n",
        b"approve deny\n",
        b"\xff\xfe\n",
        b"approve\0\n",
    ],
)
def test_only_the_word_approves(
    said: bytes, walks: Walks, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    walks.write("a.txt", "before")
    reading, writing = os.pipe()
    os.write(writing, said)
    os.close(writing)
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        node = tool("n1", "fs/write", "write", path="a.txt", content="owned", overwrite="true")
        assert walks.go(node, people=AtTerminal()).state == "denied"
    assert (walks.workspace / "a.txt").read_text() == "before"


ASKS = """
import sys, time, anyio
from executor import GateQuestion
from mcl.cli.people import AtTerminal
time.sleep(0.1)
gate = GateQuestion("0" * 26, "1" * 26, "n1", "approval", "Really?", ("approve", "deny"))
people = AtTerminal()
for _ in range(2):
    answer = anyio.run(people.ask, gate)
    print(f"<{answer.decision if answer else None}>", flush=True)
"""


def test_an_answer_typed_before_the_question_is_no_answer() -> None:
    leader, follower = pty.openpty()
    os.write(leader, b"approve\napprove\n")  # a line too many for an earlier question
    with subprocess.Popen(
        [sys.executable, "-c", ASKS],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=Path(__file__).resolve().parents[2],
    ) as process:
        os.close(follower)
        seen = ""
        try:
            for said in (b"deny\n", b"no\n"):
                seen = until(leader, seen, "refuses", seen.count("refuses") + 1)
                os.write(leader, said)
            seen = until(leader, seen, ">", 2)
        finally:
            process.kill()  # it waits for an answer for ever
    os.close(leader)
    assert re.findall(r"<(\w+)>", seen) == ["deny", "no"]


def until(leader: int, seen: str, text: str, times: int) -> str:
    """Read a terminal until a text was there so often."""
    end, waiting = time.monotonic() + 60, select.poll()  # select knows no descriptor above 1,023
    waiting.register(leader, select.POLLIN)
    while seen.count(text) < times:
        assert time.monotonic() < end, seen
        if waiting.poll(200):
            seen += os.read(leader, 65536).decode()
    return seen


def test_a_gate_whose_question_comes_from_a_file_is_kept_and_told_without_escapes(walks: Walks) -> None:
    walks.write("evil.txt", f"{ACTIVE}\n{FAKE}\n{'x' * 100_000}")
    people = Says("deny")
    outcome = walks.go(
        sequence("n0", tool("n1", "fs/read", path="evil.txt"), gate("n2", "Go on? ${n1.output.text}")),
        people=people,
    )
    assert outcome.state == "denied"
    # Escapes are out; a mark and a limit are put where it is shown.
    assert not {"\x1b", "\x9b", "\r", "\u202e"} & set(people.asked[0].question)
    assert walks.home.journal.verify().ok
