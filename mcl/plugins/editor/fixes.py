"""Quick fixes: what a hint says, done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mcl.plugins.editor.diagnostics import Problem
from mcl.plugins.editor.document import Span

_MEANT = re.compile(r'did you mean "([^"]+)"\?')
_PROSE = ".prose"
_DIGEST = re.compile(r"digest=([0-9a-f]{64})")


class Fix(NamedTuple):
    """Write `text` instead of `span`; mends `problem`."""

    title: str
    span: Span
    text: str
    problem: Problem


def fixes(problems: Iterable[Problem], lines: Sequence[str], first: int, last: int) -> Iterator[Fix]:
    """The fixes for what is wrong in these lines (from 1, both included)."""
    for problem in problems:
        if not first <= problem.span.line <= last:
            continue
        line, start, stop = problem.span
        offending = lines[line - 1][start - 1 : stop - 1] if 0 < line <= len(lines) else ""
        if meant := _MEANT.search(problem.hint):
            span, text = _part(problem.span, offending, meant[1])
            yield Fix(f"Write {text}", span, text, problem)
        elif (digest := _DIGEST.search(problem.hint)) and offending:
            yield Fix("Write the digest of this file", problem.span, digest[1], problem)


def _part(span: Span, offending: str, meant: str) -> tuple[Span, str]:
    """What of the offending text is meant: less braces and `.prose`, and of `cortex.fnd` the last word
    only.
    """
    line, start, stop = span
    if offending.startswith("{") and offending.endswith("}"):
        start, stop, offending = start + 1, stop - 1, offending[1:-1]
        if offending.endswith(_PROSE) and not meant.endswith(_PROSE):
            stop, offending = stop - len(_PROSE), offending.removesuffix(_PROSE)
    head, dot, _ = offending.rpartition(".")
    if dot and "." not in meant:
        start += len(head) + 1
    if offending.endswith("[]") and not meant.endswith("[]"):
        stop -= 2
    return Span(line, start, stop), meant
