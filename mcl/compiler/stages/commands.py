"""Words of a sign of success → the command that is run at the end for it: the tests, the linter, or one that
the operator declared, by its name."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from ir import CommandPredicate, is_pinned
from mcl.core.patterns import late
from mcl.language.mtx.core import CoreModule

Declared: TypeAlias = Callable[[], Mapping[str, str]]  # address of each declared command, by its name

_NAME: Final = r"(?P<name>[a-z][a-z0-9_-]{0,40})"
_MARKS: Final = " .,;:!\"“”'`"
_RUN: Final = "/run-"


@dataclass(frozen=True)
class CommandWords:
    """The words of the module `predicate`. tools: the address that each phrase means; named: matches words
    around the name of a declared command."""

    tools: Mapping[str, str]
    named: re.Pattern[str]

    @classmethod
    def of(cls, module: CoreModule) -> "CommandWords":
        """Read them. Raises SkillError NO_SETTING, BAD_SETTING."""
        tools: dict[str, str] = {}
        for name, said in module.family("command").items():
            address, _, phrases = said.partition(": ")
            if not address.startswith("matrix://tool/") or not is_pinned(address):
                fix = "write matrix://tool/<namespace>/<name>@<version>, a colon, and the words"
                raise module.bad(f"command.{name}", f"names {address!r}, which is no pinned tool", fix)
            tools |= {_plain(one): address for one in phrases.split("|") if one.strip()}
        ways = [re.escape(one).replace("<name>", _NAME) for one in module.phrases("named.command")]
        numbered = (way.replace("?P<name>", f"?P<name{place}>") for place, way in enumerate(ways))
        return cls(tools, late("|".join(numbered) or r"(?!)"))

    def read(self, words: str, declared: Declared) -> CommandPredicate | None:
        """The command that these words are about, and nothing else; None where they are about none."""
        text = _plain(words)
        if address := self.tools.get(text):
            return CommandPredicate(tool_ref=address)
        found = self.named.fullmatch(text)
        name = next((one for one in found.groups() if one), "") if found else ""
        address = declared().get(name, "") if name else ""
        return CommandPredicate(tool_ref=address) if address else None


def declared_in(folder: Path) -> dict[str, str]:
    """The address of each command that a home's operator declared, by its name."""
    place = folder / "commands.toml"
    if not place.exists():
        return {}
    from executor.tools.process.commands import declared_commands

    uris = (tool.manifest.uri for tool in declared_commands(place)[0])
    return {uri.partition(_RUN)[2].partition("@")[0]: uri for uri in uris}


def _plain(words: str) -> str:
    return " ".join("".join(" " if one in _MARKS else one for one in words.casefold()).split())
