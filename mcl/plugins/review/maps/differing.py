"""Which of the maps' files would be written."""

from __future__ import annotations

from executor.sandbox.paths import Workspace
from mcl.plugins.review.maps.documents import IGNORED, documents, in_place
from mcl.plugins.review.maps.maps import IGNORE, Maps


def differing(workspace: Workspace, maps: Maps) -> dict[str, bytes]:
    """The files, by path, that are not there as these maps have them, with what they are to hold. A
    .gitignore that is there stays as it is, whoever wrote it.

    Raises:
        ScopeError: what lies in their place is no plain file.
    """
    wanted = documents(maps)
    with in_place():
        found = {path: data for path, data in wanted.items() if not _same(workspace, path, data)}
        if workspace.check(IGNORE) is None:
            found[IGNORE] = IGNORED
    return dict(sorted(found.items()))


def _same(workspace: Workspace, path: str, data: bytes) -> bool:
    if workspace.check(path) is None:
        return False
    there, size = workspace.read(path, len(data))
    return size == len(data) and there == data
