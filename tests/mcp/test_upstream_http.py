"""Servers over HTTP that answer wrongly: each harms only its own calls; nothing goes to another origin."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from desks import PATIENCE, PEERS, first_line, running, talk
from servers_for_tests import told, up_again

from executor import Home
from mcl.catalog.servers import Servers
from mcl.plugins.mcp.upstream.upstreams import Upstreams


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Of a server that is wrong in a way for each path."""
    with running([sys.executable, "-S", str(PEERS / "hostile_http.py"), "0"], {}) as process:
        yield int(first_line(process, "stdout"))


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("redirect", "UPSTREAM_ERROR", "not followed"),
        ("status/401", "UPSTREAM_ERROR", "answered HTTP 401 Unauthorized"),
        ("status/500", "UPSTREAM_ERROR", "answered HTTP 500"),
        ("packed", "SERVER_LIED", "packed its answer"),
        ("large", "RESULT_TOO_LARGE", "larger than 16 MiB"),
        ("text", "SERVER_LIED", "Unexpected content type"),
        ("wrong_id", "SERVER_LIED", "a call that nobody made"),
        ("shape", "SERVER_LIED", "wrong shape"),
        ("hangs", "SERVER_SLOW", "did not answer echo"),
        ("breaks", "SERVER_LIED", "broke off"),
        ("events", "RESULT_TOO_LARGE", "larger than 16 MiB"),
    ],
)
def test_a_wrong_answer_fails_its_call_with_its_code(
    home: Home, port: int, path: str, code: str, words: str
) -> None:
    servers = Servers(home)
    servers.add("bad", url=f"http://127.0.0.1:{port}/{path}")
    servers.add("good", url=f"http://127.0.0.1:{port}/honest")

    async def conversation() -> None:
        async with Upstreams(servers, jitter=lambda: 0.0) as upstreams:
            await upstreams.start()
            patience = 0.5 if path == "hangs" else 30.0
            problem = await told(upstreams.call("bad", "echo", {}, timeout_s=patience))
            assert (problem.code, words in problem.message) == (code, True), problem.message
            assert problem.fix
            answer = await upstreams.call("good", "echo", {})
            assert answer["content"] == [{"type": "text", "text": "honest"}]
            good = next(one for one in upstreams.status() if one.server == "good")
            assert (good.state, good.restarts) == ("up", 0)

    talk(conversation)


def test_headers_of_the_entry_are_sent_with_their_variables_and_proxies_of_the_environment_are_not_used(
    home: Home, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    servers = Servers(home)
    servers.add(
        "tells", url=f"http://127.0.0.1:{port}/headers", headers={"Authorization": "Bearer $env:TELLS_KEY"}
    )

    async def conversation() -> None:
        async with Upstreams(servers, environment={"TELLS_KEY": "open-sesame-1"}) as upstreams:
            (block,) = (await upstreams.call("tells", "echo", {}))["content"]
            said: dict[str, Any] = json.loads(block["text"])
            assert said["accept-encoding"] == "identity"
            # It arrived, and comes back only as what it is.
            assert said["authorization"].startswith("Bearer [redacted")
            assert "open-sesame-1" not in block["text"]

    talk(conversation)


def test_a_proxy_that_the_entry_names_is_used(home: Home, port: int) -> None:
    servers = Servers(home)
    servers.add(
        "bad", url=f"http://127.0.0.1:{port}/honest", environment={"HTTP_PROXY": "http://127.0.0.1:9/"}
    )

    async def conversation() -> None:
        async with Upstreams(servers, jitter=lambda: 0.0) as upstreams:
            assert (await told(upstreams.call("bad", "echo", {}))).code == "SERVER_DOWN"

    talk(conversation)


def test_a_server_that_nobody_answers_for_is_down_at_once(home: Home) -> None:
    servers = Servers(home)
    servers.add("gone", url="http://127.0.0.1:9/mcp")

    async def conversation() -> None:
        async with Upstreams(servers, jitter=lambda: 1.0) as upstreams:
            with anyio.fail_after(PATIENCE):
                first = await told(upstreams.call("gone", "echo", {}))
                second = await told(upstreams.call("gone", "echo", {}))
            assert (first.code, second.code) == ("SERVER_DOWN", "SERVER_DOWN")
            assert "cannot be reached" in first.message
            assert "it is started again in" in second.message

    talk(conversation)


@pytest.mark.slow
def test_a_session_is_taken_leave_of_unless_the_server_does_not_let_go(home: Home, port: int) -> None:
    servers = Servers(home)
    servers.add("polite", url=f"http://127.0.0.1:{port}/session")
    servers.add("clinging", url=f"http://127.0.0.1:{port}/lingers")

    async def left() -> Any:
        async with Upstreams(servers) as upstreams:
            await upstreams.call("clinging", "echo", {})
            (block,) = (await upstreams.call("polite", "echo", {}))["content"]
            return json.loads(block["text"])

    async def conversation() -> None:
        assert await left() == []
        assert await left() == ["s-1"]

    talk(conversation)


def test_a_server_that_lets_nobody_in_says_so(home: Home, port: int) -> None:
    servers = Servers(home)
    servers.add("closed", url=f"http://127.0.0.1:{port}/closed")

    async def conversation() -> None:
        async with Upstreams(servers) as upstreams:
            problem = await told(upstreams.call("closed", "echo", {}))
            assert (problem.code, "HTTP 401 Unauthorized" in problem.message) == ("SERVER_DOWN", True)
            assert "headers" in problem.fix

    talk(conversation)


def test_a_server_that_goes_away_and_returns_is_used_again(home: Home) -> None:
    servers = Servers(home)
    command = [sys.executable, "-S", str(PEERS / "hostile_http.py")]

    async def conversation() -> None:
        async with Upstreams(servers, jitter=lambda: 0.0) as upstreams:
            with running([*command, "0"], {}) as process:
                port = first_line(process, "stdout")
                servers.add("web", url=f"http://127.0.0.1:{port}/honest")
                await upstreams.call("web", "echo", {})
            assert (await told(upstreams.call("web", "echo", {}))).code == "SERVER_DOWN"
            with running([*command, port], {}) as process:
                first_line(process, "stdout")
                await up_again(upstreams, "web")
                assert (await upstreams.call("web", "echo", {}))["is_error"] is False

    talk(conversation)
