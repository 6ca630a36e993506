"""What can go wrong while doing, in one tree.

ir.MclError
└── ExecutorError        everything raised by this package
    ├── HomeError        the folder or its database: read-only, full, corrupt, newer than this program
    ├── KeyringError     a key: missing, sealed, wrong passphrase, in the wrong role
    ├── JournalError     a row that cannot be appended, found or proved
    ├── LifecycleError   an event that is not legal in the state of its intent
    ├── GlobError        a pattern of paths that is none
    ├── ScopeError       a path that tools may not touch, or that is not what it should be
    ├── ToolError        a tool that did not do its work
    ├── ManifestError    a tool's manifest that contradicts itself
    ├── UnresolvedError  a `${node.output}` that leads nowhere
    ├── PolicyError      the operator's policy file or a grant that cannot be read
    ├── GateError        an attempt to get round the gate, or an answer to it that does not count
    ├── WalkError        a run that cannot begin or go on
    └── UndoError        files that cannot be put back as they were
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


class GlobError(ExecutorError):
    """A pattern of paths that is none; `place` is the pattern, `position` (in `data` too) the character, from
    0, where it goes wrong."""

    def __init__(self, code: str, message: str, *, place: str, fix: str, position: int = 0) -> None:
        self.position = position
        super().__init__(code, message, place=place, fix=fix, data={"position": position})


class ScopeError(ExecutorError):
    """A path that tools may not touch, or that is not what it should be; `place` is the path."""

    exit_code = REFUSED


class ToolError(ExecutorError):
    """A tool that did not do its work; `place` is what it was working on.

    transient: the same call may well work a moment later (no connection, no answer in time).
    """

    exit_code = FAILED

    def __init__(
        self,
        code: str,
        message: str,
        *,
        place: str = "",
        fix: str = "",
        exit: int | None = None,
        data: Mapping[str, object] | None = None,
        transient: bool = False,
    ) -> None:
        super().__init__(code, message, place=place, fix=fix, exit=exit, data=data)
        self.transient = transient


class ManifestError(ExecutorError):
    """A tool's manifest that cannot be read or contradicts itself; `place` is the file."""


class UnresolvedError(ExecutorError):
    """A reference to another node's output that leads nowhere; `place` is the reference."""

    exit_code = FAILED


class PolicyError(ExecutorError):
    """The operator's policy or a grant cannot be used; `place` is the file or the grant."""


class GateError(ExecutorError):
    """An attempt to get round the gate, or an answer that does not count; `place` is the node or gate."""

    exit_code = REFUSED


class WalkError(ExecutorError):
    """A run that cannot begin or go on; `place` is the intent or the node."""

    exit_code = REFUSED


class UndoError(ExecutorError):
    """Files that cannot be put back as they were; `place` is the intent, or the sha256 of a content."""

    exit_code = REFUSED
