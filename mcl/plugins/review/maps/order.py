"""What to review first: what much depends on, and what changed much since its last review."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mcl.plugins.review.maps.building import WorkspaceSurvey
from mcl.plugins.review.maps.maps import MappedFile
from mcl.plugins.review.maps.ownership import FileChanges
from mcl.plugins.review.maps.roles import rules

_FLOOR: Final = 0.1  # what a file counts that nothing imports
_SECOND: Final = 1_000_000_000  # nanoseconds


@dataclass(frozen=True, slots=True)
class DueFile:
    """A file that is to be reviewed.

    changes: commits since its last review, all of them where it had none, and one for what is not committed.
    score: (hub + 0.1) × changes. reviewed: when; "" for never.
    """

    file: MappedFile
    changes: int
    score: float
    reviewed: str

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {
            "file": self.file.path,
            "role": self.file.role,
            "score": self.score,
            "changes": self.changes,
            "hub_score": self.file.hub,
            "importers": self.file.importers,
            "last_review_timestamp": self.reviewed or None,
        }


def due(seen: WorkspaceSurvey, reviews: Mapping[str, str], dirty: Container[str]) -> tuple[DueFile, ...]:
    """The files of code that changed since their last review, those first that matter most.

    reviews: the moment of the last review of each file, ISO 8601 UTC by path. dirty: files that differ from
    the last commit.
    """
    maps = seen.maps(reviews)
    owned = seen.log.of(maps.files)
    found = []
    for path, one in maps.files.items():
        if one.role not in rules().code:
            continue
        known = owned.get(path)
        changes = _changes(
            known, known is None or path in dirty, seen.sources.files[path].stamp[1], one.reviewed
        )
        if changes:
            score = round((one.hub + _FLOOR) * changes, 3)
            found.append(DueFile(one, changes, score, one.reviewed))
    return tuple(sorted(found, key=lambda one: (-one.score, one.file.path)))


def _changes(known: FileChanges | None, dirty: bool, written: int, reviewed: str) -> int:
    """dirty: is there a change that is not committed? written: when the file was, nanoseconds since 1970."""
    if not reviewed:
        return max((known.count if known else 0) + dirty, 1)
    since = datetime.fromisoformat(reviewed).astimezone(UTC).timestamp()
    committed = sum(time > since for time in known.times) if known else 0
    return committed + int(dirty and written > since * _SECOND)
