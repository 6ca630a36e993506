"""Lark's tables for `grammars/mtx.lark`, and one compiled expression for each set of terminals that can stand
at a place.

The language is read line by line: no terminal but the line's end reaches beyond a line, so a broken line
never spoils the next one, and the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from lark import Lark


class Match(Protocol):
    """`re.Pattern.match` from an offset on."""

    def __call__(self, text: str, start: int, /) -> re.Match[str] | None: ...


class Lexer:
    """Finds the next terminal of a line. Holds no text: one serves all files."""

    def __init__(self, lark: Lark) -> None:
        self._lark = lark
        self._terminals = {terminal.name: terminal for terminal in lark.terminals}
        self._by_state: dict[Any, Match] = {}
        self._by_names: dict[frozenset[str], Match] = {}

    def start(self) -> Any:
        """A new parser at the start of a file (Lark's InteractiveParser; Lark types none of its methods)."""
        return self._lark.parse_interactive("")

    def at(self, state: Any, choices: Any) -> Match:
        """What finds the next terminal in a state of the parser; `choices` is its row of the table."""
        known = self._by_state.get(state)
        if known is None:
            names = frozenset(name for name in choices if name in self._terminals)
            known = self._by_names.get(names) or self._compiled(names)
            self._by_names[names] = self._by_state[state] = known
        return known

    def _compiled(self, names: frozenset[str]) -> Match:
        """Higher priority first, then words before patterns, then the longer pattern: as Lark orders them."""
        terminals = sorted(
            (self._terminals[name] for name in names),
            key=lambda one: (
                -one.priority,
                one.pattern.type != "str",
                -one.pattern.max_width,
                -len(one.pattern.value),
                one.name,
            ),
        )
        return re.compile("|".join(f"(?P<{one.name}>{one.pattern.to_regexp()})" for one in terminals)).match


@cache
def lexer() -> Lexer:
    """The lexer of the language."""
    # imported here because Lark takes 40 ms to load, and a cached tree needs none of it
    from lark import Lark

    from grammars import load

    return Lexer(Lark(load("mtx").text, start="file", parser="lalr", maybe_placeholders=False))
