"""A syntax tree shown to bandit's rules, node by node, within bounds.

bandit's own visitor calls itself for each level, computes the lines of every node as a list, and copies its
context for each rule: a file of data takes it the square of its length, a deep one overflows the stack. This
one shows the same nodes in the same order.
"""

from __future__ import annotations

import ast
import io
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mcl.plugins.review.scan.bindings import NameBindings, called

if TYPE_CHECKING:
    from mcl.plugins.review.scan.bandit_rules import Rule


# ---- What stands around a result of bandit and takes the danger from it, read off the syntax tree.

_DEPTH: Final = 5  # names that are followed
_OPENS: Final = frozenset({"open", "open_code"})
_READS: Final = frozenset({"read", "read_text", "read_bytes"})
_TEXTS: Final = frozenset({"decode", "encode", "strip", "rstrip", "lstrip", "replace"})
_ANY_OBJECT: Final = frozenset(
    {"CFullLoader", "CLoader", "CUnsafeLoader", "FullLoader", "Loader", "UnsafeLoader"}
)
_IMPORTS: Final = frozenset({"exec_module", "load_module"})  # what importlib asks of who loads a module
_FILTERS: Final = frozenset({"data_filter", "extraction_filter", "tar_filter"})
_SIZES: Final = frozenset({"block_size", "digest_size", "name"})


class SyntaxContext:
    """The questions about one file. Each may be asked of any node of its tree."""

    def __init__(self) -> None:
        self._bindings = NameBindings()

    def holds(self, question: str, node: ast.AST, guards: Collection[str] = ()) -> bool:
        """No where answering takes more than the steps of a file. Raises KeyError for a question that is
        none."""
        ask, bindings = QUESTIONS[question], self._bindings
        return not bindings.spent and ask(self, node, guards) and not bindings.spent

    def closed(self, node: ast.AST, guards: Collection[str]) -> bool:
        """What is run, sent or shown is all written here."""
        what = _argument(node) if isinstance(node, ast.Call) else _whole(node)
        return what is not None and self._bindings.closed(what, guards)

    def file(self, node: ast.AST, guards: Collection[str]) -> bool:
        """What is run as code is a file that is opened here, as `python FILE` would run it."""
        what = _argument(node)
        return what is not None and self._read(what, _DEPTH)

    def dumped(self, node: ast.AST, guards: Collection[str]) -> bool:
        """What is unpickled was pickled in the same function."""
        what = _argument(node)
        some = self._bindings.bound(what) if isinstance(what, ast.Name) else [what]
        return bool(some) and all(isinstance(one, ast.Call) and called(one) == "dumps" for one in some)

    def size(self, node: ast.AST, guards: Collection[str]) -> bool:
        """A hash of nothing is made, to be asked for its size."""
        above = _parent(node)
        bare = isinstance(node, ast.Call) and not node.args
        return bare and isinstance(above, ast.Attribute) and above.attr in _SIZES

    def loader(self, node: ast.AST, guards: Collection[str]) -> bool:
        """YAML is read by a loader that is named, and is none of those that make any object."""
        named = _named(node)
        given = named.get("Loader") or (
            node.args[1] if isinstance(node, ast.Call) and node.args[1:] else None
        )
        name = given.attr if isinstance(given, ast.Attribute) else getattr(given, "id", "")
        return bool(name) and name not in _ANY_OBJECT

    def imported(self, node: ast.AST, guards: Collection[str]) -> bool:
        """Code is run where importlib asks for it: it is a module that is imported."""
        above = _function(node)
        return isinstance(above, ast.FunctionDef) and above.name in _IMPORTS

    def filtered(self, node: ast.AST, guards: Collection[str]) -> bool:
        """What is unpacked is filtered: by an argument, or by what the same function gives the archive.

        Or it is a ZIP archive, whose names Python keeps inside the folder by itself.
        """
        named = _named(node)
        if "filter" in named:
            return getattr(named["filter"], "value", "") != "fully_trusted"
        func = getattr(node, "func", None)
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            some = self._bindings.bound(func.value)
            if some and all(one is not None and "ZipFile" in self._bindings.names(one) for one in some):
                return True
        above = _function(node)
        return isinstance(above, ast.FunctionDef) and not _FILTERS.isdisjoint(self._bindings.names(above))

    def _read(self, node: Any, depth: int) -> bool:
        """Is it what a file holds that is opened here, or code compiled of that?"""
        if isinstance(node, ast.Name) and depth and not self._bindings.spent:
            some = self._bindings.bound(node)
            return bool(some) and all(self._read(one, depth - 1) for one in some)
        if not isinstance(node, ast.Call) or not depth or self._bindings.spent:
            return False
        name = called(node)
        if name == "compile" and node.args:
            return self._read(node.args[0], depth - 1)
        if not isinstance(node.func, ast.Attribute):
            return False
        if name in _TEXTS:
            return self._read(node.func.value, depth - 1)
        return name in _READS and (name != "read" or self._opened(node.func.value))

    def _opened(self, node: Any) -> bool:
        some = self._bindings.bound(node) if isinstance(node, ast.Name) else [node]
        return bool(some) and all(isinstance(one, ast.Call) and called(one) in _OPENS for one in some)


QUESTIONS: Final[Mapping[str, Callable[[SyntaxContext, ast.AST, Collection[str]], bool]]] = {
    "closed": SyntaxContext.closed,
    "dumped": SyntaxContext.dumped,
    "file": SyntaxContext.file,
    "filtered": SyntaxContext.filtered,
    "imported": SyntaxContext.imported,
    "loader": SyntaxContext.loader,
    "size": SyntaxContext.size,
}


def _argument(node: Any) -> ast.expr | None:
    """What a call is about: its first argument."""
    if not isinstance(node, ast.Call):
        return None
    if node.args:
        return node.args[0]
    named = _named(node)
    return named.get("args") or named.get("source") or named.get("command")


def _named(node: Any) -> dict[str | None, ast.expr]:
    """The arguments of a call that have names."""
    return {one.arg: one.value for one in node.keywords} if isinstance(node, ast.Call) else {}


def _function(node: Any) -> Any:
    """The function that it stands in, None where it stands in none."""
    while node is not None and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node = _parent(node)
    return node


def _whole(node: Any) -> ast.expr | None:
    """All that a text is put together to."""
    while True:
        above = _parent(node)
        if isinstance(above, ast.BinOp | ast.JoinedStr | ast.FormattedValue):
            node = above
        elif isinstance(above, ast.Attribute) and isinstance(_parent(above), ast.Call):
            node = _parent(above)
        else:
            return node if isinstance(node, ast.expr) else None


def _parent(node: Any) -> Any:
    return getattr(node, "_bandit_parent", None)


MAX_DEPTH: Final = 400  # nodes in nodes; what people write is below 100, and rules call themselves for each
MAX_NODES: Final = 400_000
MAX_STEPS: Final = 10_000_000  # what rules look at, about a microsecond each: counted, so a file is given up
# at the same node on every machine, however busy
MAX_SECONDS: Final = 60.0  # of this thread's processor: the last resort, for what is not counted
_JUDGED: Final = frozenset(
    (ast.Constant, ast.Call, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Assert, ast.ExceptHandler)
)
_IN_PARTS = ast.List | ast.Tuple | ast.Set | ast.Dict


class OutOfBoundsError(Exception):
    """The tree is larger than is looked at; says in what."""


@dataclass(frozen=True, slots=True)
class BanditIssue:
    """What a rule of bandit said of a node. severity and confidence: LOW, MEDIUM, HIGH, UNDEFINED."""

    rule: str
    severity: str
    confidence: str
    first: int
    last: int
    line: int
    text: str
    node: ast.AST = field(compare=False, repr=False)
    around: SyntaxContext = field(compare=False, repr=False)


@dataclass(slots=True)
class SyntaxWalk:
    """One file's. issues so far; failed: rules that raised, with their lines."""

    rules: Mapping[str, tuple[Rule, ...]]
    issues: list[BanditIssue] = field(default_factory=list)
    failed: list[tuple[str, int]] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)
    around: SyntaxContext = field(default_factory=SyntaxContext)

    def through(self, tree: ast.Module) -> None:
        """Show the whole tree to the rules. Raises OutOfBoundsError; what was found until then stays."""
        until = time.thread_time() + MAX_SECONDS
        nodes = steps = 0
        waiting: list[tuple[Any, int, int, int]] = [(tree, 0, 0, 0)]
        while waiting:
            node, depth, calls, sum_ = waiting.pop()
            below = _below(node)
            nodes += len(below)
            steps += calls + self._steps(node, sum_)
            if depth > MAX_DEPTH:
                raise OutOfBoundsError(f"nested deeper than {MAX_DEPTH} levels")
            if nodes > MAX_NODES:
                raise OutOfBoundsError(f"larger than {MAX_NODES:,} nodes")
            if steps > MAX_STEPS:
                raise OutOfBoundsError(f"not searched within {MAX_STEPS:,} steps")
            if time.thread_time() > until:
                raise OutOfBoundsError(f"not searched within {MAX_SECONDS:.0f} s")
            for child in below:
                child._bandit_parent = node  # rules look up by it
            if type(node) in _JUDGED:
                self._visit(node)
            below.reverse()
            calls += isinstance(node, ast.Call)  # of which a rule may look at all that is in them
            sum_ = (sum_ or _parts(node)) if isinstance(node, ast.BinOp) else 0
            waiting += [(child, depth + 1, calls, sum_) for child in below]

    def _steps(self, node: Any, sum_: int) -> int:
        """What rules look at for a node, about. sum_: the parts of the sum that it stands in, else 0."""
        if isinstance(node, ast.Call):
            return 50 + 20 * (len(node.args) + len(node.keywords)) + len(self.imports) // 5
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            return 1
        above = _parent(node)
        if isinstance(above, ast.Dict):  # it is looked for among the keys
            return 10 + len(above.keys) // 50
        return 10 + sum_ + (len(above.values) // 10 if isinstance(above, ast.JoinedStr) else 0)

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and not isinstance(_parent(node), ast.Expr):  # a docstring
                self._show("Str", node, str=node.value)
        elif isinstance(node, ast.Call):
            self._show("Call", node, call=node, **self._called(node))
        elif isinstance(node, ast.Import):
            self._imported(node, "")
        elif isinstance(node, ast.ImportFrom):
            self._imported(node, node.module or "")
        elif isinstance(node, ast.FunctionDef):
            self._show("FunctionDef", node, function=node, qualname=node.name, name=node.name)
        elif isinstance(node, ast.Assert | ast.ExceptHandler):
            self._show(type(node).__name__, node)

    def _called(self, node: ast.Call) -> dict[str, str]:
        from bandit.core.utils import get_call_name

        name: str = get_call_name(node, self.aliases)
        return {"qualname": name, "name": name.rpartition(".")[2]}

    def _imported(self, node: ast.Import | ast.ImportFrom, module: str) -> None:
        more: dict[str, object] = {}
        for one in node.names:
            whole = f"{module}.{one.name}" if module else one.name
            if one.asname or module:
                self.aliases[one.asname or one.name] = whole
            self.imports.add(whole)
            more = {"module": module, "name": one.name} if module else {"module": one.name}
        self._show("ImportFrom" if module else "Import", node, **more)

    def _show(self, kind: str, node: Any, **more: object) -> None:
        from bandit.core.context import Context

        said = {"imports": self.imports, "import_aliases": self.aliases, "node": node, "lineno": node.lineno}
        said |= {"col_offset": node.col_offset, "filename": "module.py", "file_data": io.BytesIO(), **more}
        context = Context(said)
        for rule in self.rules.get(kind, ()):
            try:
                settings = getattr(rule, "_config", None)
                issue: Any = rule(context) if settings is None else rule(context, settings)
                if issue is not None:
                    self._take(issue, rule, node)
            except Exception:  # noqa: BLE001  # a rule that fails is said, and the others go on
                self.failed.append((str(getattr(rule, "_test_id", rule.__name__)), node.lineno))

    def _take(self, issue: Any, rule: Any, node: Any) -> None:
        first, last = _lines(node)
        line = int(issue.lineno) if issue.lineno is not None else node.lineno
        name = str(issue.test_id or rule._test_id)
        said = name, str(issue.severity), str(issue.confidence)
        self.issues.append(
            BanditIssue(*said, min(first, line), max(last, line), line, str(issue.text), node, self.around)
        )


def _below(node: Any) -> list[Any]:
    found: list[Any] = []
    kind: Any = type(node)
    for name in _fields(kind):
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """Where a node of this kind has others in it; what it is done with (`ctx`, `op`) holds nothing."""
    if kind in (ast.Name, ast.Constant):
        return ()
    return tuple(name for name in kind._fields if name not in ("ctx", "op", "ops"))


def _parts(node: Any) -> int:
    """How many parts a sum is put together of, a long text counting for its length."""
    count, waiting = 0, [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp):
            waiting += (node.left, node.right)
        value = getattr(node, "value", None)
        count += 1 + (len(value) // 200 if isinstance(value, str) else 0)
    return count


def _lines(node: Any) -> tuple[int, int]:
    """The lines that a finding is about: of a function its head, of a text what it is put together to."""
    if isinstance(node, ast.FunctionDef):
        return node.lineno, max(node.lineno, node.body[0].lineno - 1)
    if isinstance(node, ast.Constant):
        above = _parent(node)
        if isinstance(above, ast.expr) and not isinstance(above, _IN_PARTS):
            node = above
    return node.lineno, node.end_lineno or node.lineno
