"""Trying every tool in a folder of its own, and comparing what it does with what its manifest says.

It all happens in another process, with a home of its own, in a folder that is removed in the end. That shows
mistakes, and tools that grew. It is no prison: code that means harm could do it there as anywhere.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

import anyio

from executor.sandbox.environment import scratch
from executor.sandbox.process import Finished, run_command
from ir.errors import FAILED
from mcl.catalog.contracts.drift import Drift
from mcl.core.errors import InputError
from mcl.core.event_loop import at_once
from mcl.plugins.probing.folder import BIN
from mcl.plugins.probing.judgement import PLAN, RESULTS, Probed, State, behind_sandbox

# ---- What the process of the examples wrote down, read.

# Why an example says nothing of a tool: what it needs is not there.
_MISSING: Final = ("COMMAND_NOT_FOUND",)


def probed_of(told: Mapping[str, Any]) -> Probed:
    """The result that the process of the examples wrote down."""
    flaws = tuple(Drift(**one) for one in told["flaws"])
    programs = {behind_sandbox(what) for kind, what in told["seen"] if kind == "start"} - {""}
    asked = {what for kind, what in told["seen"] if kind == "connect"}
    hosts = {host for what in asked for host in told["hosts"].get(what, [what])}
    state: State = "sound"
    if flaws:
        state = "unsound"
    elif told["state"] != "ran":
        state = "not probed" if told["code"] in _MISSING else "failed"
    return Probed(
        told["tool"],
        told["number"],
        told["given"],
        state,
        flaws,
        "" if state in ("sound", "unsound") else f"{told['code']}: {told['message']}",
        tuple(told["changed"].get("work", ())),
        tuple(sorted({PurePath(one).name for one in programs})),
        tuple(sorted({PurePath(one).name for one in programs if PurePath(one).parent.name == BIN})),
        tuple(sorted(hosts)),
        tuple(told["home"]),
        told["seconds"],
    )


SOURCE: Final = "mcl.catalog.tools.registry:registry"
_HOST: Final = Path(__file__).with_name("host.py")
_LIMIT_S: Final = 60.0  # of one example
_POLL_S: Final = 0.05
_WORDS: Final = 1 << 16  # bytes of what the process says that are kept
_MOST_AT_ONCE: Final = 4

Progress = Callable[[int, int], None]


def probe(
    *,
    source: str = SOURCE,
    only: Collection[str] = (),
    progress: Progress | None = None,
    limit_s: float = _LIMIT_S,
) -> tuple[Probed, ...]:
    """Run the examples of all tools, each in a fresh folder, and tell what they were seen to do.

    Args:
        source: "module:function"; called with what opens a home, it gives the registry. only: names of tools
            (``mcl:fs/read``); all where empty. progress: is told how many examples are done, and of how many.
        limit_s: seconds for one example.

    Raises:
        InputError: PROBE_FAILED, the process of the examples did not come to its end. OSError.
    """
    with scratch("probe-") as place:
        return at_once(partial(_probe, place.resolve(), source, sorted(only), progress, limit_s))


async def _probe(
    place: Path, source: str, only: list[str], progress: Progress | None, limit_s: float
) -> tuple[Probed, ...]:
    job = {
        "folder": str(place),
        "source": source,
        "only": only,
        "limit_s": limit_s,
        "at_once": max(2, min(os.cpu_count() or 1, _MOST_AT_ONCE)),
        "path": [str(Path(one).absolute()) for one in sys.path],
    }
    (place / "job.json").write_text(json.dumps(job))
    (place / "home").mkdir()
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(place / "home"),
        "TMPDIR": str(place),
        "LANG": "C.UTF-8",
    }
    # -I: nothing of the person's own is loaded, and no variable of Python's counts.
    argv = [sys.executable, "-I", "-W", "ignore", str(_HOST), str(place / "job.json")]
    ended: list[Finished] = []

    async def run() -> None:
        ended.append(
            await run_command(argv, cwd=place, environment=environment, max_output=_WORDS, keep="tail")
        )
        watching.cancel()

    async with anyio.create_task_group() as group:
        watching = group.cancel_scope if progress is None else anyio.CancelScope()
        group.start_soon(run)
        if progress is not None:
            with watching:
                await _count(place, progress)
    if ended[0].status != 0:
        words = ended[0].err.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise InputError(
            "PROBE_FAILED",
            f"the examples could not be run: {words[0] if words else 'no message'}",
            place="probe",
            fix="leave it out: mcl tool check --no-probe",
            exit=FAILED,
        )
    files = sorted((place / RESULTS).glob("*.json"), key=lambda one: int(one.stem))
    return tuple(probed_of(json.loads(one.read_text())) for one in files)


async def _count(place: Path, progress: Progress) -> None:
    total, before = 0, -1
    while True:
        if not total and (place / PLAN).exists():
            total = int(json.loads((place / PLAN).read_text())["examples"])
        done = len(list((place / RESULTS).glob("*.json")))
        if total and done != before:
            progress(done, total)
            before = done
        await anyio.sleep(_POLL_S)
