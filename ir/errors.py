"""What can go wrong, in one tree.

MclError                 every error of this project (executor and mcl subclass it)
└── IrError              everything raised here
    ├── DocumentError    a JSON document: syntax, shape, numbers, canonical form
    ├── CborError        bytes that are not strict, deterministic CBOR
    ├── KeyTextError     a did:key that is none
    ├── PromiseError     what a rule keeps that no run can be held to
    └── EnvelopeError    an envelope that must not be believed

Codes are stable and UPPER_SNAKE; messages may change.
"""

from __future__ import annotations

from collections.abc import Mapping

USAGE, CLARIFY, REFUSED, FAILED, UNVERIFIED = 2, 3, 4, 5, 6


class MclError(Exception):
    """An error that a person or a program can act upon.

    code: stable, UPPER_SNAKE. message: what was wrong. place: file:line:col, JSON path, node id, or "".
    fix: what to do. exit: the exit code of the command line (2 usage, 3 needs clarification, 4 refused,
    5 failed while running, 6 verification failed). data: further values for programs.
    """

    exit_code = USAGE

    def __init__(
        self,
        code: str,
        message: str,
        *,
        place: str = "",
        fix: str = "",
        exit: int | None = None,
        data: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.code = code
        self.message = message
        self.place = place
        self.fix = fix
        self.exit = self.exit_code if exit is None else exit
        self.data: dict[str, object] = dict(data or {})

    def to_json(self) -> dict[str, object]:
        """The error as a JSON object; `data` cannot hide the four fixed names."""
        fixed = {"code": self.code, "message": self.message, "place": self.place, "fix": self.fix}
        return {**self.data, **fixed}


class IrError(MclError):
    """Raised by this package."""


class DocumentError(IrError):
    """A JSON document that is refused; `place` is the JSON path, such as `$.frame.objects[1].name`."""


class CborError(IrError):
    """Bytes that are not the strict, deterministic CBOR this project writes."""

    exit_code = UNVERIFIED


class KeyTextError(IrError):
    """A did:key that does not name an ed25519 key."""


class PromiseError(IrError):
    """What a rule is said to keep is nothing that a run can be held to; `place` is the text."""


class EnvelopeError(IrError):
    """An envelope that is refused; the code says at which check."""

    exit_code = UNVERIFIED
