"""Many callers at once: no answer is lost or goes to somebody else, and every call stands in the journal."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import anyio
import pytest
from agents import Way, by_client
from desks import Desk, Peers, talk

from executor import Home
from mcl.core.home import open_home
from mcl.plugins.mcp import activity

# The level of a log is set in this way in the handshake era.
pytestmark = pytest.mark.filterwarnings("ignore:The logging capability is deprecated")


@pytest.mark.parametrize("calls", [160, pytest.param(5_000, marks=pytest.mark.slow)])
def test_of_many_calls_none_is_lost_none_crossed_and_all_are_told(
    desk: Desk, peers: Peers, stack: ExitStack, calls: int
) -> None:
    servers = {"left": 25, "right": 25} if calls > 160 else {"left": 50}
    for server, tools in servers.items():
        if server == "right":
            desk.enter(server, url=stack.enter_context(peers.http("many", "--tools", str(tools))), seen=False)
        else:
            desk.enter(server, command=peers.command("many", "--tools", str(tools)), seen=False)
    names = [f"{server}:tool_{number}" for server, tools in servers.items() for number in range(tools)]
    way = Way(desk, *stack.enter_context(desk.over_http()))
    desk.approve(*servers)
    came: Counter[str] = Counter()

    async def caller(agent: Any, number: int) -> None:
        for turn in range(calls // 20):
            name, token = names[(number * 7 + turn) % len(names)], f"{number}/{turn}"
            answer = await agent.read(name, {"token": token})
            assert not answer.is_error, answer
            assert answer.structured_content["token"] == token
            assert answer.structured_content["tool"] == int(name.rpartition("_")[2])
            came[token] += 1

    async def whole() -> None:
        async with AsyncExitStack() as opened:
            ways = [(way, "legacy"), (way, "auto"), *([(Way(desk), "auto")] if calls > 160 else [])]
            agents = [await opened.enter_async_context(by_client(*one)) for one in ways]
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(caller, agents[number % len(agents)], number)

    talk(whole, 600)
    assert sum(came.values()) == len(came) == calls
    with open_home(desk.home) as home:
        kept = told(home)
        assert len(kept) == calls
        assert Counter(json.loads(body["args"])["token"] for body in kept) == came
        assert {body["verdict"] for body in kept} == {"allowed"}
        assert activity.stats(home=home).total.calls == calls
        assert home.journal.verify().ok


def told(home: Home) -> list[dict[str, Any]]:
    """The records of calls in a journal."""
    return [home.journal.open(row.wire).body for row in home.journal.rows() if row.kind == "record.mcp.call"]


@pytest.mark.slow
def test_in_the_middle_of_a_load_servers_that_die_or_lie_harm_only_their_own_calls(
    desk: Desk, peers: Peers
) -> None:
    desk.enter("good", command=peers.command("many", "--tools", "5"))
    desk.enter("dying", command=peers.command("many", "--tools", "5", "--dies-after", "30"))
    desk.enter("killed", command=peers.command("many", "--tools", "5"))
    lies = ("json", "id", "shape", "large")
    for lie in lies:
        desk.enter(f"lying-{lie}", command=peers.command("lying", "--lie", lie, "--after", "20"))
    harmed: Counter[str] = Counter()
    fine: Counter[str] = Counter()
    pids: set[int] = set()

    async def caller(agent: Any, server: str, number: int) -> None:
        name = "look" if server.startswith("lying") else f"tool_{number % 5}"
        for turn in range(60):
            token = f"{server}/{number}/{turn}"
            answer = await agent.read(f"{server}:{name}", {"token": token})
            if answer.is_error:
                harmed[f"{server} {answer.structured_content['code']}"] += 1
                await anyio.sleep(0.01)
            else:
                assert answer.structured_content["token"] == token
                fine[server] += 1
                if server == "killed":
                    pids.add(answer.structured_content["pid"])

    async def killer() -> None:
        while not pids:
            await anyio.sleep(0.05)
        os.kill(pids.pop(), signal.SIGKILL)

    async def whole() -> None:
        async with AsyncExitStack() as opened:
            agents = [await opened.enter_async_context(by_client(Way(desk), mode)) for mode in ("legacy",)]
            async with anyio.create_task_group() as tasks:
                for server in ("good", "dying", "killed", *(f"lying-{lie}" for lie in lies)):
                    for number in range(3):
                        tasks.start_soon(caller, agents[number % len(agents)], server, number)
                tasks.start_soon(killer)

    talk(whole, 300)
    assert fine["good"] == 180
    assert not [what for what in harmed if what.startswith("good ")]
    for server in ("dying", *(f"lying-{lie}" for lie in lies)):
        assert fine[server] >= 20
        assert any(what.startswith(f"{server} ") for what in harmed), server
    with open_home(desk.home) as home:
        assert len(told(home)) == 7 * 3 * 60
        assert home.journal.verify().ok
