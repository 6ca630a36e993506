"""From the file to signed work: what a person is about to sign, and its one commit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from executor.core.hashing import json_bytes
from executor.store.home import Home
from executor.store.journal.record import Record, seal_record
from ir import (
    Envelope,
    Frame,
    Intent,
    IntentAcceptBody,
    IntentAttestBody,
    IntentCancelBody,
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
from mcl.core.home import sealed
from mcl.core.yaml import FlawReport
from mcl.plugins.agents.file.document import Criterion, IntentEntry, read_file
from mcl.plugins.agents.file.rules import instant
from mcl.plugins.agents.file.validation import validate
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
from mcl.plugins.agents.work.leases import Lease, Leases, note_patterns
from mcl.plugins.agents.work.store import COMPONENT, SIGNED, SignedWork, require_legal, status_record

Kind = Literal["new", "changed", "status", "gone", "same"]
_ALREADY: Final = "the file said so when a person signed it"


@dataclass(frozen=True)
class ImportChange:
    """What an import makes of one label.

    entry: what the file says (None: it is gone from there). item: what was signed before. fields: what
    differs. before, after: the status ("" where there is none).
    """

    kind: Kind
    label: str
    entry: IntentEntry | None
    item: WorkItem | None
    fields: tuple[str, ...] = ()
    before: str = ""
    after: str = ""

    def to_json(self) -> dict[str, object]:
        """The change as a JSON object."""
        named = {"id": self.label, "change": self.kind, "fields": list(self.fields)}
        return {**named, "from": self.before or None, "to": self.after or None}


@dataclass(frozen=True)
class ImportPlan:
    """What an import of a file would do. digest: sha256 (hex) of the file. report: of its validation."""

    root: Path
    digest: str
    changes: tuple[ImportChange, ...]
    report: FlawReport

    @property
    def nothing(self) -> bool:
        """Whether all is as it was signed."""
        return all(change.kind == "same" for change in self.changes)


def plan_import(work: SignedWork, leases: Leases, root: Path, data: bytes) -> ImportPlan:
    """What an import of these bytes would do in a folder. Writes nothing.

    Raises:
        WorkError: INVALID_FILE (the findings are in `data`), INVALID_TRANSITION, LEASED, SECRET_INLINE.
    """
    document = read_file(data)
    report = validate(document)
    if not report.valid:
        raise _invalid(report)
    held = {lease.label: lease for lease in leases.all(root)}
    signed = {item.label: item for item in work.items(root)}
    listed, now = {entry.label for entry in document.entries}, work.home.clock.now()
    changes = [_change(entry, signed.get(entry.label), now) for entry in document.entries]
    for label, item in signed.items():
        if label not in listed:
            changes.append(ImportChange("gone", label, None, item, before=item.status))
    for change in changes:
        _require_free(change, held.get(change.label))
        if change.entry is not None and change.kind != "same":
            require_no_secret(change.entry)
    return ImportPlan(root, sha256(data).hexdigest(), tuple(changes), report)


def sign_import(
    home: Home, work: SignedWork, leases: Leases, shown: ImportPlan, data: bytes, *, unseen: bool = False
) -> tuple[Intent, ...]:
    """Sign what was shown, with the user's key, in one commit: all of it or nothing. Gives the new Intents.

    unseen: it was shown to nobody.

    Raises:
        WorkError: IMPORT_CHANGED, what was shown is not what would be signed now; what `plan_import` raises.
        KeyringError where a key is sealed; what `Journal.append_many` raises.
    """
    with home.db.write():
        plan = plan_import(work, leases, shown.root, data)
        if (plan.digest, plan.changes) != (shown.digest, shown.changes):
            raise WorkError(
                "IMPORT_CHANGED",
                "what was shown is not what would be signed now",
                place=str(shown.root),
                fix="look at it again: mcl work import",
            )
        if plan.nothing:
            return ()
        ids = dict(work.labels(plan.root))
        fresh = {one.label: home.clock.new_id() for one in plan.changes if one.kind in ("new", "changed")}
        ids = {one.label: fresh.get(one.label) or ids[one.label] for one in plan.changes if one.entry}
        at = home.clock.now()
        intents: list[Intent] = []
        messages: list[Envelope | Record] = []
        for change in plan.changes:
            messages.extend(_cancelled(home, change, at, unseen=unseen))
            if change.label in fresh and change.entry is not None:
                old = change.item.intent_id if change.item else ""
                intents.append(intent_of(change.entry, str(plan.root), ids, home, supersedes=old))
                messages.extend(accepted(home, intents[-1], at, unseen=unseen))
            messages.extend(_standing(home, change, ids.get(change.label, ""), at))
        body = {"root": str(plan.root), "intents": [[*pair] for pair in ids.items()], "file": plan.digest}
        record = seal_record(SIGNED, body, id=home.clock.new_id(), at=at, signer=home.keyring.agent)
        home.journal.append_many([*messages, record])
        with home.db.write(COMPONENT) as connection:
            row = (str(plan.root), record.id)
            connection.execute("INSERT OR REPLACE INTO work_roots VALUES (?, ?)", row)
            scopes = {one.label: one.entry.owned_scope for one in plan.changes if one.entry}
            note_patterns(connection, *row, scopes)
    return tuple(intents)


def _change(entry: IntentEntry, item: WorkItem | None, now: str) -> ImportChange:
    if item is None:
        return ImportChange("new", entry.label, entry, None, after=entry.status)
    require_legal(entry.label, item.status, entry.status)
    fields = differences(entry, item)
    fields += ("expires_at",) if item.is_expired(now) else ()  # signed anew, it counts again
    before, after = item.status, entry.status
    if fields and item.status == "DONE":
        raise WorkError(
            "INVALID_TRANSITION",
            f"{item.label} is DONE, and the file says something else of its {', '.join(fields)}",
            place=item.label,
            fix="leave it as it was signed (mcl work export), and give more work an id of its own",
            data={"from": "DONE", "to": after, "fields": list(fields), "legal": ["DONE"]},
        )
    if after == "DONE" != before:
        raise WorkError(
            "INVALID_TRANSITION",
            f"{item.label} is {before}; it becomes DONE when its criteria are met, not by the file",
            place=item.label,
            fix=f"a person runs mcl work complete {item.label}; until then its status is {before}",
            data={"from": before, "to": after, "legal": [before]},
        )
    reason = entry.blocked_reason if after == "BLOCKED" else ""
    if fields:
        return ImportChange("changed", entry.label, entry, item, fields, before, after)
    if (before, item.blocked_reason) != (after, reason):
        return ImportChange("status", entry.label, entry, item, ("status",), before, after)
    return ImportChange("same", entry.label, entry, item, (), before, after)


def _require_free(change: ImportChange, lease: Lease | None) -> None:
    if lease is None or change.kind == "same":
        return
    raise WorkError(
        "LEASED",
        f"the agent '{lease.agent}' works on {lease.label} until {lease.expires_at}; it stays as it is",
        place=lease.label,
        fix=f"wait, or end its work: mcl work release --agent {lease.agent}",
        data={"agent": lease.agent, "until": lease.expires_at},
    )


def _cancelled(home: Home, change: ImportChange, at: str, *, unseen: bool) -> Iterator[Envelope]:
    """The end of what was signed before. What is done stays done."""
    item = change.item
    if item is None or item.status == "DONE" or change.kind not in ("changed", "gone"):
        return
    reason = "superseded" if change.kind == "changed" else "no longer in the file"
    body = IntentCancelBody(at, reason, unseen=home.unseen(unseen))
    yield sealed(home, "intent.cancel", body, intent=item.intent_id, at=at)


def _standing(home: Home, change: ImportChange, intent: str, at: str) -> Iterator[Record | Envelope]:
    """How far it is, where the import says something of that."""
    entry = change.entry
    if entry is None or change.kind == "same":
        return
    yield status_record(
        home,
        intent,
        entry.label,
        before="" if change.kind == "new" else change.before,
        after=change.after,
        at=at,
        by=home.keyring.user.did,
        why=entry.blocked_reason if change.after == "BLOCKED" else "",
        updated_at=instant(entry.updated_at),
    )
    if change.after == "DONE":  # only of what nobody had signed before
        evidence = json_bytes({"declared": _ALREADY, **home.marks})
        body = IntentAttestBody(outcome="success", completed_at=at, evidence_json=evidence)
        yield sealed(home, "intent.attest", body, intent=intent, at=at)


def _invalid(report: FlawReport) -> WorkError:
    first = report.errors[0]
    where = f" (line {first.line})" if first.line else ""
    more = f", and {len(report.errors) - 1} more" if len(report.errors) > 1 else ""
    return WorkError(
        "INVALID_FILE",
        f"the file is not valid: {first.type}: {first.message}{where}{more}; nothing was signed",
        place=first.intent_id or "file",
        fix="mcl work check lists them all",
        data=report.to_json(),
    )


# ---- From an entry of the file to the Intent that a person signs, and the envelopes that say so.

_PREDICATE: Final[TypeAdapter[Predicate]] = TypeAdapter(Predicate)
_SCHEME: Final = "matrix://intent/"


def intent_of(
    entry: IntentEntry, root: str, ids: Mapping[str, str], home: Home, *, supersedes: str = ""
) -> Intent:
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


def differences(entry: IntentEntry, item: WorkItem) -> tuple[str, ...]:
    """The fields in which an entry says something else than what was signed. Status and times of change are
    not of what is signed."""
    names = (
        "name",
        "description",
        "owner",
        "created_at",
        "owned_scope",
        "constraints",
        "acceptance_criteria",
    )
    said: dict[str, object] = {name: getattr(entry, name) for name in (*names, "dependencies", "references")}
    said |= {"created_at": _instant(entry.created_at), "acceptance_criteria": _predicates(entry)}
    signed = {**{name: getattr(item, name) for name in said}, "acceptance_criteria": item.predicates}
    return tuple(name for name in said if said[name] != signed[name])


def require_no_secret(entry: IntentEntry) -> None:
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


def _predicates(entry: IntentEntry) -> tuple[Predicate, ...] | None:
    try:
        return tuple(predicate_of(one) for one in entry.acceptance_criteria)
    except ValueError:  # of a file that is not valid
        return None


def _instant(text: str) -> str:
    try:
        return instant(text)
    except ValueError:
        return text


def _prose(entry: IntentEntry) -> str:
    return f"{entry.name}\n\n{entry.description}" if entry.description else entry.name
