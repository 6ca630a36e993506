"""What every document has in common: frozen, no unknown fields, read strictly from JSON."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from ir.canonical import MAX_NESTING, canonical_bytes, parse_json
from ir.errors import DocumentError


class Document(BaseModel):
    """A frozen record whose attribute names are its JSON names."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    max_nesting: ClassVar[int] = MAX_NESTING

    @classmethod
    def from_json(cls, data: bytes | str, *, canonical: bool = False) -> Self:
        """Read one document strictly.

        data: UTF-8 JSON. canonical: also require that these are exactly the canonical bytes.
        Raises DocumentError: all that parse_json raises, DOCUMENT_SHAPE (a field that is unknown, missing or
        of the wrong type; `data["flaws"]` lists all), NOT_CANONICAL.
        """
        parse_json(data, max_nesting=cls.max_nesting)
        try:
            model = cls.model_validate_json(data)
        except ValidationError as error:
            raise _shape_error(cls.__name__, error) from error
        if canonical and canonical_bytes(model) != (data.encode() if isinstance(data, str) else data):
            raise DocumentError(
                "NOT_CANONICAL",
                f"this {cls.__name__} is not in canonical form",
                place="$",
                fix="write it with canonical_bytes",
            )
        return model


def _shape_error(name: str, error: ValidationError) -> DocumentError:
    flaws = [
        {"place": _path(flaw["loc"]), "message": flaw["msg"]}
        for flaw in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    more = f" (and {len(flaws) - 1} more)" if len(flaws) > 1 else ""
    return DocumentError(
        "DOCUMENT_SHAPE",
        f"not {'an' if name[0] in 'AEIOU' else 'a'} {name}: {flaws[0]['message']}{more}",
        place=flaws[0]["place"],
        data={"flaws": flaws},
    )


def _path(steps: tuple[int | str, ...]) -> str:
    """A JSON path; steps such as `<budget>` name the branch of a union, not a field, and are passed over."""
    names = (
        f"[{step}]" if isinstance(step, int) else f".{step}"
        for step in steps
        if not str(step).startswith("<")
    )
    return "$" + "".join(names)
