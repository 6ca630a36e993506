"""Runs of reviews, as the kernel asks about them (`mcl.usecases.runs.Runs`)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from executor.store.home import Home
from mcl.plugins.review.usecases.found import concluded_before, is_review, review_exit

if TYPE_CHECKING:
    from executor.walker import Outcome
    from mcl.model import Model
    from mcl.plugins.review.passes import Reviewing
    from mcl.usecases.intents import Shown

_UNFINISHED = "These are not all: the review did not come to its end."


class Reviews:
    """Plans that look at code."""

    def fits(self, found: "Shown") -> bool:
        """Is it a review?"""
        return is_review(found)

    def steps(self, home: Home, found: "Shown", model: "Path | Model | None", *, ai: bool) -> "Reviewing":
        """Its passes, asked of the model that it was signed with. Raises ModelError."""
        from mcl.plugins.review.passes import Reviewing
        from mcl.plugins.review.usecases.models import signed_model
        from mcl.usecases.compile import open_model

        load: Callable[[], Model] = lambda: open_model(home, model, ai=ai)  # noqa: E731
        assert found.intent is not None
        assert found.plan is not None
        if any(node.step is not None for node, _ in found.plan.root.walk()):
            load = signed_model(home, found.intent, model, ai=ai)
        return Reviewing(load)

    def ended(self, home: Home, found: "Shown", outcome: "Outcome", workspace: Path) -> None:
        """What was found in each file is remembered."""
        from mcl.plugins.review.usecases.found import keep_review

        assert found.intent is not None
        keep_review(home, found.intent, outcome, workspace)

    def exit(self, outputs: Mapping[str, object]) -> int:
        """1 where something blocks."""
        return review_exit(outputs)

    def said(self, home: Home, found: "Shown") -> tuple[dict[str, Any], str]:
        """What was found."""
        review = concluded_before(home, found)
        if not review:
            return {}, ""
        text = str(review.get("text", ""))
        whole = (text,) if review["whole"] else (text, _UNFINISHED)
        return {"review": review}, "\n\n".join(filter(None, whole))


RUNS = Reviews()
