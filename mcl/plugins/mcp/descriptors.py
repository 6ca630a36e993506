"""This process's standard input and output, kept to the protocol."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mcl.core.errors import McpError


@contextmanager
def claimed() -> Iterator[tuple[int, int]]:
    """Keep this process's input and output to the protocol, from before anything else is loaded.

    Gives their descriptors. For the rest of the process whatever reads standard input finds its end, and
    whatever is written to standard output, by a library or by a child, goes to standard error.

    Raises:
        McpError: NO_STANDARD_STREAMS.
    """
    try:
        incoming, outgoing = os.dup(0), os.dup(1)
    except OSError as problem:
        raise McpError(
            "NO_STANDARD_STREAMS",
            "standard input or output is closed",
            fix="start it as a client does, with pipes, or use --http",
        ) from problem
    for own in (incoming, outgoing):
        os.set_inheritable(own, False)
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error either
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.close(nothing)
    try:
        yield incoming, outgoing
    finally:  # what is printed until the process ends is no message either: nothing is given back
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.close(incoming)
        os.close(outgoing)
