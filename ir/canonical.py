"""JSON in and out: strict reading, canonical bytes (RFC 8785 after leaving out empty fields), hashes.

A schema field whose value is its zero (null, "", 0, false, [], {}) is left out. The test looks at the value
before its own fields are left out, so an empty Frame stays as `"frame":{}`. Elements of arrays and entries of
free maps (`args`, `inputs`) are always kept. The bytes never change for an older document when a new field is
added, as long as the new field is empty.
"""

from __future__ import annotations

import hashlib
import json
import math
from json.encoder import encode_basestring
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from ir.errors import DocumentError
from ir.scalars import MAX_INTEGER, FrozenMap

MAX_NESTING: Final = 64
Hashed = TypeVar("Hashed", bound=BaseModel)


class _NeedsExactWriter(Exception):  # noqa: N818  # a signal between the two writers, never seen outside
    """The fast encoder would not write this value as RFC 8785 asks."""


# ---- reading ---------------------------------------------------------------------------------------------


def parse_json(data: bytes | str, *, max_nesting: int = MAX_NESTING) -> Any:
    """Read one JSON document strictly.

    data: UTF-8 bytes without a byte order mark, or text. max_nesting: the most arrays and objects inside one
    another. Raises DocumentError, with the JSON path in `place`: NOT_UTF8, JSON_SYNTAX, DUPLICATE_KEY,
    NOT_A_NUMBER (NaN, Infinity or too large for a double), INTEGER_TOO_LARGE (beyond 2^53), LONE_SURROGATE,
    TOO_DEEP.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
    except UnicodeDecodeError as error:
        raise DocumentError("NOT_UTF8", f"byte {error.start} is not UTF-8", place="$") from error
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise _too_deep("$") from error
    except ValueError as error:
        place = f"{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else "$"
        raise DocumentError("JSON_SYNTAX", f"not JSON: {error}", place=place) from error
    # Only an escape, or text that never was UTF-8, can hold a lone surrogate.
    plain = type(value) in (dict, list) and "\\u" not in text and isinstance(data, bytes)
    if not (plain and _sound(value, max_nesting)):
        _examine(value, "$", max_nesting)
    return value


class _Flaw:
    """Stands in a decoded document where something is wrong, until its path is known."""

    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Flaw:
    # A dict alone would hide a key that stands twice: the last value would win, and two readers could take
    # different ones for what was signed.
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, value in pairs:
        if isinstance(value, _Flaw):
            return value
        if key in seen:
            return _Flaw("DUPLICATE_KEY", f"the key {key[:80]!r} stands there twice")
        seen.add(key)
    raise AssertionError("unreachable: fewer keys than pairs without a duplicate")


def _integer(text: str) -> int | _Flaw:
    # The length is looked at first: int() of a million digits takes a while.
    if len(text) > 17 or abs(int(text)) > MAX_INTEGER:
        return _Flaw("INTEGER_TOO_LARGE", f"the integer {text[:24]} is beyond 2^53")
    return int(text)


def _fraction(text: str) -> float | _Flaw:
    value = float(text)
    return value if math.isfinite(value) else _Flaw("NOT_A_NUMBER", f"{text[:24]} does not fit a double")


def _constant(text: str) -> _Flaw:
    return _Flaw("NOT_A_NUMBER", f"{text} is not a JSON number")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_float=_fraction, parse_constant=_constant
)


def _too_deep(place: str) -> DocumentError:
    return DocumentError("TOO_DEEP", "nested too deep", place=place, fix="flatten the document")


def _sound(value: Any, room: int) -> bool:
    """Whether nothing is wrong with a container but, perhaps, its texts: the quick look at every document."""
    if room == 0:
        return False
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if (kind is dict or kind is list) and not _sound(item, room - 1):
            return False
        if kind is _Flaw:
            return False
    return True


def _examine(value: Any, path: str, room: int) -> None:
    """Raise for the first flaw in document order: the slow look, which knows the path. Room -1: no end."""
    if isinstance(value, str):
        _require_unicode(value, path)
    elif isinstance(value, _Flaw):
        raise DocumentError(value.code, value.message, place=path)
    elif isinstance(value, dict | list):
        if room == 0:
            raise _too_deep(path)
        if isinstance(value, list):
            for position, item in enumerate(value):
                _examine(item, f"{path}[{position}]", room - 1)
        else:
            for key, item in value.items():
                _require_unicode(key, path)
                _examine(item, f"{path}.{key}", room - 1)


def _require_unicode(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"a lone surrogate stands at character {error.start}"
        raise DocumentError("LONE_SURROGATE", message, place=path) from error


# ---- writing ---------------------------------------------------------------------------------------------


def canonical_bytes(value: Any) -> bytes:
    """The canonical bytes of a document (a model of this package) or of plain JSON values.

    For a model, empty schema fields are left out first; plain values are written as they are.
    Raises DocumentError: INTEGER_TOO_LARGE, NOT_A_NUMBER, LONE_SURROGATE, NOT_JSON, TOO_DEEP.
    """
    try:
        return _encode(value)
    except RecursionError as error:
        raise _too_deep("$") from error


def _encode(value: Any) -> bytes:
    try:
        if isinstance(value, BaseModel):
            try:
                # Nearly all documents are written by C code; where it would write otherwise than RFC 8785
                # asks, it raises and the exact writer takes the whole document.
                return _ENCODER.encode(value).encode()
            except _NeedsExactWriter:
                value = as_document(value)
        out: list[str] = []
        _write(value, "$", out)
        return "".join(out).encode()
    except UnicodeEncodeError:
        _examine(_plain(value), "$", -1)
        raise


def as_document(model: BaseModel) -> dict[str, Any]:
    """The document of a model as plain dicts and lists, empty fields left out, numbers as they were given."""
    return {
        name: _plain(value) for name, value in model.__dict__.items() if value or _says(model, name, value)
    }


def _says(model: BaseModel, name: str, value: object) -> bool:
    """Whether a value that is empty says something: zero does, where it is not what leaving it out means."""
    return type(value) is int and type(model).model_fields[name].default is None


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return as_document(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, dict) else value


def _fields(model: Any) -> dict[str, Any]:
    """What the fast encoder asks for each model: the fields that are not empty, fit for C code."""
    if BaseModel not in type(model).__mro__:  # isinstance() of pydantic is ten times slower
        raise _NeedsExactWriter
    kept: dict[str, Any] = {}
    for name, value in model.__dict__.items():
        if not value and not _says(model, name, value):
            continue
        kind = type(value)
        if kind is str or kind is bool:
            kept[name] = value
        elif kind is float:
            # C code writes repr(): right but for whole numbers (1.0) and small exponents (1e-07).
            if value.is_integer() and abs(value) <= MAX_INTEGER:
                value = int(value)
            elif not 1e-4 <= abs(value) < 1e16:
                raise _NeedsExactWriter
            kept[name] = value
        else:
            if kind is int:
                if abs(value) > MAX_INTEGER:
                    raise _NeedsExactWriter
            elif kind is FrozenMap:
                # C code sorts by code point, RFC 8785 by UTF-16 unit: different only above U+FFFF.
                if max(map(max, filter(None, value)), default="") > "\uffff":
                    raise _NeedsExactWriter
            elif kind is tuple:
                for item in value:
                    if type(item) is not str and BaseModel not in type(item).__mro__:
                        raise _NeedsExactWriter
            elif BaseModel not in kind.__mro__:
                raise _NeedsExactWriter
            kept[name] = value
    return kept


_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False,
    check_circular=False,
    allow_nan=False,
    sort_keys=True,
    separators=(",", ":"),
    default=_fields,
)


def _write(value: Any, path: str, out: list[str]) -> None:
    """Append the RFC 8785 text of a plain value: slower than the fast encoder, and exact in every case."""
    if value is None or value is True or value is False:
        out.append("null" if value is None else "true" if value else "false")
    elif isinstance(value, str):
        out.append(encode_basestring(value))
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise DocumentError(
                "INTEGER_TOO_LARGE", "an integer beyond 2^53", place=path, fix="write it as text"
            )
        out.append(int.__repr__(value))
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise DocumentError("NOT_A_NUMBER", f"{value!r} is not a JSON number", place=path)
        out.append(number_text(value))
    elif isinstance(value, list | tuple):
        separator = "["
        for position, item in enumerate(value):
            out.append(separator)
            _write(item, f"{path}[{position}]", out)
            separator = ","
        out.append("]" if value else "[]")
    elif isinstance(value, dict):
        separator = "{"
        # By UTF-16 units, as RFC 8785 (3.2.3) asks and JavaScript sorts: above U+FFFF that is another order
        # than Python's. A lone surrogate is let pass here, and refused where the whole is encoded.
        for key in sorted(_keys(value, path), key=lambda text: text.encode("utf-16-be", "surrogatepass")):
            out.append(f"{separator}{encode_basestring(key)}:")
            _write(value[key], f"{path}.{key}", out)
            separator = ","
        out.append("}" if value else "{}")
    elif isinstance(value, BaseModel):
        _write(as_document(value), path, out)
    else:
        raise DocumentError("NOT_JSON", f"{type(value).__name__} is no JSON value", place=path)


def _keys(value: dict[Any, Any], path: str) -> list[str]:
    for key in value:
        if not isinstance(key, str):
            raise DocumentError("NOT_JSON", f"the key {key!r} is not text", place=path)
    return list(value)


def number_text(value: float) -> str:
    """A finite double as ECMAScript writes it (RFC 8785, 3.2.2.3): shortest digits that read back equal."""
    # Also -0.0: ECMAScript writes both as 0.
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return f"{sign}{digits}{'0' * (point - count)}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


# ---- hashes ----------------------------------------------------------------------------------------------


def content_hash(model: BaseModel) -> str:
    """Lowercase hex sha256 of the canonical bytes with `hash` cleared."""
    if getattr(model, "hash", ""):
        # A hash cannot be part of what it is the hash of.
        model = model.model_copy(update={"hash": ""})
    return hashlib.sha256(canonical_bytes(model)).hexdigest()


def with_hash(model: Hashed) -> Hashed:
    """A copy that carries its own content hash in `hash`."""
    return model.model_copy(update={"hash": content_hash(model)})
