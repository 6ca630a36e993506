"""One process at a time runs an intent. The operating system frees the lease when that process dies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from executor.core.errors import WalkError
from executor.core.files import locked
from executor.store.database import explain_os
from ir.scalars import ULID_PATTERN


@contextmanager
def lease(home: Path, intent_id: str) -> Iterator[None]:
    """Hold the run of an intent.

    Args:
        home: folder of the home. intent_id: a ULID; it becomes a file name.

    Raises:
        WalkError: UNKNOWN_INTENT, that is no ULID; ALREADY_RUNNING, another process (or task) holds it.
        HomeError: the home cannot be written to.
    """
    if not re.fullmatch(ULID_PATTERN, intent_id):
        raise WalkError(
            "UNKNOWN_INTENT", "this is no id of an intent", place=intent_id, fix="mcl list shows them"
        )
    folder = home / "leases"
    busy = WalkError(
        "ALREADY_RUNNING",
        "another process runs this intent",
        place=intent_id,
        fix="let it finish, or end it and run again with --resume",
    )
    with ExitStack() as held:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            held.enter_context(locked(folder / intent_id, busy=busy))
        except OSError as problem:
            raise explain_os(problem, folder) from problem
        yield
