"""Other languages, line by line: languages.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from executor.sandbox.redaction import Redactor
from mcl.plugins.review.maps.maps import FileSymbol

# ---- What a text shows, and how much of it is kept.

MOST_NAME: Final = 200  # characters of a name, of a signature
_REDACTOR: Final = Redactor()


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What a text shows.

    symbols: public ones in the order of their lines. imports: what it imports, as its language writes it; for
    Python ``module|name``. marks: what roles ask for. provides: the name that others import its folder by (of
    a go.mod). read: ast, table, or "" where nobody looked for symbols. cut: were there more than are told?
    """

    symbols: tuple[FileSymbol, ...] = ()
    imports: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    provides: str = ""
    read: str = ""
    cut: bool = False


def one_line(text: str) -> str:
    """A signature as it is kept: on one line, printable, without secrets, cut."""
    line = " ".join(text[: 4 * MOST_NAME].split())
    line = "".join(char if char.isprintable() else "\ufffd" for char in line)
    line = _REDACTOR.text(line)
    return line if len(line) <= MOST_NAME else f"{line[: MOST_NAME - 1]}…"


_LINE: Final = 400  # characters of a line that are looked at
_BLANKS: Final = re.compile(r"\s+")
_QUOTED: Final = re.compile(r"\"[^\"]*\"?|'[^']*'?")
_GROUP: Final = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True)
class LanguageTable:
    """What lines of a language show. block: how a block comment begins and ends; resolve: see imports.py."""

    block: tuple[str, str] | None
    symbols: tuple[tuple[str, re.Pattern[str]], ...]
    imports: tuple[re.Pattern[str], ...]
    marks: Mapping[str, re.Pattern[str]]
    provides: re.Pattern[str] | None
    resolve: str
    any: re.Pattern[str]


@cache
def tables() -> Mapping[str, LanguageTable]:
    """The tables by the names of their languages."""
    said = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    return {name: _table(one, said) for name, one in said.items()}


def _table(one: Mapping[str, Any], all: Mapping[str, Any]) -> LanguageTable:
    like: Mapping[str, Any] = all[one["like"]] if "like" in one else {}
    symbols = [*one["symbols"], *like.get("symbols", ())]
    imports = [*one.get("imports", ()), *like.get("imports", ())]
    marks = {**like.get("marks", {}), **one.get("marks", {})}
    provides = one.get("provides", "")
    every = [
        *(each["pattern"] for each in symbols),
        *imports,
        *marks.values(),
        *([provides] if provides else []),
    ]
    block = one.get("block") or like.get("block")
    return LanguageTable(
        block=(block[0], block[1]) if block else None,
        symbols=tuple((each["kind"], re.compile(each["pattern"])) for each in symbols),
        imports=tuple(re.compile(each) for each in imports),
        marks={name: re.compile(each) for name, each in marks.items()},
        provides=re.compile(provides) if provides else None,
        resolve=one.get("resolve", ""),
        # Most lines show nothing: one look at them all is quicker than one for each.
        any=re.compile("|".join(f"(?:{_GROUP.sub('(?:', each)})" for each in every)),
    )


def read_lines(text: str, table: LanguageTable) -> TextFacts:
    """What the lines of a text show; takes time in proportion to its length."""
    symbols: list[FileSymbol] = []
    imports: list[str] = []
    marks: set[str] = set()
    provides = ""
    for number, line in _lines(text, table.block):
        if table.any.match(line) is None:
            continue
        symbols += _symbols(line, number, table)
        for pattern in table.imports:
            if (found := pattern.match(line)) is not None:
                imports.append(" ".join(found[1].split()))
                break
        marks |= {name for name, pattern in table.marks.items() if pattern.match(line)}
        if table.provides is not None and not provides and (found := table.provides.match(line)) is not None:
            provides = found[1]
    return TextFacts(tuple(symbols), tuple(imports), tuple(marks), provides, read="table")


def _symbols(line: str, number: int, table: LanguageTable) -> Iterator[FileSymbol]:
    for kind, pattern in table.symbols:
        if (found := pattern.match(line)) is None:
            continue
        given = found.groupdict()
        if given.get("names") is not None:
            names = [one.split()[-1] for one in given["names"].split(",") if one.split()]
            yield from (FileSymbol(one, kind, number) for one in names if one.isidentifier())
        elif not given["name"].startswith("_"):
            name = f"{given['of']}.{given['name']}" if given.get("of") else given["name"]
            yield FileSymbol(name, kind, number, _signature(name, line[found.end("name") :]))
        return


def _signature(name: str, rest: str) -> str:
    """What follows the name where it is declared; what is quoted there may be a secret."""
    told = _QUOTED.sub('"…"', rest).partition("{")[0].rstrip(" ;:=")
    return one_line(name + told) if told else ""


def _lines(text: str, block: tuple[str, str] | None) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without those that begin inside a block comment. A run of blanks is one: no
    pattern then takes longer for a line that is made of them."""
    inside = False
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole[:_LINE]
        if block is not None:
            begins, ends = block
            if inside:
                inside = ends not in whole
                continue
            if begins in whole:
                inside = ends not in whole.rpartition(begins)[2]
                if line.lstrip().startswith(begins):
                    continue
        if line.strip():
            yield number, _BLANKS.sub(" ", line)
