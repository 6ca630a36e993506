"""process/tests: the folder's own tests by a fixed command, in an environment without secrets."""

from __future__ import annotations

import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest
from walks import Walks, tool

from executor import Grants, Home, Outcome, ToolError, Workspace
from executor.sandbox.environment import safe_path
from executor.tools.process.tests import counts
from executor.tools.project.suites import Folder, command, detect

pytestmark = pytest.mark.usefixtures("unsandboxed")
SOME = "def test_good(): pass\ndef test_bad(): assert not 'so'\n"


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    return Walks(home, tmp_path / "work")


def interpreter(folder: Path) -> None:
    """The Python that runs these tests, as the folder's own."""
    place = folder / ".venv/bin/python"
    place.parent.mkdir(parents=True)
    place.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    place.chmod(0o755)


def run(walks: Walks, /, **args: str) -> Outcome:
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    if "shell" not in grants.classes(agent):
        grants.grant(agent, ["shell"])
    return walks.go(tool("n1", "process/tests", "shell", **args), verb="build")


def answer(outcome: Outcome) -> Mapping[str, object]:
    assert outcome.state == "completed", outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    return found


def test_failing_tests_are_an_answer_with_their_log(walks: Walks) -> None:
    interpreter(walks.workspace)
    walks.write("tests/test_it.py", SOME)
    found = answer(run(walks))
    told = {name: found[name] for name in ("suite", "passed", "status", "succeeded", "failed", "truncated")}
    assert told == {
        "suite": "pytest",
        "passed": False,
        "status": 1,
        "succeeded": 1,
        "failed": 1,
        "truncated": False,
    }
    text = str(found["text"])
    assert text.startswith("pytest: failed (1 failed, 1 succeeded) in ")
    assert "assert not 'so'" in text
    assert {place.name for place in walks.workspace.rglob("*")} == {
        *(".venv", "bin", "python", "tests", "test_it.py"),  # no cache is left behind
    }


@pytest.mark.parametrize(
    "select",
    [
        "tests/test_it.py::test_good",
        pytest.param("test_good", marks=pytest.mark.slow),  # each is a run of pytest
        pytest.param("good and not bad", marks=pytest.mark.slow),
    ],
)
def test_one_test_can_be_selected_by_name_or_by_place(walks: Walks, select: str) -> None:
    interpreter(walks.workspace)
    walks.write("tests/test_it.py", SOME)
    found = answer(run(walks, select=select))
    assert (found["passed"], found["succeeded"]) == (True, 1)


def test_a_folder_in_the_workspace_uses_the_interpreter_of_the_workspace(walks: Walks) -> None:
    interpreter(walks.workspace)
    walks.write(
        "sub/test_it.py", "import os\ndef test_here(): assert os.path.basename(os.getcwd()) == 'sub'\n"
    )
    assert answer(run(walks, path="sub"))["passed"] is True


@pytest.mark.slow
def test_an_interpreter_that_is_a_link_out_of_the_workspace_runs_as_the_virtual_environment_it_is(
    walks: Walks,
) -> None:
    venv.create(walks.workspace / ".venv", symlinks=True, with_pip=False)
    library = next((walks.workspace / ".venv").glob("lib/python*/site-packages"))
    (library / "more.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    walks.write("test_it.py", "import sys\ndef test_prefix(): assert sys.prefix.endswith('/work/.venv')\n")
    assert (walks.workspace / ".venv/bin/python").is_symlink()
    assert answer(run(walks))["passed"] is True


@pytest.mark.parametrize(
    ("files", "args", "code"),
    [
        ({}, {}, "NO_TESTS"),
        ({"tests/test_it.py": SOME}, {"select": "nothing_like_it"}, "NO_TESTS"),
        ({"tests/test_it.py": SOME}, {"select": "tests/other.py"}, "TESTS_NOT_RUN"),
        ({"test_it.py": ""}, {}, "NO_TESTS"),
        ({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"}, {}, "TESTS_NOT_RUN"),
        ({"a": ""}, {"path": "missing"}, "NOT_FOUND"),
        ({"a": ""}, {"path": "a"}, "NOT_A_FOLDER"),
    ],
)
def test_tests_that_cannot_run_are_an_error(
    walks: Walks, files: Mapping[str, str], args: Mapping[str, str], code: str
) -> None:
    interpreter(walks.workspace)
    for path, text in files.items():
        walks.write(path, text)
    failure = run(walks, **args).failure
    assert failure is not None
    assert failure.code == code, failure


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({f"test_{name}.py": "import nothing_like_it\n" for name in "abcdefg"}, "could not be collected"),
        ({"test_a.py": SOME, "test_b.py": "def test_b(:\n"}, "could not be collected"),
        (
            {"test_a.py": "import pytest\ndef test_a(): raise KeyboardInterrupt\n"},
            "was stopped before its end",
        ),
    ],
)
def test_tests_that_could_not_be_collected_are_no_failed_tests(
    walks: Walks, files: Mapping[str, str], said: str
) -> None:
    interpreter(walks.workspace)
    for path, text in files.items():
        walks.write(path, text)
    failure = run(walks).failure
    assert failure is not None
    assert (failure.code, said in failure.message) == ("TESTS_NOT_RUN", True), failure


def test_a_python_without_pytest_is_told_from_a_failing_test(walks: Walks) -> None:
    place = walks.write(".venv/bin/python", f'#!/bin/sh\nexec "{sys.executable}" -S -E "$@"\n')
    place.chmod(0o755)
    walks.write("test_it.py", SOME)
    failure = run(walks).failure
    assert failure is not None
    assert (failure.code, "pytest" in failure.message) == ("COMMAND_NOT_FOUND", True)


@pytest.mark.parametrize(
    ("makefile", "expected"),
    [
        (".PHONY: test\ntest:\n\t@echo 3 passed in 0.1s\n", (True, 0, 3)),
        (".PHONY: test\ntest:\n\t@echo 1 failed, 2 passed in 0.1s; exit 7\n", (False, 2, 2)),
    ],
)
def test_make_runs_its_target_test(walks: Walks, makefile: str, expected: tuple[object, ...]) -> None:
    walks.write("Makefile", makefile)
    found = answer(run(walks))
    assert (found["suite"], *(found[name] for name in ("passed", "status", "succeeded"))) == (
        "make",
        *expected,
    )


@pytest.mark.parametrize("makefile", ["all:\n", "test:\n", "# none\n"])
def test_a_make_that_does_nothing_is_no_success(walks: Walks, makefile: str) -> None:
    walks.write("Makefile", makefile)
    failure = run(walks, suite="make").failure
    assert failure is not None
    assert failure.code == "NO_TESTS"


@pytest.mark.parametrize(
    ("files", "suite"),
    [
        ({"pytest.ini": "[pytest]"}, "pytest"),
        ({"pyproject.toml": "[project]\nname='x'\n[tool.pytest.ini_options]\n"}, "pytest"),
        ({"setup.cfg": "[tool:pytest]\n"}, "pytest"),
        ({"tests/a_test.py": "", "Makefile": "test:\n"}, "make"),
        ({"Makefile": "all:\n\techo\ntest: all\n"}, "make"),
        ({"Makefile": "check test::\n", "package.json": "{}"}, "make"),
        ({"Makefile": "test := x\n", "package.json": '{"scripts": {"test": "node --test"}}'}, "npm"),
        ({"package.json": '{"scripts": {"test": "echo no test specified"}}', "go.mod": "module x"}, "go"),
        ({"package.json": "[1", "Cargo.toml": "[package]", "tests/a.rs": ""}, "cargo"),
        ({"package.json": '{"scripts": []}', "pyproject.toml": "[project]", "go.mod": "x"}, "go"),
    ],
)
def test_a_suite_is_known_by_the_files_of_the_folder(
    tmp_path: Path, files: Mapping[str, str], suite: str
) -> None:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    workspace = Workspace(tmp_path)
    with workspace.open_folder(".") as descriptor:
        assert detect(Folder(workspace, ".", descriptor)) == suite


@pytest.mark.parametrize(
    ("suite", "select", "arguments"),
    [
        ("make", "", ["test"]),
        ("npm", "", ["test"]),
        ("npm", "one", ["test", "--", "one"]),
        ("cargo", "one", ["test", "--color", "never", "one"]),
        ("go", "", ["test", "./..."]),
        ("go", "One", ["test", "-run", "One", "./..."]),
        ("pytest", "a.py", ["-m", "pytest", "-p", "no:cacheprovider", "--color=no", "a.py"]),
        ("pytest", "a", ["-m", "pytest", "-p", "no:cacheprovider", "--color=no", "-k", "a"]),
    ],
)
def test_each_suite_has_one_command_with_a_selection_as_one_argument(
    tmp_path: Path, suite: str, select: str, arguments: list[str]
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("make", "npm", "cargo", "go", "python3"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    (tmp_path / "work").mkdir()
    workspace = Workspace(tmp_path / "work")
    with workspace.open_folder(".") as descriptor:
        folder = Folder(workspace, ".", descriptor)
        program, *found = command(suite, folder, select, {"PATH": str(programs)})
        assert (Path(program).parent, found) == (programs, arguments)
        with pytest.raises(ToolError) as caught:
            command("make", folder, "one", {"PATH": str(programs)})
        assert caught.value.code == "SELECT_UNSUPPORTED"
        with pytest.raises(ToolError) as caught:
            command("go", folder, "", {"PATH": str(tmp_path)})
        assert caught.value.code == "COMMAND_NOT_FOUND"


@pytest.mark.parametrize(
    ("suite", "log", "expected"),
    [
        ("pytest", "3 passed in 0.02s", {"succeeded": 3}),
        (
            "pytest",
            "x\n== 1 failed, 12 passed, 2 skipped, 1 xfailed, 2 warnings, 1 error in 61.20s (0:01:01) ==\n",
            {"failed": 2, "succeeded": 12, "skipped": 3},
        ),
        ("pytest", "9 passed in 1s\n1 failed in 0.1s\n", {"failed": 1}),
        ("pytest", "no tests ran in 0.01s", {}),
        ("pytest", "I saw 3 passed here", {}),
        (
            "cargo",
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n"
            "test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out\n",
            {"succeeded": 3, "failed": 3, "skipped": 1},
        ),
        ("go", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/y\t0.002s\nok  \tx/z\t0.1s\n", {"failed": 1}),
        ("go", "ok  \tx/z\t(cached)\n", {"failed": 0}),
        ("go", "?   \tx\t[no test files]\n", {}),
        (
            "npm",
            "Tests:       1 failed, 2 skipped, 4 passed, 7 total\n",
            {"failed": 1, "skipped": 2, "succeeded": 4},
        ),
        ("npm", "# tests 3\n# pass 2\n# fail 1\n# skipped 0\n", {"succeeded": 2, "failed": 1, "skipped": 0}),
        (
            "npm",
            "  5 passing (12ms)\n  1 pending\n  2 failing\n",
            {"succeeded": 5, "failed": 2, "skipped": 1},
        ),
        ("npm", "done", {}),
        ("make", "== 2 passed in 0.1s ==", {"succeeded": 2}),
    ],
)
def test_counts_are_read_from_the_logs_of_known_suites(
    suite: str, log: str, expected: Mapping[str, int]
) -> None:
    assert counts(suite, log) == expected


def test_of_a_long_log_the_end_is_kept(walks: Walks) -> None:
    interpreter(walks.workspace)
    walks.write(
        "test_it.py",
        "def test_loud():\n    print('first'); print('x\\n' * 300000); print('last'); assert 0\n",
    )
    found = answer(run(walks))
    text = str(found["text"])
    assert (found["truncated"], found["failed"]) == (True, 1)
    assert "first" not in text
    assert text.splitlines()[2] == "(the beginning is left out)"
    assert "1 failed in" in text[-200:]


def test_a_path_keeps_only_what_lies_outside_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "work/bin").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "work/bin")
    given = f":.:bin:{tmp_path}/work/bin:{tmp_path}/link:{tmp_path}/other:/usr/bin"
    assert safe_path(given, tmp_path / "work") == f"{tmp_path}/other:/usr/bin:/usr/local/bin:/bin"
    assert safe_path("", tmp_path / "work") == "/usr/local/bin:/usr/bin:/bin"
