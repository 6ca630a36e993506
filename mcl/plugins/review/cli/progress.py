"""What a review is doing, said where it takes more than a moment; on a terminal a bar where that is known."""

from contextlib import ExitStack
from threading import Lock, Timer
from typing import TYPE_CHECKING

from mcl.cli.output import note
from mcl.core.safe import one_line
from mcl.plugins.review.cli.waiting import waiting

if TYPE_CHECKING:
    from executor.walker.listener import WalkEvent

_MOMENT = 1.0  # seconds


class Progress:
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

    def __enter__(self) -> "Progress":
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
