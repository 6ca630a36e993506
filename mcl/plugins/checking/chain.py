"""What became of an intent after it was first compiled, in the order of its journal: what was corrected and
accepted, and under which documents its nodes began."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from executor import View
from executor.store.lifecycle.events import advance
from ir import Envelope, PlanStepBody

Hashes = tuple[str, str]  # of an Intent, and of its plan or ""


@dataclass(frozen=True)
class CorrectionLink:
    """One correction: the view that it was signed in, and its envelope."""

    before: View
    envelope: Envelope


@dataclass(frozen=True)
class Chain:
    """first: the view before the first correction; corrections in order; accepted: what was signed last, by
    whom and when; ran: the documents under which nodes began, each once; ended: how it ended, or ""."""

    first: View
    corrections: tuple[CorrectionLink, ...]
    accepted: Hashes | None
    accepted_by: str
    ran: tuple[Hashes, ...]
    nodes: int
    ended: str

    @classmethod
    def of(cls, envelopes: Iterable[Envelope]) -> "Chain":
        """That of one intent. Raises LifecycleError where its envelopes cannot have happened."""
        view, first = View(), None
        corrections: list[CorrectionLink] = []
        accepted: Hashes | None = None
        by = ""
        ran: dict[Hashes, None] = {}
        begun: set[str] = set()
        for envelope in envelopes:
            body: Any = envelope.body
            if envelope.kind == "intent.correct":
                first = first or view
                corrections.append(CorrectionLink(view, envelope))
            view = advance(view, envelope)
            if envelope.kind == "intent.accept" or (view.fired_by and accepted is None):
                accepted, by = (view.accepted_hash, view.accepted_plan_hash), view.accepted_by
            elif isinstance(body, PlanStepBody) and body.status == "running" and view.state == "executing":
                ran[view.accepted_hash, view.accepted_plan_hash] = None
                begun.add(body.node_id)
        ended = view.state if view.terminal else ""
        return cls(first or view, tuple(corrections), accepted, by, tuple(ran), len(begun), ended)
