"""What a person sees while a command is at work: a bar on a terminal, and a line for each late step."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING, Final

from mcl.cli.output import note
from mcl.core.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from executor.walker.interfaces import WalkEvent

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


@contextmanager
def steps() -> Iterator[Callable[[str, int, int, str], None]]:
    """The same for what is done step by step: its step, how much of how much, and of what."""
    with waiting() as told:
        yield lambda title, done, total, what: told(f"{title}  {one_line(what, 60)}", done, total)


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

            columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
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


_MOMENT = 1.0  # seconds


class StepProgress:
    """A line on standard error for each step of a run that lasts longer than a second.

    On a terminal also a bar, for one that says how far it is.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._now = ""
        self._late = False
        self._timer = Timer(_MOMENT, self._begin)
        self._timer.daemon = True
        self._open = ExitStack()
        self._bar = self._open.enter_context(waiting())

    def __enter__(self) -> "StepProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._open.close()

    def on(self, event: "WalkEvent") -> None:
        """Say what begins, once it is late."""
        if event.state != "running" or event.error or event.kind not in ("tool_call", "step"):
            return
        with self._lock:
            if not self._now:
                self._timer.start()
            self._now = event.description
            if self._late:
                self._say()

    def advanced(self, node_id: str, done: int, total: int) -> None:
        """Show how much of the step is done."""
        with self._lock:
            self._bar(one_line(self._now), done, total)

    def _begin(self) -> None:
        with self._lock:
            self._late = True
            if self._now:
                self._say()

    def _say(self) -> None:
        note(f"{one_line(self._now)} …")
