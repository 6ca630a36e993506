"""Resources, templates, prompts and completion of other servers, through `mcl mcp serve`, in both eras."""

from __future__ import annotations

import sys
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from desks import Desk, Peers, bearing, surroundings, talk
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import (
    INVALID_PARAMS,
    PromptReference,
    ReadResourceRequest,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplateReference,
)

from executor import Home
from executor.gate.pins import Pins
from mcl.catalog.definitions import Definitions
from mcl.catalog.servers import Servers
from mcl.core.home import open_home
from mcl.plugins.mcp.process import opened
from mcl.plugins.mcp.proxy.handlers import LEFT_OUT, REFUSED
from mcl.plugins.mcp.proxy.lists import Merged
from mcl.plugins.mcp.records import CallRecord, Filters, Reader
from mcl.plugins.mcp.service import GoalCompiler

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
warnings.simplefilter("ignore", MCPDeprecationWarning)
ERAS = ("legacy", "auto")


class Place:
    """One running `mcl mcp serve --http` with five servers: board and plain (approved), many (130 resources),
    waiting (nobody approved it), dead (ends at once)."""

    def __init__(self, desk: Desk, folder: Path, address: str, token: str) -> None:
        self.desk, self.folder, self.address, self.token = desk, folder, address, token

    @asynccontextmanager
    async def client(self, mode: str, **more: Any) -> AsyncIterator[Any]:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(bearing(self.address, self.token))
            yield await stack.enter_async_context(Client(server, mode=mode, cache=None, **more))

    def asked(self, server: str, tool: str) -> list[CallRecord]:
        """The records of calls of a tool, the newest first."""
        with open_home(self.desk.home) as home:
            return list(Reader(home).page(Filters({"server": (server,), "tool": (tool,)}), limit=20).calls)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("proxying")
    desk = Desk(folder / "home", folder / "work", surroundings(folder))
    desk.workspace.mkdir()
    peers = Peers(desk.workspace, desk.environment)
    with ExitStack() as stack:
        desk.enter("board", command=peers.command("board"))
        desk.enter("plain", url=stack.enter_context(peers.http("plain")))
        desk.enter("many", command=peers.command("paged", "--count", "130", "--page", "50"))
        desk.enter("waiting", command=peers.command("plain"), seen=False)
        desk.enter("dead", command=[sys.executable, "-c", "raise SystemExit(7)"], seen=False)
        place = Place(desk, desk.workspace, *stack.enter_context(desk.over_http()))

        async def ready() -> None:
            async with place.client("auto") as client:
                await _settled(client, dead="SERVER_DOWN", waiting="TOOL_QUARANTINED")

        talk(ready)
        yield place


async def _all(listing: Callable[..., Awaitable[Any]], member: str) -> list[Any]:
    found, cursor = [], None
    while True:
        page = await listing(cursor=cursor)
        found += getattr(page, member)
        cursor = page.next_cursor
        if cursor is None:
            return found


async def _settled(client: Any, **missing: str) -> Any:
    """The first page of resources, once just these servers are left out, with these codes."""
    while True:
        page = await client.list_resources()
        if {one["server"]: one["code"] for one in (page.meta or {}).get(LEFT_OUT, [])} == missing:
            return page
        await anyio.sleep(0.1)


async def _call(client: Any, name: str, args: dict[str, Any]) -> Any:
    said = {"name": name, "args": args, "intent": {"operation_type": "read", "reason": "a test"}}
    return await client.call_tool("call_tool_read", said)


@pytest.mark.parametrize("mode", ERAS)
def test_what_all_servers_have_is_one_list_and_who_is_missing_is_named(place: Place, mode: str) -> None:
    logged: list[Any] = []

    async def log(params: Any) -> None:
        logged.append(params.data)

    async def whole() -> None:
        async with place.client(mode, logging_callback=log, log_level="info") as client:
            first = await client.list_resources()
            resources = await _all(client.list_resources, "resources")
            uris = [one.uri for one in resources]
            assert len(uris) == len(set(uris))
            assert {one.split("/")[2] for one in uris} == {"board", "plain", "many"}
            assert {"mcl://board/board://news", "mcl://plain/notes://all", "mcl://many/paged://129"} <= set(
                uris
            )
            missing = {one["server"]: one["code"] for one in first.meta[LEFT_OUT]}
            assert missing == {"dead": "SERVER_DOWN", "waiting": "TOOL_QUARANTINED"}
            assert "dead, waiting" in str(logged[0])
            assert "mcl tool approve waiting:resources/read" in str(first.meta[LEFT_OUT])
            prompts = [one.name for one in await _all(client.list_prompts, "prompts")]
            assert {"board:sum_up", "plain:greet", "many:prompt_129"} <= set(prompts)
            (greet,) = [
                one for one in await _all(client.list_prompts, "prompts") if one.name == "plain:greet"
            ]
            assert [(one.name, one.required) for one in greet.arguments] == [("name", True), ("tone", False)]
            templates = await _all(client.list_resource_templates, "resource_templates")
            assert [one.uri_template for one in templates] == [
                *("mcl://board/board://slow/{name}", "mcl://plain/notes://day/{day}")
            ]
            hidden = next(one for one in resources if one.uri == "mcl://board/board://hidden")
            assert hidden.name == "hid\\u200bden"
            assert "\u202e" not in hidden.description
            assert "\U000e0041" not in hidden.description

    talk(whole)


@pytest.mark.parametrize("mode", ERAS)
def test_pages_end_where_the_next_begins_and_no_cursor_can_be_made_up(place: Place, mode: str) -> None:
    async def whole() -> None:
        async with place.client(mode) as client:
            first = await client.list_resources()
            assert len(first.resources) == 100
            again = await client.list_resources(cursor=first.next_cursor)
            both = [one.uri for one in (*first.resources, *again.resources)]
            assert both == sorted(both)
            assert again.next_cursor is None
            for cursor in ("", "x", first.next_cursor[:-2] + "AA", first.next_cursor * 2):
                if cursor:
                    with pytest.raises(MCPError) as refused:
                        await client.list_resources(cursor=cursor)
                    assert refused.value.code == INVALID_PARAMS
            with pytest.raises(MCPError) as refused:
                await client.list_prompts(cursor=first.next_cursor)
            assert refused.value.code == INVALID_PARAMS
            assert refused.value.data["code"] == "BAD_CURSOR"

    talk(whole)


@pytest.mark.parametrize("mode", ERAS)
def test_a_resource_is_read_through_the_gate_and_kept_as_a_call(place: Place, mode: str) -> None:
    async def whole() -> None:
        async with place.client(mode) as client:
            day = await client.read_resource("mcl://plain/notes://day/monday")
            assert [(one.uri, one.text) for one in day.contents] == [
                ("mcl://plain/notes://day/monday", "notes of monday")
            ]
            pixel = await client.read_resource("mcl://plain/notes://picture")
            assert pixel.contents[0].mime_type == "image/png"
            assert pixel.contents[0].blob.startswith("iVBOR")
            key = await client.read_resource("mcl://board/board://key")
            assert key.contents[0].text.startswith("it is [redacted")

    talk(whole)
    kept = place.asked("plain", "resources/read")
    assert [one.given_args for one in kept[:2]] == [{"uri": "notes://picture"}, {"uri": "notes://day/monday"}]
    assert {(one.verdict, one.variant, one.operation_type) for one in kept} == {("allowed", "", "read")}


@pytest.mark.parametrize("mode", ERAS)
def test_what_cannot_be_read_says_why_and_what_to_do(place: Place, mode: str) -> None:
    async def refused(client: Any, uri: str) -> MCPError:
        with pytest.raises(MCPError) as told:
            await client.read_resource(uri)
        return told.value

    async def whole() -> None:
        async with place.client(mode) as client:
            waiting = await refused(client, "mcl://waiting/notes://all")
            assert (waiting.code, waiting.data["code"]) == (REFUSED, "TOOL_QUARANTINED")
            assert "mcl tool approve waiting:resources/read" in waiting.data["fix"]
            for uri in ("notes://all", "mcl://plain", "mcl://nobody/x://y", "mcl://mcl/fs/read"):
                assert (await refused(client, uri)).code == INVALID_PARAMS
            large = await refused(client, "mcl://board/board://large")
            assert large.data["code"] in ("OUTPUT_TOO_LARGE", "RESULT_TOO_LARGE")
            unknown = await refused(client, "mcl://board/board://nothing")
            assert unknown.data["code"] == "UPSTREAM_ERROR"
            assert unknown.code == unknown.data["data"]["error"]["code"]
            # What was refused harms nothing else.
            assert (await client.read_resource("mcl://board/board://news")).contents

    talk(whole)
    assert place.asked("waiting", "resources/read")[0].code == "TOOL_QUARANTINED"


@pytest.mark.parametrize("mode", ERAS)
def test_reading_tells_its_progress_and_can_be_cancelled(place: Place, mode: str) -> None:
    told: list[tuple[float, float | None, str | None]] = []
    name = f"for-{mode}"

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    def read(name: str) -> ReadResourceRequest:
        return ReadResourceRequest(params=ReadResourceRequestParams(uri=f"mcl://board/board://slow/{name}"))

    async def whole() -> None:
        async with place.client(mode) as client:
            send = client.session.send_request
            got = await send(read("now"), ReadResourceResult, progress_callback=progress)
            assert got.contents[0].text == "at once"
            assert told == [(step, 3, f"step {step}") for step in (1, 2, 3)]
            async with anyio.create_task_group() as group:
                group.start_soon(send, read(name), ReadResourceResult)
                while not (place.folder / f"{name}.started").exists():
                    await anyio.sleep(0.05)
                group.cancel_scope.cancel()
            while not (place.folder / f"{name}.cancelled").exists():
                await anyio.sleep(0.05)
            while (kept := place.asked("board", "resources/read")[0]).code != "CANCELLED":
                await anyio.sleep(0.05)
            assert (kept.verdict, kept.given_args) == ("failed", {"uri": f"board://slow/{name}"})

    talk(whole)


@pytest.mark.parametrize("mode", ERAS)
def test_a_prompt_is_got_with_its_arguments(place: Place, mode: str) -> None:
    async def whole() -> None:
        async with place.client(mode) as client:
            got = await client.get_prompt("plain:greet", {"name": "Ada", "tone": "cool"})
            assert [one.content.text for one in got.messages] == ["Greet Ada in a cool tone."]
            assert (await client.get_prompt("board:sum_up")).messages[0].role == "user"
            for name in ("greet", "mcl:greet", "nobody:greet"):
                with pytest.raises(MCPError) as refused:
                    await client.get_prompt(name)
                assert refused.value.code == INVALID_PARAMS
            with pytest.raises(MCPError) as failed:
                await client.get_prompt("plain:greet", {})
            assert failed.value.data["code"] == "UPSTREAM_ERROR"

    talk(whole)
    assert {"name": "greet", "arguments": {"name": "Ada", "tone": "cool"}} in [
        one.given_args for one in place.asked("plain", "prompts/get")
    ]


@pytest.mark.parametrize("mode", ERAS)
def test_an_argument_is_completed_by_the_server_that_has_it(place: Place, mode: str) -> None:
    async def whole() -> None:
        async with place.client(mode) as client:
            prompt = PromptReference(name="plain:greet")
            found = await client.complete(prompt, {"name": "name", "value": "t"})
            assert found.completion.values == ["tuesday", "thursday"]
            template = ResourceTemplateReference(uri="mcl://plain/notes://day/{day}")
            found = await client.complete(template, {"name": "day", "value": "mon"}, {"month": "may"})
            assert found.completion.values == ["monday"]
            waiting = PromptReference(name="waiting:greet")
            with pytest.raises(MCPError) as refused:
                await client.complete(waiting, {"name": "name", "value": "secret"})
            assert refused.value.data["code"] == "TOOL_QUARANTINED"

    talk(whole)
    (last, *_) = place.asked("plain", "completion/complete")
    assert last.given_args["argument"] == {"name": "day", "value": "mon"}
    assert place.asked("waiting", "completion/complete")[0].verdict == "denied"


class News:
    """What a client was told outside its requests."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._some = anyio.Event()

    async def hear(self, message: Any) -> None:
        self.note(getattr(message, "method", ""), getattr(getattr(message, "params", None), "uri", ""))

    def note(self, method: str, uri: str = "") -> None:
        self.told.append(f"{method.removeprefix('notifications/')} {uri}".strip())
        self._some.set()

    async def wait(self, wanted: str) -> None:
        while wanted not in self.told:
            self._some = anyio.Event()
            await self._some.wait()


def test_a_client_of_the_handshake_era_hears_of_what_it_subscribed_to(place: Place) -> None:
    async def whole() -> None:
        news = News()
        async with (
            place.client("legacy", message_handler=news.hear) as client,
            place.client("legacy") as other,
        ):
            assert client.server_capabilities.resources.subscribe
            await client.subscribe_resource("mcl://board/board://news")
            await _call(other, "board:post", {"text": "heard"})
            await news.wait("resources/updated mcl://board/board://news")
            await client.unsubscribe_resource("mcl://board/board://news")
            news.told.clear()
            await _call(other, "board:post", {"text": "unheard"})
            await client.read_resource("mcl://board/board://news")
            assert news.told == []
            for uri in ("mcl://waiting/notes://all", "board://news"):
                with pytest.raises(MCPError):  # nobody approved it; no address
                    await client.subscribe_resource(uri)

    talk(whole)


def test_a_client_of_the_modern_era_hears_of_what_it_listens_for(place: Place) -> None:
    async def whole() -> None:
        async with place.client("auto") as client, place.client("auto") as other:
            wanted = ["mcl://board/board://news", "mcl://waiting/notes://all", "nonsense"]
            async with client.listen(resource_subscriptions=wanted) as events:
                assert events.honored.resource_subscriptions == wanted[:1]
                await _call(other, "board:post", {"text": "heard"})
                event = await anext(events)
                assert event.uri == wanted[0]

    talk(whole)


@pytest.mark.parametrize("mode", ERAS)
def test_clients_are_told_that_the_lists_of_a_server_changed(place: Place, mode: str) -> None:
    name = f"of-{mode}"

    async def whole() -> None:
        news = News()
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(place.client(mode, message_handler=news.hear))
            if mode == "auto":
                listening = client.listen(resources_list_changed=True, prompts_list_changed=True)
                await stack.enter_async_context(listening)
            await _call(client, "board:hang", {"name": name})
            await news.wait("resources/list_changed")
            await news.wait("prompts/list_changed")
            uris = [one.uri for one in await _all(client.list_resources, "resources")]
            assert f"mcl://board/board://{name}" in uris
            prompts = [one.name for one in await _all(client.list_prompts, "prompts")]
            assert f"board:{name}" in prompts

    talk(whole)


def test_a_client_by_other_hands_reads_gets_and_completes_too(place: Place) -> None:
    from fastmcp import Client as Other
    from fastmcp.client.transports import StreamableHttpTransport

    async def whole() -> None:
        async with Other(StreamableHttpTransport(place.address, auth=place.token)) as client:
            uris = [str(one.uri) for one in await client.list_resources()]
            assert "mcl://plain/notes://all" in uris
            assert len(uris) > 130  # it reads all pages
            for uri, text in (("notes://day/friday", "notes of friday"), ("notes://all", "no notes")):
                (read,) = await client.read_resource(f"mcl://plain/{uri}")
                assert read.text == text
            got = await client.get_prompt("plain:greet", {"name": "Ada"})
            assert got.messages[0].content.text == "Greet Ada in a warm tone."
            found = await client.complete(PromptReference(name="plain:greet"), {"name": "name", "value": "f"})
            assert found.values == []

    talk(whole)


def test_a_server_that_never_answers_is_not_waited_for(home: Home, workspace: Path, peers: Peers) -> None:
    variables = {name: text for name, text in peers.environment.items() if name != "MCL_HOME"}
    servers, definitions = Servers(home), Definitions(home)
    servers.add("mute", command=[sys.executable, "-c", "import time; time.sleep(600)"], environment=variables)
    servers.add("board", command=peers.command("board"), environment=variables)
    servers.trust("board")

    async def whole() -> None:
        async with opened(home, workspace, GoalCompiler(home, ai=False)) as face:
            await face._session.upstreams.listing("board", "resources")
            for known in definitions.known():
                Pins(home).approve(known.manifest)
            lists = Merged(face._session, wait_s=0.3)
            for kind, waited in (("resources", "0.3 s"), ("resources", "0.2 s"), ("templates", "0.2 s")):
                page = await lists.page(kind)
                assert (
                    any(one.get("uri") == "mcl://board/board://news" for one in page.items) or kind[0] == "t"
                )
                assert [(one.server, one.code) for one in page.left_out] == [("mute", "SERVER_SLOW")]
                assert f"within {waited}" in page.left_out[0].message, "only the first list is kept waiting"

    talk(whole)


@pytest.mark.slow
def test_over_stdio_it_is_the_same(tmp_path: Path, desk: Desk, peers: Peers) -> None:
    desk.enter("board", command=peers.command("board"))

    async def whole() -> None:
        async with desk.client(mode="auto") as client:
            resources = await _settled(client)
            assert "mcl://board/board://news" in [one.uri for one in resources.resources]
            assert (await client.read_resource("mcl://board/board://news")).contents[0].text == "nothing yet"
            called = await _call(client, "board:resources/read", {"uri": "board://news"})
            assert called.structured_content["contents"][0]["text"] == "nothing yet"
            wrong = await _call(client, "board:resources/read", {})
            assert wrong.structured_content["code"] == "INVALID_ARGS"

    talk(whole)
