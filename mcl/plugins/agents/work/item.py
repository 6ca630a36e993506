"""One piece of work that a person signed: an Intent without a plan, which coding agents may check out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from executor.store.lifecycle.events import is_past
from executor.store.lifecycle.view import View
from ir import Intent, PolicyConstraint, Predicate, RuleConstraint
from mcl.plugins.agents.file.document import FIELDS, Criterion, IntentEntry, TypedCriterion
from mcl.plugins.agents.file.rules import Status, is_label

if TYPE_CHECKING:
    from executor.core.globs import Scope

# From a status to those that may follow it; DONE is the end, and more work is another intent.
TRANSITIONS: Final[Mapping[str, tuple[Status, ...]]] = {
    "DRAFT": ("IN_PROGRESS",),
    "IN_PROGRESS": ("DONE", "BLOCKED"),
    "BLOCKED": ("IN_PROGRESS",),
    "DONE": (),
}
OWNED: Final = "owned_scope:"  # how a policy constraint names a pattern
CRITERION: Final = "x:criterion"  # a criterion in a person's words
CRITERION_SCHEMA: Final = "matrix://schema/criterion@1.0.0"
# What the objects and references of such an Intent are called.
ROOT, NAME, DESCRIPTION, OWNER = "root", "name", "description", "owner"
DEPENDS_ON, DOCUMENTATION, SUPERSEDES = "depends_on", "documentation", "supersedes"


@dataclass(frozen=True, kw_only=True)
class WorkItem(IntentEntry):
    """What a person signed under a label, and how far it is: an entry of the file, with who stands for it.

    root: the folder it is about, absolute. intent_id: the ULID. predicates: the criteria as signed, in the
    same order. blocked_reason: "" unless BLOCKED. signed_by: did of the person; accepted_at: when.
    expires_at: until when it counts, "" for ever.
    """

    status: Status
    root: str
    intent_id: str
    signed_by: str
    accepted_at: str
    expires_at: str = ""
    predicates: tuple[Predicate, ...] = field(default=(), repr=False)

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria in words."""
        return tuple(in_words(one) for one in self.predicates)

    @cached_property
    def checkout_scope(self) -> Scope:
        """The scope as the gate holds paths against it. An absolute pattern, of which validation warns, fits
        no file of the folder and is left out.
        """
        from executor.core.globs import Scope
        from mcl.plugins.agents.file.rules import Patterns

        return Scope(Patterns().good(self.owned_scope))

    def is_expired(self, at: str) -> bool:
        """Whether it counted until before a moment (ISO 8601), and was not done."""
        return self.status != "DONE" and is_past(self.expires_at, at)

    def to_json(self) -> dict[str, object]:
        """The item as a JSON object."""
        said: dict[str, object] = {"id": self.label, "intent_id": self.intent_id}
        for name in FIELDS[1:]:
            value = getattr(self, name)
            said[name] = list(value) if isinstance(value, tuple) else value
        said["acceptance_criteria"], said["blocked_reason"] = list(self.criteria), self.blocked_reason or None
        said |= {"root": self.root, "signed_by": self.signed_by, "accepted_at": self.accepted_at}
        return {**said, "expires_at": self.expires_at} if self.expires_at else said


@dataclass(frozen=True)
class WorkStanding:
    """How far a piece of work is, as the journal's records say it. why: of BLOCKED."""

    status: Status
    updated_at: str
    why: str = ""


def item_of(view: View, standing: WorkStanding, accepted_at: str) -> WorkItem | None:
    """The work that the signed documents of an intent stand for; None where they are no work, or no longer.

    view: folded from verified envelopes. What it is comes from the Intent that the user's key accepted, and
    from nothing else; standing says only how far it is.
    """
    intent = view.intent
    if intent is None or not is_work(view):
        return None
    done = view.state == "completed"
    objects = {entry.name: entry.value for entry in intent.frame.objects}
    constraints, criteria = intent.frame.constraints, intent.frame.success_criteria
    cited = intent.references
    return WorkItem(
        root=objects[ROOT],
        label=intent.goal_id,
        intent_id=intent.id,
        name=objects.get(NAME, ""),
        description=objects.get(DESCRIPTION, ""),
        status="DONE" if done else standing.status,
        owner=objects.get(OWNER, ""),
        owned_scope=tuple(
            one.policy.removeprefix(OWNED)
            for one in constraints
            if isinstance(one, PolicyConstraint) and one.policy.startswith(OWNED)
        ),
        constraints=tuple(one.rule for one in constraints if isinstance(one, RuleConstraint)),
        acceptance_criteria=tuple(map(_criterion, criteria)),
        dependencies=tuple(one.summary for one in cited if one.role == DEPENDS_ON),
        references=tuple(one.uri for one in cited if one.role == DOCUMENTATION),
        blocked_reason=standing.why if standing.status == "BLOCKED" and not done else "",
        created_at=intent.created_at,
        updated_at=standing.updated_at or intent.created_at,
        signed_by=view.accepted_by,
        accepted_at=accepted_at,
        expires_at=intent.expires_at,
        predicates=criteria,
    )


def is_work(view: View) -> bool:
    """Whether a person accepted this intent, without a plan, as work in a folder, and nothing ended it."""
    intent = view.intent
    if intent is None or view.state not in ("accepted", "completed") or not view.accepted_hash:
        return False
    return not view.accepted_plan_hash and is_label(intent.goal_id) and bool(root_in(intent))


def root_in(intent: Intent) -> str:
    """The folder that an Intent was signed for; "" where it names none."""
    return next((entry.value for entry in intent.frame.objects if entry.name == ROOT), "")


def in_words(predicate: Predicate) -> str:
    """A criterion as people and agents read it."""
    if predicate.type == CRITERION:
        try:
            said = json.loads(cast(str, getattr(predicate, "data", "")))
        except ValueError:
            said = None
        if isinstance(said, dict) and isinstance(said.get("text"), str):
            return str(said["text"])
    parts = predicate.model_dump(exclude={"type"})
    return " ".join([predicate.type, *(str(part) for part in parts.values() if part)])


# ---- From signed work back to the file.


def entry_of(item: WorkItem) -> IntentEntry:
    """The entry that says what was signed, and how far it is, and no more."""
    return IntentEntry(**{one.name: getattr(item, one.name) for one in fields(IntentEntry)})


def _criterion(predicate: Predicate) -> Criterion:
    if predicate.type == CRITERION:
        return in_words(predicate)
    said = predicate.model_dump()
    kind = str(said.pop("type"))
    # A file has no field for the one promise that a sign-off is about, and no work from a file says one.
    return TypedCriterion(
        kind, tuple((name, str(text)) for name, text in said.items() if text or name != "what")
    )
