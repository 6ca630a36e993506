"""What a command loads: nothing that it does not use, for each library costs every start its share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import make_home

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    *("anyio", "babel", "dateparser", "httpx", "icalendar", "jinja2", "jsonpatch", "jsonschema", "lark"),
    *("llguidance", "lxml", "numpy", "pygal", "pygls", "rich", "yaml"),
)
OURS = ("executor", "ir", "mcl.compiler.compiler")
_LOADED = """
import sys
from mcl.cli.main import main
code = main(sys.argv[2:])
print([name for name in sys.argv[1].split() if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""


def loaded(names: tuple[str, ...], home: Path, *command: str) -> str:
    """Those of `names` that the command has loaded, as a list in text; its other output is dropped."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, " ".join(names), *command],
        env={**os.environ, "MCL_HOME": str(home)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    "goal",
    [
        "which files in docs mention invoice",
        pytest.param("show the last 5 commits", marks=pytest.mark.slow),  # each is a process with a model
    ],
)
def test_a_compile_with_the_bundled_model_loads_no_library_that_it_does_not_need(
    goal: str, tmp_path: Path
) -> None:
    command = ("compile", goal, "--json")
    loaded((), tmp_path, *command)  # the first reads skills and core modules and keeps what it read
    asked = ("mcl.model.encoder", *HEAVY, "llama_cpp.llama")
    assert loaded(asked, tmp_path, *command, "--no-cache") == "['mcl.model.encoder', 'numpy']"
    again = (*asked, "mcl.model.llama.weights")
    assert loaded(again, tmp_path, *command) == "[]"  # what it answered was kept


def test_a_compile_without_a_model_loads_no_model(tmp_path: Path) -> None:
    command = ("compile", "which files in docs mention invoice", "--json", "--no-ai")
    loaded((), tmp_path, *command)
    assert loaded((*HEAVY, "ctypes", "mcl.model.llama.weights"), tmp_path, *command) == "[]"


def test_a_read_in_one_step_loads_no_library_that_it_does_not_need(tmp_path: Path) -> None:
    command = ("do", "which files in docs mention invoice", "--yes", "--json", "--no-ai")
    make_home(tmp_path)
    loaded((), tmp_path, *command)
    needless = [name for name in HEAVY if name not in ("anyio", "rich", "yaml")]
    ours = ("mcl.usecases.corrections", "mcl.usecases.follow_up", "mcl.plugins.review.conclusion")
    assert loaded((*needless, *ours, "executor.walker.undo.undo"), tmp_path, *command) == "[]"


@pytest.mark.parametrize("command", [("--help",), ("compile", "--help")])
def test_help_loads_only_what_it_prints(command: tuple[str, ...], tmp_path: Path) -> None:
    assert loaded((*HEAVY, *OURS), tmp_path, *command) == "[]"


def test_the_version_is_said_without_anything_else(tmp_path: Path) -> None:
    assert loaded((*HEAVY, *OURS, "typer"), tmp_path, "--version") == "[]"


@pytest.mark.parametrize("thread", ["", "threading.Thread(target=work).start()"])
def test_a_process_ends_with_its_code_when_all_is_written_and_put_away(thread: str) -> None:
    program = f"""if True:
        import atexit, sys, threading, time
        from mcl.cli.main import main
        def work():
            time.sleep(0.2)
            print("worked")
        atexit.register(print, "put away")
        {thread}
        sys.argv = ["mcl", "log", "--no-such-option"]
        sys.exit(main())
    """
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split("\n")[:-1]) == (2, ["worked"] * bool(thread) + ["put away"])
    assert "--no-such-option" in done.stderr
