"""`mcl intents export`: the file, written from what was signed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from executor.store.home import Home
from mcl.core.errors import WorkError
from mcl.core.home import open_home
from mcl.plugins.agents.file import write_file
from mcl.plugins.agents.work.exporting import entry_of
from mcl.plugins.agents.work.file import write_bytes
from mcl.plugins.agents.work.root import find_root
from mcl.plugins.agents.work.store import Work


@dataclass(frozen=True)
class ExportedWork:
    """The file as it was signed. path: where it was written; None where it was only asked for."""

    root: Path
    data: bytes
    labels: tuple[str, ...]
    path: Path | None


def export_work(
    *, write: bool = False, overwrite: bool = False, root: Path | None = None, home: Home | None = None
) -> ExportedWork:
    """The file that says what was signed for a folder, and how far it is.

    write: put it in its place. overwrite: also where there is one, whose comments are lost.
    Raises WorkError NOTHING_SIGNED, FILE_EXISTS; ScopeError where it cannot be written; HomeError.
    """
    work = Work(home or open_home())
    place = find_root(work, root or Path.cwd())
    items = work.items(place)
    if not items:
        raise WorkError(
            "NOTHING_SIGNED",
            f"no work was signed for {place}",
            place=str(place),
            fix="a person signs what a file says: mcl intents import",
        )
    data = write_file(entry_of(item) for item in items)
    path = write_bytes(place, data, overwrite=overwrite) if write else None
    return ExportedWork(place, data, tuple(item.label for item in items), path)
