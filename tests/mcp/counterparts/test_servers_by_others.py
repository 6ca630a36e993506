"""Servers by other hands answer through the proxy as they do directly: Python's and npm's, by stdio and HTTP.

The same client asks each server directly and through `mcl mcp serve`; what it gets must be equal, block by
block. The SDK's own examples are those that npm's SDK brings along; those of the Python SDK's repository are
not in its package, and `peers/plain.py` and `peers/paged.py` have their shape.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
from desks import Desk, first_line, running, surroundings, talk
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.npm import npm_package


@dataclass
class Counterpart:
    """A server, and calls whose answers are always the same."""

    calls: list[tuple[str, dict[str, Any]]]
    command: list[str] = field(default_factory=list)
    url: str = ""
    network: bool = False  # does it go to the network, and may the agent?


def npm(package: str, *parts: str) -> list[str]:
    """How a script of an npm package is started; skips where there is none."""
    return ["node", str(npm_package(f"@modelcontextprotocol/{package}").joinpath(*parts))]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def a_repository(folder: Path) -> Path:
    place = folder / "repository"
    place.mkdir()
    (place / "poem.txt").write_text("Rosen sind rot.\nVeilchen sind blau.\n")
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["commit", "-q", "-m", "Write two lines – grün"],
    ):
        subprocess.run([*git, *words], cwd=place, check=True, env=surroundings(folder))
    (place / "poem.txt").write_text("Rosen sind rot.\nNelken auch.\n")
    return place


def git(folder: Path, stack: ExitStack) -> Counterpart:
    path = str(a_repository(folder))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("git_status", {"repo_path": path}),
        ("git_log", {"repo_path": path, "max_count": 3}),
        ("git_diff_unstaged", {"repo_path": path}),
        ("git_show", {"repo_path": path, "revision": "no-such-revision"}),
    ]
    return Counterpart(calls, [sys.executable, "-m", "mcp_server_git", "--repository", path])


def time(folder: Path, stack: ExitStack) -> Counterpart:
    there = {"source_timezone": "Europe/Stockholm", "target_timezone": "Asia/Tokyo", "time": "16:30"}
    calls = [("convert_time", there), ("convert_time", {**there, "time": "late"})]
    return Counterpart(
        calls, [sys.executable, "-m", "mcp_server_time", "--local-timezone", "Europe/Stockholm"]
    )


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


def fetch(folder: Path, stack: ExitStack) -> Counterpart:
    site = folder / "site"
    site.mkdir()
    (site / "robots.txt").write_text("User-agent: *\nDisallow: /private\n")
    (site / "page.html").write_text("<html><body><h1>Hello</h1><p>A page <b>for</b> tests.</p></body></html>")
    (site / "data.json").write_text('{"answer": 42}')
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("fetch", {"url": f"{root}/page.html"}),
        ("fetch", {"url": f"{root}/data.json", "raw": True, "max_length": 9}),
        ("fetch", {"url": f"{root}/private"}),
    ]
    command = [sys.executable, "-m", "mcp_server_fetch", "--allow-private-ips"]
    return Counterpart(calls, command, network=True)


def filesystem(folder: Path, stack: ExitStack) -> Counterpart:
    place = folder / "files"
    (place / "deep").mkdir(parents=True)
    (place / "notes.txt").write_text("eins\nzwei – drei\n")
    (place / "deep" / "pixel.png").write_bytes(bytes.fromhex("89504e470d0a1a0a00ff"))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_text_file", {"path": str(place / "notes.txt")}),
        ("read_media_file", {"path": str(place / "deep" / "pixel.png")}),
        ("directory_tree", {"path": str(place)}),
        ("read_text_file", {"path": "/etc/hostname"}),
    ]
    return Counterpart(calls, [*npm("server-filesystem", "dist", "index.js"), str(place)])


EVERYTHING: list[tuple[str, dict[str, Any]]] = [
    ("echo", {"message": "grüße \u202e 🌍"}),
    ("get-sum", {"a": 2, "b": 40}),
    ("get-tiny-image", {}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-resource-links", {"count": 3}),
]


def everything(folder: Path, stack: ExitStack) -> Counterpart:
    return Counterpart(EVERYTHING, [*npm("server-everything", "dist", "index.js"), "stdio"])


def everything_over_http(folder: Path, stack: ExitStack) -> Counterpart:
    port = free_port()
    command = [*npm("server-everything", "dist", "index.js"), "streamableHttp"]
    process = stack.enter_context(running(command, {**surroundings(folder), "PORT": str(port)}))
    first_line(process, "stderr", lambda line: "listening" in line)
    return Counterpart(EVERYTHING, url=f"http://127.0.0.1:{port}/mcp")


def example_over_http(folder: Path, stack: ExitStack) -> Counterpart:
    port = free_port()
    command = npm("sdk", "dist", "esm", "examples", "server", "simpleStreamableHttp.js")
    process = stack.enter_context(running(command, {**surroundings(folder), "MCP_PORT": str(port)}))
    first_line(process, "stdout", lambda line: "listening" in line)
    return Counterpart([("multi-greet", {"name": "Ada"})], url=f"http://127.0.0.1:{port}/mcp")


def peer_over_http(folder: Path, stack: ExitStack) -> Counterpart:
    command = [sys.executable, str(Path(__file__).parents[1] / "peers" / "plain.py"), "--folder", str(folder)]
    process = stack.enter_context(running([*command, "--http", "--json-answers"], surroundings(folder)))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("weather", {"city": "Berlin"}),
        ("mixed", {}),
        ("picture", {}),
        ("fail", {"message": "no"}),
    ]
    return Counterpart(calls, url=first_line(process, "stdout"))


QUICK = (filesystem,)
LONG = (git, time, fetch, everything, everything_over_http, example_over_http, peer_over_http)
Maker = Callable[[Path, ExitStack], Counterpart]


@pytest.fixture(params=[*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in LONG)])
def counterpart(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Counterpart]:
    maker: Maker = request.param
    with ExitStack() as stack:
        yield maker(tmp_path, stack)


def test_a_server_answers_through_the_proxy_as_it_does_directly(desk: Desk, counterpart: Counterpart) -> None:
    desk.enter("other", command=counterpart.command, url=counterpart.url, seen=False)

    if counterpart.network:
        desk("grant", "add", "network")

    async def whole() -> None:
        async with AsyncExitStack() as stack:
            server: Any = counterpart.url
            if counterpart.command:
                program, *rest = counterpart.command
                server = StdioServerParameters(command=program, args=rest, env=desk.environment)
            direct = await stack.enter_async_context(Client(server))
            ours = await stack.enter_async_context(desk.client())
            await anyio.to_thread.run_sync(desk.approve, "other")
            tools = {tool.name: tool for tool in (await direct.list_tools()).tools}
            for name, args in counterpart.calls:
                expected = await direct.call_tool(name, args)
                found = await ours.call_tool("describe_tool", {"name": f"other:{name}"})
                assert found.structured_content["definition"]["inputSchema"] == tools[name].input_schema
                said = {"name": f"other:{name}", "args": args, "intent": {"operation_type": "read"}}
                got = await ours.call_tool("call_tool_read", said)
                assert shown(got) == shown(expected), name

    talk(whole)


def shown(result: Any) -> Any:
    """What a client can see of an answer."""
    return result.model_dump(
        mode="json", by_alias=True, include={"content", "structured_content", "is_error"}
    )
