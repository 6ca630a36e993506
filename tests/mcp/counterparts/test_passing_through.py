"""What another server sends reaches the agent as it was sent; what must not reach it does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import pytest
from agents import ALL, Way
from desks import Desk, Peers, surroundings, talk
from mcp import Client

# The level of a log is set in this way in the handshake era.
pytestmark = pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
MODES = ("Client, handshake", "Client, modern")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Way, str]]:
    """`mcl mcp serve --http`, and the address of the peer `plain` that it is entered with."""
    folder = tmp_path_factory.mktemp("passing")
    desk = Desk(folder / "home", folder / "work", surroundings(folder))
    desk.workspace.mkdir()
    peers = Peers(desk.workspace, desk.environment)
    with ExitStack() as stack:
        url = stack.enter_context(peers.http("plain"))
        desk.enter("plain", url=url, seen=False)
        desk.enter("paged", command=peers.command("paged"), seen=False)
        way = Way(desk, *stack.enter_context(desk.over_http()))
        desk.approve("plain", "paged", kinds=3)
        yield way, url


def seen(result: Any) -> Any:
    """What a client can see of an answer."""
    shown = {"content", "structured_content", "is_error"}
    return result.model_dump(mode="json", by_alias=True, include=shown)


@pytest.mark.parametrize("mode", MODES)
def test_contents_of_all_kinds_arrive_as_they_were_sent(place: tuple[Way, str], mode: str) -> None:
    way, url = place
    calls: list[tuple[str, dict[str, Any]]] = [
        ("mixed", {}),
        ("picture", {}),
        ("weather", {"city": "Åre \u202e"}),
        ("big", {"size": 300_000}),
        ("fail", {"message": "grün"}),
    ]

    async def whole() -> None:
        async with AsyncExitStack() as stack:
            direct = await stack.enter_async_context(Client(url, mode="legacy"))
            agent = await stack.enter_async_context(ALL[mode][0](way))
            for name, args in calls:
                got = await agent.read(f"plain:{name}", args)
                assert seen(got) == seen(await direct.call_tool(name, args)), name

    talk(whole)


def test_what_looks_like_a_key_is_taken_out_of_an_answer(place: tuple[Way, str]) -> None:
    async def whole() -> Any:
        async with ALL[MODES[0]][0](place[0]) as agent:
            return await agent.read("plain:leak", {})

    text = talk(whole).content[0].text
    assert "ghp_" not in text
    assert text.startswith("the key is ")
    assert text.endswith(", keep it")


def test_an_error_of_the_protocol_is_told_with_the_servers_own_code_and_words(place: tuple[Way, str]) -> None:
    async def whole() -> Any:
        async with ALL[MODES[0]][0](place[0]) as agent:
            return await agent.read("plain:protocol_error", {})

    answer = talk(whole)
    assert answer.is_error
    assert answer.structured_content["code"] == "UPSTREAM_ERROR"
    assert "the peer's own code" in answer.structured_content["message"]
    assert answer.structured_content["data"]["error"]["code"] == -32042


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_wants_to_ask_our_person_is_refused(place: tuple[Way, str], mode: str) -> None:
    async def whole() -> Any:
        async with ALL[mode][0](place[0]) as agent:
            return await agent.read("plain:ask", {})

    answer = talk(whole)
    assert answer.is_error
    assert answer.structured_content["code"] == "UPSTREAM_ASKS"


def test_tools_that_come_in_pages_are_all_known(place: tuple[Way, str]) -> None:
    async def whole() -> list[str]:
        async with ALL[MODES[1]][0](place[0]) as agent:
            found = await agent.call("retrieve_tools", {"server": "paged", "limit": 50})
            for number in (0, 9):
                answer = await agent.read(f"paged:tool_{number}", {})
                assert answer.content[0].text == f"tool_{number}"
            return [tool["name"] for tool in found.structured_content["tools"]]

    assert set(talk(whole)) >= {f"paged:tool_{number}" for number in range(10)}


@pytest.mark.parametrize("mode", MODES)
def test_resources_and_prompts_of_all_servers_are_listed_and_read(place: tuple[Way, str], mode: str) -> None:
    async def whole() -> None:
        async with ALL[mode][0](place[0]) as agent:
            client = agent.client
            uris = [one.uri async for one in _pages(client.list_resources, "resources")]
            assert len(uris) == len(set(uris))
            assert set(uris) >= {f"mcl://paged/paged://{number}" for number in range(10)}
            assert "mcl://plain/notes://all" in uris
            prompts = [one.name async for one in _pages(client.list_prompts, "prompts")]
            assert {"plain:greet", "paged:prompt_9"} <= set(prompts)
            templates = [
                one.uri_template async for one in _pages(client.list_resource_templates, "resource_templates")
            ]
            assert templates == ["mcl://plain/notes://day/{day}"]
            day = await client.read_resource("mcl://plain/notes://day/monday")
            assert day.contents[0].text == "notes of monday"
            pixel = await client.read_resource("mcl://plain/notes://picture")
            assert pixel.contents[0].mime_type == "image/png"
            greeting = await client.get_prompt("plain:greet", {"name": "Ada"})
            assert greeting.messages[0].content.text == "Greet Ada in a warm tone."

    talk(whole)


async def _pages(listing: Any, what: str) -> Any:
    cursor = None
    while True:
        page = await listing(cursor=cursor)
        for one in getattr(page, what):
            yield one
        cursor = page.next_cursor
        if cursor is None:
            return
