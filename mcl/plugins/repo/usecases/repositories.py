"""`mcl repo add`, `switch`, `remove`: which repositories there are is a person's word, and is journalled."""

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from executor.core.errors import ToolError
from executor.gate.known import workspace_of
from executor.sandbox.history import history, main_folder
from executor.store.home import Home
from mcl.core.home import open_home
from mcl.core.repositories import Repositories, Repository


@dataclass(frozen=True)
class ChangedRepository:
    """A repository that was added, switched to or removed, and the one that is active now; None: none is.

    history: of one that was added and is a linked work tree or a submodule, the repository it belongs to.
    problem: of one that was added, why git can tell nothing of it.
    """

    repository: Repository
    active: Repository | None
    history: Path | None = None
    problem: ToolError | None = None


def add_repository(key: str, path: Path, *, home: Home | None = None) -> ChangedRepository:
    """Name a folder; the first one becomes the active one. Raises what Repositories.add does."""
    known = _changeable(home := home or open_home())
    changed = _kept(home, "added", known.add(key, path))
    try:
        return replace(changed, history=_history_of(changed.repository.path, home))
    except ToolError as problem:
        return replace(changed, problem=problem)


def switch_repository(key: str, *, home: Home | None = None) -> ChangedRepository:
    """Make one the active one. Raises what Repositories.switch does."""
    known = _changeable(home := home or open_home())
    return _kept(home, "switched", known.switch(key))


def remove_repository(key: str, *, home: Home | None = None) -> ChangedRepository:
    """Forget one; its folder stays as it is. Raises what Repositories.remove does."""
    known = _changeable(home := home or open_home())
    return _kept(home, "removed", known.remove(key))


def _history_of(folder: Path, home: Home) -> Path | None:
    """The repository elsewhere that a folder belongs to; None where it holds its own. Raises ToolError."""
    with (
        closing(workspace_of(home, folder)) as workspace,
        workspace.open_folder(".") as opened,
        history(workspace, ".", opened) as found,
    ):
        return main_folder(found.place) if found.linked else None


def _changeable(home: Home) -> Repositories:
    """The repositories of a home whose agent can sign that they changed. Raises KeyringError."""
    home.keyring.agent.signing_key  # noqa: B018  # where it is sealed, nothing is changed either
    return Repositories(home.path)


def _kept(home: Home, what: str, repository: Repository) -> ChangedRepository:
    by = home.keyring.user.did
    said = {"key": repository.key, "path": str(repository.path), "by": by}
    home.journal.record(f"record.repo.{what}", said)
    return ChangedRepository(repository, Repositories(home.path).active())
