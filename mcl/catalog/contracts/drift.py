"""Where documents of tools, the code beside their manifests, and the tools themselves differ."""

from __future__ import annotations

import ast
import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import executor.tools
import mcl.catalog.tools
from executor.core.errors import ManifestError
from executor.tools.manifest import Manifest
from executor.tools.registry import Registry
from ir.results import JsonResult
from mcl.catalog.contracts.contract import (
    JSON_FILE,
    MOST,
    SAFETY_FILE,
    Contract,
    Documented,
    json_document,
    read_contracts,
    read_safety,
    safety_document,
)
from mcl.core.text import some
from mcl.plugins.hooks import plugins

_AGAIN: Final = "mcl tool contracts --out {folder}"
_SHOWN: Final = 5  # names of a list that are told


@dataclass(frozen=True)
class Drift(JsonResult):
    """One thing that is said otherwise than it is. place: the document, the tool or the file."""

    code: str
    place: str
    message: str
    fix: str = ""


def folder_drift(contracts: Mapping[str, Contract], folder: Path) -> tuple[Drift, ...]:
    """As ``document_drift``, of the documents in a folder that a person named; both must be there."""
    return document_drift(contracts, _text(folder / JSON_FILE), _text(folder / SAFETY_FILE), str(folder))


def document_drift(
    contracts: Mapping[str, Contract], json_text: str | None, safety_text: str | None, folder: str = "docs"
) -> tuple[Drift, ...]:
    """Where documents differ from the tools there are.

    Documents that `mcl tool contracts` wrote are held to the contracts, to the byte. Those that another
    program wrote tell of other tools: they are held to each other alone.

    Args:
        contracts: as of ``contracts_of``. json_text, safety_text: the documents, None where one is missing.
        folder: where they lie, for messages.
    """
    found: list[Drift] = []
    told: dict[str, Documented] = {}
    for name, text, read in (
        (JSON_FILE, json_text, read_contracts),
        (SAFETY_FILE, safety_text, read_safety),
    ):
        if text is None:
            message = f"{name} is missing"
            found.append(Drift("DOCUMENT_MISSING", name, message, _AGAIN.format(folder=folder)))
            continue
        try:
            told[name] = read(text, name)
        except ManifestError as problem:
            found.append(Drift("DOCUMENT_UNREADABLE", name, problem.message, problem.fix))
    ours = any(one.ours for one in told.values())
    for name, one in told.items():
        found += _within(name, one, len(contracts) if ours else None)
        if ours:
            found += _against(name, one, contracts, folder)
    if not ours and len(told) == 2:
        found += _between(told[JSON_FILE], told[SAFETY_FILE])
    if ours and not found:
        found += _bytes(contracts, json_text, safety_text, folder)
    return tuple(found)


def _within(name: str, told: Documented, there: int | None) -> Iterator[Drift]:
    for twice in told.twice:
        yield Drift("TOOL_TWICE", name, f"{twice} is told twice", "tell it once")
    if told.count is not None and told.count != (there if there is not None else len(told.tools)):
        right = there if there is not None else len(told.tools)
        yield Drift("COUNT_DIFFERS", name, f"it counts {told.count} tools; there are {right}", "count again")


def _against(name: str, told: Documented, contracts: Mapping[str, Contract], folder: str) -> Iterator[Drift]:
    fix = _AGAIN.format(folder=folder)
    for tool in contracts:
        if tool not in told.tools:
            yield Drift("TOOL_UNDOCUMENTED", name, f"{tool} is not in it", fix)
    for tool, safety in told.tools.items():
        if tool not in contracts:
            yield Drift("TOOL_GONE", name, f"it tells of {tool}, which there is not", fix)
        elif safety != contracts[tool]["class"]:
            message = f"it says that {tool} is class {safety or 'none'}; it is {contracts[tool]['class']}"
            yield Drift("CLASS_DIFFERS", name, message, fix)
        elif told.contracts is not None and (fields := _differing(told.contracts[tool], contracts[tool])):
            message = f"it says otherwise of {tool}: {some(fields, _SHOWN)}"
            yield Drift("CONTRACT_DIFFERS", name, message, fix)


def _between(contracts: Documented, safety: Documented) -> Iterator[Drift]:
    for tool, said in contracts.tools.items():
        if tool not in safety.tools:
            yield Drift("TOOL_UNDOCUMENTED", SAFETY_FILE, f"{tool} of {JSON_FILE} is not in it", "add it")
        elif said and safety.tools[tool] and said != safety.tools[tool]:
            message = f"{tool} is class {safety.tools[tool]} in it, and {said} in {JSON_FILE}"
            yield Drift("CLASS_DIFFERS", SAFETY_FILE, message, "say the same in both")
    for tool in safety.tools:
        if tool not in contracts.tools:
            yield Drift("TOOL_UNDOCUMENTED", JSON_FILE, f"{tool} of {SAFETY_FILE} is not in it", "add it")


def _bytes(
    contracts: Mapping[str, Contract], json_text: str | None, safety_text: str | None, folder: str
) -> Iterator[Drift]:
    """What reads the same and is not: other words, another order."""
    for name, text, right in (
        (JSON_FILE, json_text, json_document(contracts)),
        (SAFETY_FILE, safety_text, safety_document(contracts)),
    ):
        if text != right:
            message = "it is not what the contracts give now"
            yield Drift("DOCUMENT_STALE", name, message, _AGAIN.format(folder=folder))


def _differing(said: Mapping[str, Any], right: Contract) -> list[str]:
    names = dict.fromkeys((*right, *said))
    return [name for name in names if name not in said or name not in right or said[name] != right[name]]


def _text(place: Path) -> str | None:
    """The beginning of a file; None where none can be read. At a pipe nobody waits."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return file.read(MOST + 1).decode("utf-8", "replace")
    except OSError:
        return None


# ---- Are manifests, the code beside them and the registry the same tools, and does each manifest hold
# together?

_PARAMETERS: Final = ["args", "bench"]  # that an adapter begins with
_SCHEME: Final = "matrix://tool/"


def rooms() -> tuple[Path, ...]:
    """The folders that hold the namespaces of tools."""
    own = [Path(executor.tools.__file__).parent, Path(mcl.catalog.tools.__file__).parent]
    return (*own, *(Path(plugin.folder, "tools") for plugin in plugins() if plugin.tools))


def registered_drift(registry: Registry, places: Sequence[Path] | None = None) -> tuple[Drift, ...]:
    """Where a registry, the manifests and the code beside them differ, and what no manifest may say.

    places: folders of namespaces (default: ``rooms()``). Commands that an operator declared, and tools of
    other servers, have no files there, and are held to their schemas alone.
    """
    own = [one for one in registry.own if one.command is None]
    found = [*_files(own, places or rooms())]
    for one in registry.own:
        found += _manifest(one)
    return tuple(found)


def _files(own: Iterable[Manifest], places: Sequence[Path]) -> Iterator[Drift]:
    listed = {one.uri.removeprefix(_SCHEME).partition("@")[0] for one in own}
    manifests = {name: place for name, place in _below(places, ".toml") if _is_manifest(place)}
    adapters = {name: place for name, place in _below(places, ".py") if _is_adapter(place)}
    for name, place in manifests.items():
        if name not in adapters:
            message = f"{name} has a manifest, and no function run(args, bench) beside it"
            yield Drift("NO_ADAPTER", str(place), message, "write the adapter, or take the manifest away")
        if name not in listed:
            message = f"{name} has a manifest that no registry lists"
            yield Drift("UNREGISTERED", str(place), message, "list it among the names of its registry")
    for name, place in adapters.items():
        if name not in manifests:
            message = f"{name} has an adapter, and no manifest beside it"
            yield Drift("NO_MANIFEST", str(place), message, "say in a manifest what it may do")
    for name in sorted(listed - set(manifests)):
        yield Drift("NO_MANIFEST", name, f"{name} is registered, and has no manifest", "write it")


def _manifest(one: Manifest) -> Iterator[Drift]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    name = one.uri.removeprefix(_SCHEME)
    for what, schema in (("args", one.args), ("output", one.output)):
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as problem:
            yield Drift("SCHEMA_REFUSED", name, f"{what} is no JSON Schema: {problem.message}", "repair it")
            return
    if "shell" in one.effects and one.command is None and not one.programs:
        yield Drift("NO_PROGRAM", name, "it starts a program, and does not say which", "name it in programs")
    if one.command is None and not one.examples:
        yield Drift("NO_EXAMPLE", name, "it has no example", "give one that works in the probe's folder")
    checker = Draft202012Validator(one.args)
    for number, example in enumerate(one.examples, 1):
        for wrong in checker.iter_errors(example.args):
            yield Drift("EXAMPLE_REFUSED", name, f"example {number}: {wrong.message}", "repair it")
            break


def _below(places: Sequence[Path], ending: str) -> Iterator[tuple[str, Path]]:
    for folder in places:
        for place in sorted(folder.glob(f"*/*{ending}")):
            yield f"{place.parent.name}/{place.stem}", place


def _is_manifest(place: Path) -> bool:
    try:
        return "uri" in tomllib.loads(place.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return True  # whatever it was to be, it is listed nowhere


def _is_adapter(place: Path) -> bool:
    try:
        data = place.read_bytes()
        if b"def run(" not in data:  # most modules: they need not be parsed
            return False
        tree = ast.parse(data)
    except (OSError, SyntaxError, ValueError):
        return False
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name == "run"
        and [one.arg for one in node.args.args][: len(_PARAMETERS)] == _PARAMETERS
        for node in tree.body
    )
