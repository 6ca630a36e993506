"""Clients of both eras reach servers of both eras, over either transport, and lose nothing on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents import ALL, Agent, Way
from desks import Desk, Peers, surroundings, talk

# The level of a log is set in this way in the handshake era.
pytestmark = pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
# How each upstream is started: `--era` and whether over HTTP.
UPSTREAMS = {
    "handshake": ("handshake", False),
    "modern-http": ("modern", True),
    "modern": ("modern", False),
    "handshake-http": ("handshake", True),
}
QUICK = ("Client, handshake", "Client, modern")


@contextmanager
def entered(folder: Path, names: Sequence[str]) -> Iterator[tuple[Way, list[str]]]:
    """A home with these upstreams, which keep what they did in the workspace, and a server for clients."""
    desk = Desk(folder / "home", folder / "work", surroundings(folder))
    desk.workspace.mkdir()
    with ExitStack() as stack:
        for name in names:
            era, over_http = UPSTREAMS[name]
            peers = Peers(desk.workspace / name, desk.environment)
            peers.folder.mkdir()
            if over_http:
                url = stack.enter_context(peers.http("plain", "--era", era))
                desk.enter(name, url=url, seen=False)
            else:
                desk.enter(name, command=peers.command("plain", "--era", era), seen=False)
        way = Way(desk, *stack.enter_context(desk.over_http()))
        desk.approve(*names)
        yield way, [*names]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Way, list[str]]]:
    with entered(tmp_path_factory.mktemp("two"), [*UPSTREAMS][:2]) as found:
        yield found


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Way, list[str]]]:
    with entered(tmp_path_factory.mktemp("four"), [*UPSTREAMS]) as found:
        yield found


@pytest.mark.parametrize("name", QUICK)
def test_a_client_of_either_era_reaches_servers_of_both(two: tuple[Way, list[str]], name: str) -> None:
    _all_of_it(*two, name)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("name", ALL)
def test_any_client_reaches_servers_of_both_eras_over_either_transport(
    four: tuple[Way, list[str]], name: str, transport: str
) -> None:
    way, upstreams = four
    _all_of_it(way if transport == "http" else Way(way.desk), upstreams, name)


def _all_of_it(way: Way, upstreams: Sequence[str], name: str) -> None:
    connect, version = ALL[name]

    async def whole() -> None:
        async with connect(way) as agent:
            assert agent.version == version
            for upstream in upstreams:
                await _of_one(agent, upstream, way.desk.workspace / upstream)

    talk(whole)


async def _of_one(agent: Agent, upstream: str, folder: Path) -> None:
    """What an agent gets of one upstream."""
    answer = await agent.read(f"{upstream}:look", {"token": f"for {upstream}"})
    assert answer.structured_content["token"] == f"for {upstream}"

    seen: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total, message))

    await agent.read(f"{upstream}:count", {"to": 3}, progress)
    await until(lambda: len(seen) >= 3)
    assert seen == [(1, 3, "counted 1"), (2, 3, "counted 2"), (3, 3, "counted 3")]

    agent.logged.clear()
    await agent.read(f"{upstream}:chatter", {"words": upstream})
    await until(lambda: agent.logged and agent.logged[-1][0] == "error")
    levels = ["debug", "info", "warning", "error"]
    assert [level for level, _ in agent.logged] == levels[levels.index(agent.level) :]

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.read, f"{upstream}:slow", {"seconds": 50, "name": agent.version})
            await until((folder / f"{agent.version}.started").exists)
            scope.cancel()
    await until((folder / f"{agent.version}.cancelled").exists)
    assert not (folder / f"{agent.version}.finished").exists()
    for end in ("started", "cancelled"):
        (folder / f"{agent.version}.{end}").unlink()

    failed = await agent.read(f"{upstream}:fail", {"message": "of its own"})
    assert failed.is_error
    assert failed.content[0].text == "Error executing tool fail: of its own"


async def until(reached: Any) -> None:
    while not reached():
        await anyio.sleep(0.01)
