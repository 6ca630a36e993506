"""Spellings of the names of secret files: what some file system would take for one is closed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from walks import Walks, context_of, tool

from executor import Call, ScopeError, Workspace
from executor.gate.guards.call import scope

CASES = tomllib.loads((Path(__file__).parent / "cases/names.toml").read_text())["case"]
CLOSED = [name for case in CASES for name in case.get("closed", ())]
OPEN = [name for case in CASES for name in case.get("open", ())]


@pytest.mark.parametrize("name", CLOSED, ids=ascii)
def test_a_secret_name_is_closed_in_every_spelling_and_at_every_place(tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path)
    for path in (name, f"deep/{name}", f"{name}/below"):
        for use in (lambda p: workspace.read(p, 9), lambda p: workspace.write(p, b"owned", replace=True)):
            with pytest.raises(ScopeError) as caught:
                use(path)
            assert caught.value.code == "PROTECTED_PATH"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", OPEN, ids=ascii)
def test_a_name_that_only_looks_like_one_is_open(tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path)
    workspace.write(name, b"hello", replace=False)
    assert workspace.read(name, 9)[0] == b"hello"


def test_the_gate_closes_them_to_every_tool_that_takes_a_path(walks: Walks) -> None:
    context = context_of(walks, None)
    for manifest in context.tools.manifests:
        for argument in manifest.scope.paths:
            for name in (".env", "deep/.GIT/config", "id_rsa.bak", ".e\u200bnv"):
                reply = scope(Call(manifest.uri, {argument: name}, "read"), context)
                assert reply is not None, (manifest.uri, argument)
                assert reply.code == "PROTECTED_PATH"


def test_no_listing_search_or_chart_tells_of_them(walks: Walks) -> None:
    for name in CLOSED:
        (walks.workspace / name).write_text("the-secret")
    walks.write("open.txt", "nothing")
    listed = walks.ask(tool("n1", "fs/list", recursive="true"))
    assert listed["text"] == "open.txt"
    for node in (
        tool("n1", "fs/search", query="the-secret"),
        tool("n1", "code/search", pattern="the-secret"),
    ):
        assert walks.ask(node)["count"] == 0
    assert [one["path"] for one in walks.ask(tool("n1", "fs/changes", since="2020-01-01"))["changes"]] == [
        "open.txt"
    ]
