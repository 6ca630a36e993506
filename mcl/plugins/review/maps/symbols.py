"""What a text offers to others, imports and shows of itself, by its language."""

from __future__ import annotations

import ast
import gc
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from executor.core.tables import table_beside
from executor.sandbox.redaction import Redactor
from mcl.core.text import cut
from mcl.plugins.review.maps.maps import FileSymbol

# ---- What a text shows, and how much of it is kept.

MOST_NAME: Final = 200  # characters of a name, of a signature
_REDACTOR: Final = Redactor()


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What a text shows.

    symbols: public ones in the order of their lines. imports: what it imports, as its language writes it; for
    Python ``module|name``. marks: what roles ask for. provides: the name that others import its folder by (of
    a go.mod). read: ast, table, or "" where nobody looked for symbols. cut: were there more than are told?
    """

    symbols: tuple[FileSymbol, ...] = ()
    imports: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    provides: str = ""
    read: str = ""
    cut: bool = False


def one_line(text: str) -> str:
    """A signature as it is kept: on one line, printable, without secrets, cut."""
    line = " ".join(text[: 4 * MOST_NAME].split())
    line = "".join(char if char.isprintable() else "\ufffd" for char in line)
    line = _REDACTOR.text(line)
    return cut(line, MOST_NAME)


_LINE: Final = 400  # characters of a line that are looked at
_BLANKS: Final = re.compile(r"\s+")
_QUOTED: Final = re.compile(r"\"[^\"]*\"?|'[^']*'?")
_GROUP: Final = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True)
class LanguageTable:
    """What lines of a language show. block: how a block comment begins and ends; resolve: which way of
    `survey.py` finds the file that an import names."""

    block: tuple[str, str] | None
    symbols: tuple[tuple[str, re.Pattern[str]], ...]
    imports: tuple[re.Pattern[str], ...]
    marks: Mapping[str, re.Pattern[str]]
    provides: re.Pattern[str] | None
    resolve: str
    any: re.Pattern[str]


@cache
def tables() -> Mapping[str, LanguageTable]:
    """The tables by the names of their languages."""
    said = table_beside(__file__, "languages")
    return {name: _table(one, said) for name, one in said.items()}


def _table(one: Mapping[str, Any], all: Mapping[str, Any]) -> LanguageTable:
    like: Mapping[str, Any] = all[one["like"]] if "like" in one else {}
    symbols = [*one["symbols"], *like.get("symbols", ())]
    imports = [*one.get("imports", ()), *like.get("imports", ())]
    marks = {**like.get("marks", {}), **one.get("marks", {})}
    provides = one.get("provides", "")
    every = [
        *(each["pattern"] for each in symbols),
        *imports,
        *marks.values(),
        *([provides] if provides else []),
    ]
    block = one.get("block") or like.get("block")
    return LanguageTable(
        block=(block[0], block[1]) if block else None,
        symbols=tuple((each["kind"], re.compile(each["pattern"])) for each in symbols),
        imports=tuple(re.compile(each) for each in imports),
        marks={name: re.compile(each) for name, each in marks.items()},
        provides=re.compile(provides) if provides else None,
        resolve=one.get("resolve", ""),
        # Most lines show nothing: one look at them all is quicker than one for each.
        any=re.compile("|".join(f"(?:{_GROUP.sub('(?:', each)})" for each in every)),
    )


def read_lines(text: str, table: LanguageTable) -> TextFacts:
    """What the lines of a text show; takes time in proportion to its length."""
    symbols: list[FileSymbol] = []
    imports: list[str] = []
    marks: set[str] = set()
    provides = ""
    for number, line in _lines(text, table.block):
        if table.any.match(line) is None:
            continue
        symbols += _line_symbols(line, number, table)
        for pattern in table.imports:
            if (found := pattern.match(line)) is not None:
                imports.append(" ".join(found[1].split()))
                break
        marks |= {name for name, pattern in table.marks.items() if pattern.match(line)}
        if table.provides is not None and not provides and (found := table.provides.match(line)) is not None:
            provides = found[1]
    return TextFacts(tuple(symbols), tuple(imports), tuple(marks), provides, read="table")


def _line_symbols(line: str, number: int, table: LanguageTable) -> Iterator[FileSymbol]:
    for kind, pattern in table.symbols:
        if (found := pattern.match(line)) is None:
            continue
        given = found.groupdict()
        if given.get("names") is not None:
            names = [one.split()[-1] for one in given["names"].split(",") if one.split()]
            yield from (FileSymbol(one, kind, number) for one in names if one.isidentifier())
        elif not given["name"].startswith("_"):
            name = f"{given['of']}.{given['name']}" if given.get("of") else given["name"]
            yield FileSymbol(name, kind, number, _line_signature(name, line[found.end("name") :]))
        return


def _line_signature(name: str, rest: str) -> str:
    """What follows the name where it is declared; what is quoted there may be a secret."""
    told = _QUOTED.sub('"…"', rest).partition("{")[0].rstrip(" ;:=")
    return one_line(name + told) if told else ""


def _lines(text: str, block: tuple[str, str] | None) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without those that begin inside a block comment. A run of blanks is one: no
    pattern then takes longer for a line that is made of them."""
    inside = False
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole[:_LINE]
        if block is not None:
            begins, ends = block
            if inside:
                inside = ends not in whole
                continue
            if begins in whole:
                inside = ends not in whole.rpartition(begins)[2]
                if line.lstrip().startswith(begins):
                    continue
        if line.strip():
            yield number, _BLANKS.sub(" ", line)


# ---- One text, read: Python by its syntax tree, other languages by tables of lines.

# ---- Python, by its syntax tree. Nothing of it runs.

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_COMMAND_LINES: Final = frozenset({"argparse", "click", "docopt", "fire", "optparse", "typer"})
# What a module does that asks for arguments; one that only hands a library on does not.
_ASKING: Final = re.compile(
    r"\b(?:ArgumentParser|OptionParser|Typer|docopt|Fire)\(|@(?:\w+\.){0,3}(?:command|group|option|argument)\("
)
_LONG: Final = 120  # characters of one annotation
_DEEP: Final = 200  # nodes of one annotation


def read_python(text: str) -> TextFacts | None:
    """What a Python file shows, None where it cannot be parsed (another version, nested too deeply)."""
    try:
        with _uncollected(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that may mean something else in a Python to come
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    imports: list[str] = []
    marks: set[str] = set()
    asks = False
    for statement in _statements(tree.body):
        for one in _imported(statement):
            imports.append(one)
            if one.lstrip(".").partition("|")[0].partition(".")[0] in _COMMAND_LINES:
                asks = True
    if asks and _ASKING.search(text):
        marks.add("asks arguments")
    if any(_is_main_guard(one) for one in tree.body):
        marks.add("main guard")
    said = _said_public(tree.body)
    symbols = tuple(_symbols(tree.body, said))
    return TextFacts(symbols, tuple(imports), tuple(marks), read="ast")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for circles: a tree has none, and looking through it takes a third of the time."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, also those inside of others; expressions are not entered."""
    waiting = list(body)
    while waiting:
        one = waiting.pop()
        yield one
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            for below in getattr(one, name, ()):
                if isinstance(below, ast.ExceptHandler | ast.match_case):
                    waiting += below.body
                elif isinstance(below, ast.stmt):
                    waiting.append(below)


def _imported(one: ast.stmt) -> Iterator[str]:
    if isinstance(one, ast.Import):
        yield from (f"{alias.name}|" for alias in one.names)
    elif isinstance(one, ast.ImportFrom):
        module = "." * one.level + (one.module or "")
        yield from (f"{module}|{'' if alias.name == '*' else alias.name}" for alias in one.names)


def _is_main_guard(one: ast.stmt) -> bool:
    test = one.test if isinstance(one, ast.If) else None
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides) and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )


def _said_public(body: Iterable[ast.stmt]) -> dict[str, int] | None:
    """The names of ``__all__`` with its line, None where there is none that can be read."""
    found: dict[str, int] | None = None
    for one in body:
        target: ast.expr | None = None
        if isinstance(one, ast.Assign) and len(one.targets) == 1:
            target = one.targets[0]
        elif isinstance(one, ast.AnnAssign | ast.AugAssign):
            target = one.target
        if not isinstance(target, ast.Name) or target.id != "__all__":
            continue
        value = getattr(one, "value", None)
        if not isinstance(value, ast.List | ast.Tuple):
            continue
        found = {} if found is None else found
        for item in value.elts:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                found[item.value] = item.lineno
    return found


def _symbols(body: Iterable[ast.stmt], said: dict[str, int] | None) -> Iterator[FileSymbol]:
    known: set[str] = set()
    for one in _top(body):
        for name, symbol, inside in _defined(one):
            known.add(name)
            if not (name in said if said is not None else _public(name)):
                continue
            yield symbol
            yield from (_method(name, method) for method in inside)
    for name, line in (said or {}).items():
        if name not in known:
            yield FileSymbol(name, "name", line)


def _top(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, with those of its conditions (of a version, of type checkers)."""
    waiting = list(body)[::-1]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, ast.If | ast.Try):
            handlers = [below for each in getattr(one, "handlers", ()) for below in each.body]
            waiting += [*one.body, *handlers, *one.orelse][::-1]


def _defined(one: ast.stmt) -> Iterator[tuple[str, FileSymbol, list[_Function]]]:
    if isinstance(one, _Function):
        yield one.name, FileSymbol(one.name, "function", one.lineno, _signature(one.name, one)), []
    elif isinstance(one, ast.ClassDef):
        methods = [below for below in one.body if isinstance(below, _Function) and _public(below.name)]
        bases = ", ".join(_written(base) for base in one.bases[:8])
        yield (
            one.name,
            FileSymbol(one.name, "class", one.lineno, one_line(f"{one.name}({bases})") if bases else ""),
            methods,
        )
    elif isinstance(one, ast.Assign | ast.AnnAssign):
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        for target in targets:
            if isinstance(target, ast.Name) and target.id != "__all__":
                kind = "constant" if target.id.isupper() else "name"
                typed = f"{target.id}: {_written(one.annotation)}" if isinstance(one, ast.AnnAssign) else ""
                yield target.id, FileSymbol(target.id, kind, one.lineno, one_line(typed)), []


def _method(of: str, one: _Function) -> FileSymbol:
    name = f"{of}.{one.name}"
    return FileSymbol(name, "method", one.lineno, _signature(name, one))


def _public(name: str) -> bool:
    return not name.startswith("_")


def _signature(name: str, one: _Function) -> str:
    """Its name and parameters with their types; a default is only told to be there: it may be a secret."""
    given = one.args
    plain = [*given.posonlyargs, *given.args]
    first = len(plain) - len(given.defaults)
    parts: list[str] = []
    for place, each in enumerate(plain):
        parts.append(_parameter(each, place >= first))
        if place + 1 == len(given.posonlyargs):
            parts.append("/")
    if given.vararg:
        parts.append(f"*{_parameter(given.vararg, False)}")
    elif given.kwonlyargs:
        parts.append("*")
    parts += [
        _parameter(each, default is not None)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        parts.append(f"**{_parameter(given.kwarg, False)}")
    returns = f" -> {_written(one.returns)}" if one.returns else ""
    return one_line(f"{name}({', '.join(parts)}){returns}")


def _parameter(one: ast.arg, default: bool) -> str:
    typed = f": {_written(one.annotation)}" if one.annotation else ""
    return f"{one.arg}{typed}{' = …' if default and typed else '=…' if default else ''}"


def _written(one: ast.expr | None) -> str:
    if isinstance(one, ast.Name):  # most are: unparsing them would take ten times as long
        return one.id
    if one is None or _large(one):
        return "…"
    try:
        text = ast.unparse(one)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= _LONG else "…"


def _large(one: ast.AST) -> bool:
    return sum(1 for _, _ in zip(range(_DEEP + 1), ast.walk(one), strict=False)) > _DEEP


MOST_SYMBOLS: Final = 200  # of a file
MOST_IMPORTS: Final = 1000
MOST_TEXT: Final = 1 << 20  # characters that are looked through for symbols
_HEAD: Final = 2000  # characters in which a text says that a program wrote it
_HEAD_LINES: Final = 6
_LONG_TEXT, _LONG_LINE = 2000, 300  # characters of a text, and of its lines on the average
_GENERATED: Final = re.compile(
    r"@generated\b|\b(?:auto-?generated|generated (?:by|from|file|code|automatically)|automatically generated"
    r"|machine[- ]generated)\b",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|\.\.)")


def read_text(text: str, language: str) -> TextFacts:
    """Read one text; never raises on what stands in it.

    Args:
        text: the whole of it; of more than 1 MiB no symbols are looked for.
        language: its name, as in executor/tools/project/languages.toml.
    """
    found: TextFacts | None = None
    if len(text) <= MOST_TEXT:
        if language == "python":
            found = read_python(text)
        if found is None and (table := tables().get(language)) is not None:
            found = read_lines(text, table)
    found = found or TextFacts()
    marks = tuple(sorted({*found.marks, *_general(text)}))
    symbols = tuple(sorted(_printable(found.symbols), key=lambda one: one.line))
    imports = tuple(
        dict.fromkeys(one for one in found.imports if one.isprintable() and len(one) <= MOST_NAME)
    )
    return TextFacts(
        symbols[:MOST_SYMBOLS],
        imports[:MOST_IMPORTS],
        marks,
        found.provides,
        found.read,
        cut=len(symbols) > MOST_SYMBOLS or len(text) > MOST_TEXT,
    )


def _general(text: str) -> Iterator[str]:
    if text.startswith("#!"):
        yield "shebang"
    head = text[:_HEAD].split("\n")[:_HEAD_LINES]
    if len(text) > _LONG_TEXT and len(text) > _LONG_LINE * (text.count("\n") + 1):
        yield "long lines"
    if any(_COMMENT.match(line) and _GENERATED.search(line[:400]) for line in head):
        yield "generated"


def _printable(symbols: Iterable[FileSymbol]) -> Iterator[FileSymbol]:
    return (one for one in symbols if one.name.isprintable() and 0 < len(one.name) <= MOST_NAME)
