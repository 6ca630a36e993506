"""One process at a time runs an intent. The operating system frees the lease when that process dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from executor.errors import WalkError


@contextmanager
def lease(home: Path, intent_id: str) -> Iterator[None]:
    """Hold the run of an intent.

    Raises:
        WalkError: ALREADY_RUNNING, another process (or task) holds it.
    """
    folder = home / "leases"
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder / intent_id, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WalkError(
                "ALREADY_RUNNING",
                "another process runs this intent",
                place=intent_id,
                fix="let it finish, or end it and run again with --resume",
            ) from None
        yield
    finally:
        os.close(descriptor)
