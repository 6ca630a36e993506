"""Signing what a person says about an intent."""

from executor.home import Home
from ir import Body, Envelope, Header, seal


def sealed(home: Home, kind: str, body: Body, *, intent: str, at: str, causation: str = "") -> Envelope:
    """An envelope about `intent` (a ULID), signed by the user's key; it is not stored yet."""
    header = Header(
        id=home.clock.new_id(),
        at=at,
        from_=home.keyring.user.did,
        to=home.keyring.agent.did,
        intent=f"matrix://intent/{intent}",
        causation_id=causation or None,
    )
    return seal(kind, body, header, home.keyring.user.signing_key)
