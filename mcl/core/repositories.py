"""The repositories that a person named: repos.json and state.json in the home."""

import json
import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.core.files import whole_file
from executor.sandbox.paths import KEY
from ir.results import WHERE_SAID
from mcl.core.errors import RepoError

REPOS: Final = "repos.json"  # key -> absolute path
STATE: Final = "state.json"  # {"active": key}

_MOST: Final = 1000  # repositories
_MAX_FILE: Final = 1 << 20  # bytes
_LONGEST: Final = 4096  # characters of a path
_CONFIGURATION: Final = 1  # exit status: no route, or nothing is set up for it
# Nothing is changed or run in another repository than the one that was said.
_NEVER_ANOTHER: Final = frozenset({"create_branch", "run_test", "open_editor", "run_mqlaunch", "switch_repo"})


@dataclass(frozen=True)
class Repository:
    """A repository by its key; path is absolute."""

    key: str
    path: Path


@dataclass(frozen=True)
class Resolved(Repository):
    """The repository that something is done in. note: what a person should know of the choice, or ""."""

    note: str = field(default="", metadata=WHERE_SAID)


class Repositories:
    """The repositories of a home, in its folder. Every method reads the files anew.

    Raises (all but the constructor): RepoError BAD_CONFIGURATION (exit 1), a file is not as it should be;
    HomeError, the disk does not let it be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> tuple[Repository, ...]:
        """All of them, in the order of their keys."""
        place = self._folder / REPOS
        document = _document(place)
        if len(document) > _MOST:
            raise _bad(place, f"it names more than {_MOST:,} repositories")
        folded: dict[str, str] = {}
        for key, path in document.items():
            if not KEY.match(key):
                raise _bad(place, f"{key[:80]!r} is no key of a repository")
            if (other := folded.setdefault(key.casefold(), key)) != key:
                raise _bad(place, f"{other} and {key} differ in nothing but case")
            if why := _no_path(path):
                raise _bad(place, f"the path of {key} {why}")
        return tuple(Repository(key, Path(document[key])) for key in sorted(document))

    def keys(self) -> tuple[str, ...]:
        return tuple(one.key for one in self.all())

    def active(self) -> Repository | None:
        """The one that is meant where none is named; None where there is none."""
        key = self._active_key()
        return next((one for one in self.all() if one.key == key), None)

    def standing(self, here: Path) -> Repository | None:
        """The one that a folder lies in; None where it lies in none that is known."""
        return self._around(here)[0]

    def add(self, key: str, path: Path) -> Repository:
        """Name a folder; the first one becomes the active one. The same again changes nothing.

        Raises:
            RepoError: BAD_KEY, NOT_A_FOLDER, OUT_OF_SCOPE, REPOSITORY_EXISTS (another path has the
                key, or the key is there in other letters), TOO_MANY_REPOSITORIES.
        """
        if not KEY.match(key):
            raise RepoError(
                "BAD_KEY",
                f"{key[:80]!r} is no key for a repository",
                place=key[:80],
                fix="use at most 64 letters, digits, . _ and -, a letter or digit first",
            )
        added = Repository(key, self._folder_of(path))
        with self._alone():
            known = self.all()
            same = next((one for one in known if one.key.casefold() == key.casefold()), None)
            if same is not None and same != added:
                raise RepoError(
                    "REPOSITORY_EXISTS",
                    f"there is a repository {same.key}: {same.path}",
                    place=key,
                    fix=f"choose another key, or: mcl repo remove {same.key}",
                )
            if len(known) >= _MOST and same is None:
                raise RepoError(
                    "TOO_MANY_REPOSITORIES",
                    f"there are {_MOST:,} repositories already",
                    place=key,
                    fix="remove one: mcl repo remove KEY",
                )
            # First the repository, then which one is active: the other way round, a crash between the two
            # would leave a name that leads nowhere.
            self._write(REPOS, {one.key: str(one.path) for one in (*known, added)})
            if self.active() is None:
                self._write(STATE, {"active": key})
        return added

    def remove(self, key: str) -> Repository:
        """Forget one; nothing in its folder is touched. Raises RepoError UNKNOWN_REPOSITORY."""
        with self._alone():
            gone = self._known(key)
            if self._active_key() == key:  # first: a state that names what is not there would be worse
                self._write(STATE, {"active": None})
            self._write(REPOS, {one.key: str(one.path) for one in self.all() if one.key != key})
        return gone

    def switch(self, key: str) -> Repository:
        """Make one the active one. Raises RepoError UNKNOWN_REPOSITORY, and (exit 1)
        REPOSITORY_GONE, REPOSITORY_CLOSED."""
        with self._alone():
            found = self._there(self._known(key))
            self._write(STATE, {"active": key})
        return found

    def resolve(
        self, key: str | None, *, kind: str, strict: bool = False, here: Path | None = None
    ) -> Resolved:
        """The repository that an intent is about.

        Args:
            key: as the contract names it; None: the one that `here` lies in, else the active one.
            kind: the intent. Unless it changes or runs something there, the active repository stands in for
                one that is not known, and the note says so.
            strict: never does it stand in.
            here: the folder that somebody stands in; None: in none.

        Raises:
            RepoError: UNKNOWN_REPOSITORY (exit 2), NO_REPOSITORY, REPOSITORY_GONE, REPOSITORY_CLOSED
                (exit 1).
        """
        note = ""
        if key is not None:
            known = next((one for one in self.all() if one.key == key), None)
            if known is not None:
                return Resolved(key, self._there(known).path)
            if strict or kind in _NEVER_ANOTHER:
                raise self._unknown(key)
        active = self.active()
        if key is None and here is not None:
            standing, strange = self._around(here)
            if standing is not None:
                other = f"{standing.key}, where you stand; the active one is {active.key}" if active else ""
                found = self._there(standing)
                return Resolved(found.key, found.path, other if active != standing else "")
            if strange is not None and active is not None:
                if strict or kind in _NEVER_ANOTHER:
                    raise _unnamed(strange)
                note = (
                    f"{strange}, where you stand, has no name here; {active.key}, the active one, stands in"
                )
        if active is None:
            raise RepoError(
                "NO_REPOSITORY",
                f"no repository {key[:80]!r} is known, and none is active"
                if key
                else "no repository is active",
                place=str(self._folder / STATE),
                fix="mcl repo switch KEY chooses one" if self.all() else "name one: mcl repo add KEY PATH",
                exit=_CONFIGURATION,
            )
        if key is not None:
            note = f"there is no repository {key[:80]!r}; the active one, {active.key}, stands in for it"
        return Resolved(active.key, self._there(active).path, note)

    def _around(self, here: Path) -> tuple[Repository | None, Path | None]:
        """The repository that a folder lies in, by its name; else the folder of one that has none, if any."""
        here = here.resolve()
        inside = [one for one in self.all() if here.is_relative_to(one.path)]
        known = max(inside, key=lambda one: len(one.path.parts), default=None)
        above = (one for one in (here, *here.parents) if os.path.lexists(one / ".git"))
        nearest = next(above, None)
        if known is not None and (nearest is None or known.path.is_relative_to(nearest)):
            return known, None
        return None, nearest  # of a repository within another one, the inner one is meant

    def _known(self, key: str) -> Repository:
        found = next((one for one in self.all() if one.key == key), None)
        if found is None:
            raise self._unknown(key)
        return found

    def _unknown(self, key: str) -> RepoError:
        keys = ", ".join(self.keys()[:20])
        return RepoError(
            "UNKNOWN_REPOSITORY",
            f"there is no repository {key[:80]!r}",
            place=key[:80],
            fix=f"choose one of: {keys}" if keys else "name one: mcl repo add KEY PATH",
        )

    def _active_key(self) -> str | None:
        place = self._folder / STATE
        document = _document(place)
        if document.keys() - {"active"}:
            raise _bad(place, "it holds something else than active")
        key = document.get("active")
        if key is not None and not (isinstance(key, str) and KEY.match(key)):
            raise _bad(place, "active is no key of a repository")
        return key

    def _folder_of(self, path: Path) -> Path:
        """The one spelling of a folder that may be worked in."""
        try:
            found = path.expanduser().resolve(strict=True)
            is_folder = found.is_dir()
        except (OSError, RuntimeError, ValueError):  # not there, links in a circle, no such user, a NUL
            is_folder = False
        if not is_folder or (why := _no_path(str(found))):
            why = why if is_folder else "is no folder"
            raise RepoError(
                "NOT_A_FOLDER",
                f"{str(path)[:200]!r} {why}",
                place=str(path)[:200],
                fix="name the folder that holds .git",
            )
        if why := self._closed(found):
            raise RepoError(
                "OUT_OF_SCOPE",
                why,
                place=str(found),
                fix="choose the folder of one project, outside the home of mcl",
            )
        return found

    def _there(self, repository: Repository) -> Repository:
        """The repository, where its folder still is one that may be worked in."""
        if not repository.path.is_dir():
            raise RepoError(
                "REPOSITORY_GONE",
                f"the folder of {repository.key} is not there: {repository.path}",
                place=repository.key,
                fix=f"bring it back, or: mcl repo remove {repository.key}",
                exit=_CONFIGURATION,
            )
        if why := self._closed(repository.path):
            raise RepoError(
                "REPOSITORY_CLOSED",
                why,
                place=repository.key,
                fix=f"mcl repo remove {repository.key}",
                exit=_CONFIGURATION,
            )
        return repository

    def _closed(self, folder: Path) -> str:
        """Why a folder is closed to tools; "" where it is not."""
        from executor.sandbox.files import PROTECTED_FOLDERS
        from executor.sandbox.paths import Workspace

        try:
            Workspace(folder, forbidden=(self._folder,)).close()
            found = folder.resolve()
        except ScopeError as problem:
            return problem.message
        if found == Path("/"):
            return "the whole disk is no repository"
        closed = next((part for part in found.parts if part.casefold() in PROTECTED_FOLDERS), "")
        return f"{found} lies in a folder that is closed to tools: {closed}" if closed else ""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        from executor.store.keys.keyfile import exclusive  # with the signatures: not for who only reads

        with exclusive(self._folder):
            yield

    def _write(self, name: str, document: Mapping[str, object]) -> None:
        from executor.store.database import explain_os

        place = self._folder / name
        data = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"
        if len(data) > _MAX_FILE:
            raise _bad(place, "it would become larger than 1 MiB")
        try:
            with whole_file(place) as file:
                file.write(data)
        except OSError as problem:
            raise explain_os(problem, place) from problem


def _document(place: Path) -> dict[str, Any]:
    """A file's JSON object; {} where there is no file."""
    from executor.store.database import explain_os

    try:
        # The file says where commands are run: a link that somebody put there is not followed.
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return {}
    except OSError as problem:
        if place.is_symlink():
            raise _bad(place, "it is a link") from problem
        raise explain_os(problem, place) from problem
    try:
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _bad(place, "it is no plain file")
            data = file.read(_MAX_FILE + 1)
    except OSError as problem:
        raise explain_os(problem, place) from problem
    if len(data) > _MAX_FILE:
        raise _bad(place, "it is larger than 1 MiB")
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        raise _bad(place, str(problem) or "it is nested too deep") from problem
    if not isinstance(document, dict):
        raise _bad(place, "it is no JSON object")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _unnamed(folder: Path) -> RepoError:
    key = folder.name if KEY.match(folder.name) else "KEY"
    return RepoError(
        "UNKNOWN_REPOSITORY",
        f"you stand in {folder}, a repository that has no name here, and nothing is done in another one",
        place=str(folder),
        fix=f"name it: mcl repo add {key} {shlex.quote(str(folder))}; or say which one is meant: --repo KEY",
    )


def _no_path(path: object) -> str:
    """What is wrong with a path; "" where it is one."""
    if not isinstance(path, str) or not path.startswith("/"):
        return "is not absolute"
    if len(path) > _LONGEST:
        return "is too long"
    if not path.isprintable():  # control characters, and what is no Unicode
        return "holds characters that cannot be shown"
    return ""


def _bad(place: Path, why: str) -> RepoError:
    return RepoError(
        "BAD_CONFIGURATION",
        f"the repositories cannot be read: {why}",
        place=str(place),
        fix="repair the file, or remove it and add the repositories again",
        exit=_CONFIGURATION,
    )
