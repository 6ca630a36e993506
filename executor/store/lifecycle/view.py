"""What the envelopes of one intent add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from executor.store.lifecycle.persistent_map import PersistentMap
from executor.store.lifecycle.transitions import NEW, TABLE, TERMINAL
from ir import ClarifyQuestion, Envelope, Intent, IntentAnswerBody, IntentDraftBody, PlanTree


@dataclass(frozen=True)
class GateState:
    """A question to a person. `decision` is empty while it is open; `by`, `at`: who signed it, and when.
    rule: why it was asked. refuses: those of its options that do. unseen: nobody looked when signing it."""

    options: tuple[str, ...]
    expires_at: str
    node_id: str = ""
    decision: str = ""
    answer: str = ""
    by: str = ""
    at: str = ""
    rule: str = ""
    refuses: tuple[str, ...] = ()
    reason: str = ""
    unseen: bool = False

    @property
    def why(self) -> str:
        """Why it was decided so; rows from before reasons had a place of their own say it as the answer."""
        return self.reason or (self.answer if self.answer != self.decision else "")


@dataclass(frozen=True)
class View:
    """What the envelopes of one intent add up to. Empty texts, None and () where there is nothing yet.

    questions: those of the last clarify that are not answered. gates: id of the policy.gate envelope -> its
    state. reason: why it failed or was cancelled. nodes: node id -> last status in the run of the accepted
    plan; a new accept after a correction keeps those of nodes that are what they were.

    intent and plan are as corrected; base_intent and base_plan as they were last accepted. After a correction
    that needs a new accept, walked is the plan that the nodes are of, and retry_from what it says. again:
    nodes whose end does not count, because a correction has them run once more; restarts: how often it did.
    unseen: kind and id of each envelope of a user that says that nobody looked when it was signed.
    """

    state: str = NEW
    draft: IntentDraftBody | None = None
    drafted_by: str = ""
    intent: Intent | None = None
    intent_hash: str = ""
    plan: PlanTree | None = None
    plan_hash: str = ""
    questions: tuple[ClarifyQuestion, ...] = ()
    clarify_id: str = ""
    rounds: int = 0
    answers: tuple[IntentAnswerBody, ...] = ()
    accepted_hash: str = ""
    accepted_plan_hash: str = ""
    accepted_by: str = ""
    nodes: Mapping[str, str] = field(default_factory=PersistentMap)
    gates: Mapping[str, GateState] = field(default_factory=PersistentMap)
    corrections: tuple[Envelope, ...] = ()
    base_intent: Intent | None = None
    base_plan: PlanTree | None = None
    walked: PlanTree | None = None
    retry_from: str = ""
    again: frozenset[str] = frozenset()
    restarts: int = 0
    outcome: str = ""
    reason: str = ""
    last_id: str = ""
    unseen: tuple[tuple[str, str], ...] = ()

    def having(self, changes: Mapping[str, Any]) -> View:
        """The view with these fields changed. (dataclasses.replace would take each field in its hand.)"""
        changed = object.__new__(View)
        changed.__dict__.update(self.__dict__)
        changed.__dict__.update(changes)
        return changed

    @property
    def terminal(self) -> bool:
        """Whether nothing can change it any more."""
        return self.state in TERMINAL

    @property
    def marks(self) -> Mapping[str, object]:
        """What goes into all that is told of this intent's end: what was signed `unseen`, if anything."""
        return {"unseen": [{"kind": kind, "id": id} for kind, id in self.unseen]} if self.unseen else {}

    def legal(self) -> tuple[str, ...]:
        """The kinds that the table allows now, sorted."""
        return tuple(sorted(TABLE[self.state]))


def intent_id(uri: str) -> str:
    """The ULID of `matrix://intent/<ulid>`; a bare id is given back as it is."""
    return uri.rpartition("/")[2]
