"""What a review of a difference comes to in which nothing changed: nothing is signed or run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcl.plugins.review.findings import NO_FINDINGS

NOTHING_CHANGED: Final = "NOTHING_CHANGED"


@dataclass(frozen=True)
class Unchanged:
    """The documents of a review that there was nothing for. why: what did not change, since when."""

    why: str
    mode: str
    workspace: Path
    text: str = NO_FINDINGS
    exit: int = 0

    def to_json(self) -> dict[str, object]:
        """The same names as a review's document; it is no intent, and no step was made."""
        return {
            "intent": "",
            "state": "unchanged",
            "exit": self.exit,
            "mode": self.mode,
            "passes": "",
            "whole": True,
            "note": "",
            "kind": "diff",
            "base": "",
            "files": [],
            "skipped": [],
            "findings": [],
            "dismissed": [],
            "blocking": False,
            "unreadable": [],
            "counts": {},
            "truncated": False,
            "text": self.text,
            "failure": None,
        }

    def to_sarif(self) -> dict[str, object]:
        """SARIF 2.1.0 without a finding."""
        from mcl.core.distribution import VERSION
        from mcl.plugins.review.findings import to_sarif

        return to_sarif((), version=VERSION, root=str(self.workspace.resolve()))
