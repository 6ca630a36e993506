"""What the agent behind a call is called: its leases, what it saw and what it changed are kept under it."""

from __future__ import annotations

import re
from typing import Final

from mcl.serve.install.hosts import HOSTS

UNNAMED: Final = "mcp"
_ODD: Final = re.compile(r"[^A-Za-z0-9._:@-]+")
_LONGEST: Final = 64


def name_of(client: str) -> str:
    """The name of an agent that nobody named, from what its client calls itself: that of its host where it is
    one that is known (gemini-cli-mcp-client is gemini-cli, as in its hooks), else the same in plain letters.

    It says who is meant, and proves nothing: an agent that takes another's name shares its leases.
    """
    name = _ODD.sub("-", client.strip()).strip("-")[:_LONGEST].lower()
    of_host = [host.name for host in HOSTS if name == host.name or name.startswith(f"{host.name}-")]
    return max(of_host, key=len, default=name) or UNNAMED
