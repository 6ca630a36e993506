"""The peers that other tests trust are themselves honest servers, in each era and over each transport."""

from __future__ import annotations

from typing import Any

import pytest
from desks import Peers, talk
from mcp import Client
from mcp.client.stdio import StdioServerParameters

pytestmark = pytest.mark.slow
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


def stdio(peers: Peers, name: str, *options: str) -> Any:
    program, *rest = peers.command(name, *options)
    return StdioServerParameters(command=program, args=rest, env=dict(peers.environment))


@pytest.mark.parametrize("mode", ERAS)
def test_a_peer_speaks_the_era_that_the_client_wants(peers: Peers, mode: str) -> None:
    async def over(server: Any) -> tuple[str, Any]:
        async with Client(server, mode=mode) as client:
            answer = await client.call_tool("look", {"token": "t1"})
            return client.protocol_version, answer.structured_content

    with peers.http("plain") as address:
        for server in (stdio(peers, "plain"), address):
            version, answer = talk(lambda server=server: over(server))
            assert (version, answer["token"]) == (ERAS[mode], "t1")


@pytest.mark.parametrize(("era", "version"), [("handshake", "2025-11-25"), ("modern", "2026-07-28")])
def test_a_peer_of_one_era_knows_no_other(peers: Peers, era: str, version: str) -> None:
    async def over(server: Any) -> str:
        async with Client(server, mode="auto") as client:
            assert (await client.call_tool("look", {"token": "t1"})).structured_content
            return client.protocol_version

    with peers.http("plain", "--era", era) as address:
        for server in (stdio(peers, "plain", "--era", era), address):
            assert talk(lambda server=server: over(server)) == version
