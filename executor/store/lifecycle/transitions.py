"""Which event is legal in which state of an intent, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NEW: Final = "new"  # before the first event; every other state is one of ir's
TERMINAL: Final = frozenset({"completed", "failed", "cancelled"})

# state -> event -> the states it may lead to; events.EFFECTS says what else must hold, and which it is.
TABLE: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    NEW: {
        "intent.draft": ("draft",),
    },
    "draft": {
        "intent.compiled": ("proposed",),
        "intent.clarify": ("clarifying",),
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "clarifying": {
        "intent.answer": ("clarifying",),
        "intent.compiled": ("proposed",),  # once answered
        "intent.clarify": ("clarifying",),  # once answered, at most MAX_ROUNDS in all
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "proposed": {
        "plan.proposed": ("proposed",),
        "plan.step": ("proposed",),  # only the end of a node that was running when a correction came
        "intent.compiled": ("proposed",),  # only after a correction that asks for a new accept
        "intent.accept": ("accepted",),
        "intent.correct": ("proposed",),  # only of a run that began, and was corrected before
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "accepted": {
        "plan.step": ("executing", "accepted"),  # the walk starts; or a node of the corrected one ends
        "intent.correct": ("accepted", "proposed"),  # only of a run that began, and was corrected before
        "policy.gate": ("accepted",),
        "policy.gate.resolve": ("accepted",),
        "intent.attest": ("completed", "failed"),  # only without a plan: the work was done elsewhere
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "executing": {
        "plan.step": ("executing",),
        "plan.output": ("executing",),
        "policy.gate": ("executing",),
        "policy.gate.resolve": ("executing",),
        "intent.dispatch": ("executing",),
        "intent.correct": ("executing", "proposed"),  # proposed where it is material: needs a new accept
        "intent.attest": ("completed", "failed"),
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "completed": {},
    "failed": {},
    "cancelled": {
        "plan.step": ("cancelled",),  # only the end of a node that was running: what happened, happened
    },
}


# ---- What a person can do with an intent next, by its state: the way out of every act that is not its
# turn.

_NEXT: Final[Mapping[str, str]] = {
    NEW: 'state the goal: mcl compile "GOAL"',
    "draft": 'its compile was interrupted: mcl cancel {id}, and state the goal again: mcl compile "GOAL"',
    "clarifying": "answer its questions: mcl answer {id}",
    "proposed": "read it and sign it: mcl accept {id}",
    "accepted": "run it: mcl run {id}",
    "executing": "go on with its run: mcl run {id} --resume",
}
_ENDED: Final = 'it has ended (mcl show {id}); state the goal again: mcl compile "GOAL"'


def way_on(state: str, intent: str) -> str:
    """What is legal for an intent in this state, as a command; intent: its id or address."""
    said = _ENDED if state in TERMINAL else _NEXT[state]
    return said.format(id=intent.rpartition("/")[2])
