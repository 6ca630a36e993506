"""Teaching a model a user's skills: it learns them, keeps the rest, and does so again in the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch")

from mcl.language.skills import find_skills, skill_folders
from mcl.model import Candidate, bundled_path
from mcl.model.files import file_digest, read_header
from mcl.model.loader import load_model
from mcl.model.skill_classifier import RARITY_UNIT, SIZE_KEY, SkillClassifier, key_of, packed
from mcl.plugins.train.lessons import Lesson, lessons_of
from mcl.plugins.train.tuner.tune import SOURCE, known, teach, tune
from mcl.plugins.train.tuner.weights import read

SKILL = """§SKILL
id={id}
version=1.0.0
display="{display}"
author=me
description="{description}"
mcl.verbs=modify

§INPUTS
slot plant: string
  optional
  hint="which plant"

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
PLANTS = ["basil", "ferns", "orchids", "tomatoes", "cactus", "rose bed", "hedge", "bonsai"]
THIRSTY = ["give the {} a drink", "the {} is thirsty, see to it", "pour the {} some by Friday"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("skills")
    (folder / "water").mkdir()
    text = SKILL.format(id="water", display="Water plants", description="Waters plants")
    (folder / "water" / "SKILL.mtx").write_text(text)
    return folder


def lessons(folder: Path, path: Path) -> list[Lesson]:
    rows = [
        {"prose": THIRSTY[place % 3].format(plant), "skill": "water", "slots": {"plant": plant}}
        for place, plant in enumerate(PLANTS)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return lessons_of(list(find_skills([folder])), path)


def test_a_short_training_teaches_a_skill_and_gives_the_same_bytes_again(
    folder: Path, tmp_path: Path
) -> None:
    taught, ticks = lessons(folder, tmp_path / "e.jsonl"), []
    shelf = find_skills(skill_folders(None, extra=[folder]))
    skills = [shelf.by_id["water"]]
    made = [tmp_path / "one.gguf", tmp_path / "two.gguf"]
    for path in made:
        tune(
            bundled_path(), path, skills=skills, shelf=shelf, lessons=taught, steps=6, seed=3, threads=1,
            said={"mcl.tuned.base": "0" * 64}, folder=tmp_path / path.stem, progress=lambda: ticks.append(1),
        )  # fmt: skip
    assert len(ticks) == 12
    assert file_digest(made[0]) == file_digest(made[1]) != file_digest(bundled_path())
    assert read_header(made[0]).metadata["mcl.tuned.base"] == "0" * 64
    offered = [Candidate(one.id, one.display, one.description, one.verbs) for one in list(shelf)[-8:]]

    def sure(path: Path) -> float:
        model = load_model(path, home_path=None)
        return sum(dict(model.choose(one.prose, offered).probabilities)["water"] for one in taught)

    assert sure(made[0]) > sure(bundled_path())


def a_member(buckets: int = 512) -> bytes:
    """A linear member with three classes of random weights, one of them a verb."""
    random = np.random.default_rng(1)
    rows = random.integers(1, 255, (buckets, 3), dtype=np.uint8)
    classes = [
        {"names": [key_of(name)], "told": [], "source": source, "scale": 0.01, "bias": -0.5}
        for name, source in (("pay-bills", "own"), ("water", SOURCE), ("find", "verbs"))
    ]
    rarities = random.integers(RARITY_UNIT, 200, buckets, dtype=np.uint8).tobytes()
    return packed({"buckets": buckets, "classes": classes, "verbs": {"find": 2}}, rarities, [rows.tobytes()])


def margins(path: Path, member: bytes, prose: str) -> tuple[float | None, ...]:
    path.write_bytes(b"GGUF and so on" + member)
    shown = [Candidate("pay-bills", "", "", ()), Candidate("water", "Water", "Waters plants", ())]
    return SkillClassifier(path, len(member)).margins(prose, shown)


def test_the_linear_member_learns_beside_what_it_knew(tmp_path: Path) -> None:
    before = a_member()
    goals = [(THIRSTY[place % 3].format(plant), "water") for place, plant in enumerate(PLANTS)]
    strangers = ["find the word invoice in notes", "remind me to call Ann", "what changed here", "buy paper"]
    after = teach(before, goals, {"water": "Waters plants"}, strangers)
    for text in [*strangers, goals[0][0]]:
        assert margins(tmp_path / "a", before, text)[0] == margins(tmp_path / "b", after, text)[0]
    own = [margins(tmp_path / "b", after, text)[1] for text, _ in goals]
    others = [margins(tmp_path / "b", after, text)[1] for text in strangers]
    assert min(one for one in own if one is not None) > max(one for one in others if one is not None)
    assert SkillClassifier(tmp_path / "b", len(after)).verbs(goals[0][0]).keys() == {"find"}
    again = teach(after, goals, {"water": "Waters plants"}, strangers)
    assert again == after, "taught under the same name, a skill takes its own place again"
    assert teach(b"", goals, {"water": "Waters plants"}, strangers) == b""


def test_what_lies_behind_the_tensors_travels_with_the_file(folder: Path, tmp_path: Path) -> None:
    from mcl.plugins.train.tuner.weights import rewrite, tensors

    found = read(bundled_path())
    rewrite(
        bundled_path(), tmp_path / "m.gguf", tensors(found.weights, found.shape), said={}, tail=b"12345678"
    )
    if SIZE_KEY in read_header(bundled_path()).metadata:
        assert read_header(tmp_path / "m.gguf").metadata[SIZE_KEY] == 8
    assert read(tmp_path / "m.gguf").tail == b"12345678"


def test_what_must_not_be_forgotten_are_the_shipped_skills_and_goals() -> None:
    kept = known(find_skills(skill_folders(None)))
    assert len({one.skill for one in kept}) >= 13
    assert any(one.skill == "" for one in kept)


@pytest.mark.slow
def test_an_installed_wheel_tunes_without_the_checkout(folder: Path, tmp_path: Path) -> None:
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
    env = {**os.environ, "MCL_HOME": str(tmp_path / "home")}
    command = ("model", "tune", "--skills", str(folder), "--steps", "2", "--folds", "2", "--json")
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, *command], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    told = json.loads(done.stdout.splitlines()[-1] if done.returncode == 0 else done.stderr.splitlines()[-1])
    assert done.returncode == 0 or told["error"]["code"] == "TUNE_NO_BETTER", done.stderr
