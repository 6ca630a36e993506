"""A question about one call that came over MCP: what is asked, as a record that anybody can read back.

Nothing is signed in the user's name before the person decides. Until then the Intent and the plan of the call
are in no intent's story: they lie in a record signed by the agent, to the byte as they would be signed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from executor.core.errors import JournalError
from executor.core.hashing import json_hash
from executor.gate.claim import binding_hash
from executor.gate.references import typed_args
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.store.journal.rows import Row
from executor.store.lifecycle.events import View
from executor.tools.manifest import Manifest
from ir import Intent, MclError, PlanTree, ToolCall, canonical_bytes, content_hash, is_ulid
from mcl.usecases.direct import NODE

ASKED: Final = "record.gate.asked"
CLOSED: Final = "record.gate.closed"
TIMEOUT: Final = "record.gate.timeout"
Standing: TypeAlias = Literal["open", "decided", "expired", "closed"]

_TEXTS: Final = (
    *("name", "server", "operation", "variant", "client", "version", "question", "expires_at", "binding"),
    *("operation_type", "data_sensitivity", "reason"),
)


@dataclass(frozen=True)
class AskedCall:
    """What a person is asked about one call.

    id: of the record, and of the question. intent, plan: what will be signed where it is approved. name:
    ``server:tool``; server: the server that has it. trusted: whether a person trusts that server. operation,
    effects: what the call does. why: what makes a person necessary. client, version, variant, operation_type,
    data_sensitivity, reason: what the caller says of itself and of the call; not to be believed. bound: what
    an approval is bound to, by name; binding: their hash. seq: of the record's row.
    """

    id: str
    at: str
    intent: Intent
    plan: PlanTree
    name: str
    server: str
    trusted: bool
    operation: str
    effects: tuple[str, ...]
    why: tuple[str, ...]
    client: str
    version: str
    variant: str
    operation_type: str
    data_sensitivity: str
    reason: str
    question: str
    expires_at: str
    bound: Mapping[str, str] = field(repr=False)
    binding: str
    seq: int = 0

    @property
    def call(self) -> ToolCall:
        """The call as the plan has it."""
        found = self.plan.root.tool_call
        assert found is not None, "read_asked takes no other plan"
        return found

    @property
    def chain(self) -> bool:
        """Does it act on a chain, so that only a person's own key may approve it?"""
        return "chain" in self.effects

    def body(self) -> dict[str, object]:
        """The record's body, which ``read_asked`` takes."""
        return {
            **{name: getattr(self, name) for name in _TEXTS},
            "intent_json": canonical_bytes(self.intent),
            "plan_json": canonical_bytes(self.plan),
            "trusted": self.trusted,
            "effects": list(self.effects),
            "why": list(self.why),
            "bound": dict(self.bound),
        }

    def args(self, manifest: Manifest) -> dict[str, object]:
        """The values that the call would be made with. Raises UnresolvedError."""
        return typed_args(self.call.args, manifest, {}, self.call.documents)

    def texts(self, manifest: Manifest | None) -> Mapping[str, object]:
        """The arguments as far as they can be read, whatever became of the tool."""
        try:
            return typed_args(self.call.args, manifest, {}, self.call.documents)
        except MclError:
            return self.call.args

    def holds(self, args: Mapping[str, object]) -> bool:
        """Is this, with these arguments, to the byte what an approval would be bound to?"""
        said = {
            **self.bound,
            "intent": content_hash(self.intent),
            "plan": content_hash(self.plan),
            "node": self.plan.root.id,
            "args": json_hash(dict(args)),
            "expires_at": self.expires_at,
        }
        return dict(said) == dict(self.bound) and binding_hash(said) == self.binding


def read_asked(row: Row, record: Record) -> AskedCall | None:
    """The question in a record; None for a record of another kind, or of a question of a running plan.

    Raises:
        MclError: the documents in it are none, or are no Intent with a plan of one call.
    """
    body: Mapping[str, Any] = record.body
    if record.kind != ASKED or "plan_json" not in body:
        return None
    try:
        intent, plan = Intent.from_json(body["intent_json"]), PlanTree.from_json(body["plan_json"])
        asked = AskedCall(
            id=record.id,
            at=record.at,
            intent=intent,
            plan=plan,
            trusted=body["trusted"] is True,
            effects=_texts(body["effects"]),
            why=_texts(body["why"]),
            bound=dict(zip(_texts(list(body["bound"])), _texts(list(body["bound"].values())), strict=True)),
            seq=row.seq,
            **dict(zip(_TEXTS, _texts([body[name] for name in _TEXTS]), strict=True)),
        )
        datetime.fromisoformat(asked.expires_at)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise _no_question(record, f"{type(problem).__name__}: {problem}") from problem
    root = plan.root
    if root.tool_call is None or root.id != NODE or plan.intent_id != intent.id or not is_ulid(intent.id):
        raise _no_question(record, "its plan is no plan of one call")
    return asked


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise TypeError("not a list of texts")
    return tuple(values)


def _no_question(record: Record, why: str) -> JournalError:
    return JournalError("RECORD_SHAPE", f"no question: {why}", place=record.id, fix="do not approve it")


def asked_calls(home: Home, prefix: str = "", *, since: str = "") -> Iterator[AskedCall]:
    """The questions whose ids begin with ``prefix``, asked since a moment (ISO 8601), oldest first; those
    whose records cannot be believed are left out."""
    for row in home.journal.rows(kind=ASKED):
        if row.intent is None and row.id.startswith(prefix) and row.at >= since:
            try:
                record = home.journal.open(row.wire)
                found = read_asked(row, record) if isinstance(record, Record) else None
            except MclError:
                continue
            if found is not None:
                yield found


def asked_call(home: Home, id: str) -> AskedCall | None:
    """The question with just this id; None where there is none that can be believed."""
    try:
        row = home.journal.row(id)
        record = home.journal.open(row.wire)
        return read_asked(row, record) if isinstance(record, Record) else None
    except MclError:
        return None


def standing(home: Home, asked: AskedCall, view: View | None = None) -> Standing:
    """How a question stands. Who decides looks at it inside of the transaction that it decides in."""
    if (view or home.journal.view(asked.intent.id)).state != "new":
        return "decided"
    if closing(home, asked) is not None:
        return "closed"
    late = datetime.fromisoformat(home.clock.now()) > datetime.fromisoformat(asked.expires_at)
    return "expired" if late else "open"


def closing(home: Home, asked: AskedCall) -> Record | None:
    """The record that ended a question which nobody decided; None where there is none."""
    for kind in (CLOSED, TIMEOUT):
        for row in home.journal.rows(after=asked.seq, kind=kind):
            record = home.journal.open(row.wire) if row.intent is None else None
            if isinstance(record, Record) and record.body.get("gate") == asked.id:
                return record
    return None


def declared_of(asked: AskedCall) -> dict[str, str]:
    """What the program says of itself and of the call, by name; what it does not say is left out."""
    said = {
        "client": f"{asked.client} {asked.version}".strip(),
        "calls with": asked.variant,
        "operation": asked.operation_type,
        "sensitivity": asked.data_sensitivity,
        "reason": asked.reason,
    }
    return {name: text for name, text in said.items() if text}
