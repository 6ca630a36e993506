"""`mcl mcp serve` as a process: nothing but protocol comes out of it, broken input harms nobody, and it ends
as it is told to, with all that it started."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from desks import PATIENCE, Desk, Peers, bearing, first_line, running, talk

from mcl.core.errors import McpError
from mcl.plugins.mcp.http import TOKEN_FILE, listening, token_of

NOISE = """
import atexit, os, subprocess, sys, threading, time

atexit.register(print, "a library says goodbye")

over = threading.Event()

def noise():
    while "mcl.plugins.mcp.server" not in sys.modules:
        time.sleep(0.01)
    subprocess.run(["echo", "a child prints"])
    while not over.wait(0.01):
        print("a library prints")
        os.write(1, b"a library in C prints\\n")
        sys.stdout.write("and this stays in a buffer")

thread = threading.Thread(target=noise, daemon=True)
thread.start()
atexit.register(thread.join)  # Python aborts where a thread prints while it ends
atexit.register(over.set)
"""


@dataclass
class Wire:
    """A server over stdio, spoken to by hand."""

    process: subprocess.Popen[str]

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, id: int, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and read up to its answer."""
        self.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}))
        while True:
            said = self.read()
            if said.get("id") == id:
                return said

    def read(self) -> dict[str, Any]:
        """The next message. Whatever is no message is a failure."""
        assert self.process.stdout is not None
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert said["jsonrpc"] == "2.0"
        return said

    def greet(self) -> None:
        """The handshake."""
        asked = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "0"},
        }
        said = self.ask(1, "initialize", asked)["result"]
        assert said["serverInfo"]["name"] == "mcl"
        self.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def end(self) -> int:
        """Close its input; how it ended."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        return self.process.wait(PATIENCE)


@contextmanager
def wired(desk: Desk, **more: str) -> Iterator[Wire]:
    with running(desk.command("--no-ai"), {**desk.environment, **more}, cwd=desk.workspace) as process:
        yield Wire(process)


def program_of(desk: Desk) -> list[str]:
    """What starts mcl."""
    return desk.command()[:3]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    until = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(pid)


def test_whatever_prints_and_whatever_comes_in_only_messages_go_out(desk: Desk, tmp_path: Path) -> None:
    """One process: broken lines are answered as JSON-RPC has it, requests that are wrong by the SDK's own
    errors, and a call after all of them works."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(NOISE)
    path = f"{tmp_path / 'site'}:{desk.environment['PYTHONPATH']}"
    (desk.workspace / "a.txt").write_text("hello")
    with wired(desk, PYTHONPATH=path) as wire:
        for broken, code in (
            ("no json", -32700),
            ('{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
            ("[1, 2]", -32600),
            ('"' + "x" * (17 << 20) + '"', -32600),
            ("\x00\ud7ff", -32700),
        ):
            wire.send(broken)
            said = wire.read()
            assert (said["id"], said["error"]["code"]) == (None, code), broken[:40]
        wire.send("")
        wire.greet()
        assert wire.ask(2, "no/such/method")["error"]["code"] == -32601
        assert wire.ask(3, "tools/call", {"name": 7})["error"]["code"] == -32602
        assert (
            wire.ask(4, "tools/call", {"name": "call_tool_read", "arguments": []})["error"]["code"] == -32602
        )
        assert wire.ask(5, "resources/read", {"uri": "file:///etc/passwd"})["error"]["code"] == -32602
        unknown = wire.ask(6, "tools/call", {"name": "mcl_accept"})["result"]
        assert (unknown["isError"], unknown["structuredContent"]["code"]) == (True, "UNKNOWN_TOOL")
        for number in ("NaN", "1e999"):  # no JSON; the SDK reads it all the same
            said = f'{{"name": "mcl:fs/read", "args": {{"path": {number}}}, "operation_type": "read"}}'
            call = f'{{"name": "call_tool_read", "arguments": {said}}}'
            wire.send(f'{{"jsonrpc": "2.0", "id": 60, "method": "tools/call", "params": {call}}}')
            told = wire.read()["result"]["structuredContent"]
            assert (told["code"], told["data"]["place"]) == ("BAD_ARGS", "args")
        names = [tool["name"] for tool in wire.ask(7, "tools/list")["result"]["tools"]]
        assert {"call_tool_read", "retrieve_tools", "run_intent", "read_activity"} <= set(names)
        args = {"name": "mcl:fs/read", "args": {"path": "a.txt"}, "operation_type": "read"}
        read = wire.ask(8, "tools/call", {"name": "call_tool_read", "arguments": args})["result"]
        assert read["structuredContent"]["text"] == "hello"
        assert wire.end() == 0
        assert wire.process.stdout is not None
        assert wire.process.stdout.read() == ""
        assert wire.process.stderr is not None
        noise = wire.process.stderr.read()
        assert "a library prints" in noise
        assert "a library in C prints" in noise
        assert "a child prints" in noise
        assert "a library says goodbye" in noise


@pytest.mark.slow
def test_end_of_input_ends_the_server_and_the_servers_that_it_started(
    desk: Desk, peers: Peers, tmp_path: Path
) -> None:
    """A call that is under way then is cancelled, and kept as such."""
    desk.enter("plain", command=peers.command("plain"))
    with wired(desk) as wire:
        wire.greet()
        args = {"name": "plain:look", "args": {"token": "t"}, "intent": {"operation_type": "read"}}
        said = wire.ask(2, "tools/call", {"name": "call_tool_read", "arguments": args})["result"]
        pid = said["structuredContent"]["pid"]
        assert alive(pid)
        slow = {"name": "plain:slow", "args": {"seconds": 60}, "intent": {"operation_type": "read"}}
        params = {"name": "call_tool_read", "arguments": slow}
        wire.send(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}))
        time.sleep(0.3)
        assert wire.end() == 0
        assert gone(pid)
    told = json.loads(desk("activity", "list", "--json").out)["activity"]
    assert [(one["tool"], one["verdict"]) for one in told] == [("slow", "failed"), ("look", "allowed")]
    assert told[0]["code"] == "CANCELLED"


@pytest.mark.slow  # a process of its own and one for its server
def test_a_signal_ends_it_as_well(desk: Desk, peers: Peers) -> None:
    desk.enter("plain", command=peers.command("plain"))
    with wired(desk) as wire:
        wire.greet()
        args = {"name": "plain:look", "args": {"token": "t"}, "intent": {"operation_type": "read"}}
        said = wire.ask(2, "tools/call", {"name": "call_tool_read", "arguments": args})["result"]
        wire.process.send_signal(signal.SIGTERM)
        assert wire.process.wait(PATIENCE) == 0
        assert gone(said["structuredContent"]["pid"])


def request(
    url: str, body: object = None, method: str = "POST", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """One request by hand; `_` in the name of a header stands for `-`."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 0, timeout=PATIENCE)
    try:
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, parts.path, json.dumps(body), sent)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_over_http_nothing_is_had_without_the_token_or_by_a_page(desk: Desk) -> None:
    with desk.over_http("--no-ai") as (url, token):
        file = desk.home / "mcp-token"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert token not in " ".join(Path("/proc/self/cmdline").read_text().split("\0"))
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        bearer = f"Bearer {token}"
        status, headers, body = request(url, ping)
        assert (status, json.loads(body)["code"]) == (401, "BAD_TOKEN")
        assert headers["www-authenticate"].startswith("Bearer")
        assert token not in body.decode()
        for wrong in (f"Bearer {token}x", token, "Bearer ", "Basic Og==", f"bearer{token}"):
            assert request(url, ping, Authorization=wrong)[0] == 401
        assert request(url, ping, "GET")[0] == 401
        assert request(url.replace("/mcp", "/other"), ping)[0] == 401
        assert request(url, ping, Authorization=bearer, Origin="https://evil.example")[0] == 403
        assert request(url, ping, Authorization=bearer, Host="evil.example")[0] == 421
        parts = urlsplit(url)
        own = f"http://{parts.netloc}"
        assert request(url, ping, Authorization=bearer, Origin=own)[0] not in (401, 403, 421)
        assert request(url, "x" * (5 << 20), Authorization=bearer)[0] == 413


def test_over_http_several_clients_are_served_at_once_each_by_its_own_era(desk: Desk) -> None:
    """None gets what is another's, and a client that is gone harms nobody."""
    for name in ("a", "b", "c", "d"):
        (desk.workspace / f"{name}.txt").write_text(name * 100)
    with desk.over_http("--no-ai") as (url, token):

        async def client(name: str, mode: str) -> None:
            from mcp import Client

            async with bearing(url, token) as server, Client(server, mode=mode) as opened:
                said = opened.server_capabilities
                assert said.tools.list_changed
                assert said.resources.list_changed
                assert said.prompts.list_changed
                for _ in range(5):
                    args = {"name": "mcl:fs/read", "args": {"path": f"{name}.txt"}, "reason": "to look"}
                    said = await opened.call_tool("call_tool_read", args)
                    assert said.structured_content["text"] == name * 100

        async def all_of_them() -> None:
            async with anyio.create_task_group() as tasks:
                for name, mode in (("a", "legacy"), ("b", "auto"), ("c", "legacy"), ("d", "auto")):
                    tasks.start_soon(client, name, mode)

        talk(all_of_them)
    told = json.loads(desk("activity", "list", "--json", "--limit", "50").out)["activity"]
    assert len(told) == 20
    assert {one["verdict"] for one in told} == {"allowed"}


@pytest.mark.slow
def test_over_http_it_stops_when_it_is_asked_to(desk: Desk) -> None:
    command = desk.command("--http", "--port", "0", "--no-ai")
    with running(command, desk.environment, cwd=desk.workspace) as process:
        said = json.loads(first_line(process, "stderr", lambda line: '"listening"' in line))
        assert urlsplit(said["url"]).hostname == "127.0.0.1"
        token = Path(said["token_file"]).read_text().strip()

        async def cut_off() -> None:
            """A call that is under way then: its client is told, and the server says nothing of a fault."""
            from mcp import Client, MCPError

            args = {"name": "mcl:fs/watch", "args": {"path": ".", "seconds": 60}, "reason": "to wait"}
            async with bearing(said["url"], token) as server, Client(server) as client:
                async with anyio.create_task_group() as tasks:

                    async def call() -> None:
                        with pytest.raises(MCPError):
                            await client.call_tool("call_tool_read", args)

                    tasks.start_soon(call)
                    await anyio.sleep(0.5)
                    process.send_signal(signal.SIGINT)
                assert await anyio.to_thread.run_sync(process.wait, PATIENCE) == 0

        with suppress(BaseExceptionGroup):  # of a client whose server is gone when it says goodbye
            talk(cut_off)
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("host", "port", "code"),
    [
        ("0.0.0.0", 0, "NOT_LOOPBACK"),
        ("::", 0, "NOT_LOOPBACK"),
        ("192.0.2.1", 0, "NOT_LOOPBACK"),
        ("example.org", 0, "NOT_LOOPBACK"),
        ("127.0.0.1", 70000, "BAD_PORT"),
        ("127.0.0.1", -1, "BAD_PORT"),
        ("127.0.0.1", None, "PORT_TAKEN"),
    ],
)
def test_what_cannot_be_listened_on_is_refused(host: str, port: int | None, code: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(McpError) as caught,
        listening(host, taken.getsockname()[1] if port is None else port),
    ):
        pass
    assert caught.value.code == code
    assert caught.value.fix


def test_other_machines_get_in_only_where_a_person_says_so() -> None:
    with listening("0.0.0.0", 0, anywhere=True) as bound:
        assert bound.getsockname()[0] == "0.0.0.0"


def test_a_token_is_made_once_and_one_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    token = token_of(tmp_path)
    assert len(token) >= 43
    assert token_of(tmp_path) == token
    file = tmp_path / TOKEN_FILE
    file.chmod(0o644)
    for broken in (token, "short", "", "\x00" * 50, "ü" * 50):
        file.write_text(broken)
        with pytest.raises(McpError) as caught:
            token_of(tmp_path)
        assert caught.value.code == "BAD_TOKEN_FILE"
        file.chmod(0o600)


@pytest.mark.slow  # five processes
def test_what_it_cannot_do_without_is_said_at_once(desk: Desk) -> None:
    """Sealed keys, no workspace, no standard input."""
    unnamed = subprocess.run(
        desk.command(), cwd="/", env=desk.environment, input="", capture_output=True, text=True
    )
    assert (unnamed.returncode, unnamed.stdout) == (2, "")
    assert "code  NO_WORKSPACE" in unnamed.stderr
    program, *arguments = desk.command()
    closed = subprocess.run(
        ["sh", "-c", '"$0" "$@" <&-', program, *arguments],
        cwd=desk.workspace,
        env=desk.environment,
        capture_output=True,
        text=True,
    )
    assert "code  NO_STANDARD_STREAMS" in closed.stderr
    usage = desk("mcp", "serve", "--port", "1", expect=2)
    assert "go with --http" in usage.err
    sealed = {**desk.environment, "MCL_HOME": str(desk.home) + "-sealed"}
    with_words = {**sealed, "MCL_PASSPHRASE": "words"}
    subprocess.run([*program_of(desk), "init"], env=with_words, check=True, capture_output=True)
    ended = subprocess.run(
        desk.command(), cwd=desk.workspace, env=sealed, input="", capture_output=True, text=True
    )
    assert "code  KEYS_SEALED" in ended.stderr
    assert os.listdir(sealed["MCL_HOME"])  # noqa: PTH208
