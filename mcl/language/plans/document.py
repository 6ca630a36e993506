"""plan.yaml as YAML: plain values, and the place of each of them in the text.

Of YAML only what JSON also has: maps, lists, texts, numbers, true, false, null. No aliases (they grow without
end), no tags, no doubled keys, and no guessing: `yes`, `10:30` and `2026-11-21` are the texts that they look
like.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mcl.core.yaml import FileFlaw, ListNode, MapNode, Node, read_tree, text_of
from mcl.language.mtx.source import MtxFinding

MAX_BYTES = 256 * 1024  # of a plan.yaml
_DEPTH: Final = 128  # lists and maps in one another: a node of a plan takes two
Steps: TypeAlias = tuple[str | int, ...]

# Narrower than YAML's core schema: a skill's author may mean 010 or True as a text.
_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FRACTION: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class YamlFile:
    """A YAML document as plain values, with the places that they came from."""

    value: Any
    root: Node | None  # None for an empty file

    def at(self, steps: Steps, *, key: bool = False) -> tuple[int, int]:
        """Line and column (from 1) of the value at the end of `steps`, or of its key.

        Where the steps lead nowhere, the place of the last value on the way.
        """
        node, named = self.root, self.root
        for step in steps:
            if isinstance(node, MapNode):
                pair = next((pair for pair in node.pairs if pair[0].text == step), None)
                if pair is None:
                    break
                named, node = pair
            elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node.items):
                named = node = node.items[step]
            else:
                break
        place = named if key else node
        return (place.line, place.column) if place is not None else (1, 1)


def read_yaml(data: bytes) -> YamlFile | MtxFinding:
    """Read a YAML file, or say what is wrong with it first. Never raises for what is in it."""
    if len(data) > MAX_BYTES:
        message = f"more than {MAX_BYTES} bytes; no plan needs as many"
        return MtxFinding(0, 0, "PLAN_INVALID", message)
    text = text_of(data)
    if isinstance(text, FileFlaw):
        return _finding(text)
    root, flaws = read_tree(text, aliases=0, depth=_DEPTH)
    if flaws:
        return _finding(flaws[0])
    try:
        return YamlFile(None if root is None else _value(root), root)
    except ValueError as error:  # a number of thousands of digits
        return MtxFinding(0, 0, "PLAN_INVALID", f"not YAML that is read here: {error}")


def _finding(flaw: FileFlaw) -> MtxFinding:
    return MtxFinding(flaw.line, flaw.column, "PLAN_INVALID", flaw.message)


def _value(node: Node) -> Any:
    if isinstance(node, ListNode):
        return [_value(item) for item in node.items]
    if isinstance(node, MapNode):
        return {key.text: _value(value) for key, value in node.pairs}
    if not node.plain:
        return node.text
    if node.text in _WORDS:
        return _WORDS[node.text]
    if _INTEGER.fullmatch(node.text):
        return int(node.text)
    return float(node.text) if _FRACTION.fullmatch(node.text) else node.text
