"""The targets of build files, as they stand in the text. A file is read; nothing in it is run, included or
evaluated, and what cannot be known without that is told.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from executor.tools.project.unchanged import MOST, part_digest
from mcl.core.errors import InputError
from mcl.plugins.derived.makefile import BuildRule, includes_of, read_makefile
from mcl.plugins.derived.saying import first_sentence, plain

MOST_TARGETS: Final = 200
_PLAIN_FILE: Final = re.compile(r"[A-Za-z0-9_][\w.-]*")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}")
_SAID: Final = 300  # characters of what a target runs, as it is shown


@dataclass(frozen=True)
class BuildTarget:
    """One thing that a build file offers.

    name: as the file has it. argv: what runs it. says: its comment. runs: what its lines say, as they stand.
    arguments: names of values that it takes, each required.
    """

    name: str
    argv: tuple[str, ...]
    says: str = ""
    runs: str = ""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class BuildFile:
    """A build file as it was read. kind: make, just, npm or py; unchanged: what its targets are pinned
    to, as of executor.tools.project.unchanged. left: what is in it and is offered by nothing, each with
    the reason."""

    path: Path
    kind: str
    targets: tuple[BuildTarget, ...]
    unchanged: Mapping[str, str]
    left: Mapping[str, str] = field(default_factory=dict)


def read_build_file(path: Path) -> BuildFile:
    """Read a Makefile, justfile, package.json or pyproject.toml.

    Raises InputError NOT_A_BUILD_FILE, BUILD_FILE_UNREADABLE.
    """
    reader = next((read for names, read in _READERS if path.name.lower() in names), None)
    if reader is None and path.suffix == ".mk":
        reader = _make
    if reader is None:
        known = "Makefile, GNUmakefile, *.mk, justfile, package.json, pyproject.toml"
        message = f"{path.name!r} is no build file that is read here"
        raise InputError("NOT_A_BUILD_FILE", message, place=str(path), fix=f"one of {known}")
    try:
        if not path.is_file():
            raise ValueError("there is no such file")
        with path.open("rb") as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            raise ValueError(f"it has more than {MOST:,} bytes")
        found = reader(path, data)
    except (OSError, ValueError, RecursionError) as problem:  # of the text, of JSON, of TOML
        said = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        fix = "mend the file, or name another"
        raise InputError(
            "BUILD_FILE_UNREADABLE", f"it cannot be read: {said}", place=str(path), fix=fix
        ) from problem
    return found


def _made(
    path: Path,
    kind: str,
    data: bytes,
    rules: list[BuildRule],
    pinned: str,
    argv: Callable[[BuildRule], tuple[str, ...]],
) -> BuildFile:
    """The targets of the rules that can be offered; why not of the others."""
    targets: dict[str, BuildTarget] = {}
    left: dict[str, str] = {}
    for rule in rules:
        if not _NAME.fullmatch(rule.name):
            left[plain(rule.name)[:80]] = "its name is none that a command can have"
        elif rule.why_not:
            left[rule.name] = rule.why_not
        elif len(targets) >= MOST_TARGETS:
            left[rule.name] = f"there are more than {MOST_TARGETS}"
        elif rule.name not in targets:
            runs = " ; ".join(plain(line) for line in rule.lines if line.strip())
            says = first_sentence(rule.says, 200)
            targets[rule.name] = BuildTarget(rule.name, argv(rule), says, runs[:_SAID], rule.arguments)
    return BuildFile(path, kind, tuple(targets.values()), {pinned: part_digest(pinned, data)}, left)


def _make(path: Path, data: bytes) -> BuildFile:
    rules = read_makefile(data.decode())
    made = _made(path, "make", data, rules, path.name, lambda rule: ("make", "-f", path.name, rule.name))
    unchanged, left = dict(made.unchanged), dict(made.left)
    for name in includes_of(data.decode()):
        file = path.parent / name
        if _PLAIN_FILE.fullmatch(name) and file.is_file() and not file.is_symlink():
            unchanged[name] = part_digest(name, file.read_bytes())
        else:
            left[f"include {plain(name)[:60]}"] = "it is not read, and may change what the others do"
    return replace(made, unchanged=unchanged, left=left)


_RECIPE: Final = re.compile(
    r"@?(?P<name>[A-Za-z_][\w-]*)(?P<values>(?:'[^']*'|\"[^\"]*\"|[^:'\"])*?)\s*:(?!=)"
)
_VALUE: Final = re.compile(r"(?P<kind>[*+$]*)(?P<name>[A-Za-z_][\w-]*)(?P<default>\s*=.*)?")


def _just(path: Path, data: bytes) -> BuildFile:
    rules: list[BuildRule] = []
    comment, private, lines = "", False, list[str]()
    for line in data.decode().splitlines():
        if line[:1] in (" ", "\t"):
            lines.append(line)
        elif line.startswith("#"):
            comment = line.lstrip("#! ")
        elif line.startswith("["):
            private = private or "private" in line
        elif (found := _RECIPE.match(line)) and not line.startswith(("set ", "alias ", "export ", "import ")):
            lines = []
            values = [_VALUE.fullmatch(one) for one in _parts(found["values"])]
            needed = tuple(
                one["name"].lower().replace("-", "_")
                for one in values
                if one and not one["default"] and one["kind"] != "*"
            )
            why = "it is private" if private or found["name"].startswith("_") else ""
            why = why or ("its values cannot be read" if None in values else "")
            rules.append(BuildRule(found["name"], comment, lines, why, needed))
            comment, private = "", False
        elif not line.strip():
            comment = ""

    def argv(rule: BuildRule) -> tuple[str, ...]:
        return ("just", "--justfile", path.name, rule.name, *(f"{{{one}}}" for one in rule.arguments))

    return _made(path, "just", data, rules, path.name, argv)


def _parts(values: str) -> list[str]:
    """The parameters of a recipe: their names with defaults, which may be texts in quotes."""
    found = re.findall(r"[*+$]*[A-Za-z_][\w-]*(?:\s*=\s*(?:'[^']*'|\"[^\"]*\"|`[^`]*`|[^\s]+))?|\S+", values)
    return [one.strip() for one in found]


def _npm(path: Path, data: bytes) -> BuildFile:
    document = json.loads(data)
    scripts = document.get("scripts") if isinstance(document, Mapping) else None
    if not isinstance(scripts, Mapping):
        raise ValueError("it has no scripts")
    rules = [
        BuildRule(
            str(name),
            "",
            [line] if isinstance(line, str) else [],
            "" if isinstance(line, str) else "it is no text",
        )
        for name, line in scripts.items()
    ]
    for name in {f"{word}{one.name}" for one in rules for word in ("pre", "post")} & {
        one.name for one in rules
    }:
        at = next(place for place, one in enumerate(rules) if one.name == name)
        rules[at] = BuildRule(name, "", rules[at].lines, "npm runs it beside another script")
    return _made(path, "npm", data, rules, f"{path.name}#scripts", lambda rule: ("npm", "run", rule.name))


def _python(path: Path, data: bytes) -> BuildFile:
    document = tomllib.loads(data.decode())
    places: tuple[tuple[str, Callable[[str], tuple[str, ...]]], ...] = (
        ("project.scripts", lambda name: (name,)),
        ("tool.pdm.scripts", lambda name: ("pdm", "run", name)),
        ("tool.poe.tasks", lambda name: ("poe", name)),
    )
    targets: list[BuildTarget] = []
    unchanged: dict[str, str] = {}
    left: dict[str, str] = {}
    for keys, argv in places:
        table: object = document
        for key in keys.split("."):
            table = table.get(key) if isinstance(table, Mapping) else None
        if not isinstance(table, Mapping):
            continue
        rules = [BuildRule(str(name), _help(one), [_line(one)]) for name, one in table.items()]
        made = _made(path, "py", data, rules, f"{path.name}#{keys}", _named(argv))
        known = {one.name for one in targets}
        targets += [one for one in made.targets if one.name not in known]
        unchanged.update(made.unchanged)
        left.update(made.left)
    if not unchanged:
        raise ValueError("it has no scripts ([project.scripts], [tool.pdm.scripts] or [tool.poe.tasks])")
    return BuildFile(path, "py", tuple(targets), unchanged, left)


def _named(argv: Callable[[str], tuple[str, ...]]) -> Callable[[BuildRule], tuple[str, ...]]:
    return lambda rule: argv(rule.name)


def _help(said: object) -> str:
    return str(said.get("help", "")) if isinstance(said, Mapping) else ""


def _line(said: object) -> str:
    if isinstance(said, Mapping):
        said = next(
            (said[key] for key in ("cmd", "shell", "call", "script", "composite") if key in said), said
        )
    return said if isinstance(said, str) else json.dumps(said, default=str)


_READERS: Final[tuple[tuple[tuple[str, ...], Callable[[Path, bytes], BuildFile]], ...]] = (
    (("makefile", "gnumakefile"), _make),
    (("justfile", ".justfile"), _just),
    (("package.json",), _npm),
    (("pyproject.toml",), _python),
)
