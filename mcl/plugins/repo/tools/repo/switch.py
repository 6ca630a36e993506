"""Makes another repository the active one."""

from collections.abc import Mapping
from typing import Any

from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.core.repositories import Repositories


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Switch, and answer with both. Raises RepoError BAD_CONFIGURATION, UNKNOWN_REPOSITORY,
    REPOSITORY_GONE, REPOSITORY_CLOSED."""
    known = Repositories(home.path)
    before = known.active()
    now = known.switch(args["repo"])
    return {
        "repo": now.key,
        "path": str(now.path),
        "from": before.key if before else "",
        "text": f"{now.key} is the active repository now: {now.path}",
    }
