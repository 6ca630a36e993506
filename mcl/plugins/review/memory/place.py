"""Whose memories they are: a workspace has a key, and all that is remembered of it has its tag."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Final

from executor.sandbox.files import components
from executor.store.home import Home
from ir.errors import MclError
from mcl.core.errors import ReviewError
from mcl.memory import Memory, MemoryStore, new_memory
from mcl.memory.lessons import REVIEW
from mcl.memory.words import Memories as Remembered

TAG: Final = REVIEW  # of everything that reviews remember; no compile is told of it
_KEY: Final = 16  # hex digits


def workspace_key(root: Path) -> str:
    """The key of a workspace: the first 16 hex digits of the sha256 of its real path."""
    return sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:_KEY]


def file_name(path: str) -> str:
    """A path as memories are kept under it: relative to the workspace, without `.` and doubled slashes.

    Raises ReviewError REVIEW_PATH for a path that is none of a workspace's files.
    """
    try:
        parts = components(path)
    except MclError as error:
        raise ReviewError("REVIEW_PATH", error.message, place=path, fix=error.fix) from error
    if not parts:
        fix = "name a file, relative to the workspace"
        raise ReviewError("REVIEW_PATH", "this names no file", place=path, fix=fix)
    return str(PurePosixPath(*parts))


@dataclass(frozen=True)
class WorkspaceMemory:
    """The memories of one workspace in a home."""

    home: Home
    store: MemoryStore
    key: str

    @classmethod
    def of(cls, home: Home, root: Path) -> "WorkspaceMemory":
        """Those of the workspace in this folder."""
        return cls(home, MemoryStore(home), workspace_key(root))

    @property
    def tag(self) -> str:
        """What all memories of this workspace are tagged with."""
        return f"workspace.{self.key}"

    def id(self, name: str) -> str:
        """The id of a memory of this workspace."""
        return f"{TAG}.{self.key}.{name}"

    def now(self) -> Remembered:
        return self.store.memories()

    def all(self, type: str, kind: str, *, near: str = "", limit: int = 0) -> list[Memory]:
        """The current memories of a kind (a tag), the best first; all of them where limit is 0."""
        now = self.now()
        return now.find(type=type, tags=(kind, self.tag), near=near, limit=limit or max(1, now.size))

    def made(self, given: dict[str, Any], *, kind: str, tags: tuple[str, ...] = (), at: str = "") -> Memory:
        """A memory of this workspace, not written yet. given: as of `new_memory`, but for tags and at.

        Raises MemoryStoreError MEMORY_SHAPE.
        """
        said = given | {"id": self.id(given["id"]), "tags": [TAG, kind, self.tag, *tags]}
        return new_memory(said, at=at or self.home.clock.now())
