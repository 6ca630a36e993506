"""Records: what the journal keeps besides envelopes, in the same CBOR and signed by the agent.

A gate's decision, a refusal without an intent, a memory that changed, an approval used, a signed head: each a
record of a kind `record.<name>`. Keys as in an envelope: 0 schema_version · 1 protocol · 2 kind · 3 id ·
4 at · 5 from · 7 intent (left out when it is about none) · 10 body (a map with text keys) · 11 signature ·
12 previous (the hash of the row before, in a journal whose rows are chained).
No kind of record is a kind of envelope, so neither can be taken for the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

import cbor2
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from executor.core.errors import JournalError
from executor.store.keys.keyring import KeyPair
from ir import PROTOCOL, PublicKey, Role, decode_cbor, encode_cbor, is_instant, is_ulid
from ir.cbor import MAX_BYTES
from ir.envelope import with_signature, without_signature
from ir.inline_secrets import reasons_without_secrets

_KIND: Final = re.compile(r"record(\.[a-z][a-z0-9_]*)+")
_VERSION: Final = {0: 1, 1: PROTOCOL}
BY_PERSON: Final = frozenset(
    {
        "record.journal.break_accepted",
        "record.journal.forgotten",
        "record.journal.restored",
        "record.key.trusted",
        "record.key.revoked",
        "record.key.replaced",
        "record.table.restored",
    }
)
_INTENT_SCHEME: Final = "matrix://intent/"
_LONGEST: Final = MAX_BYTES - 67  # bytes that are signed, so that the whole is read


def _is_intent(text: str) -> bool:
    return text.startswith(_INTENT_SCHEME) and is_ulid(text[len(_INTENT_SCHEME) :])


_SHAPES: Final[Mapping[int, tuple[str, Callable[[Any], bool]]]] = {
    2: ("kind", lambda value: type(value) is str and _KIND.fullmatch(value) is not None),
    3: ("id", lambda value: type(value) is str and is_ulid(value)),
    4: ("at", lambda value: type(value) is str and is_instant(value)),
    5: ("from", lambda value: type(value) is str),
    7: ("intent", lambda value: type(value) is str and _is_intent(value)),
    10: ("body", lambda value: isinstance(value, dict) and all(type(key) is str for key in value)),
    11: ("signature", lambda value: type(value) is bytes and len(value) == 64),
    12: ("previous", lambda value: type(value) is bytes and len(value) == 32),
}


@dataclass(frozen=True, slots=True)
class Record:
    """One record with its bytes. `intent`: a URI or ""; `self_hash`: hex sha256 of the signed bytes."""

    kind: str
    id: str
    at: str
    from_: str
    intent: str
    body: Mapping[str, Any]
    signature: bytes = field(repr=False)
    self_hash: str
    wire: bytes = field(repr=False)
    previous: bytes = field(default=b"", repr=False)


def seal_record(
    kind: str,
    body: Mapping[str, Any],
    *,
    id: str,
    at: str,
    intent: str = "",
    signer: KeyPair,
    previous: bytes = b"",
) -> Record:
    """Make and sign a record.

    kind: `record.<name>`; body: CBOR values under text keys; intent: `matrix://intent/<id>` or "". previous:
    the hash of the row before it, where it is told at a place in a journal. Secrets in what was given as a
    reason are left out: it is kept for good.
    Raises JournalError RECORD_SHAPE; ir.CborError for values that have no CBOR form or are too large.
    """
    body = {**body, **reasons_without_secrets(body)}
    about = {7: intent} if intent else {}
    message: dict[int, Any] = {**_VERSION, 2: kind, 3: id, 4: at, 5: signer.did, **about, 10: body}
    if previous:
        message[12] = previous
    _check_shapes(message, _SHAPES.keys() - {11})
    signed = encode_cbor(message)
    longest = _LONGEST if previous else _LONGEST - 35  # so that it can be told at a place, too
    if len(signed) > longest:
        raise JournalError("RECORD_SHAPE", f"a record of {len(signed)} bytes; {longest} are the most")
    signature = signer.signing_key.sign(signed).signature
    return _record(message, signature, signed, with_signature(signed, signature, previous=bool(previous)))


def role_of(kind: str) -> Role:
    """Who signs records of a kind: the agent, but for what a person says about the keys and the journal."""
    return "user" if kind in BY_PERSON else "agent"


def is_record(wire: bytes) -> bool:
    """Whether these bytes claim to be a record (by their first bytes; nothing is checked)."""
    return wire.startswith(b"record.", 14) or wire.startswith(
        b"record.", 15
    )  # after a head of one or two bytes


def open_record(wire: bytes, resolver: Callable[[str], PublicKey | None]) -> Record:
    """Read a record and check its shape, key, signature and role.

    Raises ir.CborError; JournalError RECORD_SHAPE, UNKNOWN_KEY, KEY_REVOKED, BAD_SIGNATURE, WRONG_ROLE.
    """
    record, signed = _read(wire)
    key = resolver(record.from_)
    if key is None:
        raise _flaw(
            "UNKNOWN_KEY", f"the key {record.from_} is not known", record, "mcl key trust, if you know it"
        )
    if key.revoked:
        raise _flaw("KEY_REVOKED", f"the key {record.from_} was revoked", record)
    try:
        VerifyKey(key.verify_key).verify(signed, record.signature)
    except BadSignatureError as error:
        raise _flaw("BAD_SIGNATURE", "the signature is wrong", record) from error
    if key.role != (role := role_of(record.kind)):
        raise _flaw("WRONG_ROLE", f"{record.kind} is signed by the {role}, not the {key.role}", record)
    return record


def stored_body(wire: bytes) -> Mapping[str, Any]:
    """The body of a record of this journal, where it is read often: it was checked when it was stored, which
    takes ten times as long. Raises JournalError RECORD_SHAPE."""
    try:
        body = cbor2.loads(wire)[10]
    except (cbor2.CBORDecodeError, LookupError, TypeError) as error:
        raise JournalError("RECORD_SHAPE", f"not a record: {error}") from error
    if not isinstance(body, dict):
        raise JournalError("RECORD_SHAPE", "its body is no map")
    return body


def _read(wire: bytes) -> tuple[Record, bytes]:
    message = decode_cbor(wire)
    if not isinstance(message, dict) or [message.get(0), message.get(1), type(message.get(0))] != [
        1,
        PROTOCOL,
        int,
    ]:
        raise JournalError("RECORD_SHAPE", "not a record of schema version 1")
    unknown = message.keys() - _VERSION.keys() - _SHAPES.keys()
    if unknown:
        raise JournalError("RECORD_SHAPE", f"has the unknown keys {sorted(unknown)}")
    _check_shapes(message, _SHAPES)
    signature = message.pop(11)
    # These bytes are the one encoding of the message, so without that key they are what was signed.
    signed = without_signature(wire, previous=12 in message)
    return _record(message, signature, signed, wire), signed


def _check_shapes(message: Mapping[int, Any], keys: Iterable[int]) -> None:
    for key in keys:
        name, fits = _SHAPES[key]
        if not (fits(message[key]) if key in message else key in (7, 12)):
            raise JournalError("RECORD_SHAPE", f"{name} is missing or not what it should be", place=name)


def _record(message: Mapping[int, Any], signature: bytes, signed: bytes, wire: bytes) -> Record:
    return Record(
        kind=message[2],
        id=message[3],
        at=message[4],
        from_=message[5],
        intent=message.get(7, ""),
        body=message[10],
        signature=signature,
        self_hash=sha256(signed).hexdigest(),
        wire=wire,
        previous=message.get(12, b""),
    )


def _flaw(code: str, message: str, record: Record, fix: str = "") -> JournalError:
    return JournalError(code, message, place=record.id, fix=fix)
