"""What a person can do with an intent next, by its state: the way out of every act that is not its turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.store.lifecycle.transitions import NEW, TERMINAL

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
