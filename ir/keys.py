"""ed25519 keys as texts (did:key), and signatures with them, checked with libsodium.

A did:key is `did:key:z` + base58btc(0xED 0x01 + 32 bytes of public key). libsodium also refuses keys of small
order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ir.errors import KeyTextError

_ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VALUES: Final = {digit: value for value, digit in enumerate(_ALPHABET)}
_PREFIX: Final = "did:key:z6Mk"  # the multicodec prefix and 32 bytes always give `6Mk` and 44 digits more
_LENGTH: Final = len(_PREFIX) + 44
_ED25519: Final = b"\xed\x01"


@lru_cache(maxsize=256)  # the same few keys sign and check everything
def did_of(verify_key: bytes) -> str:
    """The did:key of a 32-byte ed25519 public key. Raises KeyTextError KEY_LENGTH."""
    if len(verify_key) != 32:
        raise KeyTextError("KEY_LENGTH", f"an ed25519 public key has 32 bytes, not {len(verify_key)}")
    number = int.from_bytes(_ED25519 + verify_key, "big")
    digits: list[str] = []
    while number:
        number, rest = divmod(number, 58)
        digits.append(_ALPHABET[rest])
    return "did:key:z" + "".join(reversed(digits))


@lru_cache(maxsize=256)
def key_of(did: str) -> bytes:
    """The 32-byte ed25519 public key of a did:key. Raises KeyTextError DID_NOT_ED25519."""
    number = 0
    if len(did) == _LENGTH and did.startswith(_PREFIX):
        try:
            for digit in did[len("did:key:z") :]:
                number = number * 58 + _VALUES[digit]
        except KeyError:
            number = 0
    key = number.to_bytes(35, "big")
    if key[:3] != b"\0" + _ED25519:
        raise KeyTextError(
            "DID_NOT_ED25519", f"{did[:80]!r} is no ed25519 did:key", fix="it starts with did:key:z6Mk"
        )
    return key[3:]


def verify_signature(verify_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` (64 bytes) over `message` holds for the public key `verify_key` (32 bytes)."""
    # libsodium is loaded at the first check: most uses of this package need none.
    from nacl.bindings import crypto_sign_open
    from nacl.exceptions import BadSignatureError

    if len(signature) != 64 or len(verify_key) != 32:
        return False
    try:
        crypto_sign_open(signature + message, verify_key)
    except BadSignatureError:
        return False
    return True
