"""Text to tree, with every error of the file.

Lark drives an LALR parser over `grammars/mtx.lark`. Where a line is wrong, the error is noted and the line is
completed with stand-in tokens (or left out, when it cannot begin here at all), so that the next line is read
in the state that its author meant. A tree from a text with errors is only good for further checks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mcl.mtx.ast import SECTIONS, File
from mcl.mtx.build import STAND_IN, Builder
from mcl.mtx.finding import Finding, nearest
from mcl.mtx.source import MAX_FINDINGS, Lines, read_source
from mcl.mtx.terminals import COMPLETION, alternatives, described, legal_word

if TYPE_CHECKING:
    from lark import Lark, Token

MAX_DEPTH = 64
_OPENERS = {"ON": "on", "PROMPT": "prompt", "UNKNOWN": "unknown", "CLARIFY": "clarify"}
_OPENS = re.compile(r"[ \t]*(?:on|unknown|clarify)(?=[ \t])|[ \t]*prompt[ \t]*(?:#|\n)")
_END = re.compile(r"[ \t]*end[ \t]*(?:#|\n)")
_WORD = re.compile(r"§?[\w.-]+|\S")


class Word(NamedTuple):
    """One token: the terminal's name in the grammar, and its text."""

    kind: str
    text: str


@dataclass(frozen=True)
class Parsed:
    """A file's text, its tree, and what is wrong with it.

    rows: the words of each line that says something, by line number, for the formatter. comments: what
    follows them in the same line.
    """

    text: str
    file: File
    findings: tuple[Finding, ...]
    rows: dict[int, tuple[Word, ...]] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)

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
        return Parsed(text, File(), tuple(findings))
    run = _Run(text)
    tree = run.tree()
    builder = Builder()
    file = builder.file(tree)
    found = sorted(set(findings + run.findings + builder.findings))[:MAX_FINDINGS]
    return Parsed(text, file, tuple(found), run.rows, run.comments)


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
        self.rows: dict[int, tuple[Word, ...]] = {}
        self.comments: dict[int, str] = {}
        self.blocks: list[tuple[str, int, int]] = []  # word, line, column of each open block
        self.seen: dict[str, int] = {}
        self.parser: Any = _grammar().parse_interactive(text)  # Lark types none of its methods

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
                offset = (error.pos_in_stream if token is None else token.start_pos) or 0
                if token is not None and token.type == "$END":
                    offset = len(self.text)
                if len(self.findings) >= MAX_FINDINGS or len(self.blocks) > MAX_DEPTH:
                    if len(self.blocks) > MAX_DEPTH or not self._begins_line(offset):
                        self._complete_line()
                    self._close_silently()
                    return self.parser.feed_eof()
                self._recover(offset)

    def _begins_line(self, offset: int) -> bool:
        start = self.lines.starts[self.lines.position(offset)[0] - 1]
        return not self.text[start:offset].strip()

    def _close_silently(self) -> None:
        """Close what is open without a word about it."""
        for _ in self.blocks:
            self._feed("_END", "_NL")
        self.blocks.clear()

    def _advance(self) -> None:
        """Read tokens until the text ends or one does not fit."""
        from lark.exceptions import UnexpectedToken

        end = 0
        words: list[Word] = []
        for token in self.parser.lexer_thread.lex(self.parser.parser_state):
            self.parser.feed_token(token)
            kind = token.type
            if kind == "_NL":
                if words:
                    self.rows[token.line] = tuple(words)
                    if comment := self.text[end : token.start_pos].strip():
                        self.comments[token.line] = comment
                end, words = 0, []
                continue
            words.append(Word(kind, str(token)))
            end = token.end_pos or 0
            if kind in _OPENERS:
                self.blocks.append((str(token), token.line or 0, token.column or 0))
                if len(self.blocks) > MAX_DEPTH:
                    self._find(
                        token.start_pos or 0, "TOO_DEEP", f"blocks nested deeper than {MAX_DEPTH}", "on"
                    )
                    raise UnexpectedToken(token, set())  # type: ignore[no-untyped-call]  # Lark's
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
        first = self._begins_line(offset)
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
        words = {legal_word(name) for name in accepts} - {""}
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
            legal = sorted({described(name) for name in plain or accepts})
            hint = f"expected {alternatives(legal)}" if legal else ""
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
        self._close_silently()

    def _complete_line(self) -> None:
        """Feed stand-ins until the line is over."""
        name = ""
        while name != "_NL":
            accepts = self.parser.accepts()
            name = next((name for name in COMPLETION if name in accepts), "") or min(accepts)
            self._feed(name)

    def _feed(self, *names: str) -> None:
        from lark import Token

        for name in names:
            self.parser.feed_token(Token(name, STAND_IN, line=0, column=0))

    def _jump(self, offset: int) -> None:
        """Let the lexer go on at `offset`, the start of a line; comments and blank lines there are passed
        over.
        """
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
