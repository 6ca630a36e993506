"""Where the home is, and its first use."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from executor.errors import HomeError
from executor.gate.grants import Grants
from executor.home import Home


def locate() -> Path:
    """The folder of the home: $MCL_HOME, else the platform's folder for a user's data."""
    if named := os.environ.get("MCL_HOME"):
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("mcl", appauthor=False)


def open_home(
    path: Path | None = None,
    *,
    passphrase: bytes | None = None,
    announce: Callable[[str], None] | None = None,
    allowed: tuple[str, ...] = (),
) -> Home:
    """Open the home at `path` (default: `locate()`); first use makes keys for user and agent, and grants.

    passphrase: opens sealed keys, and seals those that first use makes. announce: is told what first use
    made. allowed: folders that tools may read beside the workspace. Raises HomeError, KeyringError.
    """
    path = path or locate()
    fresh = not (path / "mcl.db").exists()
    home = Home.open(
        path, passphrase=passphrase, allowed=allowed, repositories=partial(named_repositories, path)
    )
    grants, agent = Grants(home.db, home.clock), home.keyring.agent.did
    if not grants.list(agent):
        grants.ensure_default(agent)
    if fresh and announce is not None:
        classes = " and ".join(sorted(grants.classes(agent)))
        sealed = "sealed with a passphrase" if passphrase else "not sealed (mcl init --passphrase would have)"
        announce(f"first use: made the home {home.path}")
        announce(f"  user key   {home.keyring.user.did}, {sealed}")
        announce(f"  agent key  {agent}, may {classes} in the workspace of an accepted plan (mcl grants)")
    return home


def named_repositories(path: Path) -> tuple[str, ...]:
    """The folders that the home at `path` knows as repositories; none where that cannot be read."""
    from mcl.errors import RepoError
    from mcl.repo.repositories import Repositories

    try:
        return tuple(str(one.path) for one in Repositories(path).all())
    except (RepoError, HomeError):
        return ()
