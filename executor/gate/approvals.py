"""Approvals: what may be answered to a question, and a person's signed answer about one exact call.

The answer is a ``policy.gate.resolve`` in the journal, signed by the user's key, whose ``answer`` is the
binding (``binding_of``). What is kept here besides is only which of them were used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from executor.core.hashing import json_hash
from executor.gate.verdict import Deny
from ir.display import quoted
from ir.plan import NO, YES

if TYPE_CHECKING:
    from executor.call import Call
    from executor.core.clock import Clock
    from executor.gate.context import Context
    from executor.store.home import Home
    from executor.store.lifecycle.events import GateState

APPROVE = "approve"
DENY = "deny"
IN_DOUBT = "matrix://rule/in-doubt"  # why a node is asked about after a crash; then a slash, and its key
_TABLES = [
    """CREATE TABLE approvals_used (
         gate TEXT PRIMARY KEY, intent TEXT NOT NULL, node TEXT NOT NULL, binding TEXT NOT NULL,
         used_at TEXT NOT NULL
       ) STRICT"""
]


class Approvals:
    """Which approvals of a home were used."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("approvals", _TABLES)
        self._tables, self._clock = home.journal.tables, home.clock

    def used(self, gate: str) -> bool:
        """Was the approval given at this gate used already?"""
        return bool(self._tables.read("SELECT 1 FROM approvals_used WHERE gate = ?", (gate,)))

    def use(self, gate: str, *, intent: str, node: str, binding: str) -> bool:
        """Use an approval up. False where it was used before: of two callers at once, one gets it."""
        try:
            with self._tables.changing() as connection:
                connection.execute(
                    "INSERT INTO approvals_used VALUES (?, ?, ?, ?, ?)",
                    (gate, intent, node, binding, self._clock.now()),
                )
        except sqlite3.IntegrityError:
            return False
        return True


# ---- Claiming an approval for one exact call: is a person's answer in the journal about this very call?


def bound_to(call: Call, context: Context, expires_at: str) -> dict[str, str]:
    """All that an approval is bound to: Intent, plan, tool manifest, arguments and policy by their hashes,
    node and expiry by themselves."""
    manifest, mandate = context.manifest(call), context.mandate
    return {
        "intent": mandate.accepted_hash if mandate else "",
        "plan": mandate.accepted_plan_hash if mandate else "",
        "node": call.node_id,
        "tool": manifest.pin if manifest else "",
        "args": call.args_hash,
        "policy": context.policy.version,
        "expires_at": expires_at,
    }


def binding_of(call: Call, context: Context, expires_at: str) -> str:
    """sha256 (hex) of what an approval of this call is bound to."""
    return binding_hash(bound_to(call, context, expires_at))


def binding_hash(parts: Mapping[str, str]) -> str:
    """The binding that the parts of ``bound_to`` make."""
    return json_hash(dict(parts))


def claim(call: Call, context: Context) -> Deny | str | None:
    """Find the approval for a call and use it up.

    Returns:
        The gate's id; None where nobody was asked yet; a Deny where the answer named by ``call.approval`` is
        no approval of this very call (or is none any more), or where a person refused this node's call while
        no run was waiting.
    """
    gates = context.view().gates
    if call.approval:
        gate = gates.get(call.approval)
        if gate is None or not gate.decision:
            return Deny("GATE_PENDING", "nobody has decided about this call yet", "wait for the decision")
        if gate.decision != APPROVE:
            return _refused(gate)
        if _expired(gate.expires_at, context.clock):
            return Deny("GATE_TIMEOUT", f"the approval was good until {gate.expires_at}", "ask again")
        if gate.node_id != call.node_id or gate.answer != binding_of(call, context, gate.expires_at):
            return Deny(
                "APPROVAL_MISMATCH",
                "the approval is for another call: the Intent, plan, node, tool, arguments or policy differ",
                "ask for approval of this call as it is now",
            )
        if not _signed_by_person(gate, call, context):
            return Deny(
                "APPROVAL_MISMATCH",
                f"the approval was signed with {gate.by}, a key that opens without a passphrase",
                "have a person approve with a sealed key, or with one kept elsewhere",
                example="MCL_PASSPHRASE=… mcl key new --role user, then mcl gate approve",
            )
        return call.approval if _use(call.approval, gate, context) else _consumed()
    for gate_id, gate in gates.items():
        if gate.node_id != call.node_id:
            continue
        if gate.decision == DENY:
            return _refused(gate)
        if (
            gate.decision == APPROVE
            and not _expired(gate.expires_at, context.clock)
            and gate.answer == binding_of(call, context, gate.expires_at)
            and _signed_by_person(gate, call, context)
            and _use(gate_id, gate, context)
        ):
            return gate_id
    return None


def _use(gate_id: str, gate: GateState, context: Context) -> bool:
    intent = context.mandate.intent.id if context.mandate else ""
    return context.approvals.use(gate_id, intent=intent, node=gate.node_id, binding=gate.answer)


def _consumed() -> Deny:
    return Deny("APPROVAL_CONSUMED", "this approval was used already; each is good once", "ask again")


def _refused(gate: GateState) -> Deny:
    why = f": {gate.why}" if gate.why and gate.decision == DENY else ""
    return Deny(
        "GATE_DENIED",
        f"{gate.by} refused this call at {gate.at}{why}",
        "do without it, or change the plan",
        data={"by": gate.by, "at": gate.at},
    )


def _signed_by_person(gate: GateState, call: Call, context: Context) -> bool:
    """A chain call needs the key of a person: one that no program on this machine can use unasked."""
    manifest = context.manifest(call)
    if manifest is None or "chain" not in context.effect(call, manifest).classes:
        return True
    return context.personal(gate.by)


def _expired(expires_at: str, clock: Clock) -> bool:
    return bool(expires_at) and datetime.fromisoformat(clock.now()) > datetime.fromisoformat(expires_at)


# ---- What may be answered to a question, and what each answer does. No word of an option is ever
# interpreted.
# An option refuses where its plan says so. Three words for yes and three for no belong to the questions
# themselves; an option that is spelled like one of them does what the word says. Texts are compared exactly:
# an option in other letters, or with blanks around it, is none.

# What refused in questions of rows that do not say which of their options do. Whoever decided such a one was
# told so; nothing that is asked today is read by these words.
_ONCE: Final = frozenset({"deny", "denied", "no", "reject", "refuse", "cancel", "stop", "abort"})


@dataclass(frozen=True, slots=True)
class Offer:
    """The answers to one question. options: those that are listed, () = approve or deny; refuses: those of
    them that refuse, () where none is listed, and in rows of old journals."""

    options: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Iterable[str], refuses: Iterable[str] = ()) -> Offer:
        """What is put to a person: one of the answers refuses, "deny" where no other does."""
        listed, said = tuple(options), frozenset(refuses)
        if not listed:
            return cls()
        refusing = tuple(one for one in listed if one in said or one in NO)
        return cls(listed, refusing) if refusing else cls((*listed, DENY), (DENY,))

    @property
    def names(self) -> tuple[str, ...]:
        return self.options or (APPROVE, DENY)

    @property
    def refusing(self) -> tuple[str, ...]:
        """The answers that refuse."""
        return self.refuses if self.options else (DENY,)

    @property
    def continuing(self) -> tuple[str, ...]:
        """The answers that go on."""
        return tuple(one for one in self.names if self.approves(one))

    @property
    def is_yes_no(self) -> bool:
        """Is it a question to be answered with yes or no?"""
        return all(one in YES or one in NO for one in self.options)

    @property
    def words(self) -> str:
        """The answers as views; where they are not yes and no, also which of them refuse."""
        names = " / ".join(map(quoted, self.names))
        refusing = " / ".join(map(quoted, self.refusing))
        return names if self.is_yes_no else f"{names}; refuses: {refusing}"

    def read(self, text: str) -> str:
        """The answer that a text is, by its name; "" where it is none, and has to be asked again."""
        if text in self.names:
            return text
        if self.is_yes_no and text in (*YES, *NO):
            return next((one for one in self.names if one in (YES if text in YES else NO)), "")
        return DENY if text == DENY else ""

    def approves(self, decision: str) -> bool:
        """Does a decision go on? What is no answer at all does not."""
        if self.options and not self.refuses:
            return decision == APPROVE or (decision in self.options and decision.casefold() not in _ONCE)
        return decision in self.names and decision not in self.refusing
