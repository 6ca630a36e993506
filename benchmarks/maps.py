"""What the maps of a repository cost, as whole processes: made cold, and asked for when nothing changed.

    python -m benchmarks.maps [--files 2000] [--commits 1000] [--runs 3] [--folder DIR] [--json]

A repository of real source (Python's standard library and what is installed beside this, sorted, the first so
many files of at most 200 kB) with a history of real commits by eight people: each changes one to five files,
every tenth renames one. With --folder a copy of a repository that is there, which must have no maps. In turn,
run after run: an empty process, all bytes read and hashed (the least that anything must do that says whether
files changed), `git log` as the maps ask it, ctags over the same files where it is installed, and `mcl review
context build`: cold (a home that knows nothing; the maps written), again (nothing changed), after one file
changed; `mcl review context status`, `mcl review next`. In brackets the processor's time: on a machine that
others use, the wall clock says more about them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio

from executor.sandbox.paths import Workspace
from mcl.core.home import open_home
from mcl.plugins.review.maps.documents import documents
from mcl.plugins.review.maps.maps import rules
from mcl.plugins.review.maps.ownership import LOG
from mcl.plugins.review.maps.survey import survey

MCL = Path(sys.executable).parent / "mcl"
_HASHES = (
    "import hashlib,subprocess,sys\n"
    "for one in subprocess.run(['git','ls-files','-z'],capture_output=True).stdout.split(b'\\0')[:-1]:\n"
    "    hashlib.sha256(open(one,'rb').read()).digest()\n"
)
_PEOPLE = ("Ada", "Grace", "Barbara", "Edsger", "Donald", "Radia", "Margaret", "Ken")
_MOST = 200_000  # bytes of a file that is taken


def repository(folder: Path, files: int, commits: int) -> None:
    """Make the repository: files of this Python, and commits by `git fast-import`."""
    contents: dict[str, bytes] = {}
    for name in ("stdlib", "purelib"):
        root = Path(sysconfig.get_path(name))
        for one in sorted(root.rglob("*.py")):
            path = one.relative_to(root)
            if one.is_file() and one.stat().st_size < _MOST and "site-packages" not in path.parts:
                contents[f"{name}/{path}".replace(" ", "_")] = one.read_bytes()
    contents = dict(list(contents.items())[:files])
    folder.mkdir(parents=True)
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", "init", "-q", "-b", "main", "--template="], cwd=folder, env=environment, check=True
    )
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=folder,
        env=environment,
        input=b"".join(history(contents, commits)),
        check=True,
    )
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=folder, env=environment, check=True)


def history(contents: dict[str, bytes], commits: int) -> Iterator[bytes]:
    """What `git fast-import` reads: all files, then changes and renames, the same ones every time."""
    chance = random.Random(4)  # figures, not secrets
    now = dict(contents)
    for number in range(commits):
        who = chance.choice(_PEOPLE)
        by = f"{who} <{who}@example.org> {1700000000 + number * 3600} +0000"
        yield f"commit refs/heads/main\ncommitter {by}\ndata 6\nChange\n".encode()
        if number == 0:
            changed = list(now)
        else:
            changed = chance.sample(sorted(now), chance.randint(1, 5))
            for path in changed:
                now[path] += f"\n# {number}\n".encode()
            if number % 10 == 0:
                old = chance.choice(sorted(now.keys() - set(changed)))
                new = f"{old.removesuffix('.py')}_{number}.py"
                now[new] = now.pop(old)
                yield f"R {old} {new}\n".encode()
        for path in changed:
            yield f"M 100644 inline {path}\ndata {len(now[path])}\n".encode() + now[path] + b"\n"


def seconds(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Wall and processor time of one process and of those that it starts."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: {done.stderr.decode()}")
    return wall, cpu


def measure(folder: Path, home: Path, runs: int) -> dict[str, list[float]]:
    """Medians in seconds of wall and processor time, by what was done."""
    environment = {**os.environ, "MCL_HOME": str(home)}
    generated = folder / "generated"
    mcl = [str(MCL), "review"]
    build_it = [*mcl, "context", "build", "--yes", "--json"]
    with workspace(folder) as opened:
        some = sorted(anyio.run(survey, opened).maps().files)
    listed = folder.parent / "files"
    listed.write_text("\n".join(some))

    def forget() -> None:
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(generated, ignore_errors=True)
        open_home(home, unattended=True).close()  # nobody is asked here

    def change() -> None:
        place = folder / some[len(some) // 2]
        place.write_bytes(place.read_bytes() + b"\n")

    def nothing() -> None: ...

    rows: list[tuple[str, Callable[[], None], list[str]]] = [
        ("an empty process", nothing, [sys.executable, "-c", "pass"]),
        ("all bytes read and hashed", nothing, [sys.executable, "-c", _HASHES]),
        ("git log, as it is asked", nothing, ["git", "--no-pager", *LOG, "HEAD", "--"]),
        ("cold: context build", forget, build_it),
        ("nothing changed: context build", nothing, build_it),
        ("nothing changed: context status", nothing, [*mcl, "context", "status", "--json"]),
        ("next", nothing, [*mcl, "next", "--json"]),
        ("one file changed: context build", change, build_it),
    ]
    if ctags := shutil.which("ctags"):
        rows.insert(3, ("ctags", nothing, [ctags, "-f", os.devnull, "-L", str(listed)]))
    spent: dict[str, list[tuple[float, float]]] = {}
    for _ in range(runs):
        for name, before, command in rows:
            before()
            spent.setdefault(name, []).append(seconds(command, folder, environment))
            time.sleep(0.2)  # what changed a moment ago is read again: not what is measured
    shutil.rmtree(generated, ignore_errors=True)
    return {
        name: [round(statistics.median(each), 2) for each in zip(*some, strict=True)]
        for name, some in spent.items()
    }


@contextmanager
def workspace(folder: Path) -> Iterator[Workspace]:
    """The folder, opened."""
    opened = Workspace(folder)
    try:
        yield opened
    finally:
        opened.close()


def facts(folder: Path) -> dict[str, object]:
    """What the maps hold."""
    with workspace(folder) as opened:
        maps = anyio.run(survey, opened).maps()
    return {
        "files": len(maps.files),
        "code": sum(one.role in rules().code for one in maps.files.values()),
        "megabytes": round(sum(one.size for one in maps.files.values()) / 1e6, 1),
        "symbols": sum(len(one.symbols) for one in maps.files.values()),
        "history": maps.history,
        "maps_megabytes": round(sum(map(len, documents(maps).values())) / 1e6, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        folder = place / "work"
        if asked.folder:
            if (asked.folder / "generated/architecture").exists():
                raise SystemExit(f"{asked.folder} has maps already")
            shutil.copytree(asked.folder, folder, symlinks=True)
        else:
            repository(folder, asked.files, asked.commits)
        said: dict[str, object] = {**facts(folder), "seconds": measure(folder, place / "home", asked.runs)}
        if asked.json:
            print(json.dumps(said, indent=2))
            return
        print(", ".join(f"{value} {name}" for name, value in said.items() if name != "seconds"))
        for name, (wall, cpu) in measured(said):
            print(f"{name:36} {wall:8.2f} s   ({cpu:.2f})")


def measured(said: dict[str, object]) -> Iterator[tuple[str, tuple[float, float]]]:
    """The rows of a measurement."""
    rows = said["seconds"]
    assert isinstance(rows, dict)
    yield from rows.items()


if __name__ == "__main__":
    main()
