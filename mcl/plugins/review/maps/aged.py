"""Maps beside files that may have changed since they were made."""

from __future__ import annotations

from collections.abc import Mapping

from mcl.plugins.review.maps.maps import Maps, Symbol

_OLDER = "of an older text of it; its symbols are left out"


class Aged:
    """What maps say of files as these are now. Of one that changed since, its symbols are left out (lines and
    signatures of them are wrong, and a model is shown the text itself), and its role says that it is old."""

    def __init__(self, maps: Maps, now: Mapping[str, str]) -> None:
        """now: sha256 (hex) of files by path; of a file that is not named nothing is known, so it counts as
        unchanged."""
        self._maps = maps
        self.old = frozenset(
            path for path, sha256 in now.items() if path in maps.files and maps.files[path].sha256 != sha256
        )

    def role(self, path: str) -> str:
        """As `Maps.role`; of a file that changed with a word of that."""
        role = self._maps.role(path)
        return f"{role} ({_OLDER})" if path in self.old else role

    def symbols(self, path: str) -> tuple[Symbol, ...]:
        """As `Maps.symbols`; () of a file that changed."""
        return () if path in self.old else self._maps.symbols(path)

    def hub(self, path: str) -> float:
        """As `Maps.hub`."""
        return self._maps.hub(path)
