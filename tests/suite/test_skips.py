"""What is skipped is known: each skip stands on a list, with a reason, and the list does not grow."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.skips import LIST, allowed, is_allowed

TESTS = Path(__file__).resolve().parents[1]
MOST = 46  # files of the list, on the day it was made
SKIPPING = {"skip", "skipif", "importorskip", "skipTest", "SkipTest", "exit"}


def skips(path: Path) -> Iterator[str]:
    """How the reason of each skip begins that stands in a file; "" where it says none."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr not in SKIPPING or ast.unparse(node.func.value) not in ("pytest", "pytest.mark"):
            continue
        named = [one.value for one in node.keywords if one.arg in ("reason", "msg")]
        said = (named or (node.args if node.func.attr == "skip" else []) or [ast.Constant("")])[0]
        if isinstance(said, ast.JoinedStr):
            said = said.values[0]
        yield str(said.value) if isinstance(said, ast.Constant) else ""


FOUND = [
    (path.relative_to(TESTS).as_posix(), reason)
    for path in sorted(TESTS.rglob("*.py"))
    for reason in skips(path)
]


def test_the_list_only_becomes_shorter() -> None:
    files = [(one.says, file) for one in allowed() for file in one.files]
    assert len(files) == len(set(files)) == tomllib.loads(LIST.read_text())["most"] <= MOST
    assert all(one.because and one.says for one in allowed())


@pytest.mark.parametrize(("file", "reason"), FOUND, ids=lambda one: str(one))
def test_every_skip_in_the_tests_is_on_the_list(file: str, reason: str) -> None:
    helper = not Path(file).name.startswith("test_")  # for whichever tests use it
    assert any(
        reason and reason.startswith(one.says) and (helper or file in one.files) for one in allowed()
    ), f"{file}: {reason or 'a skip without a reason'}"


def test_every_line_of_the_list_is_one_that_is_needed() -> None:
    reasons = [reason for _, reason in FOUND]
    assert [one.says for one in allowed() if not any(reason.startswith(one.says) for reason in reasons)] == []
    assert [file for one in allowed() for file in one.files if not (TESTS / file).is_file()] == []


@pytest.mark.parametrize(
    ("file", "reason", "may"),
    [
        *(
            ("tests/editor/test_editor_setup.py", "no Neovim here", True),
            ("tests/x.py", "no Neovim here", False),
        ),
        *(
            ("tests/editor/test_editor_setup.py", "no", False),
            ("tests/editor/test_editor_setup.py", "", False),
        ),
    ],
)
def test_a_skip_is_allowed_by_its_file_and_its_reason(file: str, reason: str, may: bool) -> None:
    assert is_allowed(file, reason) is may


WAYS = {
    "call": "def test_x(): pytest.skip('no Neovim here')",
    "mark": "@pytest.mark.skip(reason='later')\ndef test_x(): ...",
    "condition": "@pytest.mark.skipif(True, reason='later')\ndef test_x(): ...",
    "parameter": "@pytest.mark.parametrize('a', [pytest.param(1, marks=[pytest.mark.skip])])\n"
    "def test_x(a): ...",
    "none": "@pytest.mark.parametrize('a', [])\ndef test_x(a): ...",
    "fixture": "@pytest.fixture\ndef a(): pytest.skip('later')\ndef test_x(a): ...",
    "file": "pytest.skip('later', allow_module_level=True)",
    "import": "pytest.importorskip('nothing_like_it')\ndef test_x(): ...",
    "unittest": "import unittest\n"
    "class TestX(unittest.TestCase):\n    def test_x(self): self.skipTest('later')",
}


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("way", WAYS)
def test_a_skip_that_is_not_on_the_list_fails(tmp_path: Path, way: str, workers: int) -> None:
    done = run(tmp_path, WAYS[way], workers)
    assert done.returncode != 0
    assert "skips.toml does not allow it" in done.stdout


def test_what_is_on_the_list_or_expected_to_fail_does_not(tmp_path: Path) -> None:
    (tmp_path / "tests" / "editor").mkdir(parents=True)
    (tmp_path / "tests" / "editor" / "test_editor_setup.py").write_text(f"import pytest\n{WAYS['call']}\n")
    expected = "@pytest.mark.xfail(reason='later')\ndef test_x(): assert False\ndef test_y(): ..."
    done = run(tmp_path, expected, 0)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped, 1 xfailed" in done.stdout


def run(folder: Path, text: str, workers: int) -> subprocess.CompletedProcess[str]:
    """pytest over a file of its own, with our hooks."""
    (folder / "test_it.py").write_text(f"import pytest\n{text}\n")
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS.parent}\n")
    hooks = "pytest_make_collect_report, pytest_runtest_makereport"
    (folder / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(TESTS.parent)!r})\nfrom tests.skips import {hooks}\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", str(workers)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
