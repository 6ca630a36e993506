"""What a skill is called: its id and version, also where its file names none that can be used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

NO_VERSION: Final = "0.0.0"
_NUMBER: Final = r"(?:0|[1-9]\d*)"
_LABEL: Final = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_LABEL}(?:\.{_LABEL})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
MAX_VERSION: Final = 128  # characters


def valid_version(text: str) -> bool:
    """Whether a text is a semantic version (semver.org 2.0.0) of at most 128 characters."""
    return len(text) <= MAX_VERSION and SEMVER.fullmatch(text) is not None


def skill_id(settings: Mapping[str, str], folder: Path) -> str:
    """The `id=` of §SKILL; where there is none that can be used, the folder's name, fit for an address."""
    written = settings.get("id", "")
    if ID.fullmatch(written):
        return written
    return _ODD.sub("-", folder.absolute().name).lstrip("._-")[:128] or "skill"


def skill_version(settings: Mapping[str, str]) -> str:
    """The `version=` of §SKILL, or 0.0.0 where there is none that can be used."""
    written = settings.get("version", "")
    return written if valid_version(written) else NO_VERSION
