"""What the machine around says: variables by their names, what an agent is called, the time zone."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Final

AGENT = "MCL_AGENT"  # what an agent is called
HOME = "MCL_HOME"  # the folder of the home
PASSPHRASE = "MCL_PASSPHRASE"  # noqa: S105  # of sealed keys


# ---- What agents are called.

LOCAL: Final = "local"  # an agent that nobody named

_AGENT: Final = re.compile(r"[A-Za-z0-9._:@-]{1,64}")


def agent_name(given: str = "") -> str:
    """The name of an agent: what is given, else $MCL_AGENT, else "local". Raises WorkError BAD_AGENT_NAME."""
    name = given or os.environ.get(AGENT, "") or LOCAL
    if not _AGENT.fullmatch(name):
        from mcl.core.errors import WorkError  # the names of variables are needed at every start

        raise WorkError(
            "BAD_AGENT_NAME",
            f"{name[:80]!r} is no name of an agent",
            place="agent",
            fix="1 to 64 letters, digits and . _ : @ -",
        )
    return name


# ---- Where a person is: the time zone that days and times of day are meant in, read at the edge, once a
# goal.

SYSTEM: Final = "system"  # chosen: whatever zone the machine is in
_LINK, _NAME = Path("/etc/localtime"), Path("/etc/timezone")
_HALVES: Final = (1, 7)  # months; a zone that is UTC in both is UTC


def zone_of(name: str) -> str:
    """The name of a time zone that is one. Raises InputError ZONE_UNKNOWN."""
    from zoneinfo import ZoneInfo

    from mcl.core.errors import InputError

    try:
        return ZoneInfo(name).key
    except (ValueError, OSError, LookupError) as error:  # what it raises for what is no zone's name
        fix = "name it like Europe/Stockholm"
        raise InputError("ZONE_UNKNOWN", f"there is no time zone {name!r}", place="zone", fix=fix) from error


def system_zone() -> str:
    """The IANA name of the machine's zone: TZ, else /etc/localtime, else /etc/timezone. Raises InputError
    ZONE_UNKNOWN where none of them names one and its time is not UTC."""

    from mcl.core.errors import InputError

    for name in _told():
        try:
            return zone_of(name)
        except InputError:
            continue
    # A container often has no name for its zone; where its clock is UTC all year, it is UTC.
    offsets = [datetime(2026, month, 1).astimezone().utcoffset() for month in _HALVES]
    if not any(offsets):
        return "UTC"
    raise InputError(
        "ZONE_UNKNOWN",
        "the time zone of this machine has no name, so nobody could read later what a day meant",
        place="zone",
        fix="mcl config zone Europe/Stockholm, or set TZ to such a name",
    )


def _told() -> list[str]:
    """What names the zone, in order; TZ alone where it is set, as it is what the clock goes by."""
    if (said := os.environ.get("TZ")) is not None:
        return [said.removeprefix(":").rpartition("/zoneinfo/")[2] or "UTC"]
    found = []
    try:
        found.append(os.path.realpath(_LINK).rpartition("/zoneinfo/")[2])
        found.append(_NAME.read_text("utf-8").strip())
    except (OSError, UnicodeError):
        pass
    return [name for name in found if name and not name.startswith("/")]
