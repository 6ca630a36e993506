"""A file that gets all of its new content, or stays as it was."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_NAME = 80  # characters of the file's name in that of the new one beside it


@contextmanager
def replacing(
    path: Path, *, like: os.stat_result | None = None, last: Callable[[], None] = lambda: None
) -> Iterator[BinaryIO]:
    """A new file beside `path`, which takes its place when this ends well and is gone when it does not.

    path: resolved; nobody but the owner may read the file, unless like (that of the file that was there) says
    whose it is and who may. last: asked when all is on disk and nothing is exchanged yet; what it raises
    leaves the old file. Raises OSError.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:_NAME]}.", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if like is not None:
                with suppress(PermissionError):  # only root may give a file away
                    os.fchown(file.fileno(), like.st_uid, like.st_gid)
                os.fchmod(file.fileno(), like.st_mode & 0o7777)
            os.fsync(file.fileno())
        last()
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
