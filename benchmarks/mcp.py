"""What it costs to call a tool through `mcl mcp serve` instead of calling its server directly.

    python -m benchmarks.mcp [--calls 400] [--rounds 3] [--callers 20] [--tools 1000] [--mode auto] [--json]

The same client (the SDK's) calls the same server over the same transport three ways: directly,
through a relay written with the SDK that does nothing else, and through mcl; in turn, so that all meet the
same machine; what is told is the median of the calls, and how much longer than the direct one. With one call
each in turn every process has just waited for six others, and none finds anything of its own in the caches
of the two cores; with 20 it is as when an agent is at work. `where it goes` takes the parts by themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

SERVER = (sys.executable, "-m", "benchmarks.ends", "server")
RELAY = (sys.executable, "-m", "benchmarks.ends", "relay", *SERVER)
_SERVER_HTTP = (sys.executable, "-m", "benchmarks.ends", "--http", "server")
_RELAY_HTTP = (sys.executable, "-m", "benchmarks.ends", "--http", "relay", *SERVER)
OURS = (sys.executable, "-m", "mcl", "mcp", "serve")
DIRECT, FLOOR, MCL = "directly", "a relay of the SDK", "mcl"
WARM = 25  # calls of each that nobody counts
Call = Callable[[str], Awaitable[str]]


def environment(folder: Path) -> dict[str, str]:
    """What the processes see: a home of their own, and this checkout."""
    root = str(Path(__file__).resolve().parents[1])
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "MCL_HOME": str(folder / "home"),
        "PYTHONPATH": root,
    }


def prepare(folder: Path, name: str, *command: str) -> None:
    """Enter a server and approve its tools, as a person does."""
    from executor.gate.pins import Pins
    from mcl.catalog.definitions import Definitions
    from mcl.catalog.servers import Servers
    from mcl.core.home import open_home
    from mcl.plugins.mcp.outside import OutsideTools
    from mcl.plugins.mcp.upstream.upstreams import Upstreams

    with open_home(folder / "home") as home:
        servers, definitions = Servers(home), Definitions(home)
        variables = {key: value for key, value in environment(folder).items() if key != "MCL_HOME"}
        servers.add(name, command=command, folder=folder, environment=variables)
        servers.trust(name)

        async def look() -> None:
            async with Upstreams(servers, on_listing=OutsideTools(definitions).heard) as upstreams:
                await upstreams.start(name)

        asyncio.run(look())
        for known in definitions.known():
            Pins(home).approve(known.manifest)


async def opened(
    stack: AsyncExitStack, folder: Path, command: tuple[str, ...], mode: str, over_http: bool = False
) -> Client:
    """A client of a process. over_http: the process listens, and has told its address on standard error."""
    server: Any = StdioServerParameters(
        command=command[0], args=[*command[1:]], env=environment(folder), cwd=folder
    )
    if over_http:
        server = await stack.enter_async_context(_listening(command, folder))
    client = await stack.enter_async_context(Client(server, mode=mode))
    await client.list_tools()
    return client


@asynccontextmanager
async def _listening(command: tuple[str, ...], folder: Path) -> AsyncIterator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    process = await asyncio.create_subprocess_exec(
        *command, env=environment(folder), cwd=folder, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        line = b""
        while b'"url"' not in line:
            line = await process.stderr.readline()
        said = json.loads(line)
        token = Path(said["token_file"]).read_text().strip() if "token_file" in said else "none"
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            yield streamable_http_client(said["url"], http_client=http)
    finally:
        process.terminate()
        await process.wait()


def plainly(client: Client) -> Call:
    async def call(token: str) -> str:
        answer = await client.call_tool("echo", {"token": token})
        return str((answer.structured_content or {})["token"])

    return call


def declared(client: Client) -> Call:
    async def call(token: str) -> str:
        said = {"name": "bench:echo", "args": {"token": token}, "intent": {"operation_type": "read"}}
        answer = await client.call_tool("call_tool_read", said)
        if answer.is_error:
            raise RuntimeError(f"refused: {answer.structured_content}")
        return str((answer.structured_content or {})["token"])

    return call


async def calls(
    folder: Path, mode: str, count: int, callers: int, rounds: int, turn: int = 1, over_http: bool = False
) -> dict[str, dict[str, float]]:
    """One caller: ms a call, each way so many in turn. Many callers: calls a second."""
    async with AsyncExitStack() as stack:
        contenders: dict[str, Call] = {
            name: making(await opened(stack, folder, command, mode, over_http))
            for name, making, command in (
                (DIRECT, plainly, _SERVER_HTTP if over_http else SERVER),
                (FLOOR, plainly, _RELAY_HTTP if over_http else RELAY),
                (MCL, declared, (*OURS, "--http", "--port", "0") if over_http else OURS),
            )
        }
        taken: dict[str, list[float]] = {name: [] for name in contenders}
        rates: dict[str, list[float]] = {name: [] for name in contenders}
        for begin in range(0, count + WARM, turn):
            for name, call in contenders.items():
                for number in range(begin, begin + turn):
                    started = time.perf_counter()
                    answer = await call(f"t{number}")
                    if number >= WARM:
                        taken[name].append((time.perf_counter() - started) * 1000)
                    assert answer == f"t{number}"
        for _ in range(rounds):
            for name, call in contenders.items():
                rates[name].append(await _rate(call, callers, max(1, count // callers)))
    direct = statistics.median(taken[DIRECT])
    return {
        name: {
            "median": statistics.median(times),
            "p95": statistics.quantiles(times, n=20)[-1],
            "over direct": statistics.median(times) - direct,
            "over direct, pairs": statistics.median(
                one - other for one, other in zip(times, taken[DIRECT], strict=True)
            ),
            f"calls/s of {callers}": statistics.median(rates[name]),
        }
        for name, times in taken.items()
    }


async def _rate(call: Call, callers: int, each: int) -> float:
    async def caller(number: int) -> None:
        for turn in range(each):
            assert await call(f"{number}-{turn}") == f"{number}-{turn}"

    started = time.perf_counter()
    await asyncio.gather(*(caller(number) for number in range(callers)))
    return callers * each / (time.perf_counter() - started)


async def parts(folder: Path, count: int) -> dict[str, float]:
    """Where the time of one allowed read goes, ms, with the proxy in this process."""
    from executor.call import Call, Declaration
    from executor.gate.decide import decide
    from executor.tools.names import outside_uri
    from mcl.core.home import open_home
    from mcl.plugins.mcp.calls import call
    from mcl.plugins.mcp.process import opened as serving
    from mcl.plugins.mcp.records import Activity, CallRecord
    from mcl.plugins.mcp.service import GoalCompiler
    from mcl.plugins.mcp.upstream.channels import SILENT
    from mcl.serve.exchange import Caller

    said = {"name": "bench:echo", "args": {"token": "t"}, "intent": {"operation_type": "read"}}
    caller = Caller("bench", "1", "handshake", "1", can_elicit=False, channel=SILENT)
    declared = Declaration("read", "unknown", "", "call_tool_read", name="bench:echo")
    wanted = Call(outside_uri("bench", "echo"), {"token": "t"}, "", declaration=declared)
    kept = CallRecord(
        "bench", "echo", "allowed", variant="call_tool_read", operation_type="read", args=said["args"]
    )
    with open_home(folder / "home") as home:
        async with AsyncExitStack() as stack:
            face = await stack.enter_async_context(serving(home, folder, GoalCompiler(home, ai=False)))
            session, activity = face._session, Activity(home)
            await session.upstreams.start("bench")
            direct = plainly(await opened(stack, folder, SERVER, "auto"))

            async def through() -> None:
                assert not (await call(session, "call_tool_read", said, caller)).is_error

            async def judged() -> None:
                decide(wanted, session.context)

            steps: dict[str, Callable[[], Awaitable[Any]]] = {
                "a call, from its arguments to its answer": through,
                "of which the server, over our connection": lambda: session.upstreams.call(
                    "bench", "echo", {"token": "t"}
                ),
                "of which the gate": judged,
                "of which the record, signed and on disk": lambda: activity.keep(kept),
                "beside them: the server, by the SDK's client": lambda: direct("t"),
                "beside them: a commit of one row, SQLite": _committing(folder / "floor.db"),
            }
            taken: dict[str, list[float]] = {name: [] for name in steps}
            for number in range(count + WARM):
                for name, step in steps.items():
                    started = time.perf_counter()
                    await step()
                    if number >= WARM:
                        taken[name].append((time.perf_counter() - started) * 1000)
    return {name: statistics.median(times) for name, times in taken.items()}


def _committing(place: Path) -> Callable[[], Awaitable[None]]:
    """The floor of a durable record: one row in SQLite, as durable as the journal."""
    import sqlite3

    connection = sqlite3.connect(place, isolation_level=None)
    for line in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE rows (row BLOB)"):
        connection.execute(line)

    async def commit() -> None:
        connection.execute("INSERT INTO rows VALUES (?)", (b"x" * 700,))

    return commit


async def finding(folder: Path, mode: str, tools: int, rounds: int) -> dict[str, float]:
    """Retrieving from many tools, ms a question: asked over MCP, and the index by itself."""
    from mcl.plugins.mcp.shelf import ToolIndex, ToolText

    said = "compare list find show count the invoice calendar weather customer photo parcel recipe of a day"
    words = said.split()
    entries = [
        ToolText(
            f"many:{words[n % 5]}_{words[6 + n % 7]}_{n}",
            " ".join(words[(n * k) % len(words)] for k in range(1, 12)) + f" number {n}",
            ("day", words[6 + n % 7], f"limit_{n % 13}"),
        )
        for n in range(tools)
    ]
    started = time.perf_counter()
    index = ToolIndex(entries)
    built = (time.perf_counter() - started) * 1000
    questions = [" ".join(words[n % 5 : n % 5 + 1] + words[6 + n % 7 : 9 + n % 7]) for n in range(35)]
    alone = [_ms(lambda: index.find(question, 5)) for _ in range(rounds) for question in questions]  # noqa: B023
    async with AsyncExitStack() as stack:
        client = await opened(stack, folder, OURS, mode)
        asked = []
        for question in [questions[0], *questions * rounds]:
            started = time.perf_counter()
            answer = await client.call_tool("retrieve_tools", {"query": question, "limit": 5})
            asked.append((time.perf_counter() - started) * 1000)
            assert not answer.is_error
    return {
        f"index over {tools} tools, built once": built,
        "a question, the index alone": statistics.median(alone),
        "a question, p95": statistics.quantiles(alone, n=20)[-1],
        "a question over MCP, the first": asked[0],
        "a question over MCP": statistics.median(asked[1:]),
    }


def _ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=400, help="calls each way")
    parser.add_argument("--callers", type=int, default=20, help="callers at once")
    parser.add_argument("--tools", type=int, default=1000, help="tools to retrieve from")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--mode", choices=("legacy", "auto"), default="legacy", help="the era of the protocol"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, "bench", *SERVER)
        given = (folder, options.mode, options.calls, options.callers, options.rounds)
        figures: dict[str, Any] = {
            "over stdio, ms; one call each in turn": asyncio.run(calls(*given)),
            "over stdio, ms; 20 calls each in turn": asyncio.run(calls(*given, turn=20)),
            "over streamable HTTP, ms; 20 calls each in turn": asyncio.run(
                calls(*given, turn=20, over_http=True)
            ),
            "where it goes, ms": asyncio.run(parts(folder, options.calls)),
        }
        prepare(folder, "many", *SERVER, str(options.tools))
        figures |= {
            f"retrieve_tools, {options.tools} tools, ms": asyncio.run(
                finding(folder, options.mode, options.tools, options.rounds)
            ),
        }
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}, mode {options.mode}, {options.calls} calls each way")
    for title, rows in figures.items():
        print(f"\n{title}")
        for row, value in rows.items():
            if isinstance(value, dict):
                columns = "   ".join(f"{column} {number:.2f}" for column, number in value.items())
                print(f"  {row:22}{columns}")
            else:
                print(f"  {row:60}{value:10.3f}")


if __name__ == "__main__":
    main()
