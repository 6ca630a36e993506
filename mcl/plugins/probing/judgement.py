"""What a tool was seen to do, held against what its manifest declares. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final, Literal

from executor.tools.manifest import CHANGING, Manifest
from ir.results import UNTOLD, JsonResult
from mcl.catalog.contracts.drift import Drift
from mcl.core.text import some

# Where programs and what they are made of lie: nobody's files.
_SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/dev", "/opt", "/nix/store"),
    *("/gnu/store", "/proc/self", "/proc/thread-self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
    *("/proc/mounts", "/proc/filesystems", "/proc/sys", "/sys/devices/system", "/sys/fs/cgroup", "/System"),
    *("/Library", "/private/etc", "/private/var/db/timezone", "/run/systemd/resolve", "/var/lib/mime"),
)
_SANDBOX: Final = "bwrap"  # declared by nobody: what is confined is what runs behind it
_TRIAL: Final = "/bin/true"  # what the sandbox is tried with
_MOST: Final = 5  # of a kind that are told of one example
_MARKING: Final = "keys/marking.json"  # signs nothing; findings are known again by it, so reviews read it
_REVIEWS: Final = "mcl:review/"
_OUTSIDE: Final = {"beside": "beside the workspace", "home": "in the person's home"}


def judge(manifest: Manifest, told: Mapping[str, Any], place: Path, host: str) -> tuple[Drift, ...]:
    """What an example was seen to do that the manifest does not declare for that call.

    Args:
        told: as ``run_example``, with changed: the paths that differ now, by area.
        place: where it ran. host: the one that stands in for all others.
    """
    found: dict[str, list[str]] = {}
    for code, what in (*_seen(manifest, told, place, host), *_changed(manifest, told)):
        if what not in found.setdefault(code, []):
            found[code].append(what)
    name = manifest.uri.removeprefix("matrix://tool/")
    return tuple(
        Drift(code, name, f"{_SAID[code]}: {some(things, _MOST, ', and')}", _FIX[code])
        for code, things in found.items()
    )


def unshown(manifest: Manifest, probed: Sequence[Probed]) -> Iterator[Drift]:
    """What a manifest declares that none of the tool's examples was seen to do: a call would be asked about
    more than it does. Nothing is said where an example did not run, or a program was only stood in for.
    """
    if not probed or any(one.state != "sound" or one.stand_ins for one in probed):
        return
    seen = {
        "write": any(one.wrote or one.home for one in probed),
        # What a program does on the network is its own: only that it was started is seen.
        "network": any(one.connected or (manifest.programs and one.started) for one in probed),
        "shell": any(one.started for one in probed),
    }
    names: list[str] = [name for name in manifest.effects if not seen.get(name, True)]
    if manifest.programs and not seen["shell"] and "shell" not in names:
        names.append("programs")
    for name in names:
        message = f"it declares {name}, and no example shows it"
        tool = manifest.uri.removeprefix("matrix://tool/")
        yield Drift("EFFECT_NOT_SHOWN", tool, message, "give an example that does it, or declare less")


def is_declared(argv: Sequence[str], names: Sequence[str], confined: bool) -> bool:
    """May this program be started? names: of programs, or where one is. confined: may it run behind the
    sandbox?"""
    program = behind_sandbox(argv) if confined else argv[0]
    if program == "":
        return True
    name = PurePath(program).name
    # python3 may be python3.12.
    return any(
        program == one or (("/" not in one) and re.fullmatch(rf"{re.escape(one)}[0-9.]*", name))
        for one in names
    )


def behind_sandbox(argv: Sequence[str]) -> str:
    """The program that is run, behind the sandbox where there is one; "" for a trial of the sandbox alone."""
    if PurePath(argv[0]).name != _SANDBOX or "--" not in argv[:-1]:
        return argv[0]
    program = argv[list(argv).index("--") + 1]
    return "" if program == _TRIAL else program


_SAID: Final = {
    "WROTE_UNDECLARED": "it changed something, and is declared to read",
    "WROTE_ELSEWHERE": "it wrote where it has no business",
    "READ_ELSEWHERE": "it read where it has no business",
    "STARTED_UNDECLARED": "it started a program that it does not declare",
    "CONNECTED_UNDECLARED": "it used the network, and does not declare it",
    "CONNECTED_ELSEWHERE": "it asked a host that was not granted",
    "LEFT_BEHIND": "it left temporary files",
}
_FIX: Final = {
    "WROTE_UNDECLARED": "declare the effect write, or do not write",
    "WROTE_ELSEWHERE": "write only below the paths that scope names",
    "READ_ELSEWHERE": "read only in the workspace",
    "STARTED_UNDECLARED": "name it in programs, or do not start it",
    "CONNECTED_UNDECLARED": "declare the effect network, or do not connect",
    "CONNECTED_ELSEWHERE": "go to the hosts of bench.hosts only",
    "LEFT_BEHIND": "remove them when the call ends",
}


def _seen(manifest: Manifest, told: Mapping[str, Any], place: Path, host: str) -> Iterator[tuple[str, str]]:
    writes, network = "write" in told["effects"], bool({"network", "chain"} & set(told["effects"]))
    for kind, what in told["seen"]:
        area, below = _area(what, place) if kind in ("read", "write") else ("", "")
        if kind == "write" and area == "work" and not writes:
            yield "WROTE_UNDECLARED", below
        elif kind == "write" and area in _OUTSIDE:
            yield "WROTE_ELSEWHERE", f"{below} {_OUTSIDE[area]}"
        elif kind == "write" and not area and not _is_below(what, ("/dev", "/proc")):
            yield "WROTE_ELSEWHERE", what
        elif kind == "read" and area in _OUTSIDE:
            yield "READ_ELSEWHERE", f"{below} {_OUTSIDE[area]}"
        elif kind == "read" and (area, below) == ("mcl", _MARKING) and manifest.name.startswith(_REVIEWS):
            continue
        elif kind == "read" and area == "mcl" and _is_below(below, ("keys",)):
            yield "READ_ELSEWHERE", f"{below} in the home of mcl"
        elif kind == "read" and not area and not _is_below(what, _known()):
            yield "READ_ELSEWHERE", what
        elif kind == "start" and not _may_start(manifest, what, place):
            yield "STARTED_UNDECLARED", what[0]
        elif kind == "connect" and not network:
            yield "CONNECTED_UNDECLARED", what
        elif kind == "connect" and what != host.removeprefix("http://"):
            yield "CONNECTED_ELSEWHERE", what


def _changed(manifest: Manifest, told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    writes, changed = "write" in told["effects"], told["changed"]
    mine = _mine(manifest, told["args"])
    for path in changed.get("work", ()):
        if not writes:
            yield "WROTE_UNDECLARED", path
        elif not any(_is_below(path, (one,)) or _is_below(one, (path,)) for one in mine):
            yield "WROTE_ELSEWHERE", path
    for area, said in _OUTSIDE.items():
        for path in changed.get(area, ()):
            yield "WROTE_ELSEWHERE", f"{path} {said}"
    for path in changed.get("tmp", ()):
        yield "LEFT_BEHIND", path
    for path in () if writes else told["home"]:
        yield "WROTE_UNDECLARED", f"{path} in the home of mcl"


def _mine(manifest: Manifest, args: Mapping[str, Any]) -> list[str]:
    """The places of the workspace that a call may write in: those that it names to be written, else the
    folder that it works in."""
    if manifest.scope.kind != "workspace":
        return []
    given, paths = manifest.complete(args), manifest.scope.paths
    wanted = [given.get(name, ".") for name, mode in paths.items() if mode in CHANGING]
    wanted = wanted or [given.get(name, ".") for name in paths]
    places = [path for one in wanted for path in (one if isinstance(one, list) else [one])]
    return [str(PurePath(str(path))) for path in places] or ["."]


def _may_start(manifest: Manifest, argv: Sequence[str], place: Path) -> bool:
    if _area(argv[0], place)[0]:  # a program of the workspace, whatever it is called
        return False
    # An editor is the person's own; the folder of stand-ins has one.
    names = ["editor" if name.startswith("$") else name for name in manifest.programs]
    return is_declared(argv, names, "shell" in manifest.effects)


def _area(path: str, place: Path) -> tuple[str, str]:
    """In which part of a probe's place a path lies, and where there; "" for none."""
    if not _is_below(path, (str(place),)):
        return "", ""
    area, _, below = path[len(str(place)) :].strip("/").partition("/")
    return area, below or "."


def _known() -> tuple[str, ...]:
    own = (sys.prefix, sys.base_prefix, sys.exec_prefix, *(one for one in sys.path if one.startswith("/")))
    return (*_SYSTEM, *own)


def _is_below(path: str, places: Sequence[str]) -> bool:
    return any(path == one or one == "." or path.startswith(one.rstrip("/") + "/") for one in places)


# ---- What is found out about an example of a tool.

PLAN: Final = "plan.json"
RESULTS: Final = "results"

State = Literal["sound", "unsound", "failed", "not probed"]


@dataclass(frozen=True)
class Probed(JsonResult):
    """One example of a tool, and what it was seen to do.

    tool: address. number: of the example among all. state: sound, unsound (flaws say what was not declared),
    failed (the example does not work), not probed (reason says why). wrote: paths that changed, below the
    workspace. started: programs; stand_ins: those of them that only stood in. connected: hosts, as the
    example names them. home: what changed in the home of mcl. seconds: how long it took.
    """

    tool: str
    number: int = field(metadata=UNTOLD)
    args: Mapping[str, object]
    state: State
    flaws: tuple[Drift, ...] = ()
    reason: str = ""
    wrote: tuple[str, ...] = ()
    started: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    connected: tuple[str, ...] = ()
    home: tuple[str, ...] = ()
    seconds: float = 0.0


def unprobed(tool: str, reason: str) -> Probed:
    """What is said of a tool that no example of was run."""
    return Probed(tool, -1, {}, "not probed", reason=reason)
