"""Lines of standard input as messages: each is one, or is answered by one error; none ends the server."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcl.core.distribution import install_line, require_sdk
from mcl.core.errors import InputError
from mcl.plugins.mcp.stdio import Incoming
from mcl.plugins.mcp.upstream.streams import LineReader

LIMIT = 256  # bytes of a line here


class Kept:
    """An output that remembers."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    async def send(self, item: Any) -> None:
        self.sent.append(json.loads(item.message.model_dump_json(by_alias=True, exclude_unset=True)))


def taken(data: bytes, at_once: int = 7) -> tuple[list[Any], list[Any]]:
    """The messages in these bytes, which come a few at a time, and what was answered to the rest."""

    async def whole() -> tuple[list[Any], list[Any]]:
        reading, writing = os.pipe()
        answers = Kept()

        async def feed() -> None:
            for start in range(0, len(data), at_once):
                os.write(writing, data[start : start + at_once])
                await anyio.lowlevel.checkpoint()
            os.close(writing)

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(feed)
                incoming: Any = Incoming(LineReader(reading, LIMIT), answers)  # type: ignore[arg-type]
                messages = [one.message async for one in incoming]
        finally:
            os.close(reading)
        return messages, answers.sent

    return anyio.run(whole)


PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
LINES = st.sampled_from(
    [PING, b"{}", b"[]", b"", b"   ", b"null", b"x" * (LIMIT * 3), b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 1']
) | st.binary(max_size=40).map(lambda line: line.replace(b"\n", b""))


def test_a_request_whose_id_is_none_is_refused_and_not_taken_for_a_notification() -> None:
    for id in (b"1.5", b"null", b"true", b"{}", b"[1]"):
        messages, answers = taken(b'{"jsonrpc": "2.0", "id": ' + id + b', "method": "ping"}\n')
        assert messages == []
        assert [(one["id"], one["error"]["code"]) for one in answers] == [(None, -32600)]
    told = b'{"jsonrpc": "2.0", "method": "notifications/x", "params": {"id": null}}\n'
    messages, answers = taken(told)
    assert (len(messages), answers) == (1, [])


@given(st.lists(LINES, max_size=8), st.booleans(), st.integers(1, 600))
@example([b"x" * (LIMIT + 1), PING], False, 1)
@example([PING, b"x" * (LIMIT * 2)], False, 600)
def test_every_line_is_a_message_or_is_answered_once(lines: list[bytes], ended: bool, at_once: int) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    messages, errors = taken(data, at_once)
    told = [line for line in lines if line.strip()]
    assert len(messages) + len(errors) == len(told)  # also one that is too long and never ends
    assert len(messages) >= sum(line == PING for line in lines)
    assert {error["error"]["code"] for error in errors} <= {-32700, -32600}
    assert all(error["id"] is None for error in errors)


def test_without_what_speaks_the_protocol_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    require_sdk("uvicorn")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(InputError) as caught:
        require_sdk("uvicorn")
    assert (caught.value.code, caught.value.exit) == ("EXTRA_MISSING", 4)
    assert caught.value.fix == install_line("mcp")
