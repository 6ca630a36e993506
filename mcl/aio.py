"""The acts of `mcl` to be awaited: the same names, arguments, answers and errors.

    from mcl import aio

    compiled = (await aio.compile_goal("which files in notes mention invoice")).require()
    await aio.accept(compiled.intent.id)
    outcome = await aio.run(compiled.intent.id)
    seen = await aio.plans.show(compiled.intent.id)

What an act waits for (the walk of a plan, programs, addresses) is done in the event loop of who awaits it,
and ends when that is cancelled, as at Ctrl-C; all else in a thread, whose end a cancel waits for. What gives
an iterator is an async iterator here.
"""

from __future__ import annotations

from inspect import isfunction, isgeneratorfunction
from types import ModuleType

import mcl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcl.core.event_loop import each, twin

    accept = twin(mcl.accept)
    answer = twin(mcl.answer)
    call_tool = twin(mcl.call_tool)
    cancel = twin(mcl.cancel)
    compile_batch = twin(mcl.compile_batch)
    compile_goal = twin(mcl.compile_goal)
    correct = twin(mcl.correct)
    do = twin(mcl.do)
    list_intents = twin(mcl.list_intents)
    open_home = twin(mcl.open_home)
    replay = twin(mcl.replay)
    run = twin(mcl.run)
    show = twin(mcl.show)
    undo = twin(mcl.undo)
    verify = each(mcl.verify)


class Acts:
    """The acts of one noun to be awaited, such as `aio.plans`."""

    def __init__(self, noun: ModuleType) -> None:
        self._noun = noun

    def __getattr__(self, name: str) -> Any:
        return _awaited(getattr(self._noun, name))


def _awaited(act: Any) -> Any:
    """The twin of an act; all else is what it is."""
    from mcl.core.event_loop import each, twin

    if isinstance(act, ModuleType):
        return Acts(act)
    if not isfunction(act):
        return act
    return each(act) if isgeneratorfunction(act) else twin(act)


def __getattr__(name: str) -> Any:
    if name not in __dir__():
        raise AttributeError(f"module 'mcl.aio' has no attribute {name!r}")
    value = globals()[name] = _awaited(getattr(mcl, name))
    return value


def __dir__() -> list[str]:
    """The acts and the nouns: names of small letters."""
    return [name for name in dir(mcl) if name.islower() and not name.startswith("_")]
