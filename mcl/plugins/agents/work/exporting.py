"""From signed work back to the file."""

from __future__ import annotations

from collections.abc import Iterable

from mcl.plugins.agents.file import Criterion, Entry, TypedCriterion
from mcl.plugins.agents.work.item import CRITERION, WorkItem, in_words


def entry_of(item: WorkItem) -> Entry:
    """The entry that says what was signed, and how far it is."""
    return Entry(
        label=item.label,
        name=item.name,
        description=item.description,
        status=item.status,
        owner=item.owner,
        created_at=item.created_at,
        updated_at=item.updated_at,
        owned_scope=item.scope,
        constraints=item.constraints,
        acceptance_criteria=tuple(_criteria(item)),
        dependencies=item.dependencies,
        references=item.references,
        blocked_reason=item.blocked_reason,
    )


def _criteria(item: WorkItem) -> Iterable[Criterion]:
    for predicate in item.predicates:
        if predicate.type == CRITERION:
            yield in_words(predicate)
        else:
            said = predicate.model_dump()
            kind = str(said.pop("type"))
            yield TypedCriterion(kind, tuple((name, str(text)) for name, text in said.items()))
