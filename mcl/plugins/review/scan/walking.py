"""A syntax tree shown to bandit's rules, node by node, within bounds.

bandit's own visitor calls itself for each level, computes the lines of every node as a list, and copies its
context for each rule: a file of data takes it the square of its length, a deep one overflows the stack. This
one shows the same nodes in the same order.
"""

from __future__ import annotations

import ast
import io
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mcl.plugins.review.scan.around import Around

if TYPE_CHECKING:
    from mcl.plugins.review.scan.plugins import Rule

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
class Issue:
    """What a rule of bandit said of a node. severity and confidence: LOW, MEDIUM, HIGH, UNDEFINED."""

    rule: str
    severity: str
    confidence: str
    first: int
    last: int
    line: int
    text: str
    node: ast.AST = field(compare=False, repr=False)
    around: Around = field(compare=False, repr=False)


@dataclass(slots=True)
class Walk:
    """One file's. issues so far; failed: rules that raised, with their lines."""

    rules: Mapping[str, tuple[Rule, ...]]
    issues: list[Issue] = field(default_factory=list)
    failed: list[tuple[str, int]] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)
    around: Around = field(default_factory=Around)

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
            Issue(*said, min(first, line), max(last, line), line, str(issue.text), node, self.around)
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


def _parent(node: Any) -> Any:
    return node._bandit_parent


def _lines(node: Any) -> tuple[int, int]:
    """The lines that a finding is about: of a function its head, of a text what it is put together to."""
    if isinstance(node, ast.FunctionDef):
        return node.lineno, max(node.lineno, node.body[0].lineno - 1)
    if isinstance(node, ast.Constant):
        above = _parent(node)
        if isinstance(above, ast.expr) and not isinstance(above, _IN_PARTS):
            node = above
    return node.lineno, node.end_lineno or node.lineno
