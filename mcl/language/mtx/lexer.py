"""Words and lines of the language, and the tables that Lark makes of `grammars/mtx.lark`.

The language is read line by line: no terminal but the line's end reaches beyond a line, so a broken line
never spoils the next one, and the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from executor.core.tables import table_beside

if TYPE_CHECKING:
    from lark import Lark


class Word(str):
    """One token: its text, its terminal in the grammar (`type`, as Lark's parser asks for it), and its place,
    from 1. Lark's own token takes five times as long to make and keeps eight fields.
    """

    __slots__ = ("column", "line", "type")
    type: str
    line: int
    column: int

    def __new__(cls, text: str, type: str, line: int = 0, column: int = 0) -> Word:
        """A token; one that stands for what is missing has no place."""
        word = str.__new__(cls, text)
        word.type, word.line, word.column = type, line, column
        return word


class Branch:
    """One node of the parse tree: the rule's name, and its words and branches. Without the dictionary that a
    `lark.Tree` has, because a large file makes very many.
    """

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Any]) -> None:
        self.data = data
        self.children = children


class Match(Protocol):
    """`re.Pattern.match` from an offset on."""

    def __call__(self, text: str, start: int, /) -> re.Match[str] | None: ...


class Lexer(dict[Any, Match]):
    """By state of the parser what finds the next terminal of a line, with the blanks before it. Each is made
    when it is first asked for. Holds no text: one serves all files.
    """

    def __init__(self, lark: Lark) -> None:
        super().__init__()
        self.lark = lark
        self._terminals = {terminal.name: terminal for terminal in lark.terminals}
        self._by_names: dict[frozenset[str], Match] = {}

    def start(self) -> Any:
        """A new parser at the start of a file (Lark's InteractiveParser; Lark types none of its methods)."""
        return self.lark.parse_interactive("")

    def __missing__(self, state: Any) -> Match:
        choices = self.start().parser_state.parse_conf.states[state]
        names = frozenset(name for name in choices if name in self._terminals)
        made = self._by_names.get(names) or _compiled([self._terminals[name] for name in names])
        self._by_names[names] = self[state] = made
        return made


def _compiled(terminals: Sequence[Any]) -> Match:
    """Higher priority first, then words before patterns, then the longer pattern: as Lark orders them."""
    ordered = sorted(
        terminals,
        key=lambda one: (
            -one.priority,
            one.pattern.type != "str",
            -one.pattern.max_width,
            -len(one.pattern.value),
            one.name,
        ),
    )
    # One pattern for all that may come next in this state: which alternative matched is its name. Lark's own
    # lexer asks them one by one, and knows no states of an interactive parser.
    choices = "|".join(f"(?P<{one.name}>{one.pattern.to_regexp()})" for one in ordered)
    return re.compile(rf"[ \t]*+(?:{choices})").match


@cache
def lexer() -> Lexer:
    # imported here because Lark takes 40 ms to load, and a cached tree needs none of it
    from lark import Lark

    from grammars import load

    text = load("mtx").text
    return Lexer(Lark(text, start="file", parser="lalr", maybe_placeholders=False, tree_class=Branch))


# ---- A line as it is read, and the lines that open and end blocks.

OPENERS = ("ON", "PROMPT", "UNKNOWN", "CLARIFY")  # the terminals that open a block
OPENS = re.compile(r"\s*(?:(?:on|unknown|clarify)(?=[ \t])|prompt[ \t]*(?:#|$))")
ENDS = re.compile(r"\s*end(?![\w=.-])")


@dataclass(frozen=True)
class Line:
    """A line as it is read. Where a word was put in for another, columns from `since` on are off by `shift`.

    told: its error is noted already.
    """

    text: str
    number: int
    since: int = 0
    shift: int = 0
    told: bool = False

    def column(self, position: int) -> int:
        """The column (from 1) that an offset of this text has in the file."""
        return max(1, position + 1 - (self.shift if position >= self.since else 0))


# ---- The terminals of `grammars/mtx.lark` in words for people.

_DESCRIBED = table_beside(__file__)["described"]
COMPLETION = table_beside(__file__)["completion"]


def legal_word(terminal: str) -> str:
    """The one word that a terminal stands for; "" where it stands for many."""
    if terminal in _DESCRIBED:
        return ""
    if terminal.startswith("S_"):
        return "§" + terminal[2:]
    return terminal.lower().removesuffix("_key").strip("_")


def described(terminal: str) -> str:
    """A terminal as a person would call it."""
    return _DESCRIBED.get(terminal) or legal_word(terminal)


def alternatives(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
