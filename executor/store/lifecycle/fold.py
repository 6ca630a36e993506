"""The life of an intent: transitions.TABLE says what is legal, events.EFFECTS what follows from it.

States are never stored: they are derived by replaying the envelopes of an intent in journal order.
"""

from __future__ import annotations

from collections.abc import Iterable

from executor.store.lifecycle.events import EFFECTS, illegal
from executor.store.lifecycle.transitions import TABLE, TERMINAL
from executor.store.lifecycle.view import GateState, View, intent_id
from ir import Envelope

__all__ = [
    "TABLE",
    "TERMINAL",
    "GateState",
    "View",
    "advance",
    "check",
    "fold",
    "intent_id",
]


def fold(envelopes: Iterable[Envelope], view: View | None = None) -> View:
    """Replay envelopes of one intent, in journal order, from `view` (default: from the start).

    Raises LifecycleError at the first illegal event.
    """
    view = view or View()
    for envelope in envelopes:
        view = advance(view, envelope)
    return view


def check(view: View, envelope: Envelope) -> None:
    """Raise LifecycleError unless `envelope` is legal in `view`."""
    advance(view, envelope)


def advance(view: View, envelope: Envelope) -> View:
    """The view after one more event. Raises LifecycleError; `view` is unchanged."""
    if envelope.kind not in TABLE[view.state]:
        raise illegal(
            view, envelope, "ILLEGAL_EVENT", f"{envelope.kind} is not legal while the intent is {view.state}"
        )
    changes = EFFECTS[envelope.kind](view, envelope)
    states = TABLE[view.state][envelope.kind]
    if getattr(envelope.body, "unseen", False):
        changes["unseen"] = (*view.unseen, (envelope.kind, envelope.id))
    return view.having({"state": states[0], **changes, "last_id": envelope.id})
