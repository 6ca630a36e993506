"""What the process of the examples wrote down, read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from mcl.catalog.contracts.comparing import Drift
from mcl.plugins.probing.folder import BIN
from mcl.plugins.probing.judging import behind_sandbox
from mcl.plugins.probing.told import Probed, State

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
