"""Hearing of a changed resource of a server, in both eras, over one connection and the next."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from desks import Peers, talk

from executor import Home
from mcl.catalog.servers import Servers
from mcl.core.errors import McpError
from mcl.plugins.mcp.upstream.upstreams import Upstreams

OLD = ("handshake", pytest.param("modern", marks=pytest.mark.slow))  # each start of a server costs a second
NEW = (pytest.param("handshake", marks=pytest.mark.slow), "modern")


class Heard:
    """What servers told, and a way to wait for it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self._some = anyio.Event()

    def __call__(self, server: str, uri: str) -> None:
        self.told.append((server, uri))
        self._some.set()

    async def wait(self, count: int) -> None:
        while len(self.told) < count:
            self._some = anyio.Event()
            await self._some.wait()


def _enter(home: Home, peers: Peers, *options: str) -> Servers:
    servers = Servers(home)
    servers.add("board", command=peers.command("board", *options), environment=peers.environment)
    return servers


def _log(folder: Path) -> list[str]:
    log = folder / "board.log"
    return log.read_text().splitlines() if log.exists() else []


def _asked(folder: Path) -> list[str]:
    return [line for line in _log(folder) if "subscribe" in line]


@pytest.mark.parametrize("era", OLD)
def test_a_watched_resource_is_told_of_until_nobody_watches_it(home: Home, peers: Peers, era: str) -> None:
    heard = Heard()
    servers = _enter(home, peers, "--era", era)

    async def whole() -> None:
        async with Upstreams(servers, on_updated=heard, environment=peers.environment) as upstreams:
            await upstreams.call("board", "post", {"text": "unheard"})
            await upstreams.subscribe("board", "board://news")
            await upstreams.subscribe("board", "board://sport")
            await upstreams.call("board", "post", {"text": "one"})
            await heard.wait(1)
            await upstreams.unsubscribe("board", "board://news")
            await upstreams.call("board", "post", {"text": "unheard"})
            await upstreams.call("board", "post", {"text": "two", "part": "sport"})
            await heard.wait(2)
            assert heard.told == [("board", "board://news"), ("board", "board://sport")]

    talk(whole)
    if era == "handshake":
        assert _asked(peers.folder) == [
            *("subscribe board://news", "subscribe board://sport"),
            *("unsubscribe board://news",),
        ]


@pytest.mark.slow
def test_nothing_goes_unheard_while_something_else_is_watched_or_left(home: Home, peers: Peers) -> None:
    """The newer protocol names all that is watched in one request, which takes another's place each time."""
    heard = Heard()
    servers = _enter(home, peers, "--era", "modern")

    async def whole() -> None:
        async with Upstreams(servers, on_updated=heard, environment=peers.environment) as upstreams:
            await upstreams.subscribe("board", "board://sport")
            for _ in range(15):
                await upstreams.subscribe("board", "board://news")
                await upstreams.call("board", "post", {"text": "one", "part": "sport"})
                await upstreams.unsubscribe("board", "board://news")
                await upstreams.call("board", "post", {"text": "two", "part": "sport"})
            await heard.wait(30)
            assert set(heard.told) == {("board", "board://sport")}
            assert len(heard.told) <= 30 + 30  # twice at most where one request took another's place

    talk(whole)


def test_parts_of_a_watched_resource_are_told_of_too(home: Home, peers: Peers) -> None:
    """As the older protocol lets servers do; in the newer one a server tells of what was named."""
    heard = Heard()
    servers = _enter(home, peers, "--era", "handshake")

    async def whole() -> None:
        async with Upstreams(servers, on_updated=heard, environment=peers.environment) as upstreams:
            await upstreams.subscribe("board", "board://news")
            await upstreams.call("board", "post", {"text": "other", "part": "newspaper"})
            await upstreams.call("board", "post", {"text": "goal", "part": "news/sport"})
            await heard.wait(1)
            assert heard.told == [("board", "board://news/sport")]

    talk(whole)


@pytest.mark.slow
@pytest.mark.parametrize("era", NEW)
def test_a_server_that_was_started_again_is_asked_again(home: Home, peers: Peers, era: str) -> None:
    heard = Heard()
    servers = _enter(home, peers, "--era", era)

    async def whole() -> None:
        async with Upstreams(
            servers, on_updated=heard, environment=peers.environment, jitter=lambda: 0.0
        ) as upstreams:
            await upstreams.subscribe("board", "board://news")
            with pytest.raises(McpError):
                await upstreams.call("board", "die", {})
            await heard.wait(1)  # what happened in between was not heard, so it may have changed
            await upstreams.call("board", "post", {"text": "again"})
            await heard.wait(2)

    talk(whole)


@pytest.mark.parametrize("era", OLD)
def test_a_server_that_cannot_be_watched_says_so(home: Home, peers: Peers, era: str) -> None:
    servers = _enter(home, peers, "--era", era, "--unwatched")

    async def whole() -> str:
        async with Upstreams(servers, environment=peers.environment) as upstreams:
            with pytest.raises(McpError) as refused:
                await upstreams.subscribe("board", "board://news", timeout_s=50)
            return refused.value.code

    assert talk(whole) == "UPSTREAM_ERROR"


class Lines:
    """A channel that keeps what is logged."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, object]] = []

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        return

    async def log(self, level: str, data: object, logger: str | None) -> None:
        self.lines.append((level, data))


@pytest.mark.parametrize("era", OLD)
def test_servers_log_as_much_as_anybody_wants(home: Home, peers: Peers, era: str) -> None:
    lines = Lines()
    servers = _enter(home, peers, "--era", era)

    async def whole() -> None:
        async with Upstreams(servers, environment=peers.environment) as upstreams:
            await upstreams.call("board", "speak", {}, channel=lines)
            usual = [level for level, _ in lines.lines]
            upstreams.want_log("debug")
            upstreams.want_log("error")  # another client wants less; nobody loses by that
            upstreams.want_log("nonsense")
            while era == "handshake" and "level debug" not in _log(peers.folder):
                await anyio.sleep(0.05)
            await upstreams.call("board", "speak", {}, channel=lines)
            if era == "modern":
                assert usual == ["warning"]
                assert lines.lines[1:] == [("debug", "quietly"), ("warning", "aloud")]

    talk(whole)
    if era == "handshake":
        assert _log(peers.folder) == ["level info", "level debug"]
