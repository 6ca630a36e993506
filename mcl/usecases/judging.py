"""The gate asked beforehand: a walker with all that a run would have, and nothing is run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from executor.store.home import Home
from executor.walker import Walker
from mcl.catalog.tools.foreign import all_tools
from mcl.compiler.execution import InstalledSkills, ModelReasoner
from mcl.usecases.models import Models
from mcl.usecases.skills import installed


@contextmanager
def judging(home: Home, workspace: Path | None, skills: Sequence[Path]) -> Iterator[Walker]:
    """A walker whose preflights judge as a run in `workspace` (default: the current folder) would.

    skills: further folders of skills, for sub-dispatches. Raises ScopeError where the workspace cannot be
    used.
    """
    tools = all_tools(home)
    walker = Walker(
        home,
        tools,
        workspace=workspace or Path.cwd(),
        reasoner=ModelReasoner(Models(home).open),
        sub_skills=InstalledSkills(lambda: installed(home.path, skills), tools),
    )
    try:
        yield walker
    finally:
        walker.close()
