"""What stands around a result of bandit and takes the danger from it, read off the syntax tree.

Each is a question about the node that a rule pointed at; weights.toml names them (`given`), and says what the
result amounts to where the answer is yes. What cannot be told is no.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from mcl.plugins.review.scan.bindings import Bindings, called

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


class Around:
    """The questions about one file. Each may be asked of any node of its tree."""

    def __init__(self) -> None:
        self._bindings = Bindings()

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


QUESTIONS: Final[Mapping[str, Callable[[Around, ast.AST, Collection[str]], bool]]] = {
    "closed": Around.closed,
    "dumped": Around.dumped,
    "file": Around.file,
    "filtered": Around.filtered,
    "imported": Around.imported,
    "loader": Around.loader,
    "size": Around.size,
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
