"""An act that waits for its end, as one that is awaited (see `mcl.aio`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial, wraps
from math import inf
from typing import Any, Final, ParamSpec, TypeVar

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import RunVar, checkpoint

from mcl.core.errors import InputError

# ---- Acts and event loops: an act waits for what takes long, so it is for threads without one; `mcl.aio`
# has the same acts to be awaited.

Answer = TypeVar("Answer")

AWAITED: ContextVar[bool] = ContextVar("AWAITED", default=False)  # in the thread of an act of mcl.aio


def outside_loop(act: str, *, plugin: bool = False) -> None:
    """Raise InputError IN_EVENT_LOOP, which names its twin, where `act` is called in an event loop. plugin:
    it is a plug-in's, for which `mcl.aio` has none."""
    if not _looping():
        return
    twin = f"from mcl import aio, then: await aio.{act}(…)"
    if plugin:
        twin = f"from mcl.core.event_loop import twin, then: await twin({act})(…)"
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
        # anyio hands a cancel to the tasks that a scope has when it comes: one that begins later, from a
        # thread that the cancel waits for, would go on to its end.
        if anyio.current_effective_deadline() == -inf:
            raise anyio.get_cancelled_exc_class()
        # Not returned: asyncio writes out what its task returns, for a message that nobody reads.
        answers.append(await work())

    if AWAITED.get():
        from_thread.run(told)
    # A loop that runs cannot be entered again from within: the work gets a loop of its own, in a thread of
    # its own, for which this one waits.
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


Asked = ParamSpec("Asked")
_END: Final = object()
_MOST: Final = 40  # acts of one event loop at the same time
_places: RunVar[anyio.CapacityLimiter] = RunVar("acts")


def twin(act: Callable[Asked, Answer]) -> Callable[Asked, Coroutine[Any, Any, Answer]]:
    """The same act, to be awaited."""

    @wraps(act)
    async def awaited(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        return await _in_thread(partial(act, *args, **kwargs))

    return awaited


def each(act: Callable[Asked, Iterator[Answer]]) -> Callable[Asked, AsyncIterator[Answer]]:
    """The same act, its answers one after the other."""

    @wraps(act)
    async def awaited(*args: Asked.args, **kwargs: Asked.kwargs) -> AsyncIterator[Answer]:
        answers = await _in_thread(partial(act, *args, **kwargs))
        while (answer := await _in_thread(partial(next, answers, _END))) is not _END:
            yield answer

    return awaited


async def _in_thread(work: Callable[[], Answer]) -> Answer:
    ended: list[Answer | BaseException] = []

    async def wait() -> None:
        try:
            ended.append(await to_thread.run_sync(work, limiter=_limiter()))
        except Exception as problem:  # noqa: BLE001 - raised below, and not in a group
            ended.append(problem)

    # In a task of its own, as in executor.sandbox.process: a cancel from outside anyio ends this task at any
    # await, but reaches that one through its scope, which waits for the thread.
    token = AWAITED.set(True)
    try:
        async with anyio.create_task_group() as below:
            below.start_soon(wait)
    finally:
        AWAITED.reset(token)
    [answer] = ended
    # The work ended as cancelled: where this task was cancelled too, its own cancel is raised here.
    if isinstance(answer, CancelledError):
        await checkpoint()
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _limiter() -> anyio.CapacityLimiter:
    """Not the loop's own: the walks that acts wait for need its threads."""
    try:
        return _places.get()
    except LookupError:
        _places.set(limiter := anyio.CapacityLimiter(_MOST))
        return limiter
