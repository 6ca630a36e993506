"""Many files searched, one after the other, with bounds for all of them together."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mcl.core.text import counted
from mcl.plugins.review.finding import BLOCKING, SEVERITIES, ReviewFinding, in_order
from mcl.plugins.review.scan.patterns import ScanSource, scan_source
from mcl.plugins.review.scan.weights import KnownMarks

if TYPE_CHECKING:
    from mcl.plugins.review.piece import ReviewTarget, SkippedFile

MAX_SECONDS: Final = 240.0  # of all files; those that are left are told as not looked at
MAX_FINDINGS: Final = 2000

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class SweepResult:
    """What was found in many files.

    findings: at most as many as were asked for, the worst first. counts: all that were found, by severity.
    files: that were searched. skipped: that were not, with the reason. dismissed: what a person dismissed; it
    is not among the findings, and not counted.
    """

    findings: tuple[ReviewFinding, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    files: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    truncated: bool = False
    dismissed: tuple[ReviewFinding, ...] = ()

    @property
    def blocking(self) -> bool:
        """Does any of all findings block, those too that are not given?"""
        return any(self.counts[label] for label in BLOCKING)


def sweep(
    target: ReviewTarget,
    *,
    limit: int = MAX_FINDINGS,
    seconds: float = MAX_SECONDS,
    progress: Progress = lambda done, total: None,
    check: Callable[[], None] = lambda: None,
    known: KnownMarks | None = None,
) -> SweepResult:
    """Search what is looked at; of a difference only the lines that it changed.

    Args:
        target: from `mcl.plugins.review.target.look_at`.
        limit: most findings that are given.
        seconds: after which the files that are left are skipped ("no time").
        progress: told how many files are done, and of how many.
        check: called before each file; may stop the search by raising.
        known: what was dismissed.
    """
    found = SweepResult(skipped=list(target.skipped), truncated=target.truncated)
    until = time.monotonic() + seconds
    kept: list[ReviewFinding] = []
    gone: list[ReviewFinding] = []
    known = known or KnownMarks()
    for done, piece in enumerate(target.pieces):
        check()
        progress(done, len(target.pieces))
        if time.monotonic() > until:
            from mcl.plugins.review.piece import SkippedFile

            found.skipped += [SkippedFile(one.path, "no time") for one in target.pieces[done:]]
            found.truncated = True
            break
        found.files += 1
        if not piece.lines:  # it is empty, or lost lines only
            continue
        lines = None if piece.whole else piece.judged
        every = scan_source(ScanSource(piece.path, piece.text), lines=lines, known=known)
        gone += [one for one in every if known.is_gone(one.mark)]
        some = [one for one in every if not known.is_gone(one.mark)]
        found.counts.update(one.severity for one in some)
        kept += some
        if len(kept) > 4 * limit:
            kept = list(in_order(kept)[:limit])
    progress(len(target.pieces), len(target.pieces))
    found.findings = in_order(kept)[:limit]
    found.dismissed = in_order(gone)[:limit]
    found.truncated |= found.counts.total() > len(found.findings)
    return found


def told(found: SweepResult) -> str:
    """12 files: 1 RISK, 3 NOTE; left out: 2 binary"""
    counts = ", ".join(f"{found.counts[one]:,} {one}" for one in SEVERITIES if found.counts[one])
    why = Counter(one.why for one in found.skipped)
    left = ", ".join(f"{count:,} {name}" for name, count in sorted(why.items()))
    said = f"{counted(found.files, 'file')}: {counts or 'nothing found'}" + (
        f"; left out: {left}" if left else ""
    )
    return said + (f"; dismissed: {len(found.dismissed):,}" if found.dismissed else "")
