"""plan.yaml as YAML: plain values, and the place of each of them in the text.

Of YAML only what JSON also has: maps, lists, texts, numbers, true, false, null. No aliases (they grow without
end), no tags, no doubled keys, and no guessing: `yes`, `10:30` and `2026-11-21` are the texts that they look
like.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcl.mtx.finding import Finding

MAX_BYTES = 256 * 1024  # of a plan.yaml; PyYAML reads some 100 KiB a second
Steps: TypeAlias = tuple[str | int, ...]

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
    import yaml  # here, because a cached template needs none of it

    try:
        loader = _loader(yaml)(data)
        root = loader.get_single_node()
        return YamlFile(None if root is None else loader.construct_document(root), root)
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        said = "nested too deep" if isinstance(error, RecursionError) else getattr(error, "problem", None)
        first = str(said or getattr(error, "reason", "") or error).split("\n")[0]
        return Finding(line, column, "PLAN_INVALID", f"not YAML that is read here: {first}")


def _loader(yaml: Any) -> Any:
    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # loaded late (C: asks no hooks)
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  # PyYAML's own way, filled below

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            if isinstance(event, yaml.events.AliasEvent):
                raise yaml.composer.ComposerError(None, None, "aliases are not used here", event.start_mark)
            if getattr(event, "tag", None) is not None:
                raise yaml.composer.ComposerError(None, None, "tags are not used here", event.start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key.value, str):
                    if key.value in seen:
                        problem = f"a second {key.value!r} in this map"
                        raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                    seen.add(key.value)
            return super().construct_mapping(node, deep)

    for name, pattern, first in _CORE:
        whole = re.compile(f"(?:{pattern.pattern})\\Z")
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", whole, first)
    return Loader
