"""From an entry of the file to the Intent that a person signs, and the envelopes that say so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pydantic import TypeAdapter

from executor.core.hashing import json_bytes
from executor.store.home import Home
from ir import (
    Envelope,
    Frame,
    Intent,
    IntentAcceptBody,
    IntentCompiledBody,
    IntentDraftBody,
    PolicyConstraint,
    Predicate,
    Reference,
    RuleConstraint,
    SlotEntry,
    canonical_bytes,
    find_secret,
    with_hash,
)
from mcl.core.errors import WorkError
from mcl.core.seal import sealed
from mcl.plugins.agents.file import Criterion, Entry
from mcl.plugins.agents.file.rules import instant
from mcl.plugins.agents.work.item import (
    CRITERION,
    CRITERION_SCHEMA,
    DEPENDS_ON,
    DESCRIPTION,
    DOCUMENTATION,
    NAME,
    OWNED,
    OWNER,
    ROOT,
    SUPERSEDES,
    WorkItem,
    in_words,
)

_PREDICATE: Final[TypeAdapter[Predicate]] = TypeAdapter(Predicate)
_SCHEME: Final = "matrix://intent/"


def intent_of(entry: Entry, root: str, ids: Mapping[str, str], home: Home, *, supersedes: str = "") -> Intent:
    """The Intent that stands for an entry, with its hash. Nobody has signed it yet.

    root: the folder it is about, which is signed too. ids: of labels, the ULIDs that they stand for from now
    on. supersedes: ULID of the one that it takes the place of.
    """
    objects = ((NAME, entry.name), (DESCRIPTION, entry.description), (ROOT, root), (OWNER, entry.owner))
    after = [
        Reference(uri=_SCHEME + ids[label], type="intent", role=DEPENDS_ON, summary=label)
        for label in entry.dependencies
    ]
    before = [Reference(uri=_SCHEME + supersedes, type="intent", role=SUPERSEDES)] if supersedes else []
    seen = [Reference(uri=uri, role=DOCUMENTATION) for uri in entry.references]
    return with_hash(
        Intent(
            id=ids[entry.label],
            parent=after[0].uri if len(after) == 1 else "",
            actor=home.keyring.user.did,
            agent=home.keyring.agent.did,
            prose=_prose(entry),
            frame=Frame(
                verb="modify",
                objects=tuple(SlotEntry(name=name, value=value) for name, value in objects if value),
                constraints=(
                    *(PolicyConstraint(hard=True, policy=OWNED + one) for one in entry.owned_scope),
                    *(RuleConstraint(rule=text) for text in entry.constraints),
                ),
                success_criteria=tuple(predicate_of(one) for one in entry.acceptance_criteria),
            ),
            references=(*after, *before, *seen),
            state="proposed",
            confidence=1.0,
            created_at=instant(entry.created_at),
            goal_id=entry.label,
        )
    )


def accepted(home: Home, intent: Intent, at: str, *, unseen: bool = False) -> list[Envelope]:
    """Draft, Intent and accept, as they are appended together. Raises KeyringError where a key is sealed.

    unseen: nobody looked at what is signed.
    """
    draft = sealed(home, "intent.draft", IntentDraftBody(intent.prose), intent=intent.id, at=at)
    body = IntentCompiledBody(canonical_bytes(intent))
    compiled = sealed(home, "intent.compiled", body, intent=intent.id, at=at, causation=draft.id)
    said = IntentAcceptBody(intent_hash=intent.hash, accepted_at=at, unseen=home.unseen(unseen))
    return [
        draft,
        compiled,
        sealed(home, "intent.accept", said, intent=intent.id, at=at, causation=compiled.id),
    ]


def predicate_of(criterion: Criterion) -> Predicate:
    """A criterion as it is signed: a typed one as it is, words as one that only a person can judge."""
    if isinstance(criterion, str):
        data = json_bytes({"text": criterion}).decode()
        said = {"type": CRITERION, "schema": CRITERION_SCHEMA, "data": data}
    else:
        said = criterion.to_json()
    return _PREDICATE.validate_json(json.dumps(said))


def differences(entry: Entry, item: WorkItem) -> tuple[str, ...]:
    """The fields in which an entry says something else than what was signed. Status and times of change are
    not of what is signed."""
    pairs: tuple[tuple[str, object, object], ...] = (
        ("name", entry.name, item.name),
        ("description", entry.description, item.description),
        ("owner", entry.owner, item.owner),
        ("created_at", _instant(entry.created_at), item.created_at),
        ("owned_scope", entry.owned_scope, item.scope),
        ("constraints", entry.constraints, item.constraints),
        ("acceptance_criteria", _predicates(entry), item.predicates),
        ("dependencies", entry.dependencies, item.dependencies),
        ("references", entry.references, item.references),
    )
    return tuple(name for name, one, other in pairs if one != other)


def require_no_secret(entry: Entry) -> None:
    """Raise WorkError SECRET_INLINE where a key or token seems to stand in an entry: it would be kept."""
    texts: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("name", (entry.name,)),
        ("description", (entry.description,)),
        ("owner", (entry.owner,)),
        ("constraints", entry.constraints),
        ("acceptance_criteria", tuple(in_words(predicate_of(one)) for one in entry.acceptance_criteria)),
        ("references", entry.references),
        ("blocked_reason", (entry.blocked_reason,)),
    )
    for field, given in texts:
        for text in given:
            if (what := find_secret("", text)) is not None:
                raise WorkError(
                    "SECRET_INLINE",
                    f"the {field} of {entry.label} seems to hold {what}; nothing was signed",
                    place=f"{entry.label} {field}",
                    fix="leave it out; name the variable that it is in, where one must be named",
                )


def _predicates(entry: Entry) -> tuple[Predicate, ...] | None:
    try:
        return tuple(predicate_of(one) for one in entry.acceptance_criteria)
    except ValueError:  # of a file that is not valid
        return None


def _instant(text: str) -> str:
    try:
        return instant(text)
    except ValueError:
        return text


def _prose(entry: Entry) -> str:
    return f"{entry.name}\n\n{entry.description}" if entry.description else entry.name
