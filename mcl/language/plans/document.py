"""plan.yaml as YAML: plain values, and the place of each of them in the text.

Of YAML only what JSON also has: maps, lists, texts, numbers, true, false, null. No aliases (they grow without
end), no tags, no doubled keys, and no guessing: `yes`, `10:30` and `2026-11-21` are the texts that they look
like.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from mcl.language.mtx.source import Finding

MAX_BYTES = 256 * 1024  # of a plan.yaml; PyYAML reads some 100 KiB a second
Steps: TypeAlias = tuple[str | int, ...]

# What the two scanners below read differently, and how it is written instead.
_WRITTEN = {
    "\t": ("tab", 'blanks, or "\\t" in double quotes'),
    "\x85": ("line separator", '"\\N" in double quotes'),
    "\u2028": ("line separator", '"\\L" in double quotes'),
    "\u2029": ("line separator", '"\\P" in double quotes'),
    "\ufeff": ("byte order mark", '"\\uFEFF" in double quotes'),
}
_ODD = re.compile("|".join(_WRITTEN))
_CORE = (
    ("null", re.compile(r"~|null|"), ["~", "n", ""]),
    ("bool", re.compile(r"true|false"), ["t", "f"]),
    ("int", re.compile(r"-?(?:0|[1-9][0-9]*)"), list("-0123456789")),
    ("float", re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"), list("-0123456789")),
)


@dataclass(frozen=True)
class YamlFile:
    """A YAML document as plain values, with the places that they came from."""

    value: Any
    root: Any  # the yaml.Node of the whole; None for an empty file

    def at(self, steps: Steps, *, key: bool = False) -> tuple[int, int]:
        """Line and column (from 1) of the value at the end of `steps`, or of its key.

        Where the steps lead nowhere, the place of the last value on the way.
        """
        node, named = self.root, self.root
        for step in steps:
            if isinstance(node.value, list) and node.id == "mapping":
                pair = next((pair for pair in node.value if pair[0].value == step), None)
                if pair is None:
                    break
                named, node = pair
            elif node.id == "sequence" and isinstance(step, int) and step < len(node.value):
                named = node = node.value[step]
            else:
                break
        mark = (named if key else node).start_mark if node is not None else None
        return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def read_yaml(data: bytes) -> YamlFile | Finding:
    """Read a YAML file, or say what is wrong with it first. Never raises for what is in it."""
    if len(data) > MAX_BYTES:
        message = f"more than {MAX_BYTES} bytes; no plan needs as many"
        return Finding(0, 0, "PLAN_INVALID", message)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Finding(line, 1, "PLAN_INVALID", "not UTF-8 text", "", "save it as UTF-8")
    if odd := _ODD.search(text):
        line, column = text.count("\n", 0, odd.start()) + 1, odd.start() - text.rfind("\n", 0, odd.start())
        what, instead = _WRITTEN[odd[0]]
        return Finding(line, column, "PLAN_INVALID", f"a {what} in the text", odd[0], f"write {instead}")
    import yaml  # here, because a cached template needs none of it

    try:
        loader = _loader(yaml.__with_libyaml__)(text)
        root = loader.get_single_node()
        return YamlFile(None if root is None else loader.construct_document(root), root)
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        said = "nested too deep" if isinstance(error, RecursionError) else getattr(error, "problem", None)
        first = str(said or getattr(error, "reason", "") or error).split("\n")[0]
        return Finding(line, column, "PLAN_INVALID", f"not YAML that is read here: {first}")


@cache
def _loader(quick: bool) -> Any:
    """The loader: PyYAML's composer (it asks hooks for each node) and safe constructor, over the scanner of
    libyaml (`quick`) where there is one: it is ten times faster.
    """
    import yaml
    from yaml.composer import Composer, ComposerError
    from yaml.constructor import ConstructorError, SafeConstructor
    from yaml.resolver import BaseResolver

    class Hooks(Composer, SafeConstructor, BaseResolver):
        def compose_node(self, parent: Any, index: Any) -> Any:
            event: Any = self.peek_event()  # type: ignore[attr-defined]  # of the parser below
            mark: Any = event.start_mark
            if isinstance(event, yaml.events.AliasEvent):
                raise ComposerError(None, None, "aliases are not used here", mark)
            if getattr(event, "tag", None) is not None:
                raise ComposerError(None, None, "tags are not used here", mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key.value, str):
                    if key.value in seen:
                        problem = f"a second {key.value!r} in this map"
                        raise ConstructorError(None, None, problem, key.start_mark)
                    seen.add(key.value)
            return super().construct_mapping(node, deep)

    for name, pattern, first in _CORE:
        whole = re.compile(f"(?:{pattern.pattern})\\Z")
        Hooks.add_implicit_resolver(f"tag:yaml.org,2002:{name}", whole, first)

    if quick:

        class Quick(Hooks, yaml.cyaml.CParser):  # type: ignore[misc,name-defined]  # it has no types
            def __init__(self, text: str) -> None:
                yaml.cyaml.CParser.__init__(self, text)  # type: ignore[attr-defined]
                Composer.__init__(self)
                SafeConstructor.__init__(self)
                BaseResolver.__init__(self)

        return Quick

    class Plain(Hooks, yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
        def __init__(self, text: str) -> None:
            yaml.reader.Reader.__init__(self, text)
            yaml.scanner.Scanner.__init__(self)
            yaml.parser.Parser.__init__(self)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            BaseResolver.__init__(self)

    return Plain
