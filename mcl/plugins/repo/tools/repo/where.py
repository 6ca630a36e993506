"""Tells where a repository is."""

from collections.abc import Mapping
from typing import Any, Final

from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.core.repositories import Repositories

_KIND: Final = "print_cd"


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Answer with its path. Raises RepoError BAD_CONFIGURATION, UNKNOWN_REPOSITORY, NO_REPOSITORY,
    REPOSITORY_GONE, REPOSITORY_CLOSED."""
    # A plan names the repository that was resolved for it: no other one stands in here.
    found = Repositories(home.path).resolve(args.get("repo"), kind=_KIND, strict=True)
    return {"repo": found.key, "path": str(found.path), "text": str(found.path)}
