"""The public face: what `mcl.__all__` lists, loaded at first use and not before."""

from __future__ import annotations

import importlib
import operator
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mcl

ROOT = Path(__file__).resolve().parents[2]
ACTS = {
    *("accept", "answer", "call_tool", "cancel", "compile_batch", "compile_goal", "correct", "do"),
    *("list_intents", "open_home", "replay", "run", "show", "undo", "verify"),
}
NOUNS = {
    *("activity", "config", "corrections", "gates", "grants", "memories", "models", "plans", "policy"),
    *("runs", "servers", "skills", "tools"),
}
VALUES = {
    *("Acceptance", "Clarify", "Compiled", "Corrected", "Envelope", "Frame", "Home", "Intent"),
    *("MclError", "Outcome", "PlanTree", "Refused", "Replay", "Shown", "Summary", "UndoReport"),
}


def test_the_public_names_are_these_and_each_is_there():
    assert set(mcl.__all__) == ACTS | NOUNS | VALUES | {"__version__"} == set(dir(mcl))
    assert len(mcl.__all__) <= 45
    assert list(mcl.__all__) == sorted(mcl.__all__)
    for name in mcl.__all__:
        assert getattr(mcl, name) is not None
    assert not hasattr(mcl, "nonsense")


def test_the_acts_of_a_noun_are_called_like_its_commands():
    assert {"check", "format", "hash", "list", "new", "publish", "show", "test"} <= set(dir(mcl.skills))
    assert {"approve", "check", "list", "quarantine", "reject", "show"} <= set(dir(mcl.tools))
    assert {"check", "compare", "draw", "show"} <= set(dir(mcl.plans))
    assert {"prune_undo", "undo"} <= set(dir(mcl.runs))
    assert {"add", "list", "remove"} <= set(dir(mcl.grants))
    assert {"decide", "list", "show"} <= set(dir(mcl.gates))
    assert {"add", "list", "remove", "use"} <= set(dir(mcl.models))


def test_the_acts_of_models_and_gates_work_by_their_verbs(tmp_path):
    with mcl.Home.open(tmp_path / "home") as home:
        assert mcl.gates.list(home=home) == mcl.gates.open_gates(home=home) == ()
        assert [model.name for model in mcl.models.list(home=home) if model.in_use] == ["bundled"]
        assert mcl.models.use("no-ai", home=home).in_use
        assert [model.name for model in mcl.models.list(home=home) if model.in_use] == ["no-ai"]


def test_a_name_of_before_says_what_it_is_called_now():
    with pytest.raises(AttributeError, match=r"'cortex_put'; it is mcl\.memories\.add now"):
        mcl.cortex_put  # noqa: B018
    with pytest.raises(AttributeError, match=r"'nonsense'$"):
        mcl.nonsense  # noqa: B018


def test_what_a_name_of_before_is_called_now_is_there():
    for place, names in tomllib.loads((ROOT / "mcl/renamed.toml").read_text()).items():
        noun = place.removeprefix("mcl.")
        module = getattr(mcl, noun) if noun in NOUNS else importlib.import_module(place)
        for name in (*names.pop("kept", ()), *names.values()):
            assert operator.attrgetter(name)(module) is not None


def test_type_checkers_see_what_the_readme_says(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from mcl import accept, aio, compile_goal, run, skills\n"
        'compiled = compile_goal("which files in notes mention invoice").require()\n'
        "accept(compiled.intent.id)\n"
        "outcome = run(compiled.intent.id).require()\n"
        "reveal_type(outcome)\n"
        "reveal_type(aio.run)\n"
        'reveal_type(skills.hash("a"))\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(program)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert "Success" in done.stdout, done.stdout + done.stderr
    revealed = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    assert "outcome.Outcome" in revealed[0]
    assert "Coroutine" in revealed[1]
    assert "str" in revealed[2]
    assert (ROOT / "mcl" / "py.typed").exists()


def test_the_acts_to_be_awaited_are_there_without_an_import_of_their_own():
    script = "import mcl; print(mcl.aio.run.__name__, 'aio' in mcl.__all__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "run False", done.stderr


def test_importing_mcl_loads_none_of_its_parts():
    heavy = ("ir", "executor", "pydantic", "nacl", "llama_cpp", "rich", "typer", "sqlite3")
    script = f"import sys, mcl; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr
