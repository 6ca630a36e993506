"""What one accept allows again and again: when, how often, until when, with which effects, and which plan.

A firing is a child: an Intent and a plan that follow from those that were signed, its id and its moment. What
moves with time (`moving`) is named beforehand, and may only be another text of the same form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar

from ir.canonical import as_document, canonical_bytes, content_hash, with_hash
from ir.document import Document
from ir.errors import MclError
from ir.intent import Intent, Reference, seed_of
from ir.plan import PlanTree
from ir.scalars import Count, Digest, Instant, Name, Text

ROLE: Final = "standing"  # of the reference by which a child cites the accept
RECURRENCE: Final = "recurrence"  # of the reference that says when: it is accepted with a schedule
Moving = TypeVar("Moving", Intent, PlanTree)
_DIGIT: Final = re.compile("[0-9]")
DISPATCH: Final = "dispatch"  # beside the classes of effects: a part of it is planned when it runs


class Schedule(Document):
    """The scope of a standing accept.

    words: as they were said. rule: RRULE (RFC 5545) without its DTSTART, "" for one moment. start: its
    DTSTART, local ("2026-12-04T09:00:00") in `zone`, an IANA name. file, mentions: of the workspace, whose
    change fires it (where the word stands in it); then there is no rule. until: after it nothing is fired.
    count: of all firings; calls: of all firings together, each with what its budget may use; 0 sets no limit.
    effects: the classes of the plan. plan: the hash of its template. moving: places ("/plan/…", "/intent/…")
    whose text follows from the moment. workspace: the folder, absolute. missed: whether the last of those
    that were missed is made up for.
    """

    words: Text = ""
    rule: Text = ""
    start: Text = ""
    zone: Text = "UTC"
    file: Text = ""
    mentions: Text = ""
    until: Instant = ""
    count: Count = 0
    calls: Count = 0
    effects: tuple[Text, ...] = ()
    plan: Digest
    moving: tuple[Text, ...] = ()
    workspace: Name
    missed: Literal["once", "skip"] = "once"


def recurs(intent: Intent) -> bool:
    """Whether an Intent says that it is to run again and again, or later: it is signed with a schedule."""
    return any(one.role == RECURRENCE for one in intent.references)


def template_hash(plan: PlanTree) -> str:
    """The hash of a plan without what differs from firing to firing: its id, its Intent and its moment."""
    blank = {"id": "", "intent_id": "", "created_at": "", "hash": ""}
    return content_hash(plan.model_copy(update=blank))


def effects_of(plan: PlanTree) -> tuple[str, ...]:
    """The classes of effects that the nodes of a plan declare, sorted."""
    nodes = [node for node, _ in plan.root.walk()]
    found = {node.tool_call.side_effect_class or "read" for node in nodes if node.tool_call is not None}
    found |= {DISPATCH for node in nodes if node.sub_dispatch is not None}
    return tuple(sorted(found))


def child_intent(parent: Intent, id: str, at: str, accept_id: str, values: Mapping[str, str]) -> Intent:
    """The Intent of a firing: that of the schedule with another id and moment, citing the accept.

    values: texts by the places that move. Raises MclError as `_moved`.
    """
    cites = Reference(uri=f"matrix://intent/{parent.id}", type="intent", role=ROLE, summary=accept_id)
    others = (one for one in parent.references if one.role != RECURRENCE)
    changed = {
        "id": id,
        "parent": f"matrix://intent/{parent.id}",
        "created_at": at,
        "references": (*others, cites),
    }
    child = _moved(parent.model_copy(update=changed), "/intent", values)
    if child.compile_metadata is not None and (seed := seed_of(child)) is not None:
        made = child.compile_metadata.model_copy(update={"seed": seed.hex})
        child = child.model_copy(update={"compile_metadata": made})
    return with_hash(child)


def child_plan(template: PlanTree, child: Intent, values: Mapping[str, str]) -> PlanTree:
    """The plan of a firing, which has the id of its Intent. Raises MclError as `_moved`."""
    intent = f"matrix://intent/{child.id}" if "/" in template.intent_id else child.id
    changed = {"id": child.id, "intent_id": intent, "created_at": child.created_at}
    return with_hash(_moved(template.model_copy(update=changed), "/plan", values))


def _moved(document: Moving, root: str, values: Mapping[str, str]) -> Moving:
    """A document with these texts at these places. Raises MclError MOVED_OTHERWISE where a place has no text,
    or one of another form: each digit may be another one, and nothing else."""
    mine = {place: text for place, text in values.items() if place.startswith(f"{root}/")}
    if not mine:
        return document
    data = as_document(document)
    for place, text in mine.items():
        holder: Any = data
        *steps, last = place.removeprefix(f"{root}/").split("/")
        try:
            for step in steps:
                holder = holder[int(step) if isinstance(holder, list) else step]
            key = int(last) if isinstance(holder, list) else last
            before = holder[key]
        except (LookupError, ValueError, TypeError) as problem:
            raise _otherwise(place, "is no place of it") from problem
        if not isinstance(before, str) or _DIGIT.sub("0", before) != _DIGIT.sub("0", text):
            raise _otherwise(place, f"cannot be {text[:80]!r}")
        holder[key] = text
    return type(document).from_json(canonical_bytes(data))


def _otherwise(place: str, why: str) -> MclError:
    return MclError("MOVED_OTHERWISE", f"{place} {why}", place=place, fix="sign the schedule again")
