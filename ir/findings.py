"""What is found wrong with something: one shape, whoever checks it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ir.results import WHERE_SAID, JsonResult


@dataclass(frozen=True, slots=True)
class Finding(JsonResult):
    """One thing that is wrong: a stable code, and why in words.

    place: where, as whoever checks names places: the id of a node, a file and its line, "row 12"; "" for the
    whole. fix: what to do about it, "" where nothing can be said.
    """

    code: str
    message: str
    place: str = ""
    fix: str = field(default="", metadata=WHERE_SAID)
