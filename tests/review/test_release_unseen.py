"""What a release check could not look at, or git was told not to, is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from sound import git, sound, write

from executor.store.home import Home
from mcl.core.home import open_home
from mcl.plugins.review.release.report import ReleaseCheck
from mcl.plugins.review.usecases.release import check_release


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return sound(tmp_path / "shop")


def checked(shop: Path, id: str) -> ReleaseCheck:
    open_home(shop.parent / "home").close()
    with Home.open(shop.parent / "home") as home:
        report = check_release(shop, tests=False, home=home)
    return next(one for one in report.checks if one.looked.id == id)


def told(check: ReleaseCheck) -> list[tuple[str, str, str]]:
    return [(one.code, one.place, one.message) for one in check.flaws]


def test_what_could_not_be_scanned_is_said(shop: Path) -> None:
    write(shop, "shop/nul.py", "x = 1\n\0\n")
    write(shop, "shop/large.js", "x = 1;\n" * 200_000)
    write(shop, "shop/new\nline.py", "eval(input())\n")
    write(shop, "shop/logo.png", "\0")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "More")
    scan = checked(shop, "scan")
    assert scan.status == "warning"
    assert told(scan) == [
        ("SCAN_PARTIAL", "shop/large.js", "it was not scanned: too large"),
        ("SCAN_PARTIAL", "shop/new\nline.py", "it was not scanned: name"),
        ("SCAN_PARTIAL", "shop/nul.py", "it was not scanned: binary"),
    ]


def test_a_file_that_is_not_compiled_for_its_name_is_said(shop: Path) -> None:
    write(shop, "shop/new\nline.py", "eval(input())\n")
    flaw = ("NOT_COMPILED", "shop/new\nline.py", "its name is one that no path may hold")
    assert told(checked(shop, "compile")) == [flaw]


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_told_to_overlook_is_not_clean(shop: Path, mark: str) -> None:
    git(shop, "update-index", mark, "shop/__init__.py")
    assert checked(shop, "clean").status == "pass"
    (shop / "shop/__init__.py").write_text("eval(input())\n")
    [(code, place, _)] = told(checked(shop, "clean"))
    assert (code, place) == ("UNCOMMITTED", "shop/__init__.py")
