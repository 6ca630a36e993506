"""Argument lists with places for values: each value becomes a part of one argument, and never an option."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from executor.core.errors import ToolError

_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[a-z][a-z0-9_]{0,40})\}|[{}]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Element:
    """One argument of a template: fixed texts, with the name of a value between each two of them."""

    texts: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def alone(self) -> bool:
        """Is it one value and nothing else?"""
        return len(self.names) == 1 and not any(self.texts)


def parse(argv: Sequence[str]) -> tuple[Element, ...]:
    """Read a template. ``{{`` and ``}}`` are braces.

    Raises:
        ValueError: a brace that belongs to nothing, or a program that is a value.
    """
    elements = tuple(_element(text) for text in argv)
    if not elements or elements[0].names or not elements[0].texts[0]:
        raise ValueError("argv begins with a program, which is no value")
    return elements


def _element(text: str) -> Element:
    texts, names, end = [""], [], 0
    for found in _TOKEN.finditer(text):
        texts[-1] += text[end : found.start()]
        end = found.end()
        if found["name"]:
            names.append(found["name"])
            texts.append("")
        elif found[0] in ("{{", "}}"):
            texts[-1] += found[0][0]
        else:
            raise ValueError(f"{text!r} holds a brace that belongs to nothing; write {{{{ or }}}} for one")
    texts[-1] += text[end:]
    return Element(tuple(texts), tuple(names))


def expand(elements: Sequence[Element], values: Mapping[str, object], flags: Mapping[str, str]) -> list[str]:
    """The arguments, with the values in their places.

    Args:
        values: by name; an argument of the template that needs one which is left out is left out too.
        flags: by the name of a boolean, the option that it stands for.

    Raises:
        ToolError: VALUE_IS_OPTION (an argument begins with a value, and the value with ``-``), BAD_VALUE.
    """
    argv: list[str] = []
    for element in elements:
        if any(name not in values for name in element.names):
            continue
        if element.alone and (flag := flags.get(element.names[0])):
            argv += [flag] if values[element.names[0]] is True else []
            continue
        argument = element.texts[0]
        for name, text in zip(element.names, element.texts[1:], strict=True):
            argument += _text(name, values[name]) + text
        if element.names and not element.texts[0] and argument.startswith("-"):
            raise ToolError(
                "VALUE_IS_OPTION",
                f"{argument!r} would be an option of the command",
                place=element.names[0],
                fix="give a value that does not begin with '-' (a file as ./-name)",
            )
        argv.append(argument)
    return argv


def _text(name: str, value: object) -> str:
    text = str(value) if not isinstance(value, bool) else "true" if value else "false"
    if _CONTROL.search(text) or any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise ToolError(
            "BAD_VALUE", f"the value of {name} holds a control character", place=name, fix="leave it out"
        )
    return text
