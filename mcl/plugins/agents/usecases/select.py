"""`mcl intents select`: an agent checks out work that a person signed."""

from __future__ import annotations

from pathlib import Path

from executor.store.home import Home
from mcl.core.agent_name import agent_name
from mcl.core.home import open_home
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.root import find_root
from mcl.plugins.agents.work.selecting import SelectResult, select
from mcl.plugins.agents.work.store import Work


def select_work(
    label: str, *, agent: str = "", root: Path | None = None, home: Home | None = None
) -> SelectResult:
    """Check out the work under a label; why it cannot be is in the result.

    agent: its name (default: $MCL_AGENT, else "local"). root: a folder in the work's (default: this one).
    Raises WorkError BAD_AGENT_NAME; HomeError; KeyringError where the agent's key is sealed.
    """
    home, name = home or open_home(), agent_name(agent)
    work = Work(home)
    return select(home, work, Leases(home, work), find_root(work, root or Path.cwd()), label, name)
