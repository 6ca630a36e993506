"""What is wrong, or doubtful, in a file of intents."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Level: TypeAlias = Literal["error", "warning"]
SHOWN: Final = 120  # characters of a text of the file in a message


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (an error) or doubtful (a warning).

    type: a stable code, such as INVALID_STATUS. intent_id: as the file writes it, "" where there is none.
    field: such as `status`, or `owned_scope[1]` for the second of a list, "" for the whole. line: from 1, 0
    where the file has no such place. data: further values for programs.
    """

    type: str
    message: str
    intent_id: str = ""
    field: str = ""
    line: int = 0
    level: Level = "error"
    data: Mapping[str, object] = dataclasses.field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, object]:
        """For programs: type, message and line, with the intent and the field where there are such."""
        named = {"intent_id": self.intent_id, "field": self.field}
        told = {name: value for name, value in named.items() if value}
        return {**self.data, "type": self.type, "message": self.message, **told, "line": self.line}


@dataclass(frozen=True)
class Report:
    """What became of a validation: a file is valid when it has no errors."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Whether there are no errors."""
        return not self.errors

    def to_json(self) -> dict[str, object]:
        """For programs: valid, errors and warnings."""
        return {
            "valid": self.valid,
            "errors": [finding.to_json() for finding in self.errors],
            "warnings": [finding.to_json() for finding in self.warnings],
        }


def report_of(findings: Iterable[Finding]) -> Report:
    """The findings by level, each in the order of the file."""
    ordered = sorted(findings, key=lambda one: (one.line, one.type, one.field, one.message))
    return Report(
        tuple(one for one in ordered if one.level == "error"),
        tuple(one for one in ordered if one.level == "warning"),
    )


def shown(text: str) -> str:
    """A text of the file as a message quotes it: on one line, and not all of a long one."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
