"""Compiles sources in memory. A program of its own: it imports nothing of mcl and is given one file.

Each line of the file is one source in hexadecimal digits. Written to standard output: a JSON list a line,
[number, line, why] for each source that does not compile, and ["end"] when all were tried. The number of the
source that is being compiled stands in the file `at` beside it.
"""

import json
import resource
import signal
import sys
import warnings
from pathlib import Path

_MEMORY = 2 << 30  # bytes
_SECONDS = 10  # for one source
_SAID = 200  # characters


def flaw(source: bytes) -> tuple[int, str] | None:
    """Line and reason why a source does not compile; None where it does."""
    try:
        compile(source, "source", "exec", dont_inherit=True)
    except SyntaxError as problem:
        return problem.lineno or 0, f"{type(problem).__name__}: {problem.msg}"
    except (ValueError, RecursionError, MemoryError, OverflowError) as problem:
        return 0, f"{type(problem).__name__}: {problem}"
    return None


def main(place: Path) -> None:
    """Compile every source of the file."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    at = place.with_name("at").open("w", encoding="ascii")
    for number, line in enumerate(place.read_text(encoding="ascii").split("\n")):
        at.seek(0)
        at.write(f"{number:08}")
        at.flush()
        signal.alarm(_SECONDS)  # ends this process
        found = flaw(bytes.fromhex(line))
        if found is not None:
            print(json.dumps([number, found[0], found[1][:_SAID]]), flush=True)
    print(json.dumps(["end"]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
