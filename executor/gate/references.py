"""From the texts of a plan to the values of a call: references resolved, then typed by the tool's schema."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from executor.call import Deferred
from executor.core.errors import UnresolvedError
from executor.core.hashing import json_bytes
from executor.tools.manifest import Manifest
from executor.tools.schemas import kind_of, kinds_of
from ir import DocumentError, IrError, OutputRef, parse_json, parse_references
from ir.references import EACH, place_in_json

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_MAX_DIGITS = 4000  # int() refuses longer texts
_ONE = ("string", "integer", "number", "boolean", "array", "object", "null")  # kinds that a text is read as
_LITERALS: Mapping[str, Mapping[str, object]] = {
    "boolean": {"true": True, "false": False},
    "null": {"null": None},
}


def resolve(text: str, outputs: Mapping[str, object]) -> object:
    """The value of one text of a plan.

    A text that is one reference gives the value as it is, a list as a list; in a longer text values are
    written into it (texts as they are, everything else as JSON).

    Args:
        outputs: what each completed node gave, by node id.

    Raises:
        UnresolvedError: REFERENCE_MALFORMED, NO_OUTPUT (unknown or not completed node), NO_SUCH_FIELD.
    """
    if "${" not in text:
        return text
    try:
        pieces = parse_references(text)
    except IrError as problem:
        raise UnresolvedError(problem.code, problem.message, place=text[:80], fix=problem.fix) from problem
    if len(pieces) == 1 and isinstance(pieces[0], OutputRef):
        return _value(pieces[0], outputs)
    return "".join(piece if isinstance(piece, str) else as_text(_value(piece, outputs)) for piece in pieces)


def typed_args(
    args: Mapping[str, str],
    manifest: Manifest | None,
    outputs: Mapping[str, object] | None,
    documents: Collection[str] = (),
) -> dict[str, object]:
    """The arguments of a call, each turned once into the type that the schema names.

    What does not fit the type stays text; the gate's guard of arguments refuses it. In a JSON document only
    its texts may refer, so that no value becomes part of the document's form. Where the schema names no type,
    or several, a text that is JSON of one of them is that value. ``outputs`` is None before a run: arguments
    with references are then Deferred. ``documents`` are the arguments that the plan gives as documents: they
    are JSON texts where the tool takes a text.

    Raises:
        UnresolvedError: as ``resolve``; PLACE_IN_JSON (a reference in a text that is JSON, where what it
            holds could become part of the form).
    """
    properties = manifest.properties if manifest else {}
    typed: dict[str, object] = {}
    for name, text in args.items():
        schema = properties.get(name, {})
        kind = schema.get("type")
        if name not in documents and _refers(text) and _is_formed(text, schema, manifest):
            raise UnresolvedError(
                "PLACE_IN_JSON",
                f"{name} is a text of JSON with a reference in it, which could become more than one value",
                place=text[:80],
                fix="give the argument as an object or a list; in plan.yaml without quotes around it",
            )
        if outputs is None and _refers(text):
            typed[name] = Deferred(text)
        elif name in documents:
            document = _document(text, outputs or {})
            typed[name] = as_text(document) if kind == "string" else document
        elif manifest is not None and is_open(name, manifest):
            typed[name] = _any(text, kinds_of(schema, manifest.args), outputs or {})
        elif kind in ("array", "object") and not _is_reference(text):
            typed[name] = _document(text, outputs or {})
        else:
            typed[name] = _typed(resolve(text, outputs or {}), kind)
    return typed


def is_open(name: str, manifest: Manifest) -> bool:
    """Does a text of this argument become whatever value it is the JSON of? Its schema, that of a tool of
    another server, names no type, or several."""
    return manifest.outside is not None and manifest.properties.get(name, {}).get("type") not in _ONE


def may_be_text(name: str, manifest: Manifest) -> bool:
    """Does such an argument also take a text as it is?"""
    kinds = kinds_of(manifest.properties.get(name, {}), manifest.args)
    return kinds is None or "string" in kinds


def _is_formed(text: str, schema: Mapping[str, Any], manifest: Manifest | None) -> bool:
    """Would references be written into a text of JSON? Not where it is read as JSON before they are."""
    kind = schema.get("type")
    if kind in ("array", "object") or not place_in_json(_pieces(text)):
        return False
    if manifest is None or manifest.outside is None or kind in _ONE:
        return True
    try:
        value, kinds = parse_json(text), kinds_of(schema, manifest.args)
    except DocumentError:
        return True
    return not (kinds is None or kind_of(value) in kinds or "string" not in kinds)


def _pieces(text: str) -> list[str | None]:
    return [piece if isinstance(piece, str) else None for piece in parse_references(text)]


def _any(text: str, kinds: frozenset[str] | None, outputs: Mapping[str, object]) -> object:
    """The value of a text whose type is open, or one of these: JSON of such a type, else the text."""
    if _is_reference(text):
        return resolve(text, outputs)
    try:
        value = parse_json(text)
    except DocumentError:
        return resolve(text, outputs)
    if kinds is None or kind_of(value) in kinds or "string" not in kinds:
        return _resolved(value, outputs)
    return resolve(text, outputs)


def as_text(value: object) -> str:
    """A value written into a text: a text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json_bytes(value).decode()


def _refers(text: str) -> bool:
    if "${" not in text:
        return False
    try:
        return any(isinstance(piece, OutputRef) for piece in parse_references(text))
    except IrError:
        return False


def _is_reference(text: str) -> bool:
    """Is a text one reference and nothing else? Then it gives the document whole."""
    try:
        pieces = parse_references(text)
    except IrError:
        return False
    return len(pieces) == 1 and isinstance(pieces[0], OutputRef)


def _document(text: str, outputs: Mapping[str, object]) -> object:
    """The JSON document of a plan with the references in its texts resolved; the text where it is none."""
    try:
        return _resolved(parse_json(text), outputs)
    except DocumentError:
        return text


def _resolved(value: Any, outputs: Mapping[str, object]) -> object:
    if isinstance(value, str):
        return resolve(value, outputs)
    if isinstance(value, dict):
        return {name: _resolved(item, outputs) for name, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, outputs) for item in value]
    return value


def _value(reference: OutputRef, outputs: Mapping[str, object]) -> object:
    shown = f"${{{reference.node_id}.output}}"
    if reference.node_id not in outputs:
        raise UnresolvedError(
            "NO_OUTPUT",
            f"node {reference.node_id!r} has no output (it does not exist or did not complete)",
            place=shown,
            fix="refer to a node that completes earlier",
        )
    return _below(outputs[reference.node_id], reference.path, reference.node_id)


def _below(value: Any, path: tuple[str | int, ...], node: str) -> object:
    """What stands at a path in an output; behind `[*]`, of each entry of a list, one by one."""
    for at, step in enumerate(path):
        if step == EACH and isinstance(value, list):
            rest = path[at + 1 :]
            found: list[Any] = [_below(one, rest, node) for one in value]
            return [one for many in found for one in many] if EACH in rest else found
        there = (
            step in value
            if isinstance(step, str) and isinstance(value, dict)
            else isinstance(step, int) and isinstance(value, list) and step < len(value)
        )
        if not there:
            fields = (
                ", ".join(sorted(map(str, value))[:20]) if isinstance(value, dict) else type(value).__name__
            )
            raise UnresolvedError(
                "NO_SUCH_FIELD",
                f"the output of node {node!r} has no {step!r} there",
                place=f"${{{node}.output}}",
                fix=f"there is: {fields}",
            )
        value = value[step]
    return value


def _typed(value: object, kind: object) -> object:
    if kind == "string":
        return as_text(value)
    if not isinstance(value, str):
        return value
    if kind == "integer" and _INTEGER.fullmatch(value) and len(value) < _MAX_DIGITS:
        return int(value)
    if kind == "number" and _NUMBER.fullmatch(value) and len(value) < _MAX_DIGITS:
        number = int(value) if _INTEGER.fullmatch(value) else float(value)
        return number if math.isfinite(number) else value
    if kind in ("array", "object"):
        try:
            return parse_json(value)
        except DocumentError:
            return value
    return _LITERALS.get(str(kind), {}).get(value, value)
