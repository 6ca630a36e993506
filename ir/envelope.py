"""The signed message: deterministic CBOR with integer keys, an ed25519 signature, one body of fifteen kinds.

Keys: 0 schema_version · 1 protocol · 2 kind · 3 id · 4 at · 5 from · 6 to · 7 intent · 8 correlation_id ·
9 causation_id · 10 body · 11 signature · 12 previous. 6, 8, 9 and 12 are left out when empty; 12 is what the
row before it in a journal hashes to (32 bytes). What is signed is the same map without key 11; `self_hash` is
the sha256 of those bytes.

Codes of EnvelopeError, in the order of the checks:
| code | refused because |
|---|---|
| CBOR_* (CborError) | not strict, deterministic CBOR |
| SCHEMA_VERSION | not a map, or another schema version than 1 |
| PROTOCOL | another protocol than mcl/0.1 |
| UNKNOWN_FIELD | a key outside 0 to 12 |
| HEADER_MISSING | id, at, from or intent is not there |
| HEADER_SHAPE | a header field is not what it should be |
| UNKNOWN_KIND | none of the fifteen kinds |
| BODY_SHAPE | the body does not fit the kind |
| UNSIGNED | no signature of 64 bytes |
| UNKNOWN_KEY | the resolver does not know the key of `from` (could not be checked) |
| KEY_MISMATCH | the resolver gave another key than the one that `from` spells |
| KEY_REVOKED | the key was revoked |
| BAD_SIGNATURE | checked, and wrong |
| WRONG_ROLE | this kind is signed by the other role |
| STALE, FROM_FUTURE | `at` is too far from now |
| ID_REUSED | an envelope with this id was seen before |
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from ir import cbor
from ir.bodies import BODY_OF_KIND, Body
from ir.errors import EnvelopeError
from ir.inline_secrets import reasons_without_secrets
from ir.keys import did_of, verify_signature
from ir.scalars import PROTOCOL, is_instant, is_ulid

if TYPE_CHECKING:
    from nacl.signing import SigningKey

SCHEMA_VERSION: Final = 1
MAX_AGE: Final = timedelta(minutes=15)
MAX_SKEW: Final = timedelta(minutes=2)
Role = Literal["user", "agent"]

_USER_KINDS: Final = (
    "intent.draft",
    "intent.answer",
    "intent.accept",
    "intent.correct",
    "intent.cancel",
    "policy.gate.resolve",
)
ROLE_OF_KIND: Final[Mapping[str, Role]] = {
    kind: "user" if kind in _USER_KINDS else "agent" for kind in BODY_OF_KIND
}

_INTENT: Final = re.compile(r"matrix://intent/[0-7][0-9A-HJKMNP-TV-Z]{25}")
_DID: Final = re.compile(r"did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}")
_SIGNATURE_KEY: Final = 11
_SIGNATURE_LEAD: Final = b"\x0b\x58\x40"  # key 11, then a byte string of 64
_PREVIOUS_KEY: Final = 12
_PREVIOUS_SIZE: Final = 35  # bytes of the entry: key 12, the head of a byte string, its 32


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key as a resolver knows it."""

    did: str
    role: Role
    verify_key: bytes
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """Who says it, when, about which Intent. `intent`: `matrix://intent/<ulid>`; `at`: ISO 8601 in UTC.
    previous: the hash of the row before it (32 bytes), where it is said at a place in a journal."""

    id: str
    at: str
    from_: str
    intent: str
    to: str | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    previous: bytes = b""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One message with the bytes it came from. `self_hash`: lowercase hex sha256 of the signed bytes."""

    schema_version: int
    protocol: str
    kind: str
    id: str
    at: str
    from_: str
    to: str | None
    intent: str
    correlation_id: str | None
    causation_id: str | None
    body: Body
    signature: bytes = field(repr=False)
    self_hash: str
    wire: bytes = field(repr=False)
    previous: bytes = field(default=b"", repr=False)

    def to_bytes(self) -> bytes:
        """The wire bytes, signature included."""
        return self.wire


def seal(kind: str, body: Body, header: Header, signing_key: SigningKey) -> Envelope:
    """Make and sign an envelope. Secrets in what was given as a reason are left out: it is kept for good.

    Raises EnvelopeError: HEADER_MISSING, HEADER_SHAPE, UNKNOWN_KIND, BODY_SHAPE, KEY_MISMATCH (`from_` is not
    the did:key of `signing_key`). The role is the resolver's knowledge and is checked by whoever opens it.
    """
    message: dict[int, Any] = {
        0: SCHEMA_VERSION,
        1: PROTOCOL,
        2: kind,
        3: header.id,
        4: header.at,
        5: header.from_,
        6: header.to,
        7: header.intent,
        8: header.correlation_id,
        9: header.causation_id,
    }
    # There is one way to say nothing: an empty field is not there. So the same message has the same bytes
    # whoever wrote it.
    message = {key: value for key, value in message.items() if value}
    _check_header(message)
    if type(body) is not _body_type(kind):
        raise EnvelopeError("BODY_SHAPE", f"a {type(body).__name__} is no body of {kind}", place="body")
    if clean := reasons_without_secrets({one.name: getattr(body, one.name) for one in fields(body)}):
        body = replace(body, **clean)
    message[10] = body.to_map()
    if did_of(signing_key.verify_key.encode()) != header.from_:
        raise EnvelopeError("KEY_MISMATCH", "`from` is not the did:key of the signing key", place="from")
    if header.previous:
        message[_PREVIOUS_KEY] = header.previous
        _check_previous(message)
    signed = cbor.encode_cbor(message)
    signature = signing_key.sign(signed).signature
    return _envelope(
        message, body, signature, signed, with_signature(signed, signature, previous=bool(header.previous))
    )


def with_signature(signed: bytes, signature: bytes, *, previous: bool) -> bytes:
    """The wire bytes of a message (envelope or record) from what was signed: the signature stands where its
    key does, last, or before the hash of the row before, where the message has one (previous)."""
    end = len(signed) - (_PREVIOUS_SIZE if previous else 0)
    # The first byte of a CBOR map is how many entries it has (up to 23 fit there): one more entry is one more
    # in that byte, and nothing has to be encoded again.
    return bytes((signed[0] + 1,)) + signed[1:end] + _SIGNATURE_LEAD + signature + signed[end:]


def without_signature(wire: bytes, *, previous: bool) -> bytes:
    """The other way round: what was signed. previous: whether the message says which row is before it."""
    end = len(wire) - (_PREVIOUS_SIZE if previous else 0)
    return bytes((wire[0] - 1,)) + wire[1 : end - 64 - len(_SIGNATURE_LEAD)] + wire[end:]


def open_envelope(
    wire: bytes,
    resolver: Callable[[str], PublicKey | None],
    *,
    seen: Container[str] | None = None,
    now: str | None = None,
) -> Envelope:
    """Read an envelope and believe it only when every check holds, in the order of the table above.

    resolver: gives the key of a did, or None. seen: ids already used (None: not checked). now: the moment to
    judge freshness by, ISO 8601 in UTC (None: not checked, as when a journal is replayed).
    Raises CborError, EnvelopeError.
    """
    envelope, signed = _read(wire)
    if not envelope.signature:
        raise EnvelopeError("UNSIGNED", "no signature of 64 bytes", place="signature")
    key = resolver(envelope.from_)
    if key is None:
        raise EnvelopeError(
            "UNKNOWN_KEY",
            f"the key {envelope.from_} is not known",
            place="from",
            fix="mcl key trust, if you know it",
        )
    # A did:key spells its key, so what the resolver gave need not be believed.
    if key.did != envelope.from_ or did_of(key.verify_key) != envelope.from_:
        raise EnvelopeError("KEY_MISMATCH", "the resolver gave another key than `from` spells", place="from")
    if key.revoked:
        raise EnvelopeError("KEY_REVOKED", f"the key {key.did} was revoked", place="from")
    if not verify_signature(key.verify_key, signed, envelope.signature):
        raise EnvelopeError("BAD_SIGNATURE", "the signature is wrong", place="signature")
    role = ROLE_OF_KIND[envelope.kind]
    if key.role != role:
        raise EnvelopeError(
            "WRONG_ROLE", f"{envelope.kind} is signed by the {role}, not the {key.role}", place="kind"
        )
    # Last: the age of what is not genuine says nothing.
    if now is not None:
        _check_fresh(envelope.at, now)
    if seen is not None and envelope.id in seen:
        raise EnvelopeError("ID_REUSED", f"an envelope with the id {envelope.id} was seen before", place="id")
    return envelope


def read_unverified(wire: bytes) -> Envelope:
    """Read an envelope without looking at its signature, key, role or age: for showing, never for believing.

    Raises CborError, EnvelopeError (the checks of shape).
    """
    return _read(wire)[0]


def _read(wire: bytes) -> tuple[Envelope, bytes]:
    message = cbor.decode_cbor(wire)
    if not isinstance(message, dict) or type(message.get(0)) is not int or message[0] != SCHEMA_VERSION:
        raise EnvelopeError("SCHEMA_VERSION", "not an envelope of schema version 1", place="schema_version")
    if message.get(1) != PROTOCOL:
        raise EnvelopeError("PROTOCOL", f"another protocol than {PROTOCOL}", place="protocol")
    if max(message) > _PREVIOUS_KEY:
        raise EnvelopeError("UNKNOWN_FIELD", f"the key {max(message)} is not known", place=str(max(message)))
    _check_header(message)
    _check_previous(message)
    body = _body_type(message.get(2)).from_map(message.get(10))
    signature = message.pop(_SIGNATURE_KEY, b"")
    if type(signature) is bytes and len(signature) == 64:
        signed = without_signature(wire, previous=_PREVIOUS_KEY in message)
    else:
        signature, signed = b"", cbor.encode_cbor(message)
    return _envelope(message, body, signature, signed, wire), signed


def _envelope(message: dict[int, Any], body: Body, signature: bytes, signed: bytes, wire: bytes) -> Envelope:
    return Envelope(
        schema_version=message[0],
        protocol=message[1],
        kind=message[2],
        id=message[3],
        at=message[4],
        from_=message[5],
        to=message.get(6),
        intent=message[7],
        correlation_id=message.get(8),
        causation_id=message.get(9),
        body=body,
        signature=signature,
        self_hash=hashlib.sha256(signed).hexdigest(),
        wire=wire,
        previous=message.get(_PREVIOUS_KEY, b""),
    )


_HEADER: Final[tuple[tuple[int, str, bool, Callable[[str], object], str], ...]] = (
    (3, "id", True, is_ulid, "a ULID"),
    (4, "at", True, is_instant, "a moment in UTC such as 2026-11-21T10:00:00.000Z"),
    (5, "from", True, _DID.fullmatch, "an ed25519 did:key"),
    (7, "intent", True, _INTENT.fullmatch, "matrix://intent/<ulid>"),
    (6, "to", False, bool, "text that is not empty"),
    (8, "correlation_id", False, bool, "text that is not empty"),
    (9, "causation_id", False, bool, "text that is not empty"),
)


def _check_header(message: dict[int, Any]) -> None:
    if not _is_plain(message):
        _examine_header(message)


def _is_plain(message: dict[int, Any]) -> bool:
    """Whether nothing is wrong with a header, which has no optional field: the quick look at nearly all."""
    id, at, sender, intent = message.get(3), message.get(4), message.get(5), message.get(7)
    return (
        type(id) is type(at) is type(sender) is type(intent) is str
        and not (6 in message or 8 in message or 9 in message)
        and is_ulid(id)
        and is_instant(at)
        and _DID.fullmatch(sender) is not None
        and _INTENT.fullmatch(intent) is not None
    )


def _examine_header(message: dict[int, Any]) -> None:
    for key, name, required, _, _ in _HEADER:
        if required and key not in message:
            raise EnvelopeError("HEADER_MISSING", f"the header has no {name}", place=name)
    for key, name, _, test, what in _HEADER:
        if key in message and not (type(message[key]) is str and test(message[key])):
            raise EnvelopeError("HEADER_SHAPE", f"is not {what}", place=name)


def _check_previous(message: dict[int, Any]) -> None:
    previous = message.get(_PREVIOUS_KEY)
    if _PREVIOUS_KEY in message and not (type(previous) is bytes and len(previous) == 32):
        raise EnvelopeError("HEADER_SHAPE", "is not a hash of 32 bytes", place="previous")


def _body_type(kind: object) -> type[Body]:
    found = BODY_OF_KIND.get(kind) if isinstance(kind, str) else None
    if found is None:
        raise EnvelopeError("UNKNOWN_KIND", f"{kind!r} is none of the fifteen kinds", place="kind")
    return found


def _check_fresh(at: str, now: str) -> None:
    # Whole seconds are enough for minutes, and moments may have any number of digits behind the point.
    age = datetime.fromisoformat(now[:19]) - datetime.fromisoformat(at[:19])
    if age > MAX_AGE:
        raise EnvelopeError("STALE", f"{age} old; the limit is {MAX_AGE}", place="at")
    if age < -MAX_SKEW:
        raise EnvelopeError("FROM_FUTURE", f"{-age} ahead of now; the limit is {MAX_SKEW}", place="at")
