"""How far a piece of work is: which status may follow which, and the record that says so."""

from __future__ import annotations

from executor.store.home import Home
from executor.store.journal.record import Record, seal_record
from mcl.core.errors import WorkError
from mcl.plugins.agents.file.labels import Status
from mcl.plugins.agents.work.item import TRANSITIONS
from mcl.plugins.agents.work.store import STATUS


def require_legal(label: str, before: Status, after: str) -> None:
    """Raise WorkError INVALID_TRANSITION unless `after` is `before` or may follow it."""
    if after == before or after in TRANSITIONS[before]:
        return
    following = " or ".join(TRANSITIONS[before])
    then = f"after {before} comes {following}" if following else "give more work an id of its own"
    fix = f"{then}; mcl intents export writes the file as it was signed"
    raise WorkError(
        "INVALID_TRANSITION",
        f"{label} is {before} and cannot become {after}",
        place=label,
        fix=fix,
        data={"from": before, "to": after, "legal": [before, *TRANSITIONS[before]]},
    )


def status_record(
    home: Home,
    intent: str,
    label: str,
    *,
    before: str,
    after: str,
    at: str,
    by: str,
    why: str = "",
    updated_at: str = "",
) -> Record:
    """The record of a change of status, which nobody has stored yet.

    by: did of the person, or name of the agent. why: of BLOCKED, what blocks it. updated_at: what the file
    says of when ("": at).
    """
    body = {
        "label": label,
        "from": before,
        "to": after,
        "by": by,
        "why": why,
        "updated_at": updated_at or at,
    }
    uri = f"matrix://intent/{intent}"
    return seal_record(STATUS, body, id=home.clock.new_id(), at=at, intent=uri, signer=home.keyring.agent)
