"""A second implementation of the canonical form, written from ir.md and RFC 8785 and sharing no code with ir.

It starts from pydantic's own dump, prunes by the rule of omission, and writes text with its own numbers.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

LIMITS = ("max_calls", "max_agents")  # without one there is no limit: zero is another thing
FREE_MAPS = {"args", "inputs"}
ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def canonical(model: Any) -> bytes:
    return write(prune(model.model_dump())).encode("utf-8")


def prune(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: item if name in FREE_MAPS else prune(item)
            for name, item in value.items()
            if not is_zero(item) or (name in LIMITS and item == 0 and item is not None)
        }
    if isinstance(value, list | tuple):
        return [prune(item) for item in value]
    return value


def is_zero(value: Any) -> bool:
    if value is None or value is False:
        return True
    if isinstance(value, str | list | tuple | dict):
        return len(value) == 0
    return value is not True and value == 0


def write(value: Any) -> str:
    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case str():
            return '"' + "".join(map(character, value)) + '"'
        case int() | float():
            return number(value)
        case list() | tuple():
            return "[" + ",".join(map(write, value)) + "]"
        case dict():
            names = sorted(value, key=utf16_units)
            return "{" + ",".join(write(name) + ":" + write(value[name]) for name in names) + "}"
    raise TypeError(type(value))


def character(one: str) -> str:
    if one in ESCAPES:
        return ESCAPES[one]
    return f"\\u{ord(one):04x}" if ord(one) < 0x20 else one


def utf16_units(text: str) -> list[int]:
    units: list[int] = []
    for one in text:
        point = ord(one)
        if point < 0x10000:
            units.append(point)
        else:
            point -= 0x10000
            units += [0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF)]
    return units


def number(value: int | float) -> str:
    """ECMA-262, Number::toString, steps 5 to 10, on the decimal digits of the shortest text."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    k, n = len(text), len(text) + exponent
    if k <= n <= 21:
        body = text + "0" * (n - k)
    elif 0 < n <= 21:
        body = text[:n] + "." + text[n:]
    elif -6 < n <= 0:
        body = "0." + "0" * -n + text
    else:
        e = n - 1
        body = text[0] + ("." + text[1:] if k > 1 else "") + "e" + ("+" if e > 0 else "-") + str(abs(e))
    return ("-" if sign else "") + body
