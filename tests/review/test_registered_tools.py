"""Manifests, the code beside them and the registry: whatever one of them has alone is told."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lying_tools
import pytest

from executor import Manifest, Registry
from executor.tools.tool import Tool
from mcl.catalog.tools import registry
from mcl.plugins.probing.manifests import registered_drift, rooms

MANIFEST = """uri = "matrix://tool/fs/extra@1.0.0"\n"""
ADAPTER = "async def run(args, bench):\n    return {}\n"


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, ...]:
    """A copy of the folders of all namespaces."""
    copies = []
    for number, room in enumerate(rooms()):
        copy = tmp_path / str(number)
        shutil.copytree(room, copy, ignore=shutil.ignore_patterns("__pycache__"))
        copies.append(copy)
    return tuple(copies)


def found(places: tuple[Path, ...], tools: Registry | None = None) -> set[tuple[str, str]]:
    drift = registered_drift(tools or registry(), places)
    return {(one.code, Path(one.place).name) for one in drift}


def test_the_tools_of_this_build_are_in_all_three_places() -> None:
    assert registered_drift(registry()) == ()


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        (lambda fs: (fs / "extra.toml").write_text(MANIFEST),
         {("NO_ADAPTER", "extra.toml"), ("UNREGISTERED", "extra.toml")}),
        (lambda fs: (fs / "extra.py").write_text(ADAPTER), {("NO_MANIFEST", "extra.py")}),
        (lambda fs: [(fs / "extra.py").write_text(ADAPTER), (fs / "extra.toml").write_text(MANIFEST)],
         {("UNREGISTERED", "extra.toml")}),
        (lambda fs: (fs / "read.py").unlink(), {("NO_ADAPTER", "read.toml")}),
        (lambda fs: (fs / "read.py").write_text("def work(args, bench): ..."), {("NO_ADAPTER", "read.toml")}),
        (lambda fs: (fs / "read.py").write_text("def run("), {("NO_ADAPTER", "read.toml")}),
        (lambda fs: (fs / "read.toml").unlink(), {("NO_MANIFEST", "read.py"), ("NO_MANIFEST", "read")}),
        (lambda fs: (fs / "words.toml").write_text("words = []\n"), set()),
        (lambda fs: (fs / "help.py").write_text("def run(text): ..."), set()),
        (lambda fs: (fs / "odd.toml").write_text("uri = "),
         {("NO_ADAPTER", "odd.toml"), ("UNREGISTERED", "odd.toml")}),
    ],
)  # fmt: skip
def test_what_lies_there_alone_is_told(
    places: tuple[Path, ...], plant: Callable[[Path], object], expected: set[tuple[str, str]]
) -> None:
    plant(places[0] / "fs")
    assert found(places) == expected


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"args": {**lying_tools.READS["args"], "properties": {"path": {"type": "string", "minLength": -1}}}},
         "SCHEMA_REFUSED"),
        ({"output": {**lying_tools.READS["output"], "required": "text"}}, "SCHEMA_REFUSED"),
        ({"examples": []}, "NO_EXAMPLE"),
        ({"examples": [{"note": "x", "args": {}}]}, "EXAMPLE_REFUSED"),
        ({"examples": [{"note": "x", "args": {"path": 1}}]}, "EXAMPLE_REFUSED"),
        ({"examples": [{"note": "x", "args": {"path": "a", "more": 1}}]}, "EXAMPLE_REFUSED"),
        ({"effects": ["shell"], "safety": "D"}, "NO_PROGRAM"),
    ],
)  # fmt: skip
def test_a_manifest_that_does_not_hold_together_is_told(changes: dict[str, Any], code: str) -> None:
    said = {"uri": "matrix://tool/planted/odd@1.0.0", **lying_tools.READS, **changes}
    tools = Registry([Tool(Manifest.model_validate(said), _never)])
    drift = [one for one in registered_drift(tools) if one.place == "planted/odd@1.0.0"]
    assert [one.code for one in drift] == [code]


def test_a_command_of_an_operator_needs_no_files_and_no_example() -> None:
    said = {**lying_tools.READS, "uri": "matrix://tool/process/run-hello@1.0.0", "examples": []}
    said |= {"effects": ["shell"], "safety": "D", "command": {"argv": ["echo", "hello"]}}
    tools = Registry([Tool(Manifest.model_validate(said), _never)])
    assert not [one for one in registered_drift(tools) if "run-hello" in one.place]


async def _never(args: object, bench: object) -> dict[str, object]:
    raise AssertionError("nothing is run")
