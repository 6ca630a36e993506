"""What the names of a syntax tree are bound to, scope by scope, and whether a value is all written here.

A value is *closed* where every part of it is a literal, a number, or what a guard made of it, whichever way
the code is run. What cannot be told is not closed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

MAX_STEPS: Final = 200_000  # nodes looked at for all questions about one file; then each is a no
MAX_DEPTH: Final = 60  # values in values
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES: Final = (*_FUNCTIONS, ast.ClassDef, ast.Module)
_HOLDERS: Final = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp)
_GROWS: Final = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
_OF_TEXT: Final = frozenset(
    {"capitalize", "casefold", "copy", "decode", "encode", "format", "format_map", "get", "items", "join"}
    | {"keys", "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace"}
    | {
        "rjust",
        "rpartition",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
        "strip",
        "title",
        "upper",
        "values",
        "zfill",
    }
)
_NUMBERS: Final = frozenset({"bool", "float", "hash", "id", "int", "len", "ord", "range"})
_SAME: Final = frozenset(
    {"dict", "enumerate", "frozenset", "list", "reversed", "set", "sorted", "str", "tuple", "zip"}
)
_HOLD: Final = (_SAME - {"str"}) | {"copy", "rsplit", "split", "splitlines"}
_READS: Final = _NUMBERS | _SAME | {"isinstance", "join", "print", "repr"}
_TRANSLATES: Final = frozenset({"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "pgettext"})

BoundValue = ast.expr | ast.alias | None
"""What a name is bound to, or an item of it; what imports it; None where the text does not say."""


@dataclass(slots=True)
class NameScope:
    """The names that are bound in a module, class or function. given: those handed to functions that may
    change what they hold."""

    values: dict[str, list[BoundValue]] = field(default_factory=lambda: defaultdict(list))
    given: set[str] = field(default_factory=set)


class NameBindings:
    """Those of one tree, whose nodes know what they are in (`_bandit_parent`)."""

    def __init__(self) -> None:
        self._scopes: dict[int, NameScope] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._steps = 0
        self._depth = 0

    def closed(self, value: ast.expr, guards: Collection[str] = ()) -> bool:
        """Is a value all written here? guards: functions whose result is as good."""
        return self._closed(value, frozenset(guards), set())

    def bound(self, name: ast.Name) -> list[BoundValue]:
        """What a name is bound to, in the scope that binds it."""
        for scope in self._around(name):
            if found := scope.values.get(name.id):
                self._steps += len(found)
                return found
        return []

    @property
    def spent(self) -> bool:
        """Has the file had its steps?"""
        return self._steps > MAX_STEPS

    def names(self, node: ast.AST) -> frozenset[str]:
        """All names and attributes in it, and those that it asks for by text."""
        if (found := self._names.get(id(node))) is None:
            some = list(ast.walk(node))
            self._steps += len(some)
            said = (
                getattr(one, "attr", "") or getattr(one, "id", "") or getattr(one, "value", "")
                for one in some
            )
            found = self._names[id(node)] = frozenset(map(str, said))
        return found

    def _closed(self, node: Any, guards: frozenset[str], asked: set[tuple[int, str]]) -> bool:
        self._steps += 1
        if node is None or self._steps > MAX_STEPS or self._depth > MAX_DEPTH:
            return False
        self._depth += 1
        try:
            return self._all_written(node, guards, asked)
        finally:
            self._depth -= 1

    def _all_written(self, node: Any, guards: frozenset[str], asked: set[tuple[int, str]]) -> bool:
        def all_of(some: list[Any]) -> bool:
            return all(self._closed(one, guards, asked) for one in some)

        match node:
            case ast.Constant() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return True
            case (
                ast.JoinedStr(values=parts)
                | ast.List(elts=parts)
                | ast.Tuple(elts=parts)
                | ast.Set(elts=parts)
            ):
                return all_of(parts)
            case ast.BoolOp(values=parts):
                return all_of(parts)
            case ast.Dict(values=parts):
                return all_of(parts)
            case ast.FormattedValue(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
                return all_of([value])
            case ast.UnaryOp(operand=value) | ast.Subscript(value=value):  # what a table of literals holds
                return all_of([value])
            case ast.IfExp(body=one, orelse=other):
                return all_of([one, other])
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if any(map(_repeated, (left, right))):
                return all_of([left if _repeated(left) else right])
            case ast.BinOp(left=left, right=right):
                return all_of([left, right])
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return all_of([node.elt])
            case ast.Call():
                return self._called(node, guards, asked)
            case ast.Name():
                return self._named(node, guards, asked)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self._own(node, name, guards, asked)
        return False

    def _called(self, node: ast.Call, guards: frozenset[str], asked: set[tuple[int, str]]) -> bool:
        name = called(node)
        if self._guards(node, guards):
            return True
        given = [*node.args, *(one.value for one in node.keywords)]
        if isinstance(node.func, ast.Name):
            if self.bound(node.func) and name not in _TRANSLATES:
                return False
            if name in _NUMBERS:
                return True
            return name in _SAME | _TRANSLATES and all(self._closed(one, guards, asked) for one in given)
        if not isinstance(node.func, ast.Attribute) or name not in _OF_TEXT:
            return False
        return all(self._closed(one, guards, asked) for one in (node.func.value, *given))

    def _named(self, node: ast.Name, guards: frozenset[str], asked: set[tuple[int, str]]) -> bool:
        for scope in self._around(node):
            if values := scope.values.get(node.id):
                break
        else:
            return False
        if (id(scope), node.id) in asked:  # it is made of itself and of what is asked about besides
            return True
        asked.add((id(scope), node.id))
        if guards:  # in the same scope, if not on each way
            guarded = [one for one in values if self._guarded(one, guards)]
            if any(self._closed(one, guards, asked) for one in guarded):
                return True
        if node.id in scope.given and any(map(_holds_more, values)):
            return False
        return all(self._closed(one, guards, asked) for one in values)

    def _guarded(self, value: BoundValue, guards: frozenset[str]) -> bool:
        """Is there a guard in it?"""
        if value is None:
            return False
        some = list(ast.walk(value))
        self._steps += len(some)
        return any(isinstance(one, ast.Call) and self._guards(one, guards) for one in some)

    def _guards(self, node: ast.Call, guards: frozenset[str]) -> bool:
        """Is it a call of a guard, and of none that this text made?"""
        if called(node) not in guards:
            return False
        func = node.func
        return not isinstance(func, ast.Name) or all(isinstance(one, ast.alias) for one in self.bound(func))

    def _own(self, node: ast.AST, name: str, guards: frozenset[str], asked: set[tuple[int, str]]) -> bool:
        """An attribute that the class binds, and no method of it."""
        inside: Any = node
        while inside is not None and not isinstance(inside, ast.ClassDef):
            inside = getattr(inside, "_bandit_parent", None)
        if inside is None:
            return False
        values = self._scope(inside).values
        if not values.get(name) or f".{name}" in values:
            return False
        if any(isinstance(one, ast.Constant) and not one.value for one in values[name]):
            return False  # a place for what somebody else puts there
        return all(self._closed(one, guards, asked) for one in values[name])

    def _around(self, node: Any) -> Iterator[NameScope]:
        """The scopes a name is looked for in: its own, and those around it but for classes."""
        first, inside = True, node
        while (inside := getattr(inside, "_bandit_parent", None)) is not None:
            if isinstance(inside, _SCOPES):
                if first or not isinstance(inside, ast.ClassDef):
                    yield self._scope(inside)
                first = False

    def _scope(self, node: Any) -> NameScope:
        if (found := self._scopes.get(id(node))) is None:
            found = self._scopes[id(node)] = NameScope()
            self._steps += _collect(node, found)
        return found


def called(node: ast.Call) -> str:
    """The last part of the name of what is called; "" where it has none."""
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def inside(scope: Any) -> Iterator[Any]:
    """The nodes of a scope, less those of scopes in it; these themselves are among them."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _collect(node: Any, scope: NameScope) -> int:
    """Fill a scope; the number of nodes looked at."""
    values = scope.values
    count = 0
    if isinstance(node, _FUNCTIONS):
        some = node.args
        for given in (*some.posonlyargs, *some.args, *some.kwonlyargs, some.vararg, some.kwarg):
            if given is not None:
                values[given.arg].append(None)
    for one in inside(node):
        count += 1
        match one:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _bind(values, target, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                _bind(values, target, value)
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                _bind(values, target, value)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                _bind(values, one.target, one.iter)
            case ast.withitem(context_expr=value, optional_vars=target) if target is not None:
                _bind(values, target, value)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                values[one.name].append(None)
            case ast.alias():
                values[(one.asname or one.name).partition(".")[0]].append(one)
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                values[name].append(None)
            case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                values[name].append(None)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    values[name].append(None)
            case ast.Call():
                _handed(one, scope)
    for one in ast.walk(node):  # what those within bind of it
        count += 1
        if isinstance(one, ast.Attribute) and isinstance(node, ast.ClassDef):
            if not isinstance(one.ctx, ast.Load):
                values[f".{one.attr}"].append(None)
        elif isinstance(one, ast.Global if isinstance(node, ast.Module) else ast.Nonlocal):
            for name in one.names:
                values[name].append(None)
    return count


def _bind(values: dict[str, list[BoundValue]], target: Any, value: BoundValue) -> None:
    if isinstance(target, ast.Name):
        values[target.id].append(value)
    elif isinstance(target, ast.Starred):
        _bind(values, target.value, value)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        values[target.value.id].append(value)
    elif isinstance(target, ast.Tuple | ast.List):
        parts: list[Any] = [value] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            parts = list(value.elts)
        for one, part in zip(target.elts, parts, strict=True):
            _bind(values, one, part)


def _handed(call: ast.Call, scope: NameScope) -> None:
    func = call.func
    some = [*call.args, *(one.value for one in call.keywords)]
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.attr in _GROWS:
        scope.values[func.value.id].extend(some)
    elif called(call) not in _READS:
        scope.given |= {one.id for one in some if isinstance(one, ast.Name)}


def _holds_more(value: BoundValue) -> bool:
    """May who is given it put more into it?"""
    return isinstance(value, _HOLDERS) or (isinstance(value, ast.Call) and called(value) in _HOLD)


def _repeated(node: ast.expr) -> bool:
    """Is it a text or a list, that a number repeats?"""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    return isinstance(node, ast.List | ast.Tuple)
