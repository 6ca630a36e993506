"""Text to tree, with every error of the file.

Lark drives an LALR parser over `grammars/mtx.lark`. Where a line is wrong, the error is noted and the line is
completed with stand-in tokens (or left out, when it cannot begin here at all), so that the next line is read in
the state that its author meant. A tree from a text with errors is only good for further checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from mcl.mtx.ast import SECTIONS, File
from mcl.mtx.build import STAND_IN, Builder
from mcl.mtx.finding import Finding, nearest
from mcl.mtx.source import MAX_FINDINGS, Lines, read_source

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.parsers.lalr_interactive_parser import InteractiveParser

MAX_DEPTH = 64
_OPENERS = {"ON": "on", "PROMPT": "prompt", "UNKNOWN": "unknown", "CLARIFY": "clarify"}
_OPENS = re.compile(r"[ \t]*(?:on|unknown|clarify)(?=[ \t])|[ \t]*prompt[ \t]*(?:#|\n)")
_END = re.compile(r"[ \t]*end[ \t]*(?:#|\n)")
_WORD = re.compile(r"§?[\w.-]+|\S")
_DESCRIBED = {
    "KEY": "key=value", "REFERENCE": "a matrix:// reference", "NAME": "a name", "TYPE_NAME": "a type",
    "_ENUM": "a type", "MEMBER": "a member of the enum", "VERB_NAME": "a verb", "COMPARISON": "< <= > >= or ==",
    "NUMBER": "a number", "SLOT_PATH": "slot.<name>", "CORTEX_CALL": "cortex.find, cortex.resolve or cortex.context",
    "ARGUMENT_KEY": "name=value", "ARGUMENT": "a value", "STRING": "a value", "BARE": "a value", "ITEM": "a value",
    "LIST_OPEN": "[", "_LIST_CLOSE": "]", "FAILURE": "the name of a failure", "ANY_UNKNOWN": "unknown", "MANY": "[]",
    "_EQ": "=", "_COLON": ":", "_LT": "<", "_GT": ">", "_BAR": "|", "_ARROW": "<-", "_OPEN": "(", "_CLOSE": ")",
    "_COMMA": ",", "_NL": "the end of the line",
}  # fmt: skip
# what completes a broken line soonest: the first of these that the state accepts
_COMPLETION = (
    "_NL", "_CLOSE", "_LIST_CLOSE", "_GT", "_EQ", "_COLON", "_LT", "_ARROW", "_OPEN", "SLOT_PATH", "CORTEX_CALL",
    "ANY_UNKNOWN", "NAME", "TYPE_NAME", "MEMBER", "VERB_NAME", "COMPARISON", "NUMBER", "STRING",
)  # fmt: skip


@dataclass(frozen=True)
class Parsed:
    """A file's text, its tree, what is wrong with it, and its comments (line → text, `own` lines and trailing)."""

    text: str
    file: File
    findings: tuple[Finding, ...]
    trailing: dict[int, str]

    @property
    def ok(self) -> bool:
        """Whether the text is well formed (checks of meaning come after)."""
        return not self.findings


def parse(data: bytes) -> Parsed:
    """Parse the bytes of a .mtx file. Never raises for what is in them; see `Parsed.findings`."""
    text, findings = read_source(data)
    if not text.strip():
        if not findings:
            findings = [Finding(1, 1, "EMPTY", "an empty file", hint="a skill begins with §SKILL")]
        return Parsed(text, File(), tuple(findings), {})
    run = _Run(text)
    tree = run.tree()
    builder = Builder()
    file = builder.file(tree)
    found = sorted(set(findings + run.findings + builder.findings))[:MAX_FINDINGS]
    return Parsed(text, file, tuple(found), run.trailing)


@cache
def _grammar() -> Lark:
    # imported here because Lark takes 40 ms to load, and a cached tree needs none of it
    from lark import Lark

    from grammars import load

    return Lark(load("mtx").text, start="file", parser="lalr", maybe_placeholders=False)


class _Run:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.findings: list[Finding] = []
        self.trailing: dict[int, str] = {}
        self.blocks: list[tuple[str, int, int]] = []  # word, line, column of each open block
        self.seen: dict[str, int] = {}
        self.parser: InteractiveParser = _grammar().parse_interactive(text)

    def tree(self) -> object:
        """The parse tree, whatever was wrong on the way."""
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken

        while True:
            try:
                self._advance()
                self._close_blocks("the end of the file")
                return self.parser.feed_eof()
            except (UnexpectedCharacters, UnexpectedToken) as error:
                token = getattr(error, "token", None)
                offset = error.pos_in_stream if token is None else token.start_pos
                if token is not None and token.type == "$END":
                    offset = len(self.text)
                if len(self.findings) >= MAX_FINDINGS or len(self.blocks) > MAX_DEPTH:
                    self._jump(len(self.text))
                    self._complete_line()
                    self.blocks_to_close()
                    return self.parser.feed_eof()
                self._recover(offset or 0)

    def blocks_to_close(self) -> None:
        """Close what is open without a word about it."""
        for _ in self.blocks:
            self._feed("_END", "_NL")
        self.blocks.clear()

    def _advance(self) -> None:
        """Read tokens until the text ends or one does not fit."""
        end = 0
        for token in self.parser.lexer_thread.lex(self.parser.parser_state):
            self.parser.feed_token(token)
            kind = token.type
            if kind == "_NL":
                if end and (comment := self.text[end : token.start_pos].strip()):
                    self.trailing[token.line or 0] = comment
                end = 0
                continue
            end = token.end_pos or 0
            if kind in _OPENERS:
                self.blocks.append((str(token), token.line or 0, token.column or 0))
                if len(self.blocks) > MAX_DEPTH:
                    self._find(
                        token.start_pos or 0, "TOO_DEEP", f"blocks nested deeper than {MAX_DEPTH}", "on"
                    )
                    raise _unexpected(token)
            elif kind == "_END":
                self.blocks.pop()
            elif kind.startswith("S_"):
                self._section(token)

    def _section(self, token: Token) -> None:
        name, line = str(token), token.line or 0
        if name in self.seen:
            self._find(
                token.start_pos or 0,
                "DUPLICATE_SECTION",
                f"a second {name}; the first is in line {self.seen[name]}",
                name,
            )
        self.seen.setdefault(name, line)

    def _recover(self, offset: int) -> None:
        """Note the error at `offset`, and bring parser and lexer to a state from which to go on."""
        line, column = self.lines.position(offset)
        start = self.lines.starts[line - 1]
        stop = self.lines.starts[line] if line < len(self.lines.starts) else len(self.text)
        source = self.text[start:stop]
        if self.text.startswith("§", offset) and not self.text[start:offset].strip():
            if self.blocks and column == 1 and source[1:].split()[:1] and source[1:].split()[0] in SECTIONS:
                self._close_blocks(source.split()[0])
                self._jump(start)
                return
            self._bad_section(offset, column, source)
            self._jump(self._next_section(stop))
            return
        first = not self.text[start:offset].strip()
        self._describe(offset, source[column - 1 :].rstrip("\n"), first)
        if not first:
            self._complete_line()
            self._jump(stop)
        else:
            self._jump(self._after_block(start, stop) if _OPENS.match(self.text, start) else stop)

    def _describe(self, offset: int, rest: str, first: bool) -> None:
        """One finding for a token that does not fit here."""
        accepts = {name for name in self.parser.accepts() if name != "$END"}
        word = _WORD.match(rest)
        text = word.group() if word else rest
        words = {_legal(name) for name in accepts if name.isupper() and name not in _DESCRIBED}
        if rest.startswith('"') and accepts & {"STRING"}:
            code, message, text = "UNCLOSED_STRING", "this string is not closed", rest.strip()
            hint = 'end it with " in the same line; write a line break as \\n and a quote as \\"'
        elif not first and accepts & {"_NL"} and not words:
            code, message, text = "JUNK", "unexpected text at the end of the line", rest.strip()
            hint = "put the whole value in double quotes, or begin a comment with #"
        elif text == "end" and first and "_END" not in accepts:
            code, message, hint = "STRAY_END", "this `end` closes nothing", "remove it"
        elif not rest.strip():
            code, message, text, hint = "INCOMPLETE", "the line stops too early", "", ""
        else:
            code, message, hint = "UNEXPECTED", f"{text!r} cannot stand here", nearest(text, words)
        if not hint:
            plain = {name for name in accepts if not name.startswith("S_")} - {"NONE"}
            legal = sorted({_DESCRIBED.get(name) or _legal(name) for name in plain or accepts})
            hint = f"expected {_alternatives(legal)}" if legal else ""
        self._find(offset, code, message, text, hint)

    def _bad_section(self, offset: int, column: int, source: str) -> None:
        name = source.split()[0]
        hint = nearest(name.removeprefix("§").upper(), SECTIONS).replace('"', '"§', 1)
        if name.removeprefix("§") in SECTIONS:
            self._find(offset, "INDENT", "a section starts in column 1", name, "remove the blanks before it")
        else:
            legal = " ".join(f"§{section}" for section in SECTIONS)
            self._find(
                offset, "UNKNOWN_SECTION", f"there is no section {name}", name, hint or f"sections: {legal}"
            )

    def _close_blocks(self, before: str) -> None:
        for word, line, column in reversed(self.blocks):
            self._add(
                Finding(
                    line,
                    column,
                    "UNCLOSED_BLOCK",
                    f"this block is not closed before {before}",
                    word,
                    "add `end`",
                )
            )
        self.blocks_to_close()

    def _complete_line(self) -> None:
        """Feed stand-ins until the line is over."""
        for _ in range(16):
            accepts = self.parser.accepts()
            name = next((name for name in _COMPLETION if name in accepts), "")
            if not name:
                return
            self._feed(name)
            if name == "_NL":
                return

    def _feed(self, *names: str) -> None:
        from lark import Token

        for name in names:
            self.parser.feed_token(Token(name, STAND_IN, line=0, column=0))

    def _jump(self, offset: int) -> None:
        """Let the lexer go on at `offset`, the start of a line; comments and blank lines there are passed over."""
        while offset < len(self.text):
            stop = self.text.find("\n", offset) + 1
            line = self.text[offset:stop].lstrip(" \t")
            if not (line == "\n" or line.startswith("#")):
                break
            offset = stop
        counter = self.parser.lexer_thread.state.line_ctr
        counter.char_pos = counter.line_start_pos = offset
        counter.line, counter.column = self.lines.position(offset)[0], 1

    def _next_section(self, offset: int) -> int:
        found = re.compile(r"^[ \t]*§", re.MULTILINE).search(self.text, offset)
        return found.start() if found else len(self.text)

    def _after_block(self, offset: int, stop: int) -> int:
        """Where the block that opens in this line ends: after its `end`, or before the next section."""
        depth = 1
        while stop < len(self.text) and not self.text.startswith("§", stop):
            if _END.match(self.text, stop):
                depth -= 1
            elif _OPENS.match(self.text, stop):
                depth += 1
            stop = self.text.find("\n", stop) + 1
            if depth == 0:
                break
        return stop

    def _find(self, offset: int, code: str, message: str, text: str, hint: str = "") -> None:
        line, column = self.lines.position(offset)
        self._add(Finding(line, column, code, message, text[:200], hint))

    def _add(self, finding: Finding) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)


def _unexpected(token: Token) -> Exception:
    from lark.exceptions import UnexpectedToken

    return UnexpectedToken(token, set())


def _legal(terminal: str) -> str:
    """The word that a terminal stands for."""
    if terminal.startswith("S_"):
        return "§" + terminal[2:]
    return terminal.lower().removesuffix("_key").strip("_")


def _alternatives(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
