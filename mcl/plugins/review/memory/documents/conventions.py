"""What the settings of a repository say of how its code is written: a table of rules, no guess."""

import configparser
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace

MAX_BYTES: Final = 256 << 10  # of one file of settings
_LONGEST: Final = 80  # characters of a value


@dataclass(frozen=True, slots=True)
class Convention:
    """One convention. id: of its rule. source: the file that says so."""

    id: str
    text: str
    source: str


def conventions(workspace: Workspace) -> tuple[Convention, ...]:
    """The conventions that the settings of a workspace name. A file that cannot be read says nothing."""
    return tuple(_found(workspace))


def _found(workspace: Workspace) -> Iterator[Convention]:
    read: dict[str, Any] = {}
    for rule in _rules():
        file = rule["file"]
        if file not in read:
            read[file] = _settings(workspace, file)
        value = read[file]
        for key in rule["keys"]:
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, str | int | float) or (value != rule.get("only", value)):
            continue
        if isinstance(value, bool) and "only" not in rule:
            continue
        said = str(value).strip()
        if said and len(said) <= _LONGEST and said.isprintable():
            yield Convention(rule["id"], rule["says"].format(value=said), file)


def _settings(workspace: Workspace, file: str) -> dict[str, Any]:
    try:
        if workspace.check(file) is None:
            return {}
        data, size = workspace.read(file, MAX_BYTES + 1)
        text = data.decode("utf-8")
    except (ScopeError, UnicodeDecodeError):
        return {}
    if size > MAX_BYTES:
        return {}
    try:
        if file.endswith(".toml"):
            return tomllib.loads(text)
        if file.endswith(".json"):
            said = json.loads(text)
            return said if isinstance(said, dict) else {}
        return _ini(text)
    except (ValueError, RecursionError, configparser.Error):
        return {}


def _ini(text: str) -> dict[str, Any]:
    reader = configparser.RawConfigParser(strict=False, default_section="\0")
    reader.read_string(f"[\1]\n{text}")  # .editorconfig begins without a section
    return {name: dict(reader.items(name)) for name in reader.sections()}


@cache
def _rules() -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "conventions.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["rule"]
    return found
