"""Fixtures for the tests of reviews."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from yards import APP, Yard

from mcl.core.home import open_home


@pytest.fixture(autouse=True)
def as_wide_as_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of xdist set the width that the runner's terminal has."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository `yard` and a home, to be copied: making them takes longer."""
    place = tmp_path_factory.mktemp("laid-out")
    (place / "yard").mkdir()
    yard = Yard(place / "yard", None)  # type: ignore[arg-type]  # no command is run here
    yard.git("init", "-q", "-b", "main", "--template=")
    yard.commit(app__py=APP)
    open_home(place / "home", unattended=True).close()
    return place


@pytest.fixture
def yard(
    laid_out: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Yard:
    """The repository; commands are run in it."""
    shutil.copytree(laid_out, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("home"))
    open_home(tmp_path / "home", unattended=True).close()
    monkeypatch.chdir(tmp_path / "yard")
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    return Yard(tmp_path / "yard", capsys)
