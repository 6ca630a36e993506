"""What was read of a workspace, kept in the home, so that only what changed is read again."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from anyio import from_thread, to_thread

from executor.sandbox.paths import Workspace
from mcl.core.awaiting import at_once
from mcl.core.cache import read_own, write_own
from mcl.language.mtx.files import BAD_VALUE
from mcl.plugins.review.maps.files import SourceFile, Stamp, listed, read_all
from mcl.plugins.review.maps.maps import Maps, StaleEntry
from mcl.plugins.review.maps.ownership import ChangeLog, head_of

_VERSION: Final = "1"
_YOUNG: Final = 100_000_000  # nanoseconds: more than any file system's clock stands still
_MOST: Final = 1 << 30  # bytes of what was kept, unpacked


class MapCache:
    """What is kept of one workspace; without a folder nothing is.

    It says nothing that reading would not: an entry counts only for a file with the same size, times and
    inode, and none is kept of a file that changed so lately that it could change again and look the same.
    What is damaged, or was made by other rules, is not used.
    """

    def __init__(self, folder: Path | None, root: Path) -> None:
        name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._place = folder / "maps" / f"{name}.json.z" if folder is not None else None
        self._files: dict[str, SourceFile] = {}
        self._began = self._now()
        self.log: ChangeLog | None = None
        if self._place is not None:
            with suppress(OSError, zlib.error, *BAD_VALUE):
                self._take(_unpacked(read_own(str(self._place))))

    def get(self, path: str, stamp: Stamp) -> SourceFile | None:
        """What is known of a file while it looks like this."""
        known = self._files.get(path)
        return known if known is not None and known.stamp == stamp else None

    def keep(self, found: Mapping[str, SourceFile], log: ChangeLog) -> None:
        """Keep what was read, where it can be and differs; a disk that is full costs time only."""
        if self._place is None or self._began is None:
            return
        old = {path: one for path, one in found.items() if one.stamp[2] < self._began - _YOUNG}
        if old == self._files and log == self.log:
            return
        said = {
            "version": _version(),
            "log": log.to_json(),
            "files": {path: one.to_json() for path, one in old.items()},
        }
        with suppress(OSError):
            write_own(self._place, zlib.compress(json.dumps(said, separators=(",", ":")).encode(), 1))

    def _take(self, said: Any) -> None:
        if said["version"] != _version():
            return
        log = ChangeLog.from_json(said["log"])
        read = {str(path): SourceFile.from_json(one) for path, one in said["files"].items()}
        self.log, self._files = log, read

    def _now(self) -> int | None:
        """The moment by the clock of the file system: no other says whether a file is young."""
        if self._place is None:
            return None
        mark = self._place.with_suffix(".began")
        try:
            mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark.write_bytes(b"")
            return mark.stat().st_mtime_ns
        except OSError:
            return None


def _unpacked(data: bytes) -> Any:
    whole = zlib.decompressobj().decompress(data, _MOST)
    return json.loads(whole)


@cache
def _version() -> str:
    """A hash over the rules by which files are read: of other rules nothing is used."""
    total = hashlib.sha256(_VERSION.encode())
    here = files("mcl.plugins.review.maps")
    for name in ("languages.toml", "reading.py", "tables.py"):
        total.update(here.joinpath("symbols", name).read_bytes())
    for name in ("files.py", "ownership.py"):
        total.update(here.joinpath(name).read_bytes())
    total.update(files("executor.tools.project").joinpath("languages.toml").read_bytes())
    return total.hexdigest()


# ---- In what the maps differ from the workspace as it is.


def stale(workspace: Workspace, maps: Maps, *, cache: Path | None = None) -> tuple[StaleEntry, ...]:
    """Where the maps are old: HEAD moved, files that changed, are new, or are gone; () where nothing is.

    cache: as for `build`; without it every file is read.

    Raises:
        ScopeError: the workspace may not be opened.
    """
    return at_once(partial(staleness, workspace, maps, cache=cache))


async def staleness(workspace: Workspace, maps: Maps, *, cache: Path | None = None) -> tuple[StaleEntry, ...]:
    """The same, inside of an event loop."""
    found: list[StaleEntry] = []
    head = await head_of(workspace)
    now = head[0] if head else ""
    if now != maps.head:
        found.append(StaleEntry("", f"the last commit is {_short(now)}, and was {_short(maps.head)}"))
    paths = await listed(workspace)
    kept = await to_thread.run_sync(MapCache, cache, workspace.root)

    def told(done: int) -> None:
        from_thread.check_cancelled()

    read = await to_thread.run_sync(read_all, workspace, paths, kept.get, told)
    for path in sorted(maps.files.keys() | read.files.keys()):
        was, is_now = maps.files.get(path), read.files.get(path)
        if was is None:
            found.append(StaleEntry(path, "new"))
        elif is_now is None:
            found.append(StaleEntry(path, "gone"))
        elif (was.sha256, was.size) != (is_now.sha256, is_now.size):
            found.append(StaleEntry(path, "changed"))
    return tuple(found)


def _short(commit: str) -> str:
    return commit[:12] or "none"
