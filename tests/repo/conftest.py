"""Fixtures for the tests of work in repositories."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from shops import Shop, repository

from executor.store.home import Home
from mcl.core.home import open_home
from mcl.core.repositories import Repositories


@pytest.fixture
def keys() -> tuple[str, ...]:
    """Repositories that are known."""
    return ("mq-hal", "macos-scripts", "hal")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository `shop` and a home, to be copied: making them takes longer."""
    place = tmp_path_factory.mktemp("built")
    repository(place / "shop")
    open_home(place / "home", unattended=True).close()
    return place


@pytest.fixture
def home(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home that knows the repository `shop` beside it. Who asks stands in no repository."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("home"))
    open_home(tmp_path / "home", unattended=True).close()
    monkeypatch.chdir(tmp_path)
    Repositories(tmp_path / "home").add("shop", tmp_path / "shop")
    with Home.open(tmp_path / "home") as found:
        yield found


@pytest.fixture
def shop(
    built: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shop:
    """Commands in that repository; nobody is at a terminal."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("home"))
    open_home(tmp_path / "home", unattended=True).close()
    Repositories(tmp_path / "home").add("shop", tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("mcl.cli.people.TERMINAL", str(tmp_path / "none"))
    return Shop(tmp_path / "shop", tmp_path / "home", capsys, monkeypatch)
