"""What a person sees while files are read: a bar on a terminal, after a second; nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_QUIET: Final = 1.0  # seconds before anything is shown


@contextmanager
def waiting(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A function that is told what is being done, how much is done, and of how much."""
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    bar = _Bar()
    try:
        yield bar.tell
    finally:
        bar.end()


class _Bar:
    def __init__(self) -> None:
        self._begun = monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def tell(self, what: str, done: int, total: int) -> None:
        if self._shown is None:
            if monotonic() - self._begun < _QUIET:
                return
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            shown = Progress(*columns, console=Console(file=sys.stderr), transient=True)
            shown.start()
            self._shown = shown, shown.add_task(what, total=total)
        self._shown[0].update(self._shown[1], completed=done, total=total, description=what)
        if done >= total:
            self.end()

    def end(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
            self._shown = None
