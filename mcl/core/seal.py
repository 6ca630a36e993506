"""Signing what a person, or their agent, says about an intent."""

from executor.store.home import Home
from ir import ROLE_OF_KIND, Body, Envelope, Header, seal


def sealed(home: Home, kind: str, body: Body, *, intent: str, at: str, causation: str = "") -> Envelope:
    """An envelope about `intent` (a ULID), signed by the key of the role that its kind belongs to; it is not
    stored yet."""
    user, agent = home.keyring.user, home.keyring.agent
    signer, other = (user, agent) if ROLE_OF_KIND[kind] == "user" else (agent, user)
    header = Header(
        id=home.clock.new_id(),
        at=at,
        from_=signer.did,
        to=other.did,
        intent=f"matrix://intent/{intent}",
        causation_id=causation or None,
    )
    return seal(kind, body, header, signer.signing_key)
