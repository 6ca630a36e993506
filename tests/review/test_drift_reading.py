"""Versions, changelogs and commands on pages, as drift reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sound import looked, write

from mcl.plugins.review.drift.drift import entry_in, newest_entry, version_flaws
from mcl.plugins.review.drift.pages import CommandTarget, named
from mcl.plugins.review.drift.project import ProjectFiles, version_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.0", "1.0.0", True),
        ("v1.2.3", "1.2.3", True),
        ("1.0.0-rc.1", "1.0rc1", True),
        ("2.0a1", "2.0-alpha1", True),
        ("1.0+local", "1.0", True),
        ("1.0", "1.0rc1", False),
        ("1.10", "1.1", False),
        ("1!2.0", "2.0", True),
    ],
)
def test_versions_are_the_same_however_they_are_written(one: str, other: str, same: bool) -> None:
    first, second = version_of(one), version_of(other)
    assert first is not None
    assert second is not None
    assert first.same(second) is same


@given(st.text(max_size=60) | st.from_regex(r"v?\d+(\.\d+){0,3}([-.]?(a|rc|dev)\d*)?", fullmatch=True))
def test_any_text_is_a_version_or_none(text: str) -> None:
    found = version_of(text)
    assert found is None or found.same(found)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Changes\n=======\n\n2.1 (2026-01-02)\n----------------\n\n- a\n", "2.1"),
        ("Version 3.1.0\n-------------\n\nReleased 2024-11-13\n", "3.1.0"),
        ("# v2.0.0\n", "2.0.0"),
        (
            "Release History\n===============\n\ndev\n---\n\n- x\n\n2.32.3 (2024-05-29)\n--------------\n",
            "2.32.3",
        ),
        ("1.2.3 2024-01-01\n  * a\n", "1.2.3"),
        ("## [24.2.0](https://example.org/24.2.0) - 2024-08-06\n", "24.2.0"),
        ("# Changelog\n\nFormat: 1.1.0 of Keep a Changelog\n\n## 0.9\n", "0.9"),
    ],
)
def test_the_newest_entry_is_found_in_many_forms(text: str, version: str, tmp_path: Path) -> None:
    write(tmp_path, "CHANGES.rst", text)
    found, right = newest_entry(looked(tmp_path)), version_of(version)
    assert found is not None
    assert found.version is not None
    assert right is not None
    assert found.version.same(right)


@given(st.text(alphabet="# =-[]().0123456789v\nUnreleased", max_size=200))
def test_any_changelog_and_page_is_read_without_an_error(text: str) -> None:
    assert entry_in("CHANGELOG.md", text) is None or text
    assert isinstance(list(named(text)), list)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("python3 -m shop.till run", [CommandTarget("module", "shop.till")]),
        ("FOO=1 uv run python scripts/a.py", [CommandTarget("file", "scripts/a.py")]),
        (
            "./scripts/build.sh && make all",
            [CommandTarget("file", "./scripts/build.sh"), CommandTarget("target", "all")],
        ),
        ("pip install -r requirements/dev.txt", [CommandTarget("file", "requirements/dev.txt")]),
        ("pytest tests/test_a.py::test_b -x", [CommandTarget("file", "tests/test_a.py")]),
        ("npm run lint", [CommandTarget("script", "lint")]),
        ("make -C docs html", []),
        ("python $FILE", []),
        ("python /usr/bin/x.py", []),
        ('echo "unclosed', []),
    ],
)
def test_a_command_names_what_it_needs(line: str, what: list[CommandTarget]) -> None:
    assert list(named(line)) == what


def test_a_version_that_is_on_its_way_needs_no_entry(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", '[project]\nname = "x"\nversion = "2.0.dev0"\n')
    write(tmp_path, "CHANGELOG.md", "## Unreleased\n\n- a\n\n## 1.9\n")
    tree = looked(tmp_path)
    assert not list(version_flaws(tree, ProjectFiles(tree)))
