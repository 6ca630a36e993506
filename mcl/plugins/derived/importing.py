"""From targets of a build file to declared commands of the home. Nothing is run: what was read is written
into `commands.toml`, pinned to the content of the file, and approved by whoever imports it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from executor.core.files import whole_file
from executor.store.home import Home
from mcl.core.errors import InputError
from mcl.core.text import some
from mcl.plugins.derived.saying import words_of
from mcl.plugins.derived.targets import BuildFile, BuildTarget, read_build_file
from mcl.usecases import tools

_COMMANDS: Final = "commands.toml"
_LONGEST: Final = 40  # characters of a command's name


@dataclass(frozen=True)
class Import:
    """A target, and the command that it becomes. before: what is declared under that name now, None where
    nothing is; same: it is what is declared already."""

    target: BuildTarget
    name: str
    declared: Mapping[str, object]
    before: Mapping[str, object] | None = None

    @property
    def same(self) -> bool:
        """Whether there is nothing to do."""
        return self.before == self.declared

    @property
    def skill(self) -> str:
        """The id of the skill that is derived of it."""
        return f"command.{self.name}"


def planned(
    path: Path, names: Sequence[str], workspace: Path, home: Home
) -> tuple[BuildFile, tuple[Import, ...]]:
    """What importing a build file would declare; names: of its targets, all where none is named.

    Raises InputError NOT_A_BUILD_FILE, BUILD_FILE_UNREADABLE, OUT_OF_WORKSPACE, TARGET_UNKNOWN,
    COMMANDS_UNREADABLE.
    """
    place = path.absolute()
    if not place.resolve().is_relative_to(workspace.resolve()):
        message = f"{path} does not lie in {workspace}: a command runs in the folder that is worked in"
        raise InputError(
            "OUT_OF_WORKSPACE", message, place=str(path), fix="go into its project, and import it there"
        )
    found = read_build_file(place)
    known = {one.name: one for one in found.targets}
    for name in names:
        if name not in known:
            why = f": {found.left[name]}" if name in found.left else ""
            fix = f"its targets: {some(list(known), 20) or 'none'}"
            raise InputError(
                "TARGET_UNKNOWN", f"{path.name} offers no {name[:80]!r}{why}", place="target", fix=fix
            )
    folder = str(place.parent.resolve().relative_to(workspace.resolve()))
    declared = _declared(home)
    made = []
    for target in [known[name] for name in dict.fromkeys(names)] or found.targets:
        table = _table(found, target, folder)
        name = _name(found.kind, target.name, str(place), declared)
        made.append(Import(target, name, table, declared.get(name)))
    return found, tuple(made)


def declare(imports: Sequence[Import], home: Home, *, unseen: bool) -> None:
    """Write the commands down, and approve each as it is now: one signed record each.

    Raises InputError COMMANDS_UNREADABLE, COMMANDS_CHANGED where one of them is declared otherwise by now.
    """
    declared = _declared(home)
    if any(declared.get(one.name) != one.before for one in imports):
        fix = "import it again"
        raise InputError("COMMANDS_CHANGED", f"{_COMMANDS} was changed meanwhile", place=_COMMANDS, fix=fix)
    place = home.path / _COMMANDS
    text = place.read_text("utf-8") if place.exists() else ""
    for one in imports:
        if one.before is not None:
            text = _without(text, one.name)
    for one in imports:
        written = _written(one.name, one.declared)
        text = f"{text.rstrip()}\n\n{written}" if text.strip() else written
    if tomllib.loads(text) != {**declared, **{one.name: one.declared for one in imports}}:
        fix = "write its tables out, each under a line [name], and import again"
        raise InputError("COMMANDS_UNREADABLE", f"{_COMMANDS} cannot be added to", place=_COMMANDS, fix=fix)
    with whole_file(place) as file:
        file.write(text.encode())
    for one in imports:
        tools.approve(f"process/run-{one.name}", home=home, unseen=unseen)


def _table(found: BuildFile, target: BuildTarget, folder: str) -> dict[str, object]:
    kinds = {"make": "make", "just": "just", "npm": "npm run", "py": "script"}
    says = target.says or f"Run {words_of(target.name)}"
    said = f"{says.rstrip('.')} ({kinds[found.kind]} {target.name})."
    table: dict[str, object] = {"description": said, "argv": list(target.argv)}
    if folder != ".":
        table["folder"] = folder
    table |= {"unchanged": dict(found.unchanged), "origin": str(found.path)}
    if target.arguments:
        table["args"] = {one: {"type": "string", "description": words_of(one)} for one in target.arguments}
    return table


def _name(kind: str, target: str, origin: str, declared: Mapping[str, Mapping[str, object]]) -> str:
    """The name of its command: one that is free, or that it had when it was imported before."""
    plain = re.sub(r"[^a-z0-9]+", "-", target.lower()).strip("-") or "target"
    first = f"{kind}-{plain}"[:_LONGEST].rstrip("-")
    name, number = first, 2
    while name in declared and declared[name].get("origin") != origin:
        name, number = f"{first[: _LONGEST - 4]}-{number}", number + 1
    return name


def _declared(home: Home) -> dict[str, Mapping[str, object]]:
    place = home.path / _COMMANDS
    try:
        return tomllib.loads(place.read_text("utf-8")) if place.exists() else {}
    except (OSError, ValueError, RecursionError) as problem:
        fix = f"mend {place}, or take it away"
        raise InputError(
            "COMMANDS_UNREADABLE", f"it cannot be read: {problem}", place=str(place), fix=fix
        ) from problem


def _without(text: str, name: str) -> str:
    """The text of a TOML file without the tables of one command, as they stand in it line by line."""
    kept, leaving = [], False
    for line in text.splitlines():
        if found := re.match(r"\s*\[+\s*\"?([A-Za-z0-9_-]+)", line):
            leaving = found[1] == name
        if not leaving:
            kept.append(line)
    return "\n".join(kept) + "\n"


def _written(name: str, table: Mapping[str, object]) -> str:
    """A table of TOML: its texts and lists of texts, then the tables in it."""
    lines = [f"[{name}]"]
    below = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            below.append((key, value))
        else:
            lines.append(f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}")
    deep = [_written(f"{name}.{_key(key)}", value) for key, value in below]
    return "\n".join(lines) + "\n" + "".join(f"\n{one}" for one in deep)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
