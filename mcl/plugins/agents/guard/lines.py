"""A small reader of shell lines: plain commands of literal words, and nothing that a shell would work out.

Whatever it does not know for certain is no plain line. That is no verdict on the command: somebody else, who
sees it whole, decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 8192  # characters of a line that is read
MOST: Final = 32  # commands in it

# What a shell acts on; between quotes it does not. `#`, `~`, `=` and `!` count only where a word begins.
_ACTIVE: Final = frozenset("$`(){}<>&*?[]\\\"'|;")
_AT_START: Final = frozenset("#~=!")
_QUIET: Final = re.compile(r"(?:2>&1|(?:[12]?>|&>)[ \t]*/dev/null)(?=[ \t\n|;&]|\Z)")
_BETWEEN: Final = re.compile(r"&&|\|\||[|;\n](?![|&;])")


class NotPlainError(ValueError):
    """The line is more than plain commands; the text says what was met."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command. words: the program and its arguments, as the program gets them. after: what stands
    between it and the one before: "", "|", "&&", "||" or ";"."""

    words: tuple[str, ...]
    after: str = ""


def read_line(text: str) -> tuple[Command, ...]:
    """The commands of a line. Raises NotPlainError."""
    if len(text) > LONGEST:
        raise NotPlainError("it is too long")
    if any((ord(char) < 32 and char not in "\t\n") or ord(char) == 127 for char in text):
        raise NotPlainError("it holds control characters")
    return _Reader(text.strip(" \t\n")).commands()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def commands(self) -> tuple[Command, ...]:
        found: list[Command] = []
        words: list[str] = []
        after = ""
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in " \t":
                self._at += 1
            elif quiet := _QUIET.match(self._text, self._at):
                self._at = quiet.end()
            elif between := _BETWEEN.match(self._text, self._at):
                found.append(_command(words, after))
                words, after = [], ";" if between[0] == "\n" else between[0]
                self._at = between.end()
                self._skip_lines(after)
            elif char in "|;&\n":
                raise NotPlainError(f"a shell would act on {char}")
            else:
                words.append(self._word(first=not words))
        found.append(_command(words, after))
        if len(found) > MOST:
            raise NotPlainError("it has too many commands")
        return tuple(found)

    def _skip_lines(self, after: str) -> None:
        """Line ends that follow another one, or an operator, mean nothing more."""
        while self._at < len(self._text) and self._text[self._at] in " \t\n":
            self._at += 1

    def _word(self, *, first: bool) -> str:
        made, start = "", self._at
        while self._at < len(self._text) and self._text[self._at] not in " \t\n|;&":
            char = self._text[self._at]
            if char == "'":
                made += self._until("'")
            elif char == '"':
                piece = self._until('"')
                if any(mark in piece for mark in "$`\\!"):
                    raise NotPlainError("a shell would work out what stands between quotes")
                made += piece
            elif char == "\\":
                made += self._escaped()
            elif char in _ACTIVE or (char in _AT_START and self._at == start and not self._alone(char)):
                raise NotPlainError(f"a shell would act on {char}")
            elif first and char == "=":
                raise NotPlainError("it sets a variable")
            else:
                made += char
                self._at += 1
        return made

    def _alone(self, char: str) -> bool:
        """`!` by itself among the arguments, as `find` knows it."""
        return char == "!" and self._at > 0 and self._text[self._at + 1 : self._at + 2] in (" ", "\t")

    def _until(self, quote: str) -> str:
        end = self._text.find(quote, self._at + 1)
        if end < 0:
            raise NotPlainError("a quotation does not end")
        piece = self._text[self._at + 1 : end]
        self._at = end + 1
        return piece

    def _escaped(self) -> str:
        char = self._text[self._at + 1 : self._at + 2]
        if not char or char == "\n":
            raise NotPlainError("a line goes on in the next")
        self._at += 2
        return char


def _command(words: list[str], after: str) -> Command:
    if not words or words[0] == "!":
        raise NotPlainError("a command is missing")
    return Command(tuple(words), after)
