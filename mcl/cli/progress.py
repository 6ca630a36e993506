"""How far a command is, on a terminal: one kind of bar, which is taken away when its work is done."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_QUIET: Final = 1.0  # seconds before anything is shown


class Told(Protocol):
    """Is told how much is done, of how much (None: nobody knows), and what is being done now."""

    def __call__(self, done: int, total: int | None, what: str = "", /) -> None: ...


def nobody(done: int, total: int | None, what: str = "", /) -> None:
    """Progress that nobody looks at."""


@contextmanager
def progress_bar(what: str = "", *, quiet: bool = False) -> Iterator[Told | None]:
    """A bar on standard error for what takes longer than a second.

    None where nobody looks: with `quiet`, and where standard error is no terminal. what: the words beside the
    bar until others are told.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(what)
    try:
        yield bar.tell
    finally:
        bar.end()


class _Bar:
    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def tell(self, done: int, total: int | None, what: str = "", /) -> None:
        self._what = what or self._what
        if self._shown is None:
            if monotonic() - self._begun < _QUIET:
                return
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            # The words may be a file's name or a plan's: they are no markup.
            told = TextColumn("{task.description}", markup=False)
            columns = (told, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            shown = Progress(*columns, console=Console(file=sys.stderr), transient=True)
            shown.start()
            self._shown = shown, shown.add_task(self._what, total=total)
        self._shown[0].update(self._shown[1], completed=done, total=total, description=self._what)
        if total is not None and done >= total:
            self.end()  # another part of the work begins another bar

    def end(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
            self._shown = None
