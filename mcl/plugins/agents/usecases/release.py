"""`mcl intents release`: an agent gives up what it has checked out, or a person takes it back."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from executor.store.home import Home
from mcl.core.agent_name import agent_name
from mcl.core.errors import WorkError
from mcl.core.home import open_home
from mcl.plugins.agents.work.leases import Lease, Leases
from mcl.plugins.agents.work.root import find_root
from mcl.plugins.agents.work.store import Work

RELEASED: Final = "record.work.released"


def release_work(*, agent: str = "", root: Path | None = None, home: Home | None = None) -> Lease:
    """Give up what an agent holds. The work stays IN_PROGRESS, and another may check it out.

    Raises WorkError NOTHING_HELD, BAD_AGENT_NAME; HomeError; KeyringError where the agent's key is sealed.
    """
    home, name = home or open_home(), agent_name(agent)
    work = Work(home)
    leases, place = Leases(home, work), find_root(work, root or Path.cwd())
    with home.db.write():
        lease = leases.release(place, name)
        if lease is not None:
            body = {"label": lease.label, "agent": name, "number": lease.number, "why": "released"}
            home.journal.record(RELEASED, body, intent=lease.intent_id)
    if lease is None:
        raise WorkError(
            "NOTHING_HELD",
            f"the agent '{name}' holds nothing in {place}",
            place=name,
            fix="mcl intents list says who holds what; name another with --agent",
        )
    return lease
