"""Which repository is meant where none is named: the one that somebody stands in, before the active one."""

from __future__ import annotations

from pathlib import Path

import pytest
from shops import Shop, asked, contract, repository

from executor.store.home import Home
from mcl.core.errors import RepoError
from mcl.core.repositories import Repositories
from mcl.plugins.repo.contract import intent_types
from mcl.plugins.repo.usecases import draft_contract

ABOUT_ONE = [name for name, kind in intent_types().items() if kind.repo == "optional"]
ACTING = ("create_branch", "run_test", "open_editor", "run_mqlaunch")
ARGS = {"grep_repo": ("x",), "create_branch": ("fix/x",), "open_editor": ("app.py",)}


@pytest.fixture
def two(home: Home, tmp_path: Path) -> Home:
    """`shop` is the active one; `depot` is known too; `stranger` is a repository without a name, and `inner`
    one inside of shop."""
    for name in ("depot", "stranger", "shop/inner"):
        repository(tmp_path / name)
    (tmp_path / "depot" / "src" / "deep").mkdir(parents=True)
    (tmp_path / "alias").symlink_to(tmp_path / "depot" / "src")
    Repositories(home.path).add("depot", tmp_path / "depot")
    return home


def meant(home: Home, intent: str, here: Path, **more: object) -> tuple[str, str]:
    made = draft_contract(asked(intent, *ARGS.get(intent, ()), **more), home=home, here=here)
    assert made.repository is not None
    assert made.workspace == made.repository.path
    return made.repository.key, made.repository.note


@pytest.mark.parametrize("intent", ABOUT_ONE)
@pytest.mark.parametrize("where", ["depot", "depot/src", "depot/src/deep", "alias/deep", "depot/../depot"])
def test_the_repository_that_one_stands_in_is_meant(
    two: Home, tmp_path: Path, intent: str, where: str
) -> None:
    key, note = meant(two, intent, tmp_path / where)
    assert key == "depot"
    assert "shop" in note  # the active one is another, and that is told


@pytest.mark.parametrize("intent", ABOUT_ONE)
def test_the_active_one_is_meant_where_nobody_stands_in_one(two: Home, tmp_path: Path, intent: str) -> None:
    assert meant(two, intent, tmp_path) == ("shop", "")
    assert meant(two, intent, tmp_path / "shop") == ("shop", "")
    assert meant(two, intent, tmp_path / "depot", repo="shop") == ("shop", "")  # it was named


@pytest.mark.parametrize("where", ["stranger", "shop/inner"])
@pytest.mark.parametrize("intent", ABOUT_ONE)
def test_nothing_is_done_elsewhere_for_who_stands_in_a_repository_without_a_name(
    two: Home, tmp_path: Path, intent: str, where: str
) -> None:
    if intent in ACTING:
        with pytest.raises(RepoError) as refused:
            meant(two, intent, tmp_path / where)
        assert (refused.value.code, refused.value.exit) == ("UNKNOWN_REPOSITORY", 2)
        assert "mcl repo add" in refused.value.fix
    else:
        key, note = meant(two, intent, tmp_path / where)
        assert key == "shop"
        assert str(tmp_path / where) in note


def test_the_command_line_works_where_it_stands(shop: Shop, tmp_path: Path) -> None:
    repository(tmp_path / "depot")
    assert shop("add", "depot", str(tmp_path / "depot")).code == 0
    assert shop("switch", "shop").code == 0
    shop.patch.chdir(tmp_path / "depot")
    for told in (shop("run", "pwd", "--no-ai"), shop.fed(contract("pwd"), "exec", "-")):
        assert (told.code, told.out.strip()) == (0, str(tmp_path / "depot"))
    assert shop("explain", "run tests", "--no-ai", "--json").document["repository"]["key"] == "depot"
