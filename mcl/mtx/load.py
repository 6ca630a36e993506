"""A file on disk to a checked tree, through the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from grammars import load as load_grammar
from mcl.errors import SkillError
from mcl.mtx.ast import File
from mcl.mtx.cache import Cache
from mcl.mtx.codec import VERSION, packed, unpacked
from mcl.mtx.digest import file_digest
from mcl.mtx.source import MAX_BYTES

if TYPE_CHECKING:
    from mcl.mtx.finding import Finding


@dataclass(frozen=True)
class LoadedFile:
    """A checked file and its digest."""

    path: Path
    file: File
    digest: str


def load_file(path: Path, store: Cache) -> LoadedFile:
    """Read, parse and check one .mtx file.

    Raises SkillError: NO_FILE when it cannot be read, SKILL_INVALID with all its errors (`data["errors"]`).
    """
    data = read_bytes(path)
    version = f"{VERSION}.{_grammar_digest()}.{_own_name(path)}"
    file = store.get("mtx", version, data, lambda: _checked(path, data), _unpacked_file)
    return LoadedFile(path, file, file_digest(file))


def read_bytes(path: Path) -> bytes:
    """A file's bytes, at most one more than a .mtx file may have. Raises SkillError NO_FILE."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SkillError(
            "NO_FILE", f"cannot read it: {error.strerror or error}", place=str(path), fix="check the path"
        ) from error


def invalid(path: Path, findings: Sequence[Finding]) -> SkillError:
    """One error for all that is wrong with a file."""
    first = findings[0]
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return SkillError(
        "SKILL_INVALID",
        f"{first.message}{more}",
        place=first.place(str(path)),
        fix=first.hint,
        data={"path": str(path), "errors": [finding.to_json() for finding in findings]},
    )


def _unpacked_file(value: object) -> File:
    file = unpacked(value)
    if not isinstance(file, File):
        raise TypeError("not the tree of a file")
    file.settings()
    return file


def _checked(path: Path, data: bytes) -> object:
    # imported here, because a cached tree needs neither grammar nor checks
    from mcl.mtx.parse import parse
    from mcl.mtx.verdict import findings_of

    parsed = parse(data)
    errors = [one for one in findings_of(parsed, name=_own_name(path)) if one.severity == "error"]
    if errors:
        raise invalid(path, errors)
    return packed(parsed.file)


def _own_name(path: Path) -> str:
    """The id that a file should carry: its folder's name for SKILL.mtx, else its own."""
    return path.absolute().parent.name if path.name == "SKILL.mtx" else path.stem


@cache
def _grammar_digest() -> str:
    return load_grammar("mtx").digest
