"""Acts and event loops: an act waits for what takes long, so it is for threads without one; `mcl.aio` has
the same acts to be awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

import anyio
from anyio import from_thread

from mcl.errors import InputError

Answer = TypeVar("Answer")

AWAITED: ContextVar[bool] = ContextVar("AWAITED", default=False)  # in the thread of an act of mcl.aio


def outside_loop(act: str) -> None:
    """Raise InputError IN_EVENT_LOOP, which names its twin, where `act` is called in an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise InputError(
        "IN_EVENT_LOOP",
        f"{act}() waits for its end, and an event loop runs in this thread",
        place=act,
        fix=f"await its twin: from mcl import aio, then: await aio.{act}(…)",
    )


def at_once(work: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """Wait for work: in a loop of its own, or, where its act is awaited, in the loop of who awaits it, so
    that it ends when that is cancelled. Raises RuntimeError in an event loop (see `outside_loop`)."""
    answers: list[Answer] = []

    async def told() -> None:
        # Not returned: asyncio writes out what its task returns, for a message that nobody reads.
        answers.append(await work())

    if AWAITED.get():
        from_thread.run(told)
    else:
        anyio.run(told)
    return answers[0]
