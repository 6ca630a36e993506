"""How long a file of a thousand intents takes to validate, as a library and as a process.

    python -m benchmarks.intents [--intents 1000] [--runs 7] [--json]

The file has the form of the documented example: six constraints and six criteria an intent, four patterns. In
`all in progress` every two scopes have to be told apart; in `one folder` a quarter is in progress, and their
patterns begin alike. The floor is PyYAML's safe loader over libyaml with the same bytes: it builds values
without lines, and checks nothing. The times are the processor's: all of it is one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from mcl.plugins.agents.file.document import IntentEntry, read_file, write_file
from mcl.plugins.agents.file.validation import validate
from mcl.plugins.agents.work.file import edit_status

LIMIT_MS = 500.0  # a thousand intents
APART = ("src/part{0}/auth/**", "src/part{0}/*.ts", "tests/part{0}/**/*.spec.ts", "docs/part{0}.md")
ALIKE = ("src/*_{0}.ts", "src/*_{0}.py", "src/*/part{0}.md", "src/**/part{0}.sh")
STATUSES = ("DRAFT", "IN_PROGRESS", "DONE", "BLOCKED")


def entries(count: int, scope: Sequence[str], *, busy: bool = False) -> list[IntentEntry]:
    """Intents in the form of the documented example. scope: patterns with {0} for the number. busy: all are
    in progress."""
    return [
        IntentEntry(
            label=f"INT-{number:04d}",
            name=f"Part {number} of the work",
            description="Add JWT-based authentication to replace session cookies in this part",
            status="IN_PROGRESS" if busy else STATUSES[number % 4],
            owner="auth-team",
            created_at="2026-01-15T10:30:00Z",
            updated_at="2026-01-20T14:22:00Z",
            owned_scope=tuple(pattern.format(number) for pattern in scope),
            constraints=tuple(f"Rule {rule}: endpoints use rate limiting (10 a minute)" for rule in range(6)),
            acceptance_criteria=tuple(f"Case {case}: endpoints return the right codes" for case in range(6)),
            dependencies=(f"INT-{number - 3:04d}",) if number >= 3 else (),
            references=("docs/architecture/auth-design.md", "https://owasp.org/www-project-top-ten/"),
        )
        for number in range(count)
    ]


def measure(count: int, runs: int) -> dict[str, float]:
    """Medians in ms, and how many bytes the file has."""
    plain = write_file(entries(count, APART))
    busy = write_file(entries(count, APART, busy=True))
    alike = write_file(entries(count, ALIKE))
    document = read_file(plain)
    assert all(validate(read_file(data)).valid for data in (plain, busy, alike))
    middle = f"INT-{count // 2:04d}"
    parts: dict[str, Callable[[], object]] = {
        "floor: libyaml's safe loader": lambda: yaml.load(plain, Loader=yaml.CSafeLoader),
        "read and validate": lambda: validate(read_file(plain)),
        "  of which reading": lambda: read_file(plain),
        "  of which the rules": lambda: validate(document),
        "all in progress": lambda: validate(read_file(busy)),
        "one folder": lambda: validate(read_file(alike)),
        "edit one status": lambda: edit_status(plain, middle, "DONE", "2026-11-21T10:00:00Z", "x"),
        "write the file": lambda: write_file(document.entries),
    }
    found: dict[str, float] = {"bytes": len(plain)}
    for name, work in parts.items():
        work()
        found[name] = cpu_ms(work, runs)
    found.update(processes(plain, runs))
    return found


def processes(data: bytes, runs: int) -> dict[str, float]:
    """The same as `mcl work check --json`, beside Python with the floor, and the shortest command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "active_intents.yaml"
        path.write_bytes(data)
        load = "import sys, yaml; yaml.load(open(sys.argv[1], 'rb'), Loader=yaml.CSafeLoader)"
        commands = {
            "process: mcl work check": ["-m", "mcl", "work", "check", str(path), "--json"],
            "process: floor": ["-c", load, str(path)],
            "process: mcl --version": ["-m", "mcl", "--version"],
        }
        return {name: cpu_ms(lambda said=said: run(said), runs) for name, said in commands.items()}


def run(arguments: list[str]) -> None:
    """One process of this Python."""
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))


def cpu_ms(work: Callable[[], object], runs: int) -> float:
    """Median of `runs` times of the processor, in milliseconds, with those of the processes it waited for."""
    spent = []
    for _ in range(runs):
        start = _cpu()
        work()
        spent.append(_cpu() - start)
    return statistics.median(spent) * 1000


def _cpu() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def main() -> int:
    """Print the figures; 1 when a thousand intents take longer than they may."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--intents", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.intents, given.runs)
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        print(f"{given.intents} intents, {found.pop('bytes'):.0f} bytes, load {os.getloadavg()[0]:.1f}")
        floor = found["floor: libyaml's safe loader"]
        for name, spent in found.items():
            print(f"{name:32} {spent:8.1f} ms  {spent / floor:5.2f} of the floor")
    return int(found["read and validate"] > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
