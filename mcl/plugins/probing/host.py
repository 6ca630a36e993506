"""The process that runs examples: it makes the place of each, forks, and compares what lies there afterwards.

Started as a program of its own (``probing``), with one argument: the file with its job. What it finds it
writes beside the job, a file an example, so that whoever waits can count them.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from executor.tools.manifest import Manifest
    from mcl.plugins.probing.calls import ProbedTools


@dataclass
class _Probe:
    """An example, where it runs, what lay there before, and what is opened around it."""

    number: int
    manifest: Manifest
    args: Mapping[str, object]
    place: Path
    before: Mapping[str, Any]
    opening: Opening
    began: float


def main(job: Path) -> None:
    """Do a job: folder, source ("module:function", what gives the tools), only (names), at_once, limit_s."""
    import anyio

    from mcl.plugins.probing import folder
    from mcl.plugins.probing.calls import ProbedTools
    from mcl.plugins.probing.judgement import PLAN

    said = json.loads(job.read_text())
    place = Path(said["folder"])
    tools = ProbedTools(said["source"])
    manifests = [one for one in tools.registry.own if not said["only"] or one.name in said["only"]]
    listening = folder.listen()
    host = folder.origin(listening)
    folder.make_stand_ins(place, {program for one in manifests for program in one.programs})
    anyio.run(lambda: folder.make_template(place / "template", host=host))
    answering = _fork(listening.serve_forever)
    try:
        _load()
        wanted = [(one, example.args) for one in manifests for example in one.examples]
        _put(place / PLAN, {"examples": len(wanted)})
        _run_all(said, place, tools, host, wanted)
    finally:
        os.kill(answering, signal.SIGKILL)


def _load() -> None:
    """What every fork would have to load for itself."""
    import httpx  # noqa: F401
    import jsonschema  # noqa: F401

    import executor.walker.walker  # noqa: F401
    from ir import Frame, Intent, PlanNode, PlanTree, ToolCall

    for model in (Intent, Frame, PlanTree, PlanNode, ToolCall):
        model.model_rebuild()


def _run_all(
    said: Mapping[str, Any],
    place: Path,
    tools: ProbedTools,
    host: str,
    wanted: Sequence[tuple[Manifest, Mapping[str, object]]],
) -> None:
    waiting, running = list(enumerate(wanted)), dict[int, _Probe]()
    while waiting or running:
        while waiting and len(running) < said["at_once"]:
            number, (manifest, args) = waiting.pop(0)
            probe = _made(number, manifest, args, place)
            running[_start(probe, tools, host)] = probe
        for child, status in _ended(running, said["limit_s"]):
            _finish(running.pop(child), status, place, host)


def _made(number: int, manifest: Manifest, args: Mapping[str, object], place: Path) -> _Probe:
    from mcl.plugins.probing.folder import AREAS, AROUND, look, take_place

    own = place / "runs" / str(number)
    take_place(place / "template", own)
    before = {area: look(own / area) for area in AREAS}
    opening = Opening(own / area for area in AROUND)
    return _Probe(number, manifest, args, own, before, opening, time.monotonic())


def _start(probe: _Probe, tools: ProbedTools, host: str) -> int:
    from mcl.plugins.probing.calls import run_example

    def work() -> None:
        try:
            told = run_example(tools, probe.manifest, probe.args, probe.place, host)
        except BaseException:
            _words(probe).write_text(traceback.format_exc())
            raise
        _put(_answer(probe), told)

    return _fork(work)


def _finish(probe: _Probe, status: int, place: Path, host: str) -> None:
    from mcl.plugins.probing.folder import AREAS, changes, look
    from mcl.plugins.probing.judgement import RESULTS, judge

    opened = probe.opening.opened()
    probe.opening.close()
    told: dict[str, Any] = {
        "state": "crashed",
        "code": "TIMEOUT" if status == signal.SIGKILL else "PROBE_CRASHED",
        "message": _last_words(probe),
        "effects": list(probe.manifest.effects),
        "operation": probe.manifest.operation,
        "given": dict(probe.args),
        "args": dict(probe.args),
        "seen": [],
        "home": [],
    }
    if _answer(probe).exists():
        told = json.loads(_answer(probe).read_text())
    told["changed"] = {area: changes(probe.before[area], look(probe.place / area)) for area in AREAS}
    told["seen"] += [["read", path] for path in opened if path not in _touched(told, probe.place)]
    flaws = judge(probe.manifest, told, probe.place, host)
    told |= {
        "hosts": {host.removeprefix("http://"): _asked(probe)},
        "tool": probe.manifest.uri,
        "number": probe.number,
        "flaws": [asdict(one) for one in flaws],
        "seconds": round(time.monotonic() - probe.began, 3),
    }
    _put(place / RESULTS / f"{probe.number}.json", told)


def _ended(running: Mapping[int, _Probe], limit_s: float) -> Iterator[tuple[int, int]]:
    """The children that ended meanwhile, with how; one that takes too long is ended."""
    time.sleep(0.005)
    for child, probe in list(running.items()):
        if time.monotonic() - probe.began > limit_s:
            os.kill(child, signal.SIGKILL)
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            yield child, status


def _fork(work: Any) -> int:
    child = os.fork()
    if child:
        return child
    status = 0
    try:
        work()
    except BaseException:  # noqa: BLE001  # a fork ends here, whatever happened in it
        traceback.print_exc()
        status = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _put(place: Path, value: object) -> None:
    place.parent.mkdir(exist_ok=True)
    from executor.core.files import whole_file

    with whole_file(place, durable=False) as file:
        file.write(json.dumps(value).encode())


def _answer(probe: _Probe) -> Path:
    return probe.place.parent / f"{probe.number}.answer"


def _touched(told: Mapping[str, Any], place: Path) -> set[str]:
    """What was changed: that it was opened for it is not to be told too."""
    changed = {str(place / area / path) for area, paths in told["changed"].items() for path in paths}
    return changed | {what for kind, what in told["seen"] if kind == "write"}


def _asked(probe: _Probe) -> list[str]:
    """The hosts that the example names, for which the server of this machine stood in."""
    return sorted({urlsplit(str(probe.args.get(name, ""))).netloc for name in probe.manifest.scope.urls})


def _words(probe: _Probe) -> Path:
    return probe.place.parent / f"{probe.number}.words"


def _last_words(probe: _Probe) -> str:
    if _words(probe).exists():
        return _words(probe).read_text().strip().splitlines()[-1]
    return "the process of the example ended without an answer"


# ---- Which files of some folders are opened, by whatever code or program: the kernel tells (inotify,
# Linux).

_OPEN: Final = 0x20  # IN_OPEN of sys/inotify.h
_EVENT: Final = struct.Struct("iIII")  # of which watch, what, -, length of the name that follows
_MOST: Final = 1 << 16  # bytes of events that are taken at once


class Opening:
    """Watches folders, those below them too, from now on; what is made in them later is not watched.

    Where the kernel does not tell, nothing is seen. Close it.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._watches: dict[int, Path] = {}
        self._descriptor = -1
        if sys.platform != "linux":
            return
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        # All found first: looking for them opens them.
        for here in [here for folder in folders for here, _, _ in os.walk(folder)]:
            watch = libc.inotify_add_watch(self._descriptor, os.fsencode(here), _OPEN)
            if watch >= 0:
                self._watches[watch] = Path(here)

    def opened(self) -> tuple[str, ...]:
        """The paths that were opened since the last time, sorted."""
        found: set[str] = set()
        with suppress(OSError):  # nothing more is there
            while data := os.read(self._descriptor, _MOST) if self._descriptor >= 0 else b"":
                found.update(self._paths(data))
        return tuple(sorted(found))

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _paths(self, data: bytes) -> Iterable[str]:
        place = 0
        while place < len(data):
            watch, _, _, length = _EVENT.unpack_from(data, place)
            name = os.fsdecode(data[place + _EVENT.size : place + _EVENT.size + length].rstrip(b"\0"))
            place += _EVENT.size + length
            if watch in self._watches:
                yield str(self._watches[watch] / name)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path[:] = json.loads(Path(sys.argv[1]).read_text())["path"]
    main(Path(sys.argv[1]))
