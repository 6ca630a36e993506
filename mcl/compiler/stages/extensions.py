"""Constraints of plug-ins that a person gives with a goal: their kind names the tool that looks at them."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from executor.gate.looks import kind_of_tool
from ir import DocumentError, ExtensionConstraint, canonical_bytes, parse_json
from ir.scalars import EXTENSION_PATTERN
from mcl.compiler.stages.request import without_secret
from mcl.core.errors import InputError

_ADDRESS: Final = "matrix://tool/"


def extensions_of(
    given: Mapping[str, str], addresses: Callable[[], Iterable[str]]
) -> tuple[ExtensionConstraint, ...]:
    """The constraints of a goal, by their kinds (`x:words.atmost`) each with its data: a JSON object, "" for
    an empty one. addresses: of the tools there are, asked for where one is given.

    A kind that nothing here looks at is one too: it is asked about. Raises InputError CONSTRAINT_KIND,
    CONSTRAINT_DATA, SECRET_INLINE.
    """
    known = tuple(addresses()) if given else ()
    return tuple(_one(kind, data, known) for kind, data in sorted(given.items()))


def _one(kind: str, data: str, known: tuple[str, ...]) -> ExtensionConstraint:
    if not re.fullmatch(EXTENSION_PATTERN, kind):
        fix = 'write x:NAMESPACE.NAME=JSON, such as x:words.atmost={"words": 500}'
        raise InputError(
            "CONSTRAINT_KIND", f"{kind[:100]!r} is no kind of a plug-in", place="constraint", fix=fix
        )
    try:
        value = parse_json(data) if data.strip() else {}
    except DocumentError as error:
        raise _bad(kind, f"is no JSON: {error.message}") from error
    if not isinstance(value, dict):
        raise _bad(kind, "is no JSON object")
    text = without_secret(canonical_bytes(value).decode())
    begins = f"{_ADDRESS}{kind_of_tool(kind)}@"
    schema = next((one for one in known if one.startswith(begins)), "")
    return ExtensionConstraint(type=kind, hard=True, schema=schema, data=text)


def _bad(kind: str, why: str) -> InputError:
    fix = f"""write {kind}='{{"name": "value"}}'"""
    return InputError("CONSTRAINT_DATA", f"the data of {kind} {why}", place=f"constraint.{kind}", fix=fix)
