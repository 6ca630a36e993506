"""Text to tree, with every error of the file.

Lark drives an LALR parser over `grammars/mtx.lark`, which is fed line by line. Where a line is wrong, the
error is noted; the line is read again as it was most likely meant (a misspelt word as the nearest legal
one), or completed with stand-in tokens, or left out with what belongs to it, so that one mistake is told
once and the next line is read in the state that its author meant. A tree from a text with errors is only
good for further checks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcl.language.mtx.ast import SECTIONS, File
from mcl.language.mtx.builder import STAND_IN, Builder
from mcl.language.mtx.checks import check
from mcl.language.mtx.lexer import COMPLETION, ENDS, OPENERS, OPENS, Line, Word, lexer
from mcl.language.mtx.source import MAX_FINDINGS, MtxFinding, read_source

# ---- One pass over a text: line by line through the LALR parser, with an account of sections and blocks.

MAX_DEPTH = 1000
_NOTED = frozenset(["_END", "FAILURE", *OPENERS, *(f"S_{name}" for name in SECTIONS)])
_BLANKS = re.compile(r"[ \t]*")
_ENTRY = re.compile(r"[ \t]*(?:on|unknown|clarify|prompt|resolve|kind|output_cardinality)(?![\w.-])")


@dataclass
class Block:
    """An open block. deep: whether what is in it stands right of it (None: nothing is in it yet)."""

    word: str
    line: int
    column: int
    deep: bool | None = None


class ParserRun:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        from lark.exceptions import UnexpectedToken

        self.lines = text.split("\n")
        self.at = 0  # the line to be read next, from 0
        self.findings: list[MtxFinding] = []
        self.rows: dict[int, tuple[Word, ...]] = {}
        self.comments: dict[int, str] = {}
        self.blocks: list[Block] = []
        self.by_columns = False  # whether this section's blocks and ends do not come out even
        self.seen: dict[str, int] = {}
        self.head = ""  # the terminal of the section that is being read
        self.failure = 0  # the column of the latest failure mode
        self.guessed: set[int] = set()  # lines that were read as something else than is written
        self.broken: set[int] = set()  # lines that were completed with stand-ins
        self.stumble: tuple[int, int] | None = None  # the first place that could not be read on
        self.unexpected = UnexpectedToken
        self.lexer = lexer()
        self.parser: Any = self.lexer.start()
        self.state: Any = self.parser.parser_state

    def tree(self) -> Any:
        """The parse tree, whatever was wrong on the way."""
        while self.at < len(self.lines):
            text = self.lines[self.at].strip()
            self.at += 1
            if text and text[0] != "#":
                self.read(self.lines[self.at - 1] + "\n", self.at)
                if len(self.findings) >= MAX_FINDINGS or len(self.blocks) >= MAX_DEPTH:
                    break
        else:
            self.unclosed(len(self.blocks), "the end of the file")
        while self.blocks:
            self.close()
        return self.parser.feed_eof()

    def read(self, source: str, number: int, line: Line | None = None) -> None:
        """Read one line, with the newline at its end; `line` when it is read again as something else."""
        if self.by_columns and self.blocks and self.misplaced(source, number):
            return
        # Held in names of this function: this loop runs once a word.
        feed, states = self.state.feed_token, self.state.state_stack
        words: list[Word] = []
        end = 0
        while True:
            match = self.lexer[states[-1]](source, end)
            if match is not None:
                kind: str = match.lastgroup  # type: ignore[assignment]  # every alternative has a name
                text, position, end = match[kind], match.start(kind), match.end()
            else:
                position = end = _BLANKS.match(source, end).end()  # type: ignore[union-attr]  # always matches
                kind, text = ("_NL", "\n") if source[position] == "#" else ("", "")
            column = position + 1 if line is None else line.column(position)
            if kind == "FAILURE" and 0 < self.failure < column:
                kind = ""  # it stands where a field is expected, and names none
            word = Word(text, kind, number, column)
            try:
                feed(word)
            except self.unexpected:
                self.rows.pop(number, None)
                self.recover(source, number, position, line, first=not words)
                return
            if kind == "_NL":
                self.rows[number] = tuple(words)
                if source[position] == "#":
                    self.comments[number] = source[position:].strip()
                return
            words.append(word)
            if kind in _NOTED:
                self.note(kind, text, number, column)

    def note(self, kind: str, text: str, line: int, column: int) -> None:
        """Keep account of blocks and sections."""
        if kind == "_END":
            self.blocks.pop()
        elif kind == "FAILURE":
            self.failure = column
        elif kind in OPENERS:
            self.blocks.append(Block(text, line, column))
            if len(self.blocks) == MAX_DEPTH:
                message = f"{MAX_DEPTH} blocks, one in the other"
                self.find(line, column, "TOO_DEEP", message, text, "nest fewer")
        else:
            self.head, self.failure = kind, 0
            if text in self.seen:
                message = f"a second {text}; the first is in line {self.seen[text]}"
                self.find(line, column, "DUPLICATE_SECTION", message, text, "keep one of them")
            self.seen.setdefault(text, line)
            self.by_columns = kind == "S_PROCEDURE" and not _even(self.lines, line)

    def misplaced(self, source: str, number: int) -> bool:
        """Where blocks and ends do not come out even, let the columns say which block is not closed.

        Whether the line is an `end` too many, and is told.
        """
        column = len(source) - len(source.lstrip(" \t")) + 1
        if source.startswith("§", column - 1):
            return False
        if ENDS.match(source):
            # Only so many blocks are looked at: a file may nest a thousand, and its lines as well.
            above = [block.column for block in self.blocks[-32:]]
            if column in above:
                self.unclosed(above[::-1].index(column), f"line {number}")
            elif self.blocks[-1].deep is not False and column > above[-1]:
                self.find(number, column, "STRAY_END", "this `end` closes nothing", "end", "remove it")
                return True
            return False
        sibling = _ENTRY.match(source)  # any other word may be a misspelt `end`
        while sibling and self.blocks and self.blocks[-1].deep and column <= self.blocks[-1].column:
            self.unclosed(1, f"line {number}")
        if self.blocks and self.blocks[-1].deep is None:
            self.blocks[-1].deep = column > self.blocks[-1].column
        return False

    def unclosed(self, count: int, before: str) -> None:
        """Tell of the innermost blocks that their `end` is missing, and close them."""
        for _ in range(count):
            block = self.blocks[-1]
            message = f"this block is not closed before {before}"
            self.find(block.line, block.column, "UNCLOSED_BLOCK", message, block.word, "add `end`")
            self.close()

    def close(self) -> None:
        """Close the innermost block without a word."""
        self.feed("_END", "_NL")
        self.blocks.pop()

    def recover(self, source: str, number: int, position: int, line: Line | None, *, first: bool) -> None:
        """Tell what is wrong at a place, and bring the parser to a state from which to go on."""
        self.stumble = self.stumble or (number, position + 1)
        from mcl.language.mtx.recovery import Recovery  # here, because a file without errors needs none of it

        Recovery(self, line or Line(source, number), position).run(first=first)

    def complete(self) -> None:
        """Feed stand-ins until the line, which is the one before `at`, is over."""
        self.broken.add(self.at)
        name = ""
        while name != "_NL":
            accepts = self.parser.accepts()
            name = next((name for name in COMPLETION if name in accepts), "") or min(accepts)
            self.feed(name)

    def feed(self, *names: str) -> None:
        """Feed stand-ins."""
        for name in names:
            self.state.feed_token(Word(STAND_IN, name))

    def find(self, line: int, column: int, code: str, message: str, text: str = "", hint: str = "") -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(MtxFinding(line, column, code, message, text[:200], hint))


def _even(lines: list[str], start: int) -> bool:
    """Whether the section whose first line this is has as many ends as blocks."""
    depth = 0
    for text in lines[start:]:
        if text.startswith("§"):
            break
        if OPENS.match(text):
            depth += 1
        elif ENDS.match(text):
            depth -= 1
    return depth == 0


# ---- The whole of a file: parsed, and held against the checks.


@dataclass(frozen=True)
class Parsed:
    """A file's text, its tree, and what is wrong with it.

    rows: the words of each line that says something, by line number, for the formatter. comments: what
    follows them in the same line. broken: the lines that were not read to their end, of which the tree says
    no more than part.
    """

    text: str
    file: File
    findings: tuple[MtxFinding, ...]
    rows: dict[int, tuple[Word, ...]] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)
    broken: frozenset[int] = frozenset()

    @property
    def ok(self) -> bool:
        """Whether the text is well formed (checks of meaning come after)."""
        return not self.findings


def parse(data: bytes) -> Parsed:
    """Parse the bytes of a .mtx file. Never raises for what is in them; see `Parsed.findings`.

    Findings are at most 200, in the order of their places; what follows in such a file is noise.
    """
    source = read_source(data)
    text = source.text
    if not text.strip():
        findings = list(source.findings)
        if not findings:
            findings = [MtxFinding(1, 1, "EMPTY", "an empty file", hint="a skill begins with §SKILL")]
        return Parsed(text, File(), tuple(findings))
    run = ParserRun(source.readable)
    tree = run.tree()
    builder = Builder(run.guessed)
    file = builder.file(tree)
    found = {one for one in (*run.findings, *builder.findings) if not source.causes(one)}
    told = sorted(found.union(source.findings))
    if run.stumble and not told:  # what was not read as it is written is never passed over in silence
        told = [MtxFinding(*run.stumble, "UNEXPECTED", "this line cannot be read as it is written")]
    # TOO_DEEP is where reading stopped; it is told even where it is not among the first.
    told = [one for index, one in enumerate(told) if index < MAX_FINDINGS or one.code == "TOO_DEEP"]
    return Parsed(text, file, tuple(told[-MAX_FINDINGS:]), run.rows, run.comments, frozenset(run.broken))


_OF_WHOLE_FILES = ("V14", "V15")  # a digest and a reach that follow from every line


def findings_of(parsed: Parsed, *, name: str = "", strict: bool = False) -> tuple[MtxFinding, ...]:
    """The findings of a parsed file and of its checks, in the order of their places, at most 200.

    name, strict: as `check` takes them. What only follows from an error in the text is left out: checks of a
    line that could not be read to its end, of the whole of a file that is not whole, and of a file of which
    nothing could be read.
    """
    if parsed.ok:
        return tuple(_exact(parsed, check(parsed.file, name=name, strict=strict))[:MAX_FINDINGS])
    if not parsed.file.sections:
        return parsed.findings
    checks = (
        finding
        for finding in _exact(parsed, check(parsed.file, name=name, strict=strict))
        if finding.code not in _OF_WHOLE_FILES and finding.line not in parsed.broken
    )
    return tuple(sorted({*parsed.findings, *checks})[:MAX_FINDINGS])


def _exact(parsed: Parsed, checks: Sequence[MtxFinding]) -> list[MtxFinding]:
    """The same, each at the column of its own text, where a check names that of the words around it."""
    lines, exact, last = parsed.text.split("\n") if checks else [], [], dict[MtxFinding, int]()
    for finding in checks:
        if len(finding.text) > 1 and finding.line:
            start = last.get(finding, finding.column - 1)
            column = _word(lines[finding.line - 1], finding.text, start) + 1
            if column:
                last[finding] = column
                finding = replace(finding, column=column)
        exact.append(finding)
    return sorted(exact)


def _word(line: str, text: str, start: int) -> int:
    """Where a text stands in a line from an offset on, and not within a longer word; -1 for nowhere."""
    at = line.find(text, start)
    while at > 0 and f"{line[at - 1]}{text[0]}".isalnum():
        at = line.find(text, at + 1)
    return at
