"""`mcl intents validate`: what is wrong or doubtful in a file of intents. Needs no home, signs nothing."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from mcl.core.errors import WorkError
from mcl.core.yaml.reading import MAX_BYTES
from mcl.plugins.agents.file import NAME, Report, read_file, validate


@dataclass(frozen=True)
class ValidatedWork:
    """What became of a validation. path: the file, as it was given or found. intents: how many it has."""

    path: str
    intents: int
    report: Report

    def to_json(self) -> dict[str, object]:
        """As a JSON object: valid, errors, warnings."""
        return self.report.to_json()


def validate_work(path: Path | None = None, *, start: Path | None = None) -> ValidatedWork:
    """Validate a file of intents.

    path: the file, or a folder with `.orchestration/active_intents.yaml`; default: the nearest such file at
    or above `start` (default: this folder). Raises WorkError FILE_UNREADABLE; what is in the file raises
    nothing.
    """
    found = _nearest(start or Path.cwd()) if path is None else path / NAME if path.is_dir() else path
    document = read_file(_read(found))
    return ValidatedWork(str(found), len(document.entries), validate(document))


def _nearest(start: Path) -> Path:
    real = start.resolve()
    for folder in (real, *real.parents):
        if (folder / NAME).exists():
            return folder / NAME
    return real / NAME


def _read(path: Path) -> bytes:
    """The bytes, and one more than is read of a file that is too large. Never waits, as for a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a plain file")
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        number = problem.errno if isinstance(problem, OSError) else errno.EINVAL
        name = errno.errorcode.get(number or errno.EIO, "EIO")
        why = (getattr(problem, "strerror", None) or str(problem)).lower()
        message = f"the file of intents cannot be read: {name} ({why})"
        fix = f"write {NAME}, or name another file" if name == "ENOENT" else "name a file that can be read"
        raise WorkError("FILE_UNREADABLE", message, place=str(path), fix=fix) from problem
