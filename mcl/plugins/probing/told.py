"""What is found out about an example of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from mcl.catalog.contracts.comparing import Drift

PLAN: Final = "plan.json"
RESULTS: Final = "results"

State = Literal["sound", "unsound", "failed", "not probed"]


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
