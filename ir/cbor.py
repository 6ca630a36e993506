"""Strict, deterministic CBOR (RFC 8949, section 4.2.1): one value, one sequence of bytes.

The decoder of cbor2 also takes longer-than-needed forms, trailing bytes and tags, so decoding here is:
decode, look at every type, encode again, compare bytes. Maps have text keys only or unsigned integer keys
only; for these the length-first key order of cbor2 equals the bytewise order of RFC 8949 (a test says so).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import cbor2

from ir.errors import CborError

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 32
_LARGEST: Final = 2**64 - 1

Value: TypeAlias = bool | int | float | str | bytes | Sequence[Any] | Mapping[Any, Any] | None


def encode_cbor(value: Value) -> bytes:
    """The one encoding of a value. Raises CborError CBOR_TYPE, CBOR_TOO_DEEP, CBOR_TOO_LARGE."""
    ordered = _check(value, MAX_DEPTH)
    try:
        data = cbor2.dumps(value, canonical=not ordered)
    except UnicodeEncodeError as error:
        raise CborError("CBOR_TYPE", "a text holds a lone surrogate, which has no UTF-8 form") from error
    if len(data) > MAX_BYTES:
        raise CborError("CBOR_TOO_LARGE", f"{len(data)} bytes; the limit is {MAX_BYTES}")
    return data


def decode_cbor(data: bytes) -> Any:
    """The value of `data`, which must be exactly its encoding.

    Raises CborError: CBOR_TOO_LARGE, CBOR_SYNTAX (not CBOR, cut short, a tag, an indefinite length, a key
    twice), CBOR_TYPE (outside the allow-list), CBOR_TOO_DEEP, CBOR_NOT_CANONICAL (longer forms, unsorted
    keys, trailing bytes).
    """
    if len(data) > MAX_BYTES:
        raise CborError("CBOR_TOO_LARGE", f"{len(data)} bytes; the limit is {MAX_BYTES}")
    try:
        value = cbor2.loads(
            data,
            tag_hook=_refuse_tag,
            semantic_decoders=_NO_TAGS,
            allow_indefinite=False,
            allow_duplicate_keys=False,
            max_depth=MAX_DEPTH + 1,
        )
    except cbor2.CBORDecodeError as error:
        raise CborError("CBOR_SYNTAX", f"not strict CBOR: {error}") from error
    if cbor2.dumps(value, canonical=not _check(value, MAX_DEPTH)) != data:
        raise CborError("CBOR_NOT_CANONICAL", "not the deterministic encoding (RFC 8949, section 4.2.1)")
    return value


def _refuse_tag(*_: object) -> NoReturn:
    raise cbor2.CBORDecodeError("tags are not allowed")


# Tags that cbor2 acts upon before asking a hook: 35 compiles a regular expression, 28 and 29 share values.
_NO_TAGS: Final = dict.fromkeys(range(1024), _refuse_tag)


def _check(value: Any, room: int) -> bool:
    """Refuse what is not on the allow-list; tell whether the value is written the one way as it stands.

    That is so where it holds no double, which has a shortest form to be found, and all keys are integers in
    order: cbor2 then takes a third of the time.
    """
    kind = type(value)
    if kind is list or kind is tuple:
        items, ordered = value, True
    elif isinstance(value, dict):
        kinds = {type(key) for key in value}
        if not (kinds <= {str} or (kinds == {int} and min(value) >= 0)):
            raise CborError(
                "CBOR_TYPE", "a map with keys that are neither all texts nor all unsigned integers"
            )
        items, keys = value.values(), list(value)
        ordered = kinds == {int} and keys == sorted(keys) and keys[-1] <= _LARGEST
    else:
        items, ordered, room = (value,), True, room + 1
    if room == 0:
        raise CborError("CBOR_TOO_DEEP", f"nesting deeper than {MAX_DEPTH}")
    for item in items:
        kind = type(item)
        if kind is str or kind is bytes or kind is bool or item is None:
            continue
        if kind is int:
            if not -_LARGEST - 1 <= item <= _LARGEST:
                raise CborError("CBOR_TYPE", "an integer of more than 64 bits")
        elif kind is float:
            ordered = False
        elif kind is list or kind is tuple or isinstance(item, dict):
            ordered &= _check(item, room - 1)
        else:
            raise CborError("CBOR_TYPE", f"{kind.__name__} is not allowed")
    return ordered
