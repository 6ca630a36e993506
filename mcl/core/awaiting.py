"""An act that waits for its end, as one that is awaited (see `mcl.aio`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from functools import partial, wraps
from typing import Any, Final, ParamSpec, TypeVar

import anyio
from anyio import to_thread
from anyio.lowlevel import RunVar, checkpoint

from mcl.core.loops import AWAITED

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
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
