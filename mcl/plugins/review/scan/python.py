"""Python judged by bandit's rules, in this process, on text that was already opened."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from executor.sandbox.redaction import visible
from mcl.plugins.review.scan.weights import ScanHit, remark

if TYPE_CHECKING:
    from mcl.plugins.review.scan.walking import BanditIssue

MAX_TEXT: Final = 600_000  # characters …
MAX_WORDS: Final = 250_000  # … and words and signs: a syntax tree takes up to 1 KB of memory for each
_DENSE: Final = 200_000  # characters from which words are counted
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_STANDS_IN: Final = "It was searched by patterns instead, which see less."


@dataclass(frozen=True, slots=True)
class PythonIssues:
    """What bandit said of a text, and what could not be judged. parsed: was there a tree?"""

    issues: tuple[BanditIssue, ...]
    remarks: tuple[ScanHit, ...]
    parsed: bool


def judged(text: str) -> PythonIssues:
    """Judge a text. Never raises for what it holds.

    Comments silence nothing (`# nosec`), and no file of settings is read.
    """
    if len(text) > MAX_TEXT:
        return _unparsed(1, f"This file is longer than {MAX_TEXT:,} characters and was not parsed.")
    if len(text) > _DENSE and sum(1 for _ in _WORD.finditer(text)) > MAX_WORDS:
        return _unparsed(1, f"This file has more than {MAX_WORDS:,} words and signs and was not parsed.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the text does badly, to whoever imports it
            tree = ast.parse(text)
    except SyntaxError as problem:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return _unparsed(problem.lineno or 1, f"This is no Python {version}: {_said(problem)}.")
    except (ValueError, RecursionError, MemoryError):
        return _unparsed(
            1, "This could not be parsed as Python: it is nested too deeply, or holds what no text does."
        )
    return _walked(text, tree)


def _walked(text: str, tree: ast.Module) -> PythonIssues:
    from mcl.plugins.review.scan.plugins import rules_for
    from mcl.plugins.review.scan.walking import OutOfBoundsError, SyntaxWalk

    walk, remarks, whole = SyntaxWalk(rules_for(text)), [], True
    try:
        walk.through(tree)
    except OutOfBoundsError as problem:
        whole = False
        remarks.append(remark("scan-bounds", 1, f"The syntax tree is {problem}. {_STANDS_IN}"))
    for rule, line in dict(reversed(walk.failed)).items():  # each with its first line
        remarks.append(
            remark("scan-failed", line, f"bandit's rule {rule} failed here, and may have missed something.")
        )
    return PythonIssues(tuple(walk.issues), tuple(remarks), whole)


def _unparsed(line: int, why: str) -> PythonIssues:
    return PythonIssues((), (remark("scan-unparsed", line, f"{why} {_STANDS_IN}"),), parsed=False)


def _said(problem: SyntaxError) -> str:
    """Python's own words for it, which may quote the text: its first line, and not much of it."""
    return visible((str(problem.msg).splitlines() or [""])[0][:120]).rstrip(".")
