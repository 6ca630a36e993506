"""Acts and event loops: an act waits for what takes long, so it is for threads without one; `mcl.aio` has
the same acts to be awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

import anyio
from anyio import from_thread

from mcl.core.errors import InputError

Answer = TypeVar("Answer")

AWAITED: ContextVar[bool] = ContextVar("AWAITED", default=False)  # in the thread of an act of mcl.aio


def outside_loop(act: str, *, plugin: bool = False) -> None:
    """Raise InputError IN_EVENT_LOOP, which names its twin, where `act` is called in an event loop. plugin:
    it is a plug-in's, for which `mcl.aio` has none."""
    if not _looping():
        return
    twin = f"from mcl import aio, then: await aio.{act}(…)"
    if plugin:
        twin = f"from mcl.core.awaiting import twin, then: await twin({act})(…)"
    raise InputError(
        "IN_EVENT_LOOP",
        f"{act}() waits for its end, and an event loop runs in this thread",
        place=act,
        fix=f"await its twin: {twin}",
    )


def at_once(work: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """Wait for work: in a loop of its own, or, where its act is awaited, in the loop of who awaits it, so
    that it ends when that is cancelled. An event loop that runs in this thread stands still for so long."""
    answers: list[Answer] = []

    async def told() -> None:
        # Not returned: asyncio writes out what its task returns, for a message that nobody reads.
        answers.append(await work())

    if AWAITED.get():
        from_thread.run(told)
    elif _looping():
        with ThreadPoolExecutor(1) as other:
            other.submit(anyio.run, told).result()
    else:
        anyio.run(told)
    return answers[0]


def _looping() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
