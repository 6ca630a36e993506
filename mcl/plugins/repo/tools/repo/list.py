"""Lists the repositories."""

from collections.abc import Mapping
from typing import Any

from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.core.repositories import Repositories


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Answer with all of them, in the order of their keys. Raises RepoError BAD_CONFIGURATION."""
    known = Repositories(home.path)
    active = known.active()
    repositories = [
        {"key": one.key, "path": str(one.path), "active": one == active, "there": one.path.is_dir()}
        for one in known.all()
    ]
    lines = [
        f"{'* ' if one['active'] else '  '}{one['key']}  {one['path']}"
        + ("" if one["there"] else "  (not there)")
        for one in repositories
    ]
    return {
        "repositories": repositories,
        "active": active.key if active else "",
        "count": len(repositories),
        "text": "\n".join(lines) or "no repository is known; name one: mcl repo add KEY PATH",
    }
