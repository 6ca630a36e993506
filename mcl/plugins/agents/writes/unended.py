"""Files that a call may have changed of which nobody saw the end: its process was killed, or its host was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.walker.undo.look import Looker
from executor.walker.undo.records import Call
from executor.walker.undo.store import ImageStore
from mcl.plugins.agents.writes.images import open_calls
from mcl.plugins.agents.writes.tracing import within


@dataclass(frozen=True, slots=True)
class Unended:
    """A file that is another one than the call found. at: when that was let through; file: relative to the
    governed folder; tool: its address, or the host's name of it."""

    at: str
    tool: str
    file: str

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {"at": self.at, "tool": self.tool, "file": self.file}


def unended(
    home: Home, root: Path, intents: Iterable[str], traced: Mapping[str, str | None]
) -> tuple[Unended, ...]:
    """What the trace of a governed folder may lack, oldest first. A call that was let through and declined
    afterwards is among them, if somebody changed its file since.

    Args:
        intents: ULIDs of the work of the folder. traced: by file, the sha256 that its last line names.

    Raises:
        HomeError. JournalError: a record that cannot be believed.
    """
    found = dict[str, Unended]()
    for intent in intents:
        for call in open_calls(home, intent):
            for file in _changed(home, root, call, traced):
                found.setdefault(file, Unended(call.at, call.tool, file))
    return tuple(sorted(found.values(), key=lambda one: (one.at, one.file)))


def _changed(home: Home, root: Path, call: Call, traced: Mapping[str, str | None]) -> Iterator[str]:
    with suppress(ScopeError):  # the folder is gone
        workspace = Workspace(Path(call.root), forbidden=[home.path])
        try:
            look = Looker(workspace, ImageStore(home.path / "undo"))
            for path, was in call.before.items():
                file = within(root, workspace, path)
                with suppress(ScopeError):
                    now = look.now(path)
                    same = (now.kind, now.sha256) == (was.kind, was.sha256) or now.kind == "folder"
                    if file is not None and not same and traced.get(file, "") != (now.sha256 or None):
                        yield file
        finally:
            workspace.close()
