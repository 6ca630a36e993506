"""`mcl intents complete`: an agent proposes that work is done, or a person signs off what is left of it."""

from __future__ import annotations

from pathlib import Path

from executor.store.home import Home
from mcl.core.agent_name import agent_name
from mcl.core.home import open_home
from mcl.core.loops import outside_loop
from mcl.plugins.agents.work.completing import CompleteResult, complete
from mcl.plugins.agents.work.criteria import Ask
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.root import find_root
from mcl.plugins.agents.work.store import Work


def complete_work(
    label: str = "",
    *,
    notes: str = "",
    agent: str = "",
    ask: Ask | None = None,
    root: Path | None = None,
    home: Home | None = None,
) -> CompleteResult:
    """Look at all criteria of a piece of work; where they hold, it is DONE and given up.

    label: "" for what the agent holds. notes: how it saw to them, in the agent's words. agent: its name
    (default: $MCL_AGENT, else "local"). ask: puts a sign-off to the person who is there; with it the answers
    are signed with the user's key, and nothing need be checked out. root: a folder in the work's.

    What a program looks at may take as long as an address takes to answer. Raises what
    `mcl.plugins.agents.work.completing.complete` raises; WorkError BAD_AGENT_NAME.
    """
    outside_loop("complete_work", plugin=True)
    home, name = home or open_home(), agent_name(agent)
    work = Work(home)
    place = find_root(work, root or Path.cwd())
    return complete(home, work, Leases(home, work), place, label, name, notes=notes, ask=ask)
