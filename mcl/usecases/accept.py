"""`mcl accept`: a person signs what is wanted and what will run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.core.errors import LifecycleError
from executor.store.home import Home
from executor.store.lifecycle.events import is_past
from executor.store.lifecycle.view import way_on
from ir import Intent, IntentAcceptBody
from ir.schedule import recurs
from mcl.catalog.extras import require_extras_of
from mcl.core.home import open_home, sealed
from mcl.usecases.installed import installed
from mcl.usecases.intent_memories import keep_accepted
from mcl.usecases.intents import Shown, find_intent, shown


@dataclass(frozen=True)
class Acceptance:
    """What was signed.

    `plan_hash` is empty where the intent has no plan. `envelope`: id of the intent.accept.
    remembered: addresses of the memories that it left (answers, a goal).
    """

    intent_id: str
    intent_hash: str
    plan_hash: str
    signed_by: str
    accepted_at: str
    envelope: str
    remembered: tuple[str, ...] = ()


def accept(
    intent: str,
    *,
    home: Home | None = None,
    intent_hash: str | None = None,
    plan_hash: str | None = None,
    skills: Sequence[Path] = (),
    unseen: bool = False,
    schedule: bytes = b"",
) -> Acceptance:
    """Sign an intent and its plan with the user's key.

    intent_hash, plan_hash: what the person was shown; anything else is refused (None: whatever is there now;
    a plan that a model wrote must be named by its hash). skills: further folders. unseen: nobody looked at
    it, which its row and the end of its run then say. schedule: the scope within which it runs again and
    again (canonical bytes of `ir.schedule.Schedule`). What was answered on the way is remembered in the same
    commit (`intent_memories`). Raises InputError; LifecycleError with INTENT_HASH_MISMATCH,
    PLAN_HASH_MISMATCH, PLAN_UNREAD, BLOCKING_UNKNOWN, INTENT_EXPIRED or ILLEGAL_EVENT; KeyringError where the
    user's key is sealed.
    """
    home = home or open_home()
    found = acceptable(intent, home=home, scheduled=bool(schedule))
    if found.plan is not None and found.plan.grammar and plan_hash is None:
        raise LifecycleError(
            "PLAN_UNREAD",
            "a model wrote this plan; it is signed by its hash, by who has read it",
            place=found.id,
            fix=f"read it with mcl plan {found.id}, then name its hash: --plan-hash …",
            state=found.state,
            legal=found.view.legal(),
        )
    at = home.clock.now()
    body = IntentAcceptBody(
        intent_hash=intent_hash if intent_hash is not None else found.intent.hash,
        accepted_at=at,
        plan_hash=plan_hash if plan_hash is not None else found.view.plan_hash,
        unseen=home.unseen(unseen),
        schedule=schedule,
    )
    envelope = sealed(home, "intent.accept", body, intent=found.id, at=at, causation=found.view.last_id)
    kept = keep_accepted(home, envelope, found.id, found.view, installed(home.path, skills))
    return Acceptance(found.id, body.intent_hash, body.plan_hash, envelope.from_, at, envelope.id, kept)


@dataclass(frozen=True)
class Acceptable(Shown):
    """An intent that a person may be asked to sign."""

    intent: Intent


def acceptable(intent: str, *, home: Home, scheduled: bool = False) -> Acceptable:
    """What `accept` would sign. scheduled: with a schedule, as what is to run again and again must be. Raises
    InputError; EXTRA_MISSING where a tool of the plan is not installed; LifecycleError where there is nothing
    to accept, INTENT_EXPIRED, SCHEDULE_MISSING."""
    found = shown(home, find_intent(home, intent))
    legal = found.view.legal()
    if found.intent is None or "intent.accept" not in legal:
        raise LifecycleError(
            "NOT_COMPILED" if found.intent is None else "ILLEGAL_EVENT",
            f"this intent is {found.state}: there is nothing to accept",
            place=found.id,
            fix=way_on(found.state, found.id),
            state=found.state,
            legal=legal,
        )
    if recurs(found.intent) and not scheduled:
        raise LifecycleError(
            "SCHEDULE_MISSING",
            "it is to run again and again, or later, and is signed as that",
            place=found.id,
            fix=f"mcl schedule sign {found.id}; or state the goal without when",
            state=found.state,
            legal=legal,
        )
    if is_past(found.intent.expires_at, home.clock.now()):
        raise LifecycleError(
            "INTENT_EXPIRED",
            f"it was to count until {found.intent.expires_at}",
            place=found.id,
            fix="state the goal again: mcl compile",
            state=found.state,
            legal=legal,
        )
    if found.plan is not None:
        require_extras_of(found.plan)
    return Acceptable(**{**vars(found), "intent": found.intent})
