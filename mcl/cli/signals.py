"""A process that is told to end ends as at Ctrl-C: what it started ends with it, and the journal says so."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_ENDINGS: Final = ("SIGTERM", "SIGHUP")  # a supervisor; a terminal that was closed


@contextmanager
def ending_as_at_ctrl_c() -> Iterator[None]:
    """While this lasts these signals count as Ctrl-C, unless whoever started us has them ignored (nohup)."""
    taken = []
    for name in _ENDINGS:
        number = getattr(signal, name, None)
        if number is None or signal.getsignal(number) is not signal.SIG_DFL:
            continue
        try:
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
        except ValueError:  # not the main thread: the program around us decides
            break
        taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
