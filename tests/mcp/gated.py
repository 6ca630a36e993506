"""Clients of `mcl mcp serve` whose calls need a person, and people before them and beside them."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio import to_thread
from desks import PATIENCE, Desk, bearing

from mcl.core.home import open_home
from mcl.usecases.gates import decide_gate, open_gates


@asynccontextmanager
async def agent(
    served: tuple[str, str], mode: str, answer: Any = None, *, name: str = "tester"
) -> AsyncIterator[Any]:
    from mcp import Client
    from mcp.types import Implementation

    async with bearing(*served) as transport:
        who = Implementation(name=name, version="1.0")
        async with Client(transport, mode=mode, elicitation_callback=answer, client_info=who) as client:
            yield client


def answers(decision: str, seen: list[str] | None = None, *, first: Callable[[], Any] | None = None) -> Any:
    """A person before the client. first: what happens while the form is open."""
    from mcp.types import ElicitResult

    async def answer(context: Any, params: Any) -> Any:
        if seen is not None:
            seen.append(params.message)
        if first is not None:
            done = first()
            if done is not None:
                await done
        if decision in ("decline", "cancel"):
            return ElicitResult(action=decision)
        return ElicitResult(action="accept", content={"decision": decision})

    return answer


async def calls(client: Any, name: str, args: dict[str, Any], **more: Any) -> Any:
    said = {"name": name, "args": args, "intent": {"operation_type": "destructive", "reason": "to see"}}
    return await client.call_tool("call_tool_destructive", said, **more)


async def keeps(client: Any, text: str, **more: Any) -> Any:
    """Add a line to the notes of the other server: each call of it leaves one."""
    return await calls(client, "plain:add_note", {"text": text}, **more)


def notes(desk: Desk, text: str) -> int:
    place = desk.workspace / "notes.txt"
    return place.read_text().split("\n").count(text) if place.exists() else 0


def code(result: Any) -> str:
    return result.structured_content["code"] if result.is_error else ""


async def waiting(desk: Desk, name: str = "plain:add_note") -> str:
    """The id of the question that waits, as another process finds it."""
    with open_home(desk.home) as home, anyio.fail_after(PATIENCE):
        while True:
            if found := [gate.id for gate in open_gates(home=home) if gate.call == name]:
                return found[-1]
            await anyio.sleep(0.05)


async def mcl(desk: Desk, *arguments: str, expect: int | None = 0) -> Any:
    return await to_thread.run_sync(lambda: desk(*arguments, expect=expect))


def result(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said


def decide(desk: Desk, gate: str, decision: str) -> None:
    with open_home(desk.home) as home:
        decide_gate(gate, decision, home=home)
