"""Real servers and clients for tests: peers as processes, and `mcl mcp serve` under the SDK's Client.

Starting Python with the SDK takes most of a second of a core: let a test do much with one server.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from executor import Home
from executor.gate.pins import Pins
from mcl.catalog.definitions import Definitions
from mcl.catalog.manifests import is_pseudo
from mcl.catalog.servers import Servers
from mcl.core.home import open_home
from mcl.plugins.mcp.outside import OutsideTools
from mcl.plugins.mcp.upstream.upstreams import Upstreams
from tests.conftest import make_home

PEERS = Path(__file__).parent / "peers"
PATIENCE = 60  # seconds; a busy machine is no failure


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


@contextmanager
def running(argv: list[str], environment: Mapping[str, str], **more: Any) -> Iterator[subprocess.Popen[str]]:
    """A process with pipes, in a session of its own; it and all of its session are gone afterwards."""
    process = subprocess.Popen(
        argv, env=dict(environment), text=True, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
    )  # fmt: skip
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)


def first_line(process: subprocess.Popen[str], which: str, fits: Callable[[str], bool] = bool) -> str:
    """The first line on stdout or stderr that fits; AssertionError with what was said where none comes."""
    stream = getattr(process, which)
    said, until = b"", time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as waiting:
        waiting.register(stream, selectors.EVENT_READ)
        while time.monotonic() < until:
            for line in said.decode(errors="replace").splitlines(keepends=True):
                if line.endswith("\n") and fits(line):
                    return line.strip()
            if not waiting.select(1):
                continue
            more = os.read(stream.fileno(), 65536)
            if not more:
                break
            said += more
    raise AssertionError(f"{process.args} said only {said.decode(errors='replace')!r} on {which}")


@dataclass(frozen=True)
class Peers:
    """The servers in ``peers/``. folder: where they keep what they did (``--folder``)."""

    folder: Path
    environment: Mapping[str, str]

    def command(self, name: str, *options: str) -> list[str]:
        """What starts the server over stdio."""
        return [sys.executable, str(PEERS / f"{name}.py"), "--folder", str(self.folder), *options]

    @contextmanager
    def http(self, name: str, *options: str) -> Iterator[str]:
        """The server as a process that serves over HTTP; gives its address."""
        with running(self.command(name, "--http", *options), self.environment) as process:
            yield first_line(process, "stdout")


@dataclass
class Desk:
    """A home and a workspace as they are used from outside: by commands, and by agents over MCP."""

    home: Path
    workspace: Path
    environment: dict[str, str]
    served: list[str] = field(default_factory=list)  # options of `mcl mcp serve`, for all clients

    def __call__(self, *arguments: str, stdin: str = "", expect: int | None = 0) -> Ended:
        """Run mcl as a process of its own. expect: the exit code that it must have; None takes any."""
        if "install" not in arguments or "--write" in arguments:
            make_home(Path(self.environment["MCL_HOME"]))
        done = subprocess.run(
            [sys.executable, "-m", "mcl", *arguments],
            cwd=self.workspace, env=self.environment, input=stdin,
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert expect is None or done.returncode == expect, (
            arguments,
            done.returncode,
            done.stdout,
            done.stderr,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def enter(
        self,
        name: str,
        *,
        command: Sequence[str] = (),
        url: str = "",
        trusted: bool = True,
        seen: bool = True,
    ) -> None:
        """Enter a server by the library, quicker than by commands.

        seen: connect to it once and approve what it offers; else nobody knows its tools (`approve`).
        """
        with open_home(make_home(self.home)) as home:
            servers, variables = Servers(home), {} if url else {**self.environment}
            variables.pop("MCL_HOME", None)
            servers.add(name, command=command, folder=self.workspace, environment=variables, url=url)
            if trusted:
                servers.trust(name)
            if seen:
                talk(lambda: _seen(home, name))
        if seen:
            self.approve(name)

    def approve(self, *names: str, kinds: int = 1) -> None:
        """Approve all that these servers offer, as soon as somebody connected to them.

        kinds: how many of tools, resources and prompts they have; their lists come one after another.
        """
        with open_home(self.home) as home:
            pins, definitions, until = (
                Pins(home),
                Definitions(home),
                time.monotonic() + PATIENCE,
            )
            for name in names:
                while True:
                    known = [one for one in definitions.known() if one.server == name]
                    pseudo = sum(is_pseudo(one.tool) for one in known)
                    if len(known) > pseudo >= kinds - 1:
                        break
                    assert time.monotonic() < until, f"nobody connected to {name}"
                    time.sleep(0.05)
                for one in known:
                    pins.approve(one.manifest)

    def command(self, *options: str) -> list[str]:
        """What an agent starts."""
        return [sys.executable, "-m", "mcl", "mcp", "serve", *self.served, *options]

    def parameters(self, *options: str) -> Any:
        """The same for the SDK's ``stdio_client``."""
        from mcp.client.stdio import StdioServerParameters

        program, *arguments = self.command(*options)
        return StdioServerParameters(
            command=program, args=arguments, env=self.environment, cwd=self.workspace
        )

    @contextmanager
    def over_http(self, *options: str) -> Iterator[tuple[str, str]]:
        """`mcl mcp serve --http` as a process; gives its address and the bearer token."""
        make_home(self.home)
        command = self.command("--http", "--port", "0", *options)
        with running(command, self.environment, cwd=self.workspace) as process:
            said = json.loads(first_line(process, "stderr", lambda line: '"listening"' in line))
            yield said["url"], Path(said["token_file"]).read_text().strip()

    @asynccontextmanager
    async def client(self, *options: str, http: bool = False, **of_client: Any) -> AsyncIterator[Any]:
        """The SDK's Client on `mcl mcp serve`, by stdio or HTTP. of_client: mode, callbacks and the like."""
        from mcp import Client

        async with AsyncExitStack() as stack:
            if http:
                address, token = stack.enter_context(self.over_http(*options))
                server: Any = await stack.enter_async_context(bearing(address, token))
            else:
                server = self.parameters(*options)
            yield await stack.enter_async_context(Client(server, **of_client))


async def _seen(home: Home, name: str) -> None:
    """Connect to a server once, so that its tools are known."""
    outside = OutsideTools(Definitions(home))
    async with Upstreams(Servers(home), on_listing=outside.heard) as upstreams:
        (status,) = await upstreams.start(name)
        assert status.state == "up", status
        for kind in ("tools", "resources", "templates", "prompts"):
            await upstreams.listing(name, kind)


def surroundings(folder: Path) -> dict[str, str]:
    kept = ("PATH", "LANG", "SYSTEMROOT", "VIRTUAL_ENV")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "HOME": str(folder),
        "MCL_HOME": str(folder / "home"),
        "COLUMNS": "100",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }


@asynccontextmanager
async def bearing(address: str, token: str) -> AsyncIterator[Any]:
    """The SDK's transport to an address, with a bearer token."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as http:
        yield streamable_http_client(address, http_client=http)


def talk(conversation: Callable[[], Coroutine[Any, Any, Any]], seconds: float = PATIENCE) -> Any:
    """Run a conversation, and let it end in time."""

    async def whole() -> Any:
        with anyio.fail_after(seconds):
            return await conversation()

    return anyio.run(whole)
