"""`mcl cancel`: a person stops it."""

from executor.store.home import Home
from ir import Envelope, IntentCancelBody
from mcl.core.home import open_home
from mcl.core.seal import sealed
from mcl.usecases.ids import find_intent
from mcl.usecases.show import read_view


def cancel(intent: str, *, reason: str = "", home: Home | None = None) -> Envelope:
    """Cancel an intent that has not ended; a walk in another process stops before its next node.

    Raises InputError; LifecycleError ILLEGAL_EVENT where it has ended; KeyringError.
    """
    home = home or open_home()
    id, at = find_intent(home, intent), home.clock.now()
    read_view(home, id)
    body = IntentCancelBody(at, reason, unseen=home.unseen())
    envelope = sealed(home, "intent.cancel", body, intent=id, at=at)
    home.journal.append(envelope)
    return envelope
