"""What a node says while it runs is kept as it comes, without secrets and within bounds."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import Walks, Watch, probe, sequence, step, tool

import ir
from executor import Home
from executor.sandbox.process import run_command
from executor.sandbox.redaction import Redactor
from executor.tools.tool import Bench
from executor.walker.interfaces import StepAnswer
from executor.walker.streams import MARK, MOST, OutputStream, said

TOKEN = "ghp_" + "a1B2" * 9
KEY = (
    "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 6 + "-----END PRIVATE KEY-----\n"
)
BEARER = "Bearer abcdefghijklmnop1234"
SECRETS = (TOKEN, KEY, BEARER)


class Hears(Watch):
    """A listener that remembers what it heard, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[tuple[str, str, float]] = []

    def spoke(self, node_id: str, text: str) -> None:
        self.pieces.append((node_id, text, time.monotonic()))


def script(source: str, seconds: float = 20) -> Callable[..., Any]:
    """An adapter that runs a program in a process of its own, and lets it be heard."""

    async def run(args: object, bench: Bench) -> dict[str, object]:
        ran = await run_command(
            [sys.executable, "-u", "-c", source],
            cwd=Path("/"),
            environment={},
            max_output=1 << 20,
            merged=True,
            seconds=seconds,
            told=bench.output,
        )
        if ran.status:
            raise RuntimeError(f"status {ran.status}")
        return {"text": "done"}

    return run


COUNTS = """
import time
for number in range(4):
    print("line", number)
    time.sleep(0.3)
"""


def pieces(walks: Walks, intent: str) -> list[ir.PlanOutputBody]:
    bodies = [one.body for one in walks.home.journal.envelopes(intent)]
    return [body for body in bodies if isinstance(body, ir.PlanOutputBody)]


def test_what_a_long_tool_says_is_kept_and_heard_while_it_runs(walks: Walks) -> None:
    walks.tools = [probe("count", script(COUNTS), timeout_ms=30000)]
    walks.watch = watch = Hears()
    outcome = walks.go(sequence("n0", tool("n1", "test/count"), tool("n2", "time/now")))
    ended = time.monotonic()
    assert outcome.state == "completed"
    found = pieces(walks, outcome.intent_id)
    assert len(found) >= 2
    assert [body.sequence for body in found] == list(range(len(found)))
    assert {(body.node_id, body.channel) for body in found} == {("n1", "log")}
    assert all(body.sha256 and body.size == len(body.chunk) for body in found)
    whole = "".join(f"line {number}\n" for number in range(4))
    assert said(walks.home.journal.envelopes(outcome.intent_id)) == {"n1": whole}
    assert "".join(text for _, text, _ in watch.pieces) == whole
    assert ended - watch.pieces[0][2] > 0.4
    rows = [row for row in walks.home.journal.rows(outcome.intent_id) if row.kind == "plan.output"]
    assert all(b"line" not in row.wire for row in rows)
    assert walks.home.journal.verify().ok


def test_a_tool_that_is_soon_done_leaves_no_piece(walks: Walks) -> None:
    async def quick(args: object, bench: Bench) -> dict[str, object]:
        bench.output(b"soon done\n")
        return {"text": "done"}

    walks.tools = [probe("quick", quick)]
    outcome = walks.go(tool("n1", "test/quick"))
    assert outcome.state == "completed"
    assert pieces(walks, outcome.intent_id) == []


def test_what_a_tool_said_that_failed_is_kept_also_where_it_failed_soon(walks: Walks) -> None:
    walks.tools = [probe("break", script("print('before it broke'); raise SystemExit(3)"), idempotent=False)]
    outcome = walks.go(tool("n1", "test/break"))
    assert outcome.state == "failed"
    (only,) = pieces(walks, outcome.intent_id)
    assert (only.chunk, only.final) == (b"before it broke\n", True)


def test_what_a_tool_said_before_its_time_was_up_is_kept(walks: Walks) -> None:
    endless = "import time\nprint('begun')\ntime.sleep(60)"
    walks.tools = [probe("endless", script(endless), idempotent=False)]
    outcome = walks.go(tool("n1", "test/endless", timeout_ms=900))
    assert outcome.failure is not None
    assert outcome.failure.code == "TIMEOUT"
    assert said(walks.home.journal.envelopes(outcome.intent_id)) == {"n1": "begun\n"}


def test_a_very_long_output_is_cut_with_a_mark(walks: Walks) -> None:
    many = "import time\nfor _ in range(3):\n    print('x' * 99 + '\\n' * 1, end='')\n" + (
        "for _ in range(6000):\n    print('y' * 99)\ntime.sleep(0.7)"
    )
    walks.tools = [probe("many", script(many), timeout_ms=30000)]
    outcome = walks.go(tool("n1", "test/many"))
    assert outcome.state == "completed"
    text = said(walks.home.journal.envelopes(outcome.intent_id))["n1"]
    assert text.endswith(MARK)
    assert len(text.encode()) == MOST + len(MARK)
    assert pieces(walks, outcome.intent_id)[-1].final


def test_no_secret_gets_into_a_piece_however_it_comes(walks: Walks) -> None:
    source = f"""
import time
def slowly(text, size):
    for at in range(0, len(text), size):
        print(text[at:at + size], end="", flush=True)
        time.sleep(0.12)
slowly("the token is {TOKEN} today\\n", 20)
slowly({KEY!r}, 90)
print("the end")
"""
    walks.tools = [probe("leak", script(source), timeout_ms=30000)]
    walks.watch = watch = Hears()
    outcome = walks.go(tool("n1", "test/leak"))
    assert outcome.failure is None
    text = said(walks.home.journal.envelopes(outcome.intent_id))["n1"]
    for shown in (text, "".join(piece for _, piece, _ in watch.pieces)):
        assert "[redacted" in shown
        assert "the end" in shown
        assert TOKEN[:12] not in shown
        assert "MIIEv" not in shown
    for file in walks.home.path.glob("mcl.db*"):
        assert TOKEN.encode() not in file.read_bytes()
        assert b"MIIEvQIBADAN" not in file.read_bytes()


class Writes:
    """A model that writes its answer word by word, from another thread, as models do."""

    async def reason(self, **asked: Any) -> dict[str, object]:
        raise AssertionError("who can be followed is asked so")

    async def reason_live(
        self, *, system: str, user: str, outputs: Sequence[str], kind: str, tell: Callable[[bytes], None]
    ) -> StepAnswer:
        def write() -> None:
            for number in range(40):
                tell(f"word{number} ".encode())
                time.sleep(0.03)

        await anyio.to_thread.run_sync(write)
        return StepAnswer({"text": "done"}, "a" * 64, "g", 40)


def test_what_a_model_writes_is_kept_and_heard_while_it_writes(walks: Walks) -> None:
    walks.watch = watch = Hears()
    outcome = walks.go(step("n1", inputs={"a": "b"}), reasoner=Writes())
    assert outcome.state == "completed"
    found = pieces(walks, outcome.intent_id)
    assert len(found) >= 2
    assert {body.channel for body in found} == {"answer"}
    text = said(walks.home.journal.envelopes(outcome.intent_id))["n1"]
    assert text == "".join(f"word{number} " for number in range(40))
    assert "".join(piece for _, piece, _ in watch.pieces) == text


@pytest.mark.parametrize("chunk", [b"old", "old"])
def test_pieces_of_old_journals_are_read(chunk: bytes | str) -> None:
    body = ir.PlanOutputBody("p", "n1", 0, chunk)
    assert ir.PlanOutputBody.from_map(body.to_map()).chunk == chunk


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(st.sampled_from([*SECRETS, " and ", "\n", "ö" * 50, "x" * 90, "word "])),
    cuts=st.lists(st.integers(1, 200), min_size=1),
)
def test_in_whatever_pieces_it_comes_no_secret_leaves(parts: list[str], cuts: list[int]) -> None:
    whole = "".join(parts)
    data, kept = whole.encode(), list[str]()
    stream = OutputStream(Redactor, lambda sequence, text, final: kept.append(text))
    at = number = 0
    while at < len(data):
        size = cuts[number % len(cuts)]
        stream.take(data[at : at + size])
        stream._flush()
        at, number = at + size, number + 1
    stream.end(failed=True)
    text, clean = "".join(kept), Redactor().text(whole)
    assert [secret for secret in SECRETS if secret in text and secret not in clean] == []
    assert "MIIEvQIBADAN" not in text or "MIIEvQIBADAN" in clean
    if "[redacted" not in text:
        assert text == whole


@pytest.mark.parametrize("word", ["cancel", "correct"])
def test_a_tool_that_speaks_on_after_a_cancel_or_a_correction_is_called_once(walks: Walks, word: str) -> None:
    """What comes after it is not kept, and the run stops as it would have."""
    called: list[str] = []
    elsewhere = Home.open(walks.home.path)

    async def speak(args: Any, bench: Bench) -> dict[str, object]:
        called.append("")
        bench.output(b"before\n")
        await anyio.sleep(0.5)
        (id,) = elsewhere.journal.intents()
        view = elsewhere.journal.view(id)
        assert view.plan is not None
        patch = [{"op": "replace", "path": "/root/children/1/tool_call/args/path", "value": "b.txt"}]
        body: ir.Body = ir.IntentCorrectBody(view.plan.hash, json.dumps(patch).encode())
        if word == "cancel":
            body = ir.IntentCancelBody(elsewhere.clock.now())
        elsewhere.journal.append(walks.seal(id, f"intent.{word}", body))
        for _ in range(10):
            bench.output(b"after\n")
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.1)
        return {"text": "done"}

    walks.tools = [probe("speak", speak, idempotent=False, timeout_ms=30000)]
    write = tool("n2", "fs/write", "write", path="a.txt", content="x")
    outcome = walks.go(sequence("n0", tool("n1", "test/speak"), write))
    assert outcome.state == {"cancel": "cancelled", "correct": "corrected"}[word]
    assert len(called) == 1
    assert said(walks.home.journal.envelopes(outcome.intent_id)) == {"n1": "before\n"}
    assert walks.home.journal.verify().ok
    elsewhere.close()
