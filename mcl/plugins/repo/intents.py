"""The intents of the repository contract and the commands of mqlaunch, read from `intents.toml`."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

COMMANDS = ("doctor", "release-check", "selftest", "perf", "system-check", "demo")
"""What mqlaunch may be run with."""
REFUSE = "refuse"
SEARCH = "grep_repo"

Effect: TypeAlias = Literal["read-only", "state-write", "executes", "repo-write", "safety"]
Naming: TypeAlias = Literal["optional", "required", "unused"]
Language: TypeAlias = Literal["sv", "en"]

_FILE = Path(__file__).with_name("intents.toml")


@dataclass(frozen=True)
class IntentType:
    """One intent as data: `intents.toml` says what each field means.

    arguments: names of what `args` must hold. takes_command: `command` is one of COMMANDS, else null.
    repo: whether a repository is named. names: how words begin that name what it works on. asked: how people
    ask for it, with REPO, FILE, NAME and COMMAND for what is named.
    """

    name: str
    effect: Effect
    arguments: tuple[str, ...]
    takes_command: bool
    repo: Naming
    names: tuple[str, ...]
    description: Mapping[Language, str]
    message: Mapping[Language, str]
    asked: Mapping[Language, tuple[str, ...]]


@functools.cache
def intent_types() -> Mapping[str, IntentType]:
    """The fifteen intents by name, in the order of the file."""
    rows = tomllib.loads(_FILE.read_text("utf-8"))
    types = {
        name: IntentType(
            name=name,
            effect=row["effect"],
            arguments=tuple(row["arguments"]),
            takes_command=row["command"],
            repo=row["repo"],
            names=tuple(row["names"]),
            description=MappingProxyType({"sv": row["sv"], "en": row["en"]}),
            message=MappingProxyType({"sv": row["say_sv"], "en": row["say_en"]}),
            asked=MappingProxyType({"sv": tuple(row["asked_sv"]), "en": tuple(row["asked_en"])}),
        )
        for name, row in rows.items()
    }
    return MappingProxyType(types)
