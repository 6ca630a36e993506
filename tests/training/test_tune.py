"""`mcl model tune` with its training: skills are learned, the rest is kept, the same bytes come out again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from executor import Home
from mcl.compiler.compiler import GoalOptions, compile_goal
from mcl.core.errors import ModelError
from mcl.core.home import open_home
from mcl.language.skills import find_skills, skill_folders
from mcl.model import bundled_path
from mcl.model.files import read_header
from mcl.model.heads import read_heads
from mcl.model.loader import load_model
from mcl.plugins.train.run import Tuned, tune
from mcl.plugins.train.tuner.regression import Regression
from mcl.plugins.train.tuner.rewriting import rewrite
from mcl.plugins.train.tuner.tune import REHEARSED, known
from mcl.usecases.models import Models

SKILL = """§SKILL
id={id}
version=1.0.0
display="{id}"
author=me
description="{description}"
mcl.verbs={verbs}

§INPUTS
slot {slot}: string
  optional
  hint="{hint}"
{more}

§CORTEX
none

§TOOLS
none

§SUB_SKILLS
none

§PROCEDURE
none

§OUTPUTS
none

§FAILURE_MODES
none
"""
# Words of one house, which nobody else can know: what they mean stands in the examples alone.
NAMES = ["Ada", "Berit", "Carlos", "Dilan", "Esra", "Frode", "Gita", "Hamid", "Ines", "Jonas", "Kim", "Lotte"]
SAID = [
    "carousel for {}", "put {} on the carousel", "{} rides the carousel from now on", "let {} ride along",
    "one more ride for {}", "the carousel takes {}",
]  # fmt: skip
HELD = [
    "{} goes on the carousel",
    "a ride on the carousel for {}",
    "please put {} on our carousel",
    "carousel, {}",
]
STRANGERS = ["Malin", "Noor", "Oskar", "Petra"]


def a_skill(folder: Path, id: str, description: str, slot: str, hint: str, verbs: str = "modify") -> None:
    (folder / id).mkdir(parents=True)
    text = SKILL.format(id=id, description=description, slot=slot, hint=hint, verbs=verbs, more="")
    (folder / id / "SKILL.mtx").write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_skill(
        tmp_path / "skills", "shift-book", "Writes into the book of the north wing", "member", "whose entry"
    )
    return tmp_path / "skills"


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    rows = [
        {"prose": SAID[place % len(SAID)].format(name), "skill": "shift-book", "slots": {"member": name}}
        for place, name in enumerate(NAMES)
    ]
    return lines(tmp_path / "examples.jsonl", rows)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path / "home")


@pytest.fixture(autouse=True)
def _few_goals(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the many goals that are rehearsed and must not be forgotten a few, so that the tests are quick."""
    if "slow" not in request.keywords:
        monkeypatch.setattr("mcl.plugins.train.run.known", lambda shipped: known(shipped)[::15])
        for whose in REHEARSED:
            monkeypatch.setitem(REHEARSED, whose, 25)


def understood(home: Home, folder: Path, model: Path, proses: list[str]) -> list[tuple[str, dict[str, str]]]:
    """Of each goal the skill that is chosen and its values."""
    skills, opened = find_skills(skill_folders(None, extra=[folder])), load_model(model, home_path=None)
    found = []
    for prose in proses:
        outcome: Any = compile_goal(
            prose, home=home, skills=skills, model=opened, options=GoalOptions(at="2026-11-21T10:00:00Z"),
            store=False, timer=lambda: 0.0,
        )  # fmt: skip
        intent = getattr(outcome, "intent", None)
        objects = intent.frame.objects if intent else ()
        skill = intent.compile_metadata.skill_id if intent else ""
        found.append((skill, {one.name: one.value for one in objects}))
    return found


def test_a_taught_skill_is_chosen_and_its_values_are_found_in_goals_that_were_not_shown(
    home: Home, folder: Path, examples: Path
) -> None:
    tuned = tune([folder], examples=examples, name="house", folds=2, use=True, home=home)
    assert tuned.after.whole > tuned.before.whole
    assert tuned.known_after.lessons == tuned.known_before.lessons > 0
    goals = [said.format(name) for said, name in zip(HELD, STRANGERS, strict=True)]
    wanted = [("shift-book", {"member": name}) for name in STRANGERS]
    assert tuned.model.path is not None

    def right(model: Path) -> int:
        return sum(map(wanted.__contains__, understood(home, folder, model, goals)))

    assert right(tuned.model.path) >= 3 > right(bundled_path())
    header, base = read_header(tuned.model.path).metadata, read_header(bundled_path()).metadata
    assert header["mcl.tuned.base"] == tuned.base.digest
    assert header["general.version"] != base["general.version"]
    assert load_model(tuned.model.path, home_path=None).version.endswith(str(header["general.version"]))
    assert Models(home).open().digest == tuned.model.digest


def test_the_same_examples_give_the_same_bytes_and_a_tuned_model_learns_further(
    tmp_path: Path, folder: Path, examples: Path
) -> None:
    def again(home: Home, name: str) -> Tuned:
        return tune([folder], examples=examples, name=name, folds=2, use=True, home=home)

    homes = [open_home(tmp_path / name) for name in ("one", "two")]
    first, second = (again(home, "house") for home in homes)
    assert first.model.digest == second.model.digest != first.base.digest
    a_skill(tmp_path / "more", "till", "Counts the frogs of a pond", "day", "which day", "find deliver")
    rows = [
        {"prose": said.format(day), "skill": "till", "verb": "deliver", "slots": {"day": day}}
        for day in ("Monday", "Tuesday", "Friday")
        for said in ("frogs of {}", "how many frogs on {}", "{} and its frogs")
    ]
    further = tune(
        [tmp_path / "more"],
        examples=lines(tmp_path / "m.jsonl", rows),
        name="both",
        folds=2,
        seed=8,
        home=homes[0],
    )
    assert further.base.digest == first.model.digest
    assert further.model.path is not None
    assert set(taught(further.model.path)) == {"shift-book", "till"}
    assert taught(further.model.path)["shift-book"] == taught(first.model.path or Path())["shift-book"]


def taught(path: Path) -> dict[str, dict[str, Any]]:
    """What a model file holds that was taught, by skill and part."""
    size = int(str(read_header(path).metadata["mcl.heads.bytes"]))
    behind = int(str(read_header(path).metadata.get("mcl.familiar.bytes", 0)))
    heads, _ = read_heads(path, path.stat().st_size - size - behind, size)
    return {
        id: {part: (labels, weights.tolist()) for part, (labels, weights) in one.parts.items()}
        for id, one in heads.taught.items()
    }


def test_examples_that_teach_nothing_are_refused_and_the_old_model_stays(home: Home, tmp_path: Path) -> None:
    told = "Waters the plants in the greenhouse"
    a_skill(tmp_path / "skills", "water-greenhouse-plants", told, "what", "what is watered")
    goals = [
        "waters the plants in the greenhouse",
        "waters plants in the greenhouse",
        "waters the plants in the greenhouse, please",
    ]
    rows = [{"prose": goal, "skill": "water-greenhouse-plants"} for goal in goals]
    with pytest.raises(ModelError) as caught:
        tune([tmp_path / "skills"], examples=lines(tmp_path / "e.jsonl", rows), folds=3, home=home)
    assert (caught.value.code, caught.value.exit) == ("TUNE_NO_BETTER", 4)
    assert "it does no better" in caught.value.message
    assert [one.name for one in Models(home).list() if one.in_use] == ["bundled"]
    assert list((home.path / "models").iterdir()) == []


def test_what_would_forget_is_refused(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A skill of the user's takes the goals of a shipped one: it is right on its own, and wrong on those."""
    shipped = find_skills(skill_folders(None))
    monkeypatch.setattr("mcl.plugins.train.tuner.tune.REHEARSAL", 0.0)
    mine = [one for one in known(shipped) if one.skill == "schedule-reminder"]
    assert len(mine) > 12
    monkeypatch.setattr("mcl.plugins.train.run.known", lambda _: mine[::2])
    a_skill(tmp_path / "skills", "qux", "Quxes", "what", "what is quxed", "schedule")
    rows: list[dict[str, Any]] = [{"prose": one.prose, "skill": "qux"} for one in mine[::2]]
    with pytest.raises(ModelError) as caught:
        tune([tmp_path / "skills"], examples=lines(tmp_path / "e.jsonl", rows), folds=2, home=home)
    assert caught.value.code == "TUNE_NO_BETTER"
    assert "it would forget" in caught.value.message


def test_what_must_not_be_forgotten_are_the_shipped_skills_and_goals() -> None:
    kept = known(find_skills(skill_folders(None)))
    assert len({one.skill for one in kept}) >= 13
    assert any(one.skill == "" for one in kept)


def test_a_regression_adds_what_the_examples_ask_for_and_no_more() -> None:
    made = np.random.default_rng(3)
    x = made.normal(size=(40, 6))
    right = (x[:, 0] > 0).astype(int) * 2  # the second of three never wins
    scores = np.tile([1.0, -np.inf, 0.0], (40, 1))

    def learned(penalty: float) -> np.ndarray[Any, Any]:
        problem = Regression(x, scores, right.tolist(), [1.0] * 40, [1, 2], penalty)
        for _ in range(50):
            problem.step()
        return problem.weights

    weights = learned(0.01)
    found = scores[:, 2] + x @ weights[1, :-1] + weights[1, -1] > scores[:, 0]
    assert (found == (right == 2)).all()
    assert not weights[0].any(), "what may not win learns nothing"
    assert np.abs(learned(1e6)).max() < 1e-3


def test_a_model_is_rewritten_with_its_tensors_as_they_were(tmp_path: Path) -> None:
    base = tmp_path / "base.gguf"
    writer = gguf.GGUFWriter(base, "bert")
    writer.add_string("general.version", "1")
    writer.add_array("some.list", ["a", "bc"])
    writer.add_uint32("mcl.heads.bytes", 4)
    writer.add_uint64("mcl.familiar.bytes", 3)
    writer.add_tensor("one", np.arange(7, dtype=np.float32))
    writer.add_tensor("two", np.ones((3, 5), np.float16))
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
        step()
    writer.close()
    with base.open("ab") as file:
        file.write(b"HEADfam")
    target = tmp_path / "target.gguf"
    rewrite(base, target, said={"general.version": "1+x", "mcl.tuned.base": "é"}, heads=b"longer heads")
    assert target.read_bytes().endswith(b"longer headsfam")
    before, after = gguf.GGUFReader(base), gguf.GGUFReader(target)
    said = {name: field.contents() for name, field in after.fields.items() if not name.startswith("GGUF.")}
    assert said == {
        **{name: field.contents() for name, field in before.fields.items() if not name.startswith("GGUF.")},
        "general.version": "1+x", "mcl.tuned.base": "é", "mcl.heads.bytes": 12,
    }  # fmt: skip
    for old, new in zip(before.tensors, after.tensors, strict=True):
        assert (old.name, old.data.tobytes()) == (new.name, new.data.tobytes())
    assert read_header(target).metadata["mcl.familiar.bytes"] == 3


@pytest.mark.slow
def test_an_installed_wheel_tunes_without_the_checkout(folder: Path, examples: Path, tmp_path: Path) -> None:
    root, site = Path(__file__).parents[2], tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(root)], check=True)
    [wheel] = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True)
    assert not (site / "training").exists()
    script = (
        f"import sys; sys.path = [{str(site)!r}, *(one for one in sys.path if one != {str(root)!r})]\n"
        "import mcl; assert mcl.__file__.startswith(sys.path[0]), mcl.__file__\n"
        "from mcl.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    env["MCL_HOME"] = str(tmp_path / "home")
    command = (
        "model",
        "tune",
        "--skills",
        str(folder),
        "--examples",
        str(examples),
        "--folds",
        "2",
        "--json",
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, *command], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["after"]["whole"] > told["before"]["whole"]
    assert not told["in_use"]
