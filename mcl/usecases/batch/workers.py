"""Processes that compile the lines of a batch side by side; results come out in the order of the lines.

Each is `python -m mcl.usecases.batch.worker`, spoken to through its standard streams: the settings first,
as one JSON line; then again and again a number and so many lines of the input, each after its own number
and whether it is too long. It answers `<outcome> TAB <result>` for each, at once (the outcome as
`outcome_of` says it).
"""

import json
import threading
from collections.abc import Iterator, Mapping
from itertools import islice
from queue import SimpleQueue
from typing import IO, Any, TypeAlias

from executor.sandbox.child import PIPE, Child, GroupLeash, start
from executor.sandbox.environment import own_code
from ir.errors import FAILED, MclError
from mcl.core.errors import BatchError
from mcl.usecases.batch.goals import failed
from mcl.usecases.batch.lines import GoalLine, result_bytes

FATAL, READY = "fatal", "ready"
Result: TypeAlias = tuple[str, bytes]  # outcome, the line of the output


class Worker:
    """One process. Raises BatchError WORKER_FAILED, and what the process could not begin with."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._begin = json.dumps(settings).encode() + b"\n"
        self._changing = threading.Lock()
        self._closed = False
        self._process = self._start()
        self.settings = self._ready()

    def results(self, lines: list[GoalLine]) -> Iterator[Result]:
        """What came of each line. One that the process dies of is told as an error; another process goes on
        behind it."""
        while lines:
            self._send(lines)
            done = 0
            while done < len(lines) and (answer := self._answer()) is not None:
                done += 1
                yield answer
            if done < len(lines):
                died = self._died()
                with self._changing:
                    if self._closed:
                        return
                    self._process = self._start()
                yield "error", result_bytes(failed(lines[done], died, self.settings))
                self._ready()
                done += 1
            lines = lines[done:]

    def close(self) -> None:
        with self._changing:
            self._closed = True
            self._process.kill()

    def _start(self) -> Child:
        command, environment = own_code("mcl.usecases.batch.worker")
        process = start(
            GroupLeash(command),  # it starts nothing itself
            cwd=".",
            environment=environment,
            stdin=PIPE,
            stdout=PIPE,
            stderr=None,  # what a library of it says goes where ours goes
        )
        _write(process.stdin, self._begin)
        return process

    def _ready(self) -> str:
        answer = self._answer()
        if answer is None:
            raise self._died()
        return answer[1].decode().strip()

    def _send(self, lines: list[GoalLine]) -> None:
        parts = [b"%d\n" % len(lines)]
        parts += (b"%d %d %s\n" % (line.number, line.too_long, line.data) for line in lines)
        _write(self._process.stdin, b"".join(parts))

    def _answer(self) -> Result | None:
        """The next answer; None where the process is gone. Raises what stopped it where it says so."""
        assert self._process.stdout is not None, "it was started with a pipe"
        outcome, _, result = self._process.stdout.readline().partition(b"\t")
        if not result.endswith(b"\n"):
            return None
        if outcome.decode() == FATAL:
            said = json.loads(result)
            raise MclError(
                said["code"], said["message"], place=said["place"], fix=said["fix"], exit=said["exit"]
            )
        return outcome.decode(), result

    def _died(self) -> BatchError:
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"status {code}"
        why = f"the process that compiled it stopped with {how}"
        return BatchError("WORKER_FAILED", why, fix="please report this goal", exit=FAILED)


class Workers:
    """So many processes at once."""

    def __init__(self, count: int, settings: Mapping[str, Any]) -> None:
        """Start them all, then wait until each can compile."""
        self._all: list[Worker] = []
        started: list[Worker | BaseException] = _at_once(count, lambda: Worker(settings))
        self._all = [one for one in started if isinstance(one, Worker)]
        for one in started:
            if isinstance(one, BaseException):
                self.close()
                raise one

    @property
    def settings(self) -> str:
        """The digest of all that results depend on, as the processes know it."""
        return self._all[0].settings

    def results(self, lines: Iterator[GoalLine], chunk: int) -> Iterator[Result]:
        """What came of each line, in order. chunk: how many a process is given at once."""
        numbered = enumerate(iter(lambda: list(islice(lines, chunk)), []))
        lock = threading.Lock()
        finished: SimpleQueue[tuple[int, list[Result]] | BaseException | None] = SimpleQueue()

        def work(worker: Worker) -> None:
            try:
                while True:
                    with lock:
                        number, part = next(numbered, (0, []))
                    if not part:
                        break
                    finished.put((number, list(worker.results(part))))
                finished.put(None)
            except BaseException as error:  # noqa: BLE001 - told in the thread that asked
                finished.put(error)

        for worker in self._all:
            threading.Thread(target=work, args=(worker,), daemon=True).start()
        waiting: dict[int, list[Result]] = {}
        due, busy = 0, len(self._all)
        while busy:
            told = finished.get()
            if told is None:
                busy -= 1
            elif isinstance(told, BaseException):
                raise told
            else:
                waiting[told[0]] = told[1]
                while due in waiting:
                    yield from waiting.pop(due)
                    due += 1

    def close(self) -> None:
        for worker in self._all:
            worker.close()


def _at_once(count: int, make: Any) -> list[Any]:
    """What `make` gives, or raises, so many times at the same time."""
    made: list[Any] = [None] * count

    def one(place: int) -> None:
        try:
            made[place] = make()
        except BaseException as error:  # noqa: BLE001 - handed to the caller
            made[place] = error

    threads = [threading.Thread(target=one, args=(place,), daemon=True) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made


def _write(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None, "it was started with a pipe"
    try:
        pipe.write(data)
        pipe.flush()
    except BrokenPipeError:  # it is gone: the missing answer tells
        return
