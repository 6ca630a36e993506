"""The parts of a connection that need no server: lines, messages, ids, floods, pages, waiting."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCNotification, JSONRPCRequest

from mcl.plugins.mcp.upstream.answers import FaultError, all_pages
from mcl.plugins.mcp.upstream.bounds import BURST, MOST_EXCESS, ConnectionWatch
from mcl.plugins.mcp.upstream.streams import LineSplitter, Overlong
from mcl.plugins.mcp.upstream.transports import parse_message
from mcl.plugins.mcp.upstream.upstream import MOST_S, delay

PIECES = st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\r", b"\n")), max_size=20)


@given(PIECES, st.integers(1, 30))
def test_lines_are_the_same_however_they_come(pieces: list[bytes], limit: int) -> None:
    whole = b"".join(pieces)
    wanted: list[bytes | Overlong] = []
    *ended, rest = whole.split(b"\n")
    for line in ended:
        if len(line) > limit:
            wanted.append(Overlong(line[:512]))
        elif line.strip(b" \t\r"):
            wanted.append(line)
    if len(rest) > limit:
        wanted.append(Overlong(rest[:512]))
    lines = LineSplitter(limit)
    found = [line for piece in pieces for line in lines.feed(piece)]
    # The head of a line that is too long ends where it became so.
    assert len(found) == len(wanted)
    for got, expected in zip(found, wanted, strict=True):
        if isinstance(expected, Overlong):
            assert isinstance(got, Overlong)
            assert expected.head.startswith(got.head)
        else:
            assert got == expected


@given(st.lists(st.binary(max_size=64), max_size=30), st.integers(1, 16))
def test_no_more_than_the_limit_is_held(pieces: list[bytes], limit: int) -> None:
    lines = LineSplitter(limit)
    for piece in pieces:
        lines.feed(piece)
        assert sum(map(len, lines._held)) <= limit


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=10))
def test_a_message_is_what_json_says_it_is(value: Any) -> None:
    assert parse_message(json.dumps({"value": value}).encode()) == {"value": value}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"[]",
        b"3",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1e999}',
        b'{"a": [{"b": -1E+999}]}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'{"a": 1} x',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 3000 + b"]" * 3000 + b"}",
        b"{'a': 1}",
        b'{"a": 1,}',
    ],
)
def test_what_is_no_strict_json_object_is_no_message(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_message(line)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(line: bytes) -> None:
    with suppress(ValueError):
        assert isinstance(parse_message(line), dict)


@pytest.mark.parametrize(
    ("head", "id"),
    [
        (b'{"jsonrpc":"2.0","id":17,"result":{', 17),
        (b' { "id" : "listen-1" , "result"', "listen-1"),
        (b'{"jsonrpc":"2.0","result":{"id":17,', None),
        (b'{"id":17', None),
        (b'{"id":-17,"result"', None),
        (b'{"id":true,"result"', None),
    ],
)
def test_the_id_of_a_message_that_is_too_long_is_read_only_where_it_stands_first(
    head: bytes, id: Any
) -> None:
    assert Overlong(head).id == id


def watch(clock: list[float] | None = None) -> ConnectionWatch:
    return ConnectionWatch(lambda: clock[0] if clock else 0.0, lambda method: None)


def test_an_id_is_awaited_once_and_late_for_ever_after() -> None:
    seen = watch()
    seen.sent(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list"))
    seen.sent(JSONRPCRequest(jsonrpc="2.0", id="listen-1", method="subscriptions/listen"))
    assert [seen.answered(one) for one in (1, 1, 2, 0, -1)] == [
        "awaited",
        "late",
        "unknown",
        "unknown",
        "unknown",
    ]
    assert [seen.answered(one) for one in ("listen-1", "listen-1", "listen-2")] == [
        "awaited",
        "late",
        "unknown",
    ]


def test_a_number_may_come_back_as_a_text_and_a_cancelled_call_is_late() -> None:
    seen = watch()
    seen.sent(JSONRPCRequest(jsonrpc="2.0", id=1, method="a"))
    seen.sent(JSONRPCRequest(jsonrpc="2.0", id=2, method="a"))
    cancel = JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 2})
    seen.sent(cancel)
    assert [seen.answered("1"), seen.answered(2)] == ["awaited", "late"]


def test_what_nobody_asked_for_is_read_no_faster_than_a_rate_and_ends_the_connection() -> None:
    clock = [0.0]
    seen = watch(clock)
    assert [seen.unasked("notifications/message") for _ in range(BURST)] == [0.0] * BURST
    assert seen.unasked("notifications/message") > 0
    clock[0] += 60
    assert seen.unasked("notifications/message") == 0.0
    for _ in range(BURST + MOST_EXCESS):
        seen.unasked("notifications/message")
    assert seen.fault is not None
    assert (seen.fault.code, seen.ended.is_set()) == ("SERVER_LIED", True)


def test_large_notifications_count_for_more() -> None:
    seen = watch()
    assert seen.unasked("notifications/message", 16 << 20) > 0


def test_the_first_reason_of_an_end_is_kept() -> None:
    from mcl.plugins.mcp.upstream.answers import down, lied

    seen = watch()
    seen.end(lied("one"))
    seen.end(down("two"))
    assert seen.fault == lied("one")


@given(st.integers(1, 100), st.floats(0, 1))
def test_waiting_doubles_up_to_a_minute_and_jitter_takes_at_most_half(failures: int, jitter: float) -> None:
    wait = delay(failures, jitter)
    whole = delay(failures, 1.0)
    assert whole / 2 <= wait <= whole <= MOST_S
    assert delay(failures + 1, 1.0) >= whole


def pages(answers: list[Any]) -> Any:
    """The listing of a server that gives these pages one after another, whatever the cursor."""
    left = iter(answers)

    async def page(cursor: str | None) -> dict[str, Any]:
        return next(left)

    async def whole() -> Any:
        return await all_pages("tools", page)

    return anyio.run(whole)


def test_all_pages_come_in_their_order() -> None:
    found = pages([{"tools": [{"name": "a"}], "nextCursor": ""}, {"tools": [{"name": "b"}]}])
    assert [one["name"] for one in found] == ["a", "b"]


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([{"tools": [], "nextCursor": "x"}, {"tools": [], "nextCursor": "x"}], "SERVER_LIED"),
        ([{"tools": [], "nextCursor": "x" * 5000}], "SERVER_LIED"),
        ([{"tools": [], "nextCursor": 7}], "SERVER_LIED"),
        ([{"tools": [{"name": str(number)} for number in range(10_001)]}], "RESULT_TOO_LARGE"),
        ([{"tools": [{"name": "a", "description": "x" * (33 << 20)}]}], "RESULT_TOO_LARGE"),
    ],
)
def test_pages_without_end_or_sense_are_refused(answers: list[Any], code: str) -> None:
    with pytest.raises(FaultError) as caught:
        pages(answers)
    assert caught.value.fault.code == code
