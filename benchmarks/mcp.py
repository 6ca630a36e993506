"""What it costs to call a tool through `mcl mcp serve` instead of calling its server directly.

    python -m benchmarks.mcp [--calls 400] [--rounds 3] [--callers 20] [--tools 1000] [--mode auto] [--json]

The same client (the SDK's) calls the same server over the same transport (stdio) three ways: directly, through
a relay written with the SDK that does nothing else, and through mcl. One call each in turn, so that all meet
the same machine; what is told is the median of the calls, and how much longer than the direct one. `where it
goes` takes the gate and the journal by themselves, in this process, with the same home.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

SERVER = (sys.executable, "-m", "benchmarks.ends", "server")
RELAY = (sys.executable, "-m", "benchmarks.ends", "relay", *SERVER)
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
    """Enter a server as a person does: added, trusted, its tools approved."""
    for words in (
        ("server", "add", name, "--trust", "--", *command),
        ("server", "check", name),
        ("tool", "approve", "--server", name, "--all"),
    ):
        subprocess.run(
            [sys.executable, "-m", "mcl", *words],
            env=environment(folder), cwd=folder, check=True, capture_output=True, input=b"",
        )  # fmt: skip


async def opened(stack: AsyncExitStack, folder: Path, command: tuple[str, ...], mode: str) -> Client:
    server = StdioServerParameters(
        command=command[0], args=[*command[1:]], env=environment(folder), cwd=folder
    )
    client = await stack.enter_async_context(Client(server, mode=mode))
    await client.list_tools()
    return client


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
    folder: Path, mode: str, count: int, callers: int, rounds: int
) -> dict[str, dict[str, float]]:
    """One caller: ms a call. Many callers: calls a second."""
    async with AsyncExitStack() as stack:
        contenders: dict[str, Call] = {
            DIRECT: plainly(await opened(stack, folder, SERVER, mode)),
            FLOOR: plainly(await opened(stack, folder, RELAY, mode)),
            MCL: declared(await opened(stack, folder, OURS, mode)),
        }
        taken: dict[str, list[float]] = {name: [] for name in contenders}
        rates: dict[str, list[float]] = {name: [] for name in contenders}
        for number in range(count + WARM):
            for name, call in contenders.items():
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
        figures: dict[str, Any] = {
            "a call over stdio, ms": asyncio.run(
                calls(folder, options.mode, options.calls, options.callers, options.rounds)
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
