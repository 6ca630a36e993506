"""Which files changed while a review looked at them: its steps tell that some did."""

import hashlib
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from executor.sandbox.paths import Workspace
from ir.errors import MclError

CHANGED: Final = "CHANGED_MEANWHILE"
_NAMED: Final = 3
_MOST: Final = 10_000  # files that are looked at again
_LARGEST: Final = 1 << 20  # bytes of a file that is reviewed


def changed_meanwhile(root: Path, looked: Mapping[str, Any], since: str) -> str:
    """The names of files that are not as review/look saw them, a few of them and how many more; "" where none
    is known. Of a folder, whose files it does not tell the hashes of, those that were written since.

    looked: the output of review/look. since: when the review was made, ISO 8601.
    """
    began = datetime.fromisoformat(since).timestamp()
    found = []
    with closing(Workspace(root)) as workspace:
        for one in looked.get("files", ())[:_MOST]:
            try:
                if _differs(workspace, one, began):
                    found.append(str(one["path"]))
            except MclError:  # it is a link now, or may not be opened any more
                found.append(str(one["path"]))
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more


def _differs(workspace: Workspace, one: Mapping[str, Any], began: float) -> bool:
    """Raises ScopeError."""
    there = workspace.check(one["path"])
    if there is None:
        return True
    if "sha256" not in one:
        return there.st_mtime >= began
    data, size = workspace.read(one["path"], _LARGEST)
    return size > _LARGEST or hashlib.sha256(data).hexdigest() != one["sha256"]
