"""A whole batch: goals from a file of JSON lines, results into another, in the same order."""

import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from os import fstat
from pathlib import Path
from typing import BinaryIO, Final

from executor.store.home import Home
from mcl.core.errors import BatchError
from mcl.core.home import locate, open_home
from mcl.model.protocol import Model
from mcl.usecases.batch.goals import Goals
from mcl.usecases.batch.lines import CACHED, Line, outcome_of, read_lines, result_bytes
from mcl.usecases.batch.opening import Settings, open_goals
from mcl.usecases.batch.out import OutFile, count_lines, open_input
from mcl.usecases.batch.workers import Result, Workers

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
        """As a JSON object."""
        return {**asdict(self), "per_second": round(self.per_second, 1)}


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

    def results(self, lines: Iterator[Line], chunk: int) -> Iterator[Result]:
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
