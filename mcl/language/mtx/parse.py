"""Text to tree, with every error of the file.

Lark drives an LALR parser over `grammars/mtx.lark`, which is fed line by line. Where a line is wrong, the
error is noted; the line is read again as it was most likely meant (a misspelt word as the nearest legal
one), or completed with stand-in tokens, or left out with what belongs to it, so that one mistake is told
once and the next line is read in the state that its author meant. A tree from a text with errors is only
good for further checks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mcl.language.mtx.ast import File
from mcl.language.mtx.build import Builder
from mcl.language.mtx.finding import Finding
from mcl.language.mtx.lexer import Word
from mcl.language.mtx.line import Line
from mcl.language.mtx.run import Run
from mcl.language.mtx.source import MAX_FINDINGS, read_source


@dataclass(frozen=True)
class Parsed:
    """A file's text, its tree, and what is wrong with it.

    rows: the words of each line that says something, by line number, for the formatter. comments: what
    follows them in the same line. broken: the lines that were not read to their end, of which the tree says
    no more than part.
    """

    text: str
    file: File
    findings: tuple[Finding, ...]
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
            findings = [Finding(1, 1, "EMPTY", "an empty file", hint="a skill begins with §SKILL")]
        return Parsed(text, File(), tuple(findings))
    run = Run(source.readable, _mend)
    tree = run.tree()
    builder = Builder(run.guessed)
    file = builder.file(tree)
    found = {one for one in (*run.findings, *builder.findings) if not source.causes(one)}
    told = sorted(found.union(source.findings))
    if run.stumble and not told:  # what was not read as it is written is never passed over in silence
        told = [Finding(*run.stumble, "UNEXPECTED", "this line cannot be read as it is written")]
    told = [one for index, one in enumerate(told) if index < MAX_FINDINGS or one.code == "TOO_DEEP"]
    return Parsed(text, file, tuple(told[-MAX_FINDINGS:]), run.rows, run.comments, frozenset(run.broken))


def _mend(run: Run, line: Line, position: int, first: bool) -> None:
    from mcl.language.mtx.recover import Recovery  # here, because a file without errors needs none of it

    Recovery(run, line, position).run(first=first)
