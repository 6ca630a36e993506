"""What an earlier review came to, read again from the journal."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.store.home import Home

if TYPE_CHECKING:
    from mcl.usecases.show import Shown

_REVIEW: Final = "matrix://skill/review-code@"
_LAST: Final = "conclude"
BLOCKED: Final = 1  # the exit code where something blocks


def is_review(found: "Shown") -> bool:
    """Is the plan that of a review, which no goal is compiled to? Its contract says what a model is told."""
    compiled = found.intent is not None and found.intent.compile_metadata is not None
    return found.plan is not None and not compiled and found.plan.skill_ref.startswith(_REVIEW)


def review_exit(outputs: Mapping[str, object]) -> int:
    """The exit code of a review's run that came to its end: 1 where something blocks."""
    given = outputs.get(_LAST)
    return BLOCKED if isinstance(given, Mapping) and given.get("blocking") else 0


def concluded_before(home: Home, found: "Shown") -> dict[str, Any]:
    """What a review came to, as review/conclude told it: findings, blocking, counts, text and the rest, and
    whether that is whole: of a review that did not come to its end it is what was found before. {} of another
    intent, and of a review that did not come so far."""
    if not is_review(found):
        return {}
    from executor.walker.earlier import read_earlier

    outputs = read_earlier(home.journal.envelopes(found.id), found.view).outputs
    if isinstance(given := outputs.get(_LAST), dict):
        return {**given, "whole": True}
    if found.plan is None:
        return {}
    from mcl.plugins.review.usecases.unfinished import found_before

    before = found_before(home, Path.cwd(), found.plan, outputs)
    return {**before, "whole": False} if before else {}
