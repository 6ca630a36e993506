"""The scalar types that documents are made of. Nothing is converted: "1" is never a number, 1 never true."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Final, NoReturn

from pydantic import AfterValidator, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

MAX_INTEGER: Final = 2**53
PROTOCOL: Final = "mcl/0.1"

ULID_PATTERN: Final = r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$"
DIGEST_PATTERN: Final = r"^[0-9a-f]{64}$"
EXTENSION_PATTERN: Final = r"^x:[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$"

_ULID = re.compile(ULID_PATTERN)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z", re.ASCII)
_DURATION = re.compile(
    r"P(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?",
    re.ASCII,
)


def is_ulid(text: str) -> bool:
    """Whether `text` is a ULID: 26 digits of Crockford's base 32, capitals."""
    return _ULID.fullmatch(text) is not None


def is_instant(text: str) -> bool:
    """Whether `text` is a real moment in UTC as ISO 8601, such as 2026-11-21T10:00:00.000Z."""
    if not _INSTANT.fullmatch(text):
        return False
    try:
        # The pattern lets 30 February pass; the calendar does not.
        datetime.fromisoformat(text[:19])
    except ValueError:
        return False
    return True


def _instant(text: str) -> str:
    if text and not is_instant(text):
        raise ValueError("is not a moment in UTC such as 2026-11-21T10:00:00.000Z")
    return text


def _duration(text: str) -> str:
    if text and not _DURATION.fullmatch(text):
        raise ValueError("is not an ISO 8601 duration such as PT30M")
    return text


class FrozenMap(dict[str, str]):
    """A dict of texts that cannot be changed: the free maps of a plan (`args`, `inputs`)."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this map is part of a frozen document")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # a frozen map may be hashed, a dict may not
        return hash(frozenset(self.items()))

    def __copy__(self) -> FrozenMap:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenMap:
        return self

    def __reduce__(self) -> tuple[type[FrozenMap], tuple[dict[str, str]]]:
        return FrozenMap, (dict(self),)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        texts = core_schema.str_schema(strict=True)
        return core_schema.no_info_after_validator_function(cls, core_schema.dict_schema(texts, texts))


Text = Annotated[str, Field(strict=True)]
Name = Annotated[str, Field(strict=True, min_length=1)]
Ulid = Annotated[str, Field(strict=True, pattern=ULID_PATTERN)]
Digest = Annotated[str, Field(strict=True, pattern=r"^([0-9a-f]{64})?$")]
Instant = Annotated[str, Field(strict=True), AfterValidator(_instant)]
Duration = Annotated[str, Field(strict=True), AfterValidator(_duration)]
Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=0, le=MAX_INTEGER)]
Whole = Annotated[int, Field(strict=True, ge=-MAX_INTEGER, le=MAX_INTEGER)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-MAX_INTEGER, le=MAX_INTEGER)]
Share = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
ExtensionName = Annotated[str, Field(strict=True, pattern=EXTENSION_PATTERN)]
