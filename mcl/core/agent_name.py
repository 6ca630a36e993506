"""What agents are called."""

from __future__ import annotations

import os
import re
from typing import Final

from mcl.core.environment import AGENT
from mcl.core.errors import WorkError

LOCAL: Final = "local"  # an agent that nobody named

_AGENT: Final = re.compile(r"[A-Za-z0-9._:@-]{1,64}")


def agent_name(given: str = "") -> str:
    """The name of an agent: what is given, else $MCL_AGENT, else "local". Raises WorkError BAD_AGENT_NAME."""
    name = given or os.environ.get(AGENT, "") or LOCAL
    if not _AGENT.fullmatch(name):
        raise WorkError(
            "BAD_AGENT_NAME",
            f"{name[:80]!r} is no name of an agent",
            place="agent",
            fix="1 to 64 letters, digits and . _ : @ -",
        )
    return name
