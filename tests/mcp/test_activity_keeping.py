"""Records of calls: kept before the answer goes out, by many at once, redacted, and never lost."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import Home, HomeError
from executor.core.hashing import json_hash
from executor.sandbox.redaction import Redactor
from mcl.core.home import open_home
from mcl.plugins.mcp.records import Activity, CallRecord, Reader
from mcl.plugins.mcp.records.writer import body_of

pytestmark = pytest.mark.attended  # no command of a person is given, and rows are counted

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "ghp_" + "a1B2" * 9
CALL = CallRecord("github", "create_issue", "allowed", args={"title": "A bug"})


def kept(home: Home, *entries: CallRecord, **of_activity: Any) -> list[Any]:
    """The entries, kept one after the other, as they are read back."""

    async def talk() -> None:
        activity = Activity(home, **of_activity)
        for entry in entries:
            await activity.keep(entry)

    before = home.journal.size()
    asyncio.run(talk())
    reader = Reader(home)
    return [reader.find(str(before + number))[0] for number in range(1, len(entries) + 1)]


def run_in(home: Home, work: Callable[[Activity], Awaitable[object]]) -> Any:
    async def talk() -> object:
        return await work(Activity(home))

    return asyncio.run(talk())


def on_disk(home: Home) -> list[str]:
    """The ids of the records that another connection sees."""
    with sqlite3.connect(home.path / "mcl.db") as file:
        return [id for (id,) in file.execute("SELECT id FROM journal ORDER BY seq")]


def test_a_record_is_on_disk_and_signed_when_keep_returns(home: Home) -> None:
    async def work(activity: Activity) -> None:
        for number in range(3):
            done = await activity.keep(CALL)
            assert on_disk(home)[-1] == done.id
            assert done.seq == number + 1

    run_in(home, work)
    assert home.journal.verify().ok


def test_everything_that_was_told_is_read_back_with_the_seeds_metadata(home: Home) -> None:
    entry = CallRecord(
        server="github",
        tool="delete_repo",
        verdict="denied",
        variant="call_tool_destructive",
        code="GATE_DENIED",
        operation_type="destructive",
        data_sensitivity="private",
        reason="User requested cleanup",
        args={"name": "old", "force": True, "n": [1, 2.5, None]},
        result_bytes=17,
        upstream_ms=1.5,
        latency_ms=2.25,
        request_id=7,
        agent="did:key:z6Mkother",
        client="inspector",
        client_version="2.0",
        intent_id="matrix://intent/01M7Y6X0000000000000000009",
        gate_id="01M7Y6X000000000000000000A",
        warnings=("SERVER_MISMATCH: only a warning here",),
        at="2026-11-21T10:00:00.500Z",
    )
    (call,) = kept(home, entry)
    told = call.to_json()
    assert told["metadata"] == {
        "intent": {
            "operation_type": "destructive",
            "data_sensitivity": "private",
            "reason": "User requested cleanup",
        },
        "tool_variant": "call_tool_destructive",
    }
    assert {name: told[name] for name in told.keys() - {"metadata", "row", "id"}} == {
        "at": "2026-11-21T10:00:00.500Z",
        "server": "github",
        "tool": "delete_repo",
        "tool_variant": "call_tool_destructive",
        "operation_type": "destructive",
        "data_sensitivity": "private",
        "reason": "User requested cleanup",
        "verdict": "denied",
        "code": "GATE_DENIED",
        "args": {"name": "old", "force": True, "n": [1, 2.5, None]},
        "args_bytes": 44,
        "args_hash": json_hash(entry.args),
        "result_bytes": 17,
        "latency_ms": 2.25,
        "upstream_ms": 1.5,
        "request_id": "7",
        "agent": "did:key:z6Mkother",
        "client_name": "inspector",
        "client_version": "2.0",
        "intent_id": "01M7Y6X0000000000000000009",
        "gate_id": "01M7Y6X000000000000000000A",
        "warnings": ["SERVER_MISMATCH: only a warning here"],
    }


def test_a_call_that_declared_nothing_has_no_intent_and_is_the_homes_own_agents(home: Home) -> None:
    (call,) = kept(home, CallRecord("mcl", "read_activity", "allowed"))
    assert call.to_json()["metadata"] == {}
    assert (call.operation, call.data_sensitivity) == ("none", "unknown")
    assert call.agent == home.keyring.agent.did
    assert call.upstream_ms is None


def test_callers_at_once_share_one_commit_and_none_is_crossed(home: Home) -> None:
    async def work(activity: Activity) -> list[tuple[int, int]]:
        async def one(number: int) -> tuple[int, int]:
            done = await activity.keep(CallRecord("s", f"tool{number}", "allowed"))
            return number, done.seq

        before = home.db.stamp("journal")[1]
        found = await asyncio.gather(*(one(number) for number in range(50)))
        assert home.db.stamp("journal")[1] - before == 1
        return found

    for number, seq in run_in(home, work):
        assert Reader(home).find(str(seq))[0].tool == f"tool{number}"
    assert home.journal.verify().ok


def test_a_caller_alone_waits_for_no_timer(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def timer(*_: object, **__: object) -> None:
        raise AssertionError("a timer was set")

    async def work(activity: Activity) -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "call_at", timer)
        await activity.keep(CALL)

    run_in(home, work)
    assert len(on_disk(home)) == 1


def test_a_commit_that_fails_fails_every_call_of_it_and_keeps_nothing(home: Home) -> None:
    async def work(activity: Activity) -> None:
        await activity.keep(CALL)
        ((pages,),) = home.db.read("PRAGMA page_count")
        home.db.read(f"PRAGMA max_page_count = {pages}")  # a disk with no room left
        large = CallRecord("s", "t", "allowed", args={"text": "x" * 4000})
        ended = await asyncio.gather(*(activity.keep(large) for _ in range(40)), return_exceptions=True)
        assert [type(one) for one in ended] == [HomeError] * 40
        assert {one.code for one in ended if isinstance(one, HomeError)} == {"DISK_FULL"}
        assert len(on_disk(home)) == 1
        home.db.read("PRAGMA max_page_count = 1000000")
        assert (await activity.keep(large)).seq == 2

    run_in(home, work)
    assert home.journal.verify().ok
    assert len(Reader(home).page(_all()).calls) == 2


def _all() -> Any:
    from mcl.plugins.mcp.records import parse_filters

    return parse_filters({}, now="2026-11-21T10:00:00.000Z")


def test_a_caller_that_is_cancelled_while_it_waits_loses_no_record(home: Home) -> None:
    async def work(activity: Activity) -> None:
        task = asyncio.create_task(activity.keep(CALL))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await activity.keep(CALL)

    run_in(home, work)
    assert len(on_disk(home)) == 2


def test_a_call_that_is_cancelled_already_is_still_kept(home: Home) -> None:
    async def talk() -> None:
        activity = Activity(home)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await activity.keep(CALL)

    anyio.run(talk)
    assert len(on_disk(home)) == 1


def test_a_record_that_was_handed_in_is_kept_though_the_program_ends(home: Home) -> None:
    async def talk() -> None:
        _ = asyncio.create_task(Activity(home).keep(CALL))  # noqa: RUF006
        await asyncio.sleep(0)

    asyncio.run(talk())
    assert len(on_disk(home)) == 1


def test_secrets_are_taken_out_wherever_they_stand(home: Home) -> None:
    hidden = "correct horse battery"
    entry = CallRecord(
        server="s",
        tool="t",
        verdict="failed",
        code=f"X {TOKEN}",
        operation_type="read",
        reason=f"with {hidden}",
        args={"a": [{"b": TOKEN}], hidden: 1, "cut": f"x {TOKEN[:20]}"},
        request_id=TOKEN,
        client=hidden,
        warnings=(f"saw {TOKEN}",),
    )
    (call,) = kept(home, entry, redactor=Redactor(credentials=[hidden]))
    row = home.journal.rows()[-1]
    for secret in (TOKEN, TOKEN[:20], hidden):
        assert secret.encode() not in row.wire
        assert secret not in json.dumps(call.to_json())
    assert call.args_hash == json_hash(entry.args)
    assert "[redacted: GitHub token]" in call.args
    for (words,) in home.db.read("SELECT words FROM activity_words"):
        assert TOKEN.casefold() not in words
        assert hidden not in words


def test_a_secret_of_large_arguments_is_taken_out_too_also_where_it_is_cut(home: Home) -> None:
    padded = "x" * 4080
    calls = kept(
        home,
        CallRecord("s", "t", "allowed", args={"text": "y" * 200_000, "a": TOKEN}),
        CallRecord("s", "t", "allowed", args={"text": f"{padded} {TOKEN}"}),
        CallRecord("s", "t", "allowed", args={"text": "z" * 8180 + " " + TOKEN + "z" * 100_000}),
    )
    for call in calls:
        assert TOKEN[:16] not in call.args


@pytest.mark.parametrize("size", [4000, 4086, 4087, 5000, 3_000_000])
def test_arguments_that_are_too_long_are_cut_with_a_mark_and_hashed_whole(home: Home, size: int) -> None:
    args = {"text": "é" + "x" * (size - 2)}  # {"text":"…"} are eleven bytes
    (call,) = kept(home, CallRecord("s", "t", "allowed", args=args))
    fits = size + 11 <= 4096
    assert call.args_bytes == size + 11
    assert call.args_hash == json_hash(args)
    assert len(call.args.encode()) <= 4096
    assert call.args.endswith("…") is not fits
    assert call.given_args == (args if fits else call.args)


def test_nothing_that_an_agent_can_send_keeps_its_record_from_being_kept(home: Home) -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    calls = kept(
        home,
        CallRecord("s", "t", "denied", args={"deep": deep}),
        CallRecord("s", "t", "denied", args={"half": "\ud800", "\udfff": 1}),
        CallRecord("s", "t", "denied", args={"n": math.nan, "i": math.inf, "big": 10**5000}),
        CallRecord(
            "s" * 10**6, "\ud800", "denied", "", "\x00", reason="r" * 10**6, request_id="\udc00" * 999
        ),
        CallRecord("s", "t", "denied", result_bytes=10**30, latency_ms=math.nan, upstream_ms=-math.inf),
        CallRecord("s", "t", "denied", warnings=("w" * 10**5,) * 100, at="yesterday"),
        CallRecord("s", "t", "denied", args={str(n): n for n in range(100_000)}),
    )
    assert all(call.verdict == "denied" for call in calls)
    assert all(len(row.wire) < 16_000 for row in home.journal.rows())
    assert calls[0].args_hash == ""
    assert home.journal.verify().ok


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
    max_leaves=20,
)


@given(
    texts=st.lists(st.text(st.characters(codec=None), max_size=300), min_size=9, max_size=9),
    args=st.dictionaries(st.text(), JSON),
    ms=st.floats(),
)
def test_any_entry_becomes_a_record_that_can_be_written_and_read(
    texts: list[str], args: dict[str, Any], ms: float
) -> None:
    from ir import decode_cbor, encode_cbor
    from mcl.plugins.mcp.records.record import call_of

    entry = CallRecord(*texts[:8], args=args, latency_ms=ms, upstream_ms=ms, warnings=(texts[8],))
    body = body_of(entry, Redactor(), "did:key:z6Mk")
    again = decode_cbor(encode_cbor(body))
    assert again == body
    call = call_of(again, seq=1, id="01M7Y6X0000000000000000009", at="2026-11-21T10:00:00.000Z")
    json.dumps(call.to_json()).encode()


KEEPER = """
import asyncio, sys
from pathlib import Path
from mcl.core.home import open_home
from mcl.plugins.mcp.records import Activity, CallRecord

async def main():
    activity = Activity(open_home(Path(sys.argv[1])))
    async def caller(name):
        for number in range(int(sys.argv[2])):
            done = await activity.keep(CallRecord("s", f"{sys.argv[3]}-{name}-{number}", "allowed"))
            print(done.id, flush=True)
    await asyncio.gather(*(caller(name) for name in range(4)))

asyncio.run(main())
"""


def keeper(home: Home, calls: int, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", KEEPER, str(home.path), str(calls), name],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def all_of(*running: subprocess.Popen[str]) -> list[str]:
    told: list[str] = []
    for process in running:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        told += out.split()
    return told


@pytest.mark.parametrize("processes", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_processes_that_keep_at_once_lose_nothing_and_the_journal_verifies(
    home: Home, processes: int
) -> None:
    calls = 10
    told = all_of(*(keeper(home, calls, str(number)) for number in range(processes)))
    assert len(told) == len(set(told)) == processes * 4 * calls
    assert sorted(on_disk(home)) == sorted(told)
    found = [call.tool for call in Reader(home).newest(_all())]  # type: ignore[union-attr]  # none is a flaw
    assert len(set(found)) == len(told)
    assert home.journal.verify().ok


@pytest.mark.parametrize("after", [1, pytest.param(50, marks=pytest.mark.slow)])
def test_what_was_answered_is_there_after_a_process_was_killed(tmp_path: Path, after: int) -> None:
    with open_home(tmp_path / "home") as home:
        process = keeper(home, 100_000, "killed")
        assert process.stdout is not None
        told = [process.stdout.readline().strip() for _ in range(after)]
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read().split("\n")
        told += rest[:-1]  # what has no end of line was not told
        process.wait(60)
        process.stdout.close()
        assert set(told) <= set(on_disk(home))
        assert home.journal.verify().ok
        assert len(list(Reader(home).newest(_all()))) == len(on_disk(home))
