"""Commands that the operator declared: ``commands.toml`` in the home makes a tool of each."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from executor.core.errors import ManifestError, ToolError
from executor.sandbox.files import out_of_scope
from executor.sandbox.redaction import visible
from executor.tools.manifest import Command, Manifest
from executor.tools.process.confined import run_confined
from executor.tools.project.suites import Folder, found
from executor.tools.project.unchanged import require_unchanged
from executor.tools.tool import Bench, Tool
from ir.characters import CONTROLS

FOLDER: Final = "folder"  # the argument that tells the gate where a command works
_ADDRESS: Final = "matrix://tool/process/run-"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_MAX_FILE = 1 << 20  # bytes
_LONGEST = 4096  # characters of a value, where nothing else is said
_OUTPUT: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["status", "sandbox", "seconds", "truncated", "text"],
    "properties": {
        "status": {"type": "integer"},
        "sandbox": {"enum": ["bubblewrap", "none"], "description": "What it was confined by."},
        "seconds": {"type": "number"},
        "truncated": {"type": "boolean"},
        "text": {"type": "string", "description": "One line of result, then the end of the log."},
    },
}

_ArgumentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Argument(_Closed):
    """A value of the command. flag: the option that a boolean stands for. writes: of a path."""

    type: Literal["string", "integer", "number", "boolean", "path"]
    description: str = ""
    optional: bool = False
    default: str | int | float | bool | None = None
    enum: list[str] = []
    pattern: str = ""
    max_length: int = Field(default=_LONGEST, gt=0, le=100_000)
    minimum: int | float | None = None
    maximum: int | float | None = None
    flag: str = Field(default="", pattern=r"^(-[^\s{}]*)?$")
    writes: bool = False


class _Declared(_Closed):
    """One command, as the file has it."""

    description: str = Field(min_length=1, max_length=1000)
    argv: list[str] = Field(min_length=1, max_length=256)
    version: str = Field(default="1.0.0", pattern=r"^\d+\.\d+\.\d+$")
    effect: Literal["read", "write"] = "write"
    folder: str = "."
    outputs: list[str] = []
    ok: list[int] = [0]
    idempotent: bool = False
    timeout_ms: int = Field(default=600_000, gt=0, le=7_200_000)
    environment: list[str] = []
    unchanged: dict[str, str] = {}
    origin: str = ""  # the file that it was imported from, for people
    args: dict[_ArgumentName, _Argument] = {}


def declared_commands(place: Path) -> tuple[tuple[Tool, ...], dict[str, ManifestError]]:
    """The tools ``matrix://tool/process/run-<name>`` of a file, in the order of their names; and what is
    wrong with each that is none (BAD_COMMANDS), by its address without a version.

    Where the file cannot be read at all, none is declared, and what is wrong stands at the address that those
    of all begin with. One that is not there declares nothing.
    """
    try:
        data = place.read_bytes()
        if len(data) > _MAX_FILE:
            raise ValueError("the file is larger than 1 MiB")
        document = tomllib.loads(data.decode())
    except FileNotFoundError:
        return (), {}
    except (OSError, ValueError, RecursionError) as problem:  # of the text and of TOML, too
        return (), {_ADDRESS: _bad(place, str(problem))}
    tools, broken = [], {}
    for name, said in sorted(document.items()):
        try:
            if not _NAME.fullmatch(name):
                raise ValueError("a command's name is a-z, 0-9, - and _, beginning with a letter")
            tools.append(_tool(name, _Declared.model_validate(said)))
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            broken[f"{_ADDRESS}{name}"] = _bad(place, f"{name}: {where}: {first['msg']}")
        except (ValueError, re.error) as problem:
            broken[f"{_ADDRESS}{name}"] = _bad(place, f"{name}: {problem}")
    return tuple(tools), broken


def _tool(name: str, said: _Declared) -> Tool:
    named = {one for element in parse(said.argv) for one in element.names}
    if FOLDER in said.args:
        raise ValueError(f"an argument cannot be called {FOLDER}: that is where the command runs")
    if odd := sorted(named.symmetric_difference(said.args)):
        raise ValueError(f"argv and args do not name the same values: {', '.join(odd)}")
    for one, argument in said.args.items():
        _require_usable(one, argument, said)
    reads = said.effect == "read"
    mode = "list" if reads else "write"
    paths = {one: "write" if arg.writes else "read" for one, arg in said.args.items() if arg.type == "path"}
    manifest = Manifest.model_validate(
        {
            "uri": f"{_ADDRESS}{name}@{said.version}",
            "description": said.description,
            "effects": ["shell"] if reads else ["shell", "write"],
            "operation": said.effect,
            "idempotent": said.idempotent,
            "timeout_ms": said.timeout_ms,
            "max_output": 1 << 20,
            "safety": "D",
            "scope": {"kind": "workspace", "paths": {FOLDER: mode, **paths}},
            "environment": said.environment,
            "unchanged": said.unchanged,
            "command": {
                "argv": said.argv,
                "folder": said.folder,
                "outputs": said.outputs,
                "flags": {one: argument.flag for one, argument in said.args.items() if argument.flag},
                "ok": said.ok,
            },
            "args": {
                "type": "object",
                "additionalProperties": False,
                "required": [
                    one for one, arg in said.args.items() if not arg.optional and arg.default is None
                ],
                "properties": {
                    FOLDER: {"type": "string", "enum": [said.folder], "default": said.folder},
                    **{one: _schema(argument) for one, argument in said.args.items()},
                },
            },
            "output": _OUTPUT,
        }
    )
    return Tool(manifest, partial(_run, manifest))


def _require_usable(name: str, said: _Argument, command: _Declared) -> None:
    if (said.type == "boolean") != bool(said.flag):
        raise ValueError(f"{name}: a boolean, and nothing else, has a flag: the option that it stands for")
    if said.flag and any(name in one.names and not one.alone for one in parse(command.argv)):
        raise ValueError(f"{name}: a flag stands alone in argv")
    if said.writes and (said.type != "path" or command.effect == "read"):
        raise ValueError(f"{name}: only a path of a command that writes is written")
    if said.type == "path" and said.optional and said.default is None:
        raise ValueError(f"{name}: a path that may be left out needs a default")
    if (said.enum or said.pattern) and said.type != "string":
        raise ValueError(f"{name}: enum and pattern are of strings")
    re.compile(said.pattern)


def _schema(said: _Argument) -> dict[str, Any]:
    kind = "string" if said.type == "path" else said.type
    schema: dict[str, Any] = {"type": kind}
    if kind == "string":
        schema |= {"minLength": 1, "maxLength": said.max_length}
    more = {
        "description": said.description,
        "enum": said.enum,
        "pattern": said.pattern,
        "minimum": said.minimum,
        "maximum": said.maximum,
        "default": said.default,
    }
    return schema | {name: one for name, one in more.items() if one not in ("", [], None)}


async def _run(manifest: Manifest, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    from executor.tools.process.commands import run

    return await run(manifest, args, bench)


def _bad(place: Path, why: str) -> ManifestError:
    return ManifestError(
        "BAD_COMMANDS",
        f"a declared command cannot be used: {why}",
        place=str(place),
        fix="mend it, or take it out; mcl tool list shows what is declared",
    )


# ---- Argument lists with places for values: each value becomes a part of one argument, and never an
# option.

_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[a-z][a-z0-9_]{0,40})\}|[{}]")


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
    if CONTROLS.search(text) or any(0xD800 <= ord(char) <= 0xDFFF for char in text):
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
    require_unchanged(bench.workspace, command.folder, manifest.unchanged)
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
