"""Arguments that a JSON Schema would take, for an example call; a guess, and never more than that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

_DEPTH: Final = 6
_FORMATS: Final = {
    "uri": "https://example.org/",
    "email": "name@example.org",
    "date": "2026-11-21",
    "date-time": "2026-11-21T10:00:00Z",
    "time": "10:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_TYPES: Final[tuple[str, ...]] = ("string", "integer", "number", "boolean", "array", "object", "null")


def sample_args(schema: Mapping[str, object]) -> dict[str, object]:
    """The arguments that a schema of an object needs; where it needs none, its first as an illustration."""
    properties = schema.get("properties")
    known = cast("dict[str, object]", properties) if isinstance(properties, dict) else {}
    required = schema.get("required")
    wanted = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {name: _sample(known.get(name), schema, name) for name in wanted or tuple(known)[:1]}


def _sample(schema: object, root: Mapping[str, object], name: str, depth: int = 0) -> object:
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return f"<{name}>"
    given = cast("Mapping[str, Any]", schema)
    if isinstance(reference := given.get("$ref"), str):
        return _sample(_resolved(reference, root), root, name, depth + 1)
    for word in ("const", "default"):
        if given.get(word) is not None:
            return given[word]
    for word in ("enum", "examples"):
        if isinstance(given.get(word), list) and given[word]:
            return given[word][0]
    for word in ("anyOf", "oneOf", "allOf"):
        if isinstance(given.get(word), list) and given[word]:
            return _sample(given[word][0], root, name, depth + 1)
    return _of_type(_type(given.get("type")), given, root, name, depth)


def _of_type(
    kind: str, given: Mapping[str, Any], root: Mapping[str, object], name: str, depth: int
) -> object:
    if kind in ("integer", "number"):
        return _number(given)
    if kind == "boolean":
        return False
    if kind == "null":
        return None
    if kind == "array":
        return [_sample(given.get("items"), root, name, depth + 1)] if given.get("items") else []
    if kind == "object":
        properties, required = given.get("properties"), given.get("required")
        if not isinstance(properties, Mapping) or not isinstance(required, list):
            return {}
        return {str(one): _sample(properties.get(one), root, str(one), depth + 1) for one in required}
    text = _FORMATS.get(str(given.get("format", "")), f"<{name}>")
    least = given.get("minLength", 0)
    return text.ljust(least, ".") if isinstance(least, int) and least < 1000 else text


def _number(given: Mapping[str, Any]) -> object:
    for word in ("minimum", "maximum"):
        if isinstance(given.get(word), int | float):
            return given[word]
    above = given.get("exclusiveMinimum")
    return above + 1 if isinstance(above, int | float) and not isinstance(above, bool) else 1


def _type(said: object) -> str:
    kinds = said if isinstance(said, list) else [said]
    return next((kind for kind in kinds if kind in _TYPES and kind != "null"), "string")


def _resolved(reference: str, root: Mapping[str, object]) -> object:
    """What a reference within the same schema names; nothing is fetched."""
    found: object = root
    for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ("",):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found
