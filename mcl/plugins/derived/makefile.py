"""A Makefile as text: its rules with their comments and lines. Make is not started, and nothing that it would
evaluate is: no variable, no function, no `include`, no condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_HEAD: Final = re.compile(r"(?P<names>[^:=#\t][^:=#]*?)\s*(?P<colons>::?)(?![:=])(?P<rest>[^=]*)")
_BEGINS: Final = re.compile(r"\s*(?:ifeq|ifneq|ifdef|ifndef)\b")
_ENDS: Final = re.compile(r"\s*endif\b")
_DEFINES: Final = re.compile(r"\s*(?:override\s+|export\s+)*define\b")
_DEFINED: Final = re.compile(r"\s*endef\b")
_COMMENT: Final = re.compile(r"(?:^|\s)##?\s*(?P<said>.*)$")
_ASSIGNS: Final = re.compile(r"[^:=#]*(?:\?|\+|!|::?:?)?=")
_WORDS: Final = re.compile(r"(?:-?include|sinclude|export|unexport|override|vpath|load|undefine)\b")
_INCLUDES: Final = re.compile(r" *(?:-include|sinclude|include)\s+(?P<names>[^#]*)")
_NAMES: Final = re.compile(r"(?:\$\([^)]*\)|\$\{[^}]*\}|[^\s$])+")


@dataclass(frozen=True)
class BuildRule:
    """A rule, or what is like one in another kind of file. says: its comment. lines: what it runs, as
    written. why_not: why it cannot be offered, "" where it can. arguments: values that it needs."""

    name: str
    says: str
    lines: list[str]
    why_not: str = ""
    arguments: tuple[str, ...] = ()


def read_makefile(text: str) -> list[BuildRule]:
    """The rules of a Makefile in the order of the text; of two of one name the first.

    Where the file says which targets are no files (`.PHONY`), only these are offered: asked for any
    other, make looks at times of files.
    """
    rules: list[BuildRule] = []
    phony: set[str] = set()
    comment, depth, current = "", 0, list[str]()
    for line in _lines(text):
        if line.startswith("\t"):
            current.append(line.strip().lstrip("@-+"))
            continue
        if _BEGINS.match(line) or _ENDS.match(line):
            depth += 1 if _BEGINS.match(line) else -1 if depth else 0
            continue
        if line.lstrip().startswith("#"):
            comment = line.lstrip().lstrip("#").strip()
            continue
        head = None if _WORDS.match(line) or _ASSIGNS.match(line) else _HEAD.match(line)
        if head is None:
            comment = "" if not line.strip() else comment
            continue
        current = []
        names, rest = head["names"].split(), head["rest"]
        if names == [".PHONY"]:
            phony.update(rest.split())
            continue
        said = _COMMENT.search(line)
        _, semicolon, first = rest.partition(";")
        if semicolon:
            current.append(first.strip())
        for name in names:
            why = _why_not(name, inside=depth > 0)
            rules.append(BuildRule(name, said["said"] if said else comment, current, why))
        comment = ""
    return [
        one
        for one in rules
        if not one.name.startswith(".") and (not phony or one.name in phony or one.why_not)
    ]


def includes_of(text: str) -> list[str]:
    """What a Makefile includes, as it names it."""
    found = (_INCLUDES.match(line) for line in _lines(text))
    return [name for one in found if one for name in _NAMES.findall(one["names"])]


def _why_not(name: str, *, inside: bool) -> str:
    if "$" in name:
        return "its name is made by make"
    if "%" in name:
        return "it is a pattern"
    if inside:
        return "it is there under a condition"
    return "it names a file" if "/" in name else ""


def _lines(text: str) -> Iterator[str]:
    """Logical lines: those that end in a backslash go on, and what is between define and endef is left
    out."""
    waiting, inside = "", False
    for line in text.splitlines():
        if not inside and waiting == "" and _DEFINES.match(line) and not line.startswith("\t"):
            inside = True
            continue
        if inside:
            inside = _DEFINED.match(line) is None
            continue
        if line.endswith("\\") and not line.endswith("\\\\"):
            waiting += line[:-1] + " "
            continue
        yield waiting + line
        waiting = ""
    if waiting:
        yield waiting
