"""A whole batch: goals from a file of JSON lines, results into another, in the same order."""

import json
import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import fstat
from pathlib import Path
from typing import BinaryIO, Final

from executor.core.files import take
from executor.store.home import Home
from ir.errors import FAILED
from ir.results import fields_json
from mcl.core.errors import BatchError
from mcl.core.home import locate, open_home
from mcl.model.protocol import Model
from mcl.usecases.batch.goals import Goals, Settings, open_goals
from mcl.usecases.batch.lines import (
    CACHED,
    GoalLine,
    fingerprint,
    id_of,
    outcome_of,
    read_lines,
    result_bytes,
)
from mcl.usecases.batch.workers import Result, Workers

# ---- The file that a batch writes: only ever added to, in whole lines. What is there and fits is kept.

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

    def keep(self, lines: Iterator[GoalLine], settings: str) -> int:
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
        if not take(self._handle, wait=False, needed=False):
            os.close(self._handle)
            fix = "wait for it, or name another --out"
            raise BatchError("OUT_BUSY", "another batch is writing it", place=self.place, fix=fix)

    def _check(self, data: bytes, number: int, line: GoalLine, settings: str) -> str:
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


MAX_JOBS: Final = 256
OUTCOMES: Final = ("compiled", "clarify", "refused", "error")
_CHUNK: Final = 8  # lines a process is given at once, where they need not be waited for
_STANDARD: Final = Path("-")


@dataclass(frozen=True)
class BatchSummary:
    """What came of a batch. lines: in the output now, `kept` of them from an earlier run; cached: how many
    asked no model, as its answer was known; outcomes: how many of each; seconds: how long this run took."""

    lines: int
    kept: int
    cached: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def per_second(self) -> float:
        """Lines that this run compiled in a second."""
        return (self.lines - self.kept) / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, object]:
        return {**fields_json(self), "per_second": round(self.per_second, 1)}


def compile_batch(
    source: Path | str,
    out: Path | str,
    *,
    skills: Sequence[Path | str] = (),
    jobs: int = 1,
    store: bool = True,
    model: "Path | Model | None" = None,
    ai: bool = True,
    at: str = "",
    zone: str = "",
    truncate: bool = False,
    cache: bool = True,
    home: Home | None = None,
    passphrase: str = "",
    progress: Callable[[int, int | None], None] | None = None,
) -> BatchSummary:
    """Compile each line of `source` into a line of `out`, in order; what `out` has already is kept.

    source: JSON lines {"id", "prose", "skill"?, "verb"?, "slots"?, "at"?}; "-" is standard input. out: a file
    that is only added to, in whole lines; "-" is standard output. skills: folders; where any is given, only
    their skills are choices. jobs: processes, each with a model of its own (an open model has one process).
    store: False keeps nothing in the journal, and asks the model each time. cache: whether answers of earlier
    compiles count (not for an open model). model, ai, at, zone, truncate, home: as for compile_goal.
    passphrase: of sealed keys, for further processes. progress: is told how many lines are done, of how many.

    A line that cannot be read or compiled becomes a line with the outcome "error". Raises BatchError
    IN_UNREADABLE, OUT_UNWRITABLE, OUT_BUSY, OUT_DIFFERS, OUT_IS_IN, BATCH_JOBS, WORKER_FAILED; SkillError,
    ModelError, HomeError.
    """
    started = time.monotonic()
    _check_jobs(jobs, model)
    settings = Settings(
        home=str(home.path if home else locate()),
        skills=tuple(str(Path(one).absolute()) for one in skills),
        model=str(model.absolute()) if isinstance(model, Path) else "",
        ai=ai,
        zone=zone,
        at=at,
        store=store,
        cache=cache and store,
        truncate=truncate,
        passphrase=passphrase,
    )
    source, out = Path(source), Path(out)
    with ExitStack() as closing:
        stream = open_input(None if source == _STANDARD else source)
        closing.callback(stream.close)
        sink = OutFile(None if out == _STANDARD else out)
        closing.callback(sink.close)
        _check_apart(stream, sink, str(source))
        total = count_lines(stream) if progress else None
        compiling = _compiling(settings, jobs, home, None if isinstance(model, Path) else model, closing)
        lines = read_lines(stream)
        kept = sink.keep(lines, compiling.settings)
        counts, cached = Counter(sink.kept), 0
        if progress:
            progress(kept, total)
        for done, (outcome, data) in enumerate(compiling.results(lines, _chunk(stream)), kept + 1):
            sink.add(data)
            outcome, _, how = outcome.partition(" ")
            counts[outcome] += 1
            cached += how == CACHED
            if progress:
                progress(done, total)
    outcomes = {name: counts[name] for name in OUTCOMES}
    return BatchSummary(counts.total(), kept, cached, outcomes, round(time.monotonic() - started, 3))


class _Here:
    """Lines compiled in this process."""

    def __init__(self, goals: Goals) -> None:
        self._goals, self.settings = goals, goals.settings

    def results(self, lines: Iterator[GoalLine], chunk: int) -> Iterator[Result]:
        """What came of each line."""
        for line in lines:
            result = self._goals.result(line, self.settings)
            yield outcome_of(result), result_bytes(result)


def _compiling(
    settings: Settings, jobs: int, home: Home | None, model: Model | None, closing: ExitStack
) -> _Here | Workers:
    if jobs == 1:
        return _Here(closing.enter_context(open_goals(settings, home=home, model=model)))
    if home is None:
        open_home(Path(settings.home)).close()  # its first use happens once, and here
    workers = Workers(jobs, settings.to_json())
    closing.callback(workers.close)
    return workers


def _check_jobs(jobs: int, model: object) -> None:
    if not 1 <= jobs <= MAX_JOBS:
        raise BatchError("BATCH_JOBS", f"{jobs} processes", place="--jobs", fix=f"from 1 to {MAX_JOBS}")
    if jobs > 1 and not isinstance(model, Path | None):
        raise BatchError("BATCH_JOBS", "an open model has one process", place="jobs", fix="give its file")


def _check_apart(stream: BinaryIO, sink: OutFile, place: str) -> None:
    found = fstat(stream.fileno())
    if stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) == sink.identity:
        why, fix = "the output is the input", "name another --out"
        raise BatchError("OUT_IS_IN", why, place=place, fix=fix)


def _chunk(stream: BinaryIO) -> int:
    """How many lines to give out at once: whoever writes into a pipe may wait for each answer."""
    return _CHUNK if stat.S_ISREG(fstat(stream.fileno()).st_mode) else 1
