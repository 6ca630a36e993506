"""A guard against work that does not come to an end. It measures nothing: that is what benchmarks are for."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

FAR_TOO_LONG = 60.0  # seconds of the processor, where a fraction of one is usual


@contextmanager
def ending() -> Iterator[None]:
    """Whatever runs within is ended, with a failure, once it took a minute of the processor."""

    def end(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it does not come to an end")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, FAR_TOO_LONG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
