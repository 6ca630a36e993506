"""What a line of shell names: files, modules, targets of make, scripts of npm. Nothing of it is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

Kind = Literal["file", "module", "target", "script", "folder"]

_NEXT = re.compile(r"\s(?:&&|\|\||[|;&])\s|;\s*$|(?<!\\)\s#\s")
_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?(?:\.exe)?")
_RUNNERS: Final = (("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"))
_SHELLS: Final = ("bash", "sh", "zsh", "source", ".")
_NODES: Final = ("npm", "pnpm", "yarn")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_PLACEHOLDER = re.compile(
    r"[<>${}*?\[\]~|\"'`()…]|\.\.\.|path/to|^/|^[a-z]+://|^\.\./|\byour|\bmy[_-]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Named:
    """One thing that a command names."""

    kind: Kind
    what: str


def named(line: str) -> Iterator[Named]:
    """What the commands of a line name; nothing that looks like a placeholder."""
    for command in _NEXT.split(line):
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            continue
        for one in _of(_bare(words)):
            if not _PLACEHOLDER.search(one.what):
                yield one


def _bare(words: Sequence[str]) -> list[str]:
    """The words of a command behind variables, sudo and runners."""
    words = list(words)
    while words and (re.match(r"[A-Za-z_]\w*=", words[0]) or words[0] in ("sudo", "env", "time")):
        words = words[1:]
    for runner in _RUNNERS:
        if tuple(words[:2]) == runner:
            return words[2:]
    return words


def _of(words: list[str]) -> Iterator[Named]:
    if not words:
        return
    program, rest = words[0], words[1:]
    if program == "cd":
        yield Named("folder", rest[0] if rest else "/")
    elif _PYTHON.fullmatch(program):
        yield from _python(rest)
    elif program in _SHELLS and rest and not rest[0].startswith("-"):
        yield Named("file", rest[0])
    elif program.startswith("./"):
        yield Named("file", program)
    elif program in ("pip", "pip3"):
        yield from (Named("file", file) for flag, file in pairwise(rest) if flag in ("-r", "-c"))
    elif program == "pytest":
        yield from (Named("file", one.partition("::")[0]) for one in rest if "/" in one and one[0] != "-")
    elif program == "make" and not any(word.startswith("-") for word in rest):
        yield from (Named("target", word) for word in rest if _WORD.fullmatch(word))
    elif program in _NODES and rest[:1] == ["run"] and len(rest) > 1:
        yield Named("script", rest[1])


def _python(rest: list[str]) -> Iterator[Named]:
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest = rest[1:]
    if rest[:1] == ["-m"] and len(rest) > 1:
        yield Named("module", rest[1])
    elif rest and rest[0].endswith(".py"):
        yield Named("file", rest[0])
