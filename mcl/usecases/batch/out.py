"""The file that a batch writes: only ever added to, in whole lines. What is there and fits is kept."""

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from ir.errors import FAILED
from mcl.core.errors import BatchError
from mcl.usecases.batch.lines import Line, fingerprint, id_of

_BEGINS: Final = b'{"id":'  # how each of our lines begins
_BLOCK: Final = 2**16
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class OutFile:
    """An open output. `kept` are the outcomes of the lines that were there already, in order."""

    def __init__(self, path: Path | None) -> None:
        """Open `path` (None: standard output), made where it is missing; one process at a time.

        Raises BatchError OUT_UNWRITABLE, OUT_BUSY, OUT_DIFFERS.
        """
        self.path, self.place = path, str(path or "standard output")
        self.kept: list[str] = []
        try:
            self._handle = 1 if path is None else os.open(path, _FLAGS, 0o666)
            mode = os.fstat(self._handle)
        except OSError as error:
            raise self._unwritable(error) from error
        self.identity = (mode.st_dev, mode.st_ino)
        self._whole = path is not None and stat.S_ISREG(mode.st_mode)
        if self._whole:
            self._lock()

    def keep(self, lines: Iterator[Line], settings: str) -> int:
        """Compare what is there with the beginning of the input, and take the lines from it that need not be
        compiled again; half a line at the end is cut off. The number of lines kept.

        Raises BatchError OUT_DIFFERS where the output is not that of this input, compiled like this.
        """
        if not self._whole:
            return 0
        end = 0
        with os.fdopen(os.dup(self._handle), "rb") as file:
            file.seek(0)
            for number, data in enumerate(file, 1):
                if not data.endswith(b"\n"):
                    self._check_half(data, number)
                    break
                line = next(lines, None)
                if line is None:
                    raise self._differs(number, "has more lines than the input")
                self.kept.append(self._check(data, number, line, settings))
                end += len(data)
        try:
            os.ftruncate(self._handle, end)
        except OSError as error:
            raise self._unwritable(error) from error
        return len(self.kept)

    def add(self, data: bytes) -> None:
        """Write one line, all of it or nothing. Raises BatchError OUT_UNWRITABLE; BrokenPipeError where
        nobody reads any more."""
        done = 0
        try:
            while done < len(data):
                done += os.write(self._handle, data[done:])
        except BrokenPipeError:
            raise
        except OSError as error:
            if self._whole and done:  # a full disk took a part
                os.ftruncate(self._handle, os.lseek(self._handle, 0, os.SEEK_CUR) - done)
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Make what was written durable, and let go of the file."""
        if self.path is None:
            return
        try:
            if self._whole:
                os.fsync(self._handle)
        finally:
            os.close(self._handle)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._handle)
            fix = "wait for it, or name another --out"
            raise BatchError("OUT_BUSY", "another batch is writing it", place=self.place, fix=fix) from error

    def _check(self, data: bytes, number: int, line: Line, settings: str) -> str:
        try:
            said = json.loads(data)
            outcome, of = said["outcome"], said.get("of")
            same = said["id"] == id_of(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._differs(number, "is no result of a batch") from error
        if not same:
            raise self._differs(number, f"has another id than line {line.number} of the input")
        if of is not None and of != fingerprint(line, settings):
            why = f"is not of line {line.number} of the input, or of another model, skill or time zone"
            raise self._differs(number, why)
        return str(outcome)

    def _check_half(self, data: bytes, number: int) -> None:
        if data[: len(_BEGINS)] != _BEGINS[: len(data)]:
            raise self._differs(number, "is no result of a batch")

    def _differs(self, number: int, why: str) -> BatchError:
        fix = "name another --out, or remove this file to compile all of it anew"
        return BatchError("OUT_DIFFERS", f"line {number} {why}", place=f"{self.place}:{number}", fix=fix)

    def _unwritable(self, error: OSError) -> BatchError:
        why = f"cannot be written: {error.strerror or error}"
        fix = "the lines in it are whole; give the same command again to go on"
        return BatchError("OUT_UNWRITABLE", why, place=self.place, fix=fix, exit=FAILED)


def open_input(path: Path | None) -> BinaryIO:
    """The input as a stream; None: standard input. Raises BatchError IN_UNREADABLE."""
    try:
        return path.open("rb") if path is not None else os.fdopen(os.dup(0), "rb")
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
        fix = "give a file of JSON lines, or - for standard input"
        raise BatchError("IN_UNREADABLE", why, place=str(path or "standard input"), fix=fix) from error


def count_lines(stream: BinaryIO) -> int | None:
    """How many lines a file has; None for what is no file. The stream is left where it was."""
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return None
    count, last, offset = 0, b"\n", 0
    while block := os.pread(stream.fileno(), _BLOCK, offset):
        count, last, offset = count + block.count(b"\n"), block[-1:], offset + len(block)
    return count + (last != b"\n")
