"""What can go wrong while doing, in one tree.

ir.MclError
└── ExecutorError        everything raised by this package
    ├── HomeError        the folder or its database: read-only, full, corrupt, newer than this program
    ├── KeyringError     a key: missing, sealed, wrong passphrase, in the wrong role
    ├── JournalError     a row that cannot be appended, found or proved
    └── LifecycleError   an event that is not legal in the state of its intent
"""

from __future__ import annotations

from collections.abc import Iterable

from ir.errors import FAILED, REFUSED, UNVERIFIED, MclError


class ExecutorError(MclError):
    """Raised by this package."""


class HomeError(ExecutorError):
    """The home folder or its database cannot be used; `place` is the path."""

    exit_code = FAILED


class KeyringError(ExecutorError):
    """A key cannot be used; `place` is the key file or the DID."""

    exit_code = REFUSED


class JournalError(ExecutorError):
    """A row cannot be appended, found or proved; `place` is the envelope id or `journal:<seq>`."""

    exit_code = UNVERIFIED


class LifecycleError(ExecutorError):
    """An event that is not legal now.

    `state` is the state of the intent, `legal` the kinds that would be legal; both are in `data` too.
    """

    exit_code = REFUSED

    def __init__(
        self, code: str, message: str, *, place: str, fix: str, state: str, legal: Iterable[str] = ()
    ) -> None:
        self.state = state
        self.legal = tuple(sorted(legal))
        data = {"state": state, "legal": list(self.legal)}
        super().__init__(code, message, place=place, fix=fix, data=data)
