"""Checking out a piece of work: what is looked at, in which order, and what the agent is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from executor.store.home import Home
from executor.store.journal.record import Record, seal_record
from mcl.core.errors import WorkError
from mcl.core.text import some
from mcl.plugins.agents.file.document import NAME as FILE
from mcl.plugins.agents.file.document import IntentEntry, IntentFile
from mcl.plugins.agents.file.rules import is_label
from mcl.plugins.agents.work.file import follow, read_document
from mcl.plugins.agents.work.item import WorkItem
from mcl.plugins.agents.work.leases import Lease, Leases, already_active
from mcl.plugins.agents.work.signature import differences
from mcl.plugins.agents.work.store import SignedWork, keep_refusal, require_counting, status_record

# ---- The context that an agent is given with a checkout: what it may change, must heed, and has to reach.

# What XML 1.0 cannot hold, however it is written.
_UNHOLDABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}
_SPECIAL: Final = re.compile('[&<>"\r]')


def context_of(item: WorkItem) -> str:
    """The `<intent_context>` of a piece of work, as it was signed: an XML element in which every text of
    the file is only text."""
    return "\n".join(_lines(item))


def _lines(item: WorkItem) -> Iterator[str]:
    yield f'<intent_context intent_id="{escaped(item.label)}">'
    yield f"  <name>{escaped(item.name)}</name>"
    yield f"  <status>{escaped(item.status)}</status>"
    yield from _listed("owned_scope", "pattern", item.owned_scope)
    yield from _listed("constraints", "constraint", item.constraints)
    yield from _listed("acceptance_criteria", "criterion", item.criteria)
    yield "</intent_context>"


def _listed(name: str, one: str, texts: Iterable[str]) -> Iterator[str]:
    yield f"  <{name}>"
    yield from (f"    <{one}>{escaped(text)}</{one}>" for text in texts)
    yield f"  </{name}>"


def escaped(text: str) -> str:
    """A text as the content of an element or an attribute; what XML cannot hold stands as `\\u0000`."""
    held = _UNHOLDABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], held)


SELECTED: Final = "record.work.selected"
DIFFERS: Final = "FILE_DIFFERS"  # warnings, each before what it warns of
NOT_READY: Final = "DEPENDENCY_NOT_READY"
_LISTED: Final = 100  # labels that a message names
_SHOWN: Final = 80  # characters of an id that is none


@dataclass(frozen=True)
class SelectResult:
    """What an agent is told. context: the `<intent_context>` as XML. intent: the same, for programs.

    error, code: why it was not selected. warnings: what it should know all the same. expires_at: until when
    it holds without doing anything.
    """

    success: bool
    context: str = ""
    error: str = ""
    intent: Mapping[str, object] | None = None
    warnings: tuple[str, ...] = ()
    expires_at: str = ""
    code: str = ""

    def to_json(self) -> dict[str, object]:
        """As a JSON object, without what there is not."""
        if not self.success:
            return {"success": False, "error": self.error, "code": self.code}
        return {
            "success": True,
            "context": self.context,
            "intent": dict(self.intent or {}),
            "warnings": list(self.warnings),
            "expires_at": self.expires_at,
        }


def select(home: Home, work: SignedWork, leases: Leases, root: Path, label: str, agent: str) -> SelectResult:
    """Let an agent check out the work under a label. What cannot be is told, not raised.

    Raises HomeError; KeyringError where the agent's key is sealed; PolicyError.
    """
    try:
        document = _readable(root, label)
        item = _selectable(document, work, leases, root, label, agent)
        lease, now = _taken(home, work, leases, item, agent)
    except WorkError as problem:
        signed = work.labels(root).get(label, "")
        keep_refusal(home, "select", label, agent, problem, signed)
        return SelectResult(False, error=problem.message, code=problem.code)
    warnings = list(_doubts(document.entry(label), item, work, root))
    if now.status != item.status and (left := follow(root, label, item.status, now.status, now.updated_at)):
        warnings.append(left)
    return SelectResult(
        True,
        context=context_of(now),
        intent=intent_json(now),
        warnings=tuple(warnings),
        expires_at=lease.expires_at,
    )


def intent_json(item: WorkItem) -> dict[str, object]:
    """What an agent is told of a piece of work, for programs."""
    told = item.to_json()
    names = ("id", "name", "status", "owned_scope", "constraints", "acceptance_criteria")
    return {name: told[name] for name in names}


def _readable(root: Path, label: str) -> IntentFile:
    """The file, where the label is one and the file can be read."""
    if not is_label(label):
        raise WorkError(
            "INVALID_ID_FORMAT",
            f"Invalid intent_id format: '{label[:_SHOWN]}'. "
            "Expected format: INT-XXX (e.g., INT-001, INT-042)",
            place="intent_id",
        )
    document = read_document(root)
    broken = next((one for one in document.findings if one.type == "YAML_PARSE_ERROR"), None)
    if broken is None and not document.whole:
        broken = document.findings[0]
    if broken is not None:
        where = f" at line {broken.line}" if broken.line else ""
        message = f"Invalid YAML in {FILE}{where}: {broken.message}. Please fix the YAML syntax."
        raise WorkError(broken.type, message, place=FILE)
    return document


def _selectable(
    document: IntentFile, work: SignedWork, leases: Leases, root: Path, label: str, agent: str
) -> WorkItem:
    """The signed work under the label, where nothing stands against it yet."""
    entry, item = document.entry(label), work.item(root, label)
    if entry is None and item is None:
        raise _not_found(document, work, root, label)
    status = item.status if item is not None else entry.status if entry is not None else ""
    reason = item.blocked_reason if item is not None else entry.blocked_reason if entry is not None else ""
    if status == "DONE":
        raise WorkError(
            "DONE",
            f"Intent '{label}' has status 'DONE'. Cannot activate completed intents. "
            "A person gives more work an intent of its own.",
            place=label,
        )
    if status == "BLOCKED":
        why = reason.strip().rstrip(".") or "none was given"
        raise WorkError(
            "BLOCKED",
            f"Intent '{label}' has status 'BLOCKED'. Cannot activate blocked intents. Reason: {why}.",
            place=label,
        )
    if item is None:
        if (held := leases.held(root, agent)) is not None:
            raise already_active(held, label)
        raise WorkError(
            "NOT_IMPORTED",
            f"Intent '{label}' is in {FILE}, but no person has signed it. "
            "Ask a person to read it and run: mcl work import",
            place=label,
        )
    require_counting(item, work.home.clock.now())
    return item


def _taken(
    home: Home, work: SignedWork, leases: Leases, item: WorkItem, agent: str
) -> tuple[Lease, WorkItem]:
    """The lease, and the work as it is from then on: in one commit, or neither."""
    with home.db.write():
        now = work.item(item.root, item.label)
        if now is None or now.intent_id != item.intent_id or now.status not in ("DRAFT", "IN_PROGRESS"):
            raise WorkError(
                "CHANGED", f"Intent '{item.label}' has just changed. Select it again.", place=item.label
            )
        lease = leases.select(item.root, now, agent)
        uri = f"matrix://intent/{item.intent_id}"
        body = {
            "label": item.label,
            "agent": agent,
            "number": lease.number,
            "expires_at": lease.expires_at,
        }
        messages: list[Record] = [
            seal_record(
                SELECTED,
                body,
                id=home.clock.new_id(),
                at=lease.since,
                intent=uri,
                signer=home.keyring.agent,
            )
        ]
        if now.status == "DRAFT":
            messages.append(
                status_record(
                    home,
                    item.intent_id,
                    item.label,
                    before="DRAFT",
                    after="IN_PROGRESS",
                    at=lease.since,
                    by=agent,
                )
            )
        home.journal.append_many(messages)
        return lease, work.item(item.root, item.label) or now


def _doubts(entry: IntentEntry | None, item: WorkItem, work: SignedWork, root: Path) -> Iterator[str]:
    if entry is None:
        yield f"{DIFFERS}: {FILE} no longer has {item.label}; what was signed holds"
    else:
        fields = [*differences(entry, item), *(["status"] if entry.status != item.status else [])]
        if fields:
            said = f"{FILE} says something else of {item.label} ({', '.join(fields)})"
            yield f"{DIFFERS}: {said}; what was signed holds, until a person signs again"
    for label in item.dependencies:
        before = work.item(root, label)
        if before is None or before.status != "DONE":
            yield f"{NOT_READY}: {item.label} comes after {label}, which is not DONE"


def _not_found(document: IntentFile, work: SignedWork, root: Path, label: str) -> WorkError:
    labels = list(dict.fromkeys([*(one.label for one in document.entries if one.label), *work.labels(root)]))
    return WorkError(
        "NOT_FOUND",
        f"Intent '{label}' not found in {FILE}. Available intents: {some(labels, _LISTED) or 'none'}",
        place=label,
        data={"available": labels},
    )
