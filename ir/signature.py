"""ed25519 signatures, checked with libsodium (which also refuses keys of small order)."""

from __future__ import annotations


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
