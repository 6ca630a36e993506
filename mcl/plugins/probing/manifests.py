"""Are manifests, the code beside them and a registry the same tools, and does each manifest hold together?"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import executor.tools
from executor.tools.manifest import Manifest
from executor.tools.registry import Registry
from mcl.catalog.contracts import Drift
from mcl.plugins.hooks import plugins

_PARAMETERS: Final = ["args", "bench"]  # that an adapter begins with
_SCHEME: Final = "matrix://tool/"


def rooms() -> tuple[Path, ...]:
    """The folders that hold the namespaces of tools."""
    others = (Path(plugin.folder, "tools") for plugin in plugins() if plugin.tools)
    return (Path(executor.tools.__file__).parent, *others)


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
