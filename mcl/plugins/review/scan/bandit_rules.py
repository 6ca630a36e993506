"""Python judged by bandit's rules, in this process, on text that was already opened."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from executor.sandbox.redaction import visible
from mcl.plugins.review.scan.weights import ScanHit, remark

if TYPE_CHECKING:
    from mcl.plugins.review.scan.syntax import BanditIssue


# ---- bandit's rules, loaded once, and so that loading them does nothing else. As a program bandit finds its
# rules through stevedore, which writes a cache into the home of whoever runs it and takes rules of any other
# package that is installed. Here bandit's own are taken, and no file is written.

if TYPE_CHECKING:
    from bandit.core.context import Context
    from bandit.core.issue import Issue

    Rule: TypeAlias = Callable[..., Issue | None]

_GROUPS: Final = ("bandit.plugins", "bandit.blacklists")
_SQL: Final = "bandit.plugins.injection_sql"
_MARKED_SAFE: Final = "bandit.plugins.django_xss"
_MARK_SAFE_STEPS: Final = 200_000  # statements looked at for one call
_STATEMENTS: Final = tuple(
    (re.compile(begins, re.IGNORECASE), re.compile(ends, re.IGNORECASE))
    for begins, ends in (
        (r"select\s", r"from\s"),
        (r"delete\s+from\s", ""),
        (r"insert\s+into\s", r"values[\s(]"),
        (r"update\s", r"set\s"),
    )
)


@cache
def rules() -> Mapping[str, tuple[Rule, ...]]:
    """bandit's rules by what they look at: Call, Str, Import, ImportFrom, FunctionDef, Assert, ExceptHandler.

    Its rule about invisible characters is not among them: it stops at the first one of a file, and is one of
    our patterns, for all languages.
    """
    _import_bandit()
    from bandit.core.config import BanditConfig
    from bandit.core.test_set import BanditTestSet

    found: Mapping[str, list[Rule]] = BanditTestSet(BanditConfig()).tests  # without a file of settings
    sql = _own_copy(_SQL)
    sql._check_string = _like_sql  # type: ignore[attr-defined]
    return {
        kind: tuple(
            getattr(sql, one.__name__) if one.__module__ == _SQL else one
            for one in some
            if one.__module__.startswith("bandit.")
        )
        for kind, some in found.items()
        if kind != "File"
    }


def rules_for(text: str) -> Mapping[str, tuple[Rule, ...]]:
    """The same for one file. What judges mark_safe follows variables back through all that is assigned to
    them, which doubles with each; it gets a number of steps for each call."""
    found = rules()
    if "safestring" not in text:
        return found
    own = _own_copy(_MARKED_SAFE)
    evaluate, judge, steps = own.evaluate_var, own.django_mark_safe, 0

    def evaluate_var(*args: Any, **named: Any) -> Any:
        nonlocal steps
        steps += 1 + len(args[1].body)  # of the function, or the module, in which the variable is
        return steps <= _MARK_SAFE_STEPS and evaluate(*args, **named)

    def django_mark_safe(context: Context) -> Issue | None:
        nonlocal steps
        steps = 0
        issue: Issue | None = judge(context)
        return issue

    own.evaluate_var = evaluate_var  # type: ignore[attr-defined]
    django_mark_safe._test_id = judge._test_id  # type: ignore[attr-defined]
    calls = (django_mark_safe if one.__module__ == _MARKED_SAFE else one for one in found["Call"])
    return {**found, "Call": tuple(calls)}


def _own_copy(name: str) -> ModuleType:
    """A module once more, for ourselves: what is changed in it changes for nobody else."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _like_sql(text: str) -> bool:
    """What bandit's SIMPLE_SQL_RE says, in linear time: a text of many `select` takes that one the square."""
    for begins, ends in _STATEMENTS:
        if (found := begins.search(text)) and ends.search(text, found.end()):
            return True
    return False


def _import_bandit() -> None:
    if "bandit.core.extension_loader" in sys.modules:  # somebody else has it, with whatever rules it found
        return
    from stevedore import extension

    theirs, formatted = extension.ExtensionManager, warnings.formatwarning
    extension.ExtensionManager = _OwnRules  # type: ignore[misc,assignment]
    try:
        import bandit  # noqa: F401  # its extension_loader asks at once
    finally:
        extension.ExtensionManager = theirs  # type: ignore[misc]
        warnings.formatwarning = formatted  # bandit puts its own there


class _OwnRules:
    """Stands in for stevedore's ExtensionManager: what bandit itself declares, and no output formats."""

    def __init__(self, namespace: str, **options: object) -> None:
        from importlib.metadata import distribution

        declared = distribution("bandit").entry_points.select(group=namespace) if namespace in _GROUPS else ()
        self._found = [SimpleNamespace(name=one.name, plugin=one.load()) for one in declared]

    def __iter__(self) -> Iterator[SimpleNamespace]:
        return iter(self._found)

    def names(self) -> list[str]:
        return [one.name for one in self._found]


# ---- One text, judged.

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
    from mcl.plugins.review.scan.syntax import OutOfBoundsError, SyntaxWalk

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
