"""Argument lists with places for values: each value becomes a part of one argument, and never an option."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.core.errors import ToolError
from executor.sandbox.files import out_of_scope
from executor.sandbox.redaction import visible
from executor.tools.manifest import Command, Manifest
from executor.tools.process.confined import run_confined
from executor.tools.project.suites import Folder, found
from executor.tools.tool import Bench

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
    for token in _TOKEN.finditer(text):
        texts[-1] += text[end : token.start()]
        end = token.end()
        if token["name"]:
            names.append(token["name"])
            texts.append("")
        elif token[0] in ("{{", "}}"):
            texts[-1] += token[0][0]
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


# ---- Runs a command that the operator declared.

_SAID = 1000  # characters at the end of a log that an error quotes


async def run(manifest: Manifest, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Run it to its end; an exit status that is no success is an error.

    Raises:
        ToolError: VALUE_IS_OPTION, BAD_VALUE, COMMAND_FAILED, and what ``run_confined`` raises.
    """
    command = manifest.command
    assert command is not None, "only declared commands run here"
    values = dict(args)
    for name in set(manifest.scope.paths) & set(args):
        values[name] = _from_folder(str(args[name]), command, bench)
    elements = parse(command.argv)
    arguments = expand(elements[1:], values, command.flags)
    program = elements[0].texts[0]
    with bench.workspace.open_folder(command.folder) as descriptor:
        folder = Folder(bench.workspace, command.folder, descriptor)
        ran = await run_confined(
            bench,
            folder,
            lambda environment: [_program(program, folder, environment), *arguments],
            outputs=command.outputs,
            variables=manifest.environment,
            network="network" in manifest.effects,
        )
    name = manifest.uri.partition("/run-")[2].partition("@")[0]
    if ran.status not in command.ok:
        said = visible(ran.log[-_SAID:].strip())
        raise ToolError(
            "COMMAND_FAILED",
            f"{name} ended with status {ran.status}{f': {said}' if said else ''}",
            place=name,
            fix="see what it says; its sandbox was " + ran.sandbox,
            data={"status": ran.status, "sandbox": ran.sandbox},
        )
    return {"sandbox": ran.sandbox, **ran.told(f"{name}: done")}


def _from_folder(path: str, command: Command, bench: Bench) -> str:
    """A path of the workspace as it is called in the command's folder; never one that begins with ``-``."""
    if path.startswith("/"):
        out_of_scope(path, "a command takes paths of the workspace")
    here = "/".join(bench.workspace.split(command.folder)) or "."
    relative = os.path.relpath("/".join(bench.workspace.split(path)) or ".", here)
    return relative if relative.startswith("..") else f"./{relative}"


def _program(name: str, folder: Folder, environment: Mapping[str, str]) -> str:
    """A program by its full path, by one in the workspace (``./tool``), or by its name on the PATH.

    Raises:
        ToolError: COMMAND_NOT_FOUND. ScopeError: a program of the workspace that lies elsewhere.
    """
    if Path(name).is_absolute():
        return name
    if "/" not in name:
        return found(name, environment)
    workspace = folder.workspace
    path = f"{folder.path}/{name.removeprefix('./')}"
    if workspace.check(path) is None:
        raise ToolError("COMMAND_NOT_FOUND", f"there is no {path!r}", place=path, fix="make it first")
    return str(workspace.root.joinpath(*workspace.split(path)))
