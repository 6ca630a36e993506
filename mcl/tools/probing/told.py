"""What is found out about an example of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Literal

from mcl.tools.contracts.comparing import Drift
from mcl.tools.probing.folder import BIN
from mcl.tools.probing.judging import behind_sandbox

PLAN: Final = "plan.json"
RESULTS: Final = "results"

State = Literal["sound", "unsound", "failed", "not probed"]

# Why an example says nothing of a tool: what it needs is not there.
_MISSING: Final = ("COMMAND_NOT_FOUND",)


@dataclass(frozen=True)
class Probed:
    """One example of a tool, and what it was seen to do.

    tool: address. number: of the example among all. state: sound, unsound (flaws say what was not declared),
    failed (the example does not work), not probed (reason says why). wrote: paths that changed, below the
    workspace. started: programs; stand_ins: those of them that only stood in. connected: hosts, as the
    example names them. home: what changed in the home of mcl. seconds: how long it took.
    """

    tool: str
    number: int
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

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {
            "tool": self.tool,
            "args": dict(self.args),
            "state": self.state,
            "flaws": [one.to_json() for one in self.flaws],
            "reason": self.reason,
            "wrote": list(self.wrote),
            "started": list(self.started),
            "stand_ins": list(self.stand_ins),
            "connected": list(self.connected),
            "home": list(self.home),
            "seconds": self.seconds,
        }


def unprobed(tool: str, reason: str) -> Probed:
    """What is said of a tool that no example of was run."""
    return Probed(tool, -1, {}, "not probed", reason=reason)


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
