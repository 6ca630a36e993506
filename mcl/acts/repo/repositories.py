"""`mcl repo add`, `switch`, `remove`: which repositories there are is a person's word, and is journalled."""

from dataclasses import dataclass
from pathlib import Path

from executor.home import Home
from mcl.home import open_home
from mcl.repo.repositories import Repositories, Repository


@dataclass(frozen=True)
class ChangedRepository:
    """A repository that was added, switched to or removed, and the one that is active now; None: none is."""

    repository: Repository
    active: Repository | None


def add_repository(key: str, path: Path, *, home: Home | None = None) -> ChangedRepository:
    """Name a folder; the first one becomes the active one. Raises what Repositories.add does."""
    known = _changeable(home := home or open_home())
    return _kept(home, "added", known.add(key, path))


def switch_repository(key: str, *, home: Home | None = None) -> ChangedRepository:
    """Make one the active one. Raises what Repositories.switch does."""
    known = _changeable(home := home or open_home())
    return _kept(home, "switched", known.switch(key))


def remove_repository(key: str, *, home: Home | None = None) -> ChangedRepository:
    """Forget one; its folder stays as it is. Raises what Repositories.remove does."""
    known = _changeable(home := home or open_home())
    return _kept(home, "removed", known.remove(key))


def _changeable(home: Home) -> Repositories:
    """The repositories of a home whose agent can sign that they changed. Raises KeyringError."""
    home.keyring.agent.signing_key  # noqa: B018  # where it is sealed, nothing is changed either
    return Repositories(home.path)


def _kept(home: Home, what: str, repository: Repository) -> ChangedRepository:
    by = home.keyring.user.did
    said = {"key": repository.key, "path": str(repository.path), "by": by}
    home.journal.record(f"record.repo.{what}", said)
    return ChangedRepository(repository, Repositories(home.path).active())
