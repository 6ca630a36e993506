"""The file of a folder: read without following a link, and changed whole, by one process at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from executor.core.errors import ScopeError
from executor.core.files import locked, whole_file
from executor.sandbox.files import explain, open_plain, out_of_scope, read_up_to
from ir import MclError
from mcl.core.errors import WorkError
from mcl.plugins.agents.file import NAME as FILE
from mcl.plugins.agents.file import IntentFile, edit_status, read_file
from mcl.plugins.agents.file.rules import Status

_MOST: Final = 4 * 1024 * 1024 + 1  # one byte more than is read as YAML, so that more is noticed
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_IN, _, _NAME = FILE.rpartition("/")


def read_bytes(root: Path) -> bytes:
    """What the file of a folder holds; of a file that is too large its beginning.

    Raises WorkError FILE_UNREADABLE, whose message says why.
    """
    try:
        return _read(root)[0]
    except OSError as problem:
        raise _unreadable(root, problem) from problem


def read_document(root: Path) -> IntentFile:
    """The same, read as YAML; what is wrong there is in its findings. Raises WorkError FILE_UNREADABLE."""
    return read_file(read_bytes(root))


def change_bytes(root: Path, change: Callable[[bytes], bytes]) -> bool:
    """Put what a function makes of the file in its place; whether that is anything else.

    Others that do the same wait. What somebody saved meanwhile is not lost: then the function is asked again.
    Raises WorkError FILE_UNREADABLE, FILE_BUSY; ScopeError where it cannot be written; what the function
    raises.
    """
    with _locked(root):
        for _ in range(3):
            try:
                before, status = _read(root)
            except OSError as problem:
                raise _unreadable(root, problem) from problem
            after = change(before)
            if after == before:
                return False
            if _exchanged(root, after, status):
                return True
    raise WorkError("FILE_BUSY", "somebody keeps saving the file", place=FILE, fix="try again")


def write_bytes(root: Path, data: bytes, *, overwrite: bool = False) -> Path:
    """Write the file, and its folder where that is missing.

    Raises WorkError FILE_EXISTS; ScopeError where it cannot be written or a link lies there.
    """
    try:
        (root / _IN).mkdir(exist_ok=True)
    except OSError as problem:
        explain(problem, _IN)
    with _locked(root):
        try:
            status: os.stat_result | None = _read(root)[1]
        except FileNotFoundError:
            status = None
        except OSError as problem:
            raise _unreadable(root, problem) from problem
        if status is not None and not overwrite:
            raise WorkError("FILE_EXISTS", "there is a file already", place=FILE, fix="say --overwrite")
        try:
            with whole_file(root / FILE, like=status) as file:
                file.write(data)
            if status is None:
                (root / FILE).chmod(0o644)  # a team's file, in their repository
        except OSError as problem:
            explain(problem, FILE)
    return root / FILE


def _read(root: Path) -> tuple[bytes, os.stat_result]:
    """Raises OSError, also where something else than a plain file lies there."""
    folder = os.open(root / _IN, _FOLDER)
    try:
        descriptor = open_plain(_NAME, folder, FILE)
    except ScopeError as problem:
        raise OSError(errno.EINVAL, problem.message) from problem
    finally:
        os.close(folder)
    try:
        return read_up_to(descriptor, _MOST), os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _exchanged(root: Path, after: bytes, status: os.stat_result) -> bool:
    """Whether the new file is in place: not, where the old one was saved anew since it was read."""

    class Saved(Exception):  # noqa: N818  # a signal out of `last`
        pass

    def last() -> None:
        now = (root / FILE).stat(follow_symlinks=False)
        if (now.st_ino, now.st_mtime_ns, now.st_size) != (status.st_ino, status.st_mtime_ns, status.st_size):
            raise Saved

    try:
        with whole_file(root / FILE, like=status, last=last) as file:
            file.write(after)
    except Saved:
        return False
    except OSError as problem:
        explain(problem, FILE)
    return True


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(locked(root / _IN, _FOLDER))
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.ENOTDIR):
                out_of_scope(_IN, "it is no folder of its own")
            raise _unreadable(root, problem) from problem
        yield


def _unreadable(root: Path, problem: OSError) -> WorkError:
    name = errno.errorcode.get(problem.errno or 0, "EIO")
    if problem.errno == errno.ENOENT:
        why = "ENOENT (file not found). Please create the file with at least one intent."
    elif problem.errno == errno.EINVAL:
        why = f"{problem.strerror}. Please put a plain file there."
    else:
        why = f"{name} ({(problem.strerror or 'no more is known').lower()}). Please make the file readable."
    fix = f"a person writes {root / FILE}, or writes it anew as it was signed: mcl work export"
    return WorkError("FILE_UNREADABLE", f"Failed to read {FILE}: {why}", place=FILE, fix=fix)


# ---- The file follows what was decided: its status line is edited, and everything else stays as it is.


def follow(root: Path, label: str, before: Status, after: Status, at: str) -> str:
    """Write a new status into the file. Gives "" or why the file does not say it: it is a view, and nothing
    depends on it.

    before: what the file must say now; whoever wrote another status there has it imported, or loses nothing.
    """

    def change(data: bytes) -> bytes:
        entry = read_file(data).entry(label)
        if entry is None or entry.status != before:
            raise _Differs
        return edit_status(data, label, after, at)

    try:
        change_bytes(root, change)
    except _Differs:
        return f"{FILE} says something else of {label} than what was signed, and was left as it is"
    except MclError as problem:
        return f"{FILE} does not say that {label} is {after}: {problem.message}"
    return ""


class _Differs(Exception):  # noqa: N818  # a signal inside this file
    pass
