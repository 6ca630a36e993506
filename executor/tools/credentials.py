"""Credentials: a plan names a variable (``$env:NAME``), and its value is looked up when the call is made.

The value is kept nowhere: not in arguments, their hash, questions, records, outputs or messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from executor.core.errors import ToolError
from executor.tools.manifest import Manifest

_NAMED: Final = re.compile(r"\$env:([A-Za-z_][A-Za-z0-9_]{0,127})")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # it could end a header and begin another
_SHORTEST, _LONGEST = 8, 8192  # characters; a shorter value cannot be told from ordinary text


def variable_of(value: object) -> str:
    """The variable that an argument names as a credential; "" where it is an ordinary value."""
    found = _NAMED.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else ""


def credentials_of(args: Mapping[str, object], manifest: Manifest) -> dict[str, str]:
    """The variables that a call names where its tool takes credentials, by argument."""
    named = {name: variable_of(args.get(name)) for name in manifest.credentials}
    return {name: variable for name, variable in named.items() if variable}


class Credentials:
    """The variables that credentials come from. Their values leave it only for a call that was allowed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.__environment = environment

    def flaw(self, variable: str) -> str:
        """Why a variable cannot be used as a credential; "" where it can."""
        value = self.__environment.get(variable, "")
        if not value:
            return "is not set" if variable not in self.__environment else "is empty"
        if _UNSAFE.search(value):
            return "holds line breaks or control characters"
        if not _SHORTEST <= len(value) <= _LONGEST:
            return f"is not of {_SHORTEST} to {_LONGEST} characters"
        return ""

    def resolve(self, args: Mapping[str, object], manifest: Manifest) -> dict[str, str]:
        """The values of the credentials that a call names, by argument.

        Raises:
            ToolError: CREDENTIAL_MISSING.
        """
        named = credentials_of(args, manifest)
        for variable in named.values():
            if flaw := self.flaw(variable):
                message, fix = missing(variable, flaw)
                raise ToolError("CREDENTIAL_MISSING", message, fix=fix)
        return {name: self.__environment[variable] for name, variable in named.items()}

    def values(self, variables: Iterable[str]) -> frozenset[str]:
        """The values of variables that can be used, for taking them out of texts."""
        return frozenset(self.__environment[one] for one in variables if not self.flaw(one))


def missing(variable: str, flaw: str) -> tuple[str, str]:
    """Message and fix for a credential that cannot be used."""
    return (
        f"the variable {variable}, which a credential is to come from, {flaw}",
        f"set it where mcl runs: export {variable}=…",
    )
