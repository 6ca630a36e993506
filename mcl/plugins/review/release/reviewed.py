"""What reviews found and nobody has mended, and what the scan finds in what changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from executor.core.clock import Clock
from executor.tools.project.sources import language_of
from executor.tools.tool import Bench
from mcl.core.errors import ReviewError
from mcl.plugins.review.drift.rules import RepositoryFlaw
from mcl.plugins.review.drift.tree import Progress, RepositoryTree, quiet
from mcl.plugins.review.release.report import ReleaseRules

if TYPE_CHECKING:
    from mcl.plugins.review.memory import ReviewMemories
    from mcl.plugins.review.scan import KnownMarks
    from mcl.plugins.review.target import ReviewTarget

_STRONG: Final = ("CRITICAL", "RISK", "ARCHITECTURE")
_MOST: Final = 5000  # files that are scanned
_UNSEEN: Final = ("name", "unreadable", "too deep")  # reasons why a file that may be code was not scanned …
_UNSEEN_CODE: Final = ("too large", "binary")  # … and such as many files have that are none
_SECRET: Final = "secret"  # noqa: S105  # what the rules for secrets begin with


def review_flaws(
    tree: RepositoryTree, memories: ReviewMemories, rules: ReleaseRules
) -> Iterator[RepositoryFlaw]:
    """Blocking findings of the last review of each file that is still there."""
    for review in memories.history.open():
        if review.file not in tree.known:
            continue
        for one in review.findings:
            if one.blocking:
                code = "OPEN_FINDING" if one.severity in _STRONG else "OPEN_WARNING"
                said = f"{one.severity} in a {review.mode} review: {_first(one.body)}"
                yield rules.flaws.flaw(code, one.location, said, mild=rules.places.is_mild(one.file))
        if review.left_out:
            said = f"{review.left_out} more findings of a {review.mode} review"
            yield rules.flaws.flaw("OPEN_WARNING", review.file, said)


@dataclass(frozen=True)
class ChangesToScan:
    """What is to be scanned: since a tag, or all ("" then); None where nothing changed."""

    since: str
    target: ReviewTarget | None


async def changed(tree: RepositoryTree, clock: Clock) -> ChangesToScan:
    """What changed since the last tag; where there is none, all.

    Raises:
        ReviewError, ScopeError, ToolError: as ``look_at``.
    """
    from mcl.plugins.review.target import look_at

    bench = Bench(tree.workspace, clock, "read", 1 << 20, "")
    since = tree.checkout.last_tag if tree.checkout else ""
    try:
        return ChangesToScan(
            since, await look_at(bench, base=since) if since else await look_at(bench, path=".")
        )
    except ReviewError as problem:
        if problem.code in ("NOTHING_CHANGED", "NO_SOURCE"):
            return ChangesToScan(since, None)
        raise


def scan_flaws(
    scanned: ChangesToScan, rules: ReleaseRules, progress: Progress = quiet, known: KnownMarks | None = None
) -> Iterator[RepositoryFlaw]:
    """What the scan finds in the lines that changed and a reader should judge. known: what was dismissed on
    this machine, which is told and counts all the same."""
    from mcl.plugins.review.scan import ScanSource, scan_source

    target = scanned.target
    if target is None:
        return
    pieces = target.pieces[:_MOST]
    for number, piece in enumerate(pieces):
        progress(number, len(pieces), piece.path)
        lines = None if piece.whole else piece.judged
        for one in scan_source(ScanSource(piece.path, piece.text), lines=lines, known=known):
            if one.blocking:
                secret = one.rule.startswith(_SECRET) and one.severity in _STRONG
                code = "SCAN_SECRET" if secret else "SCAN_FINDING"
                dismissed = " (dismissed on this machine)" if known and known.is_gone(one.mark) else ""
                said = f"{one.rule}: {_first(one.body)}{dismissed}"
                yield rules.flaws.flaw(code, one.location, said, mild=rules.places.is_mild(piece.path))
    for skipped in target.skipped:
        if skipped.why in _UNSEEN or (skipped.why in _UNSEEN_CODE and language_of(skipped.path)):
            yield rules.flaws.flaw("SCAN_PARTIAL", skipped.path, f"it was not scanned: {skipped.why}")
    if len(target.pieces) > _MOST or target.truncated:
        said = f"{len(pieces):,} files were scanned; there are more"
        yield rules.flaws.flaw("SCAN_PARTIAL", ".", said)


def _first(body: str) -> str:
    return body.partition("\n")[0]
