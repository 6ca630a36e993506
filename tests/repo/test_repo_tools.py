"""repo/help, repo/list, repo/where and repo/switch, through the gate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from walks import Walks, code, done, tool

from executor import Home, Registry
from mcl.catalog.tools.registry import registry
from mcl.core.repositories import Repositories
from mcl.plugins.repo.contract import COMMANDS, intent_types


class OwnTools(Walks):
    """Walks with the tools of mcl."""

    def registry(self) -> Registry:
        return registry(lambda: self.home)


@pytest.fixture
def walks(tmp_path: Path) -> Iterator[OwnTools]:
    for name in ("work", "hal", "scripts"):
        (tmp_path / name).mkdir()
    with Home.open(tmp_path / "home") as home:
        yield OwnTools(home, tmp_path / "work")


@pytest.fixture
def known(walks: OwnTools) -> Repositories:
    known = Repositories(walks.home.path)
    for name in ("hal", "scripts"):
        known.add(name, walks.workspace.parent / name)
    return known


def test_the_repositories_are_listed_with_the_active_one_marked(
    walks: OwnTools, known: Repositories, tmp_path: Path
) -> None:
    (tmp_path / "scripts").rmdir()
    found = done(walks, tool("n1", "repo/list"))
    assert found["repositories"] == [
        {"key": "hal", "path": f"{tmp_path}/hal", "active": True, "there": True},
        {"key": "scripts", "path": f"{tmp_path}/scripts", "active": False, "there": False},
    ]
    assert (found["active"], found["count"]) == ("hal", 2)
    assert found["text"] == f"* hal  {tmp_path}/hal\n  scripts  {tmp_path}/scripts  (not there)"


def test_without_any_it_is_said_how_to_name_one(walks: OwnTools) -> None:
    found = done(walks, tool("n1", "repo/list"))
    assert (found["repositories"], found["active"]) == ([], "")
    assert found["text"] == "no repository is known; name one: mcl repo add KEY PATH"
    assert code(walks.go(tool("n1", "repo/where"))) == "NO_REPOSITORY"


def test_where_tells_the_path_alone(walks: OwnTools, known: Repositories, tmp_path: Path) -> None:
    assert done(walks, tool("n1", "repo/where"))["text"] == f"{tmp_path}/hal"
    assert done(walks, tool("n1", "repo/where", repo="scripts")) == {
        "repo": "scripts",
        "path": f"{tmp_path}/scripts",
        "text": f"{tmp_path}/scripts",
    }
    assert code(walks.go(tool("n1", "repo/where", repo="halt"))) == "UNKNOWN_REPOSITORY"


def test_switching_changes_the_state_and_nothing_else(
    walks: OwnTools, known: Repositories, tmp_path: Path
) -> None:
    before = (walks.home.path / "repos.json").read_bytes()
    found = done(walks, tool("n1", "repo/switch", "write", repo="scripts"))
    assert (found["repo"], found["path"], found["from"]) == ("scripts", f"{tmp_path}/scripts", "hal")
    active = known.active()
    assert active is not None
    assert active.key == "scripts"
    assert (walks.home.path / "repos.json").read_bytes() == before
    for repo, why in {"halt": "UNKNOWN_REPOSITORY", "../hal": "INVALID_ARGS", "": "INVALID_ARGS"}.items():
        assert code(walks.go(tool("n1", "repo/switch", "write", repo=repo))) == why
    assert code(walks.go(tool("n1", "repo/switch", "read", repo="hal"))) == "SERVER_MISMATCH"


@pytest.mark.parametrize("language", ["en", "sv"])
def test_help_tells_every_intent_in_the_language_that_is_asked_for(
    walks: OwnTools, language: Literal["en", "sv"]
) -> None:
    found = done(walks, tool("n1", "repo/help", language=language))
    types = intent_types()
    assert [one["intent"] for one in found["intents"]] == [name for name in types if name != "refuse"]
    for one in found["intents"]:
        assert one["description"] == types[one["intent"]].description[language]
        assert one["description"] in found["text"]
    assert ", ".join(COMMANDS) in found["text"]
