"""One of the processes of a batch (see workers.py); started with `python -m mcl.usecases.batch.worker`."""

import gc
import json
import os
import signal
import sys
from typing import IO, Any

from ir.errors import MclError
from mcl.usecases.batch.goals import Settings, open_goals
from mcl.usecases.batch.lines import GoalLine, outcome_of, result_bytes
from mcl.usecases.batch.workers import FATAL, READY

_OBJECTS = 50_000  # made between two collections


def main() -> int:
    """Compile what standard input says until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it stops it
    gc.set_threshold(_OBJECTS)
    # Whatever a library prints must not end up among the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        _work(sys.stdin.buffer, answers)
    except MclError as error:
        _say(
            answers, FATAL, json.dumps({**error.to_json(), "exit": error.exit}, default=str).encode() + b"\n"
        )
        return error.exit
    except BrokenPipeError:
        return 0
    return 0


def _work(asked: IO[bytes], answers: IO[bytes]) -> None:
    settings = Settings.from_json(json.loads(asked.readline()))
    with open_goals(settings) as goals:
        salt = goals.settings
        _say(answers, READY, salt.encode() + b"\n")
        while head := asked.readline():
            lines = [_line(asked.readline()) for _ in range(int(head))]
            for line in lines:
                result: dict[str, Any] = goals.result(line, salt)
                _say(answers, outcome_of(result), result_bytes(result))


def _line(data: bytes) -> GoalLine:
    number, too_long, said = data.split(b" ", 2)
    return GoalLine(int(number), said[:-1], too_long == b"1")


def _say(answers: IO[bytes], outcome: str, result: bytes) -> None:
    answers.write(outcome.encode() + b"\t" + result)
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
