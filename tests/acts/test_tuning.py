"""`mcl model tune` but for the training: what it reads, when it keeps a model, what it leaves behind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import Home
from mcl.core.errors import InputError, ModelError
from mcl.core.home import open_home
from mcl.language.skills import Skill, find_skills, load_skill
from mcl.model import bundled_path
from mcl.plugins.train.lessons import Figures, Lesson, Value, lessons_of, read_lessons, without
from mcl.plugins.train.run import tune
from mcl.usecases.models import Models

SKILL = """§SKILL
id={id}
version=1.0.0
display="{display}"
author=me
description="{description}"
mcl.verbs={verbs}
{examples}

§INPUTS
slot path: string
  optional
  hint="which folder or file"
slot dish: string
  optional
  hint="the dish or ingredient"
slot words: string[]
  optional
  max=2
slot kind: enum<short|long>
  optional
slot quick: bool
  optional

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
GOALS = [
    "find a recipe for lasagna", "look up how to cook risotto", "which recipe uses chickpeas",
    "show me a recipe with tofu", "find me recipes for pancakes", "search for a soup recipe",
]  # fmt: skip


DISHES = ["lasagna", "risotto", "chickpeas", "tofu", "pancakes", "soup"]


def a_skill(folder: Path, id: str = "look", examples: list[str] | None = None, verbs: str = "find") -> Skill:
    lines = "\n".join(f'example.{n}="{text}"' for n, text in enumerate(examples or [], 1))
    (folder / id).mkdir(parents=True, exist_ok=True)
    text = SKILL.format(
        id=id,
        display="Recipes",
        description="Finds recipes and says how to cook a dish",
        verbs=verbs,
        examples=lines,
    )
    (folder / id / "SKILL.mtx").write_text(text)
    return load_skill(folder / id)


def lines(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path / "home")


def test_values_are_found_where_they_stand_and_options_are_members(tmp_path: Path) -> None:
    skill = a_skill(tmp_path)
    row = {"prose": "Find  Tax and TAX in the docs, briefly", "skill": "look"}
    row |= {"slots": {"words": ["tax", "tax"], "path": "The Docs", "kind": "SHORT", "quick": True}}  # type: ignore[dict-item]
    (lesson,) = read_lessons(lines(tmp_path / "e.jsonl", row, ""), [skill])
    assert lesson.verb == "find"
    assert lesson.values is not None
    found = [
        (one.slot, one.text, lesson.prose[one.start : one.end])
        for one in lesson.values
        if one.start is not None
    ]
    assert found == [("words", "Tax", "Tax"), ("words", "TAX", "TAX"), ("path", "the docs", "the docs")]
    assert [(one.slot, one.text) for one in lesson.values if one.start is None] == [
        ("kind", "short"),
        ("quick", "true"),
    ]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"prose": "x"}', "skill must be a text"),
        ('{"prose": " ", "skill": "look"}', "prose must be a text"),
        ({"prose": "x", "skill": "lok"}, 'did you mean "look"'),
        ({"prose": "x", "skill": "look", "verb": "buy"}, "'buy' is no verb of look: find"),
        ({"prose": "x", "skill": "look", "when": "now"}, "unknown key 'when'"),
        ({"prose": "x", "skill": "look", "slots": []}, "slots must be an object"),
        ({"prose": "x", "skill": "look", "slots": {"pth": "x"}}, 'did you mean "path"'),
        ({"prose": "in docs2", "skill": "look", "slots": {"path": "docs"}}, "does not stand in the prose"),
        (
            {"prose": "x", "skill": "look", "slots": {"kind": "wide"}},
            "'wide' is no option of kind: short, long",
        ),
        ({"prose": "a b c", "skill": "look", "slots": {"words": ["a", "b", "c"]}}, "words takes at most 2"),
        ({"prose": "x", "skill": "look", "slots": {"path": None}}, "path must be a text"),
        ({"prose": "w " * 200, "skill": "look"}, "more than 128 words"),
    ],
)
def test_a_wrong_line_is_told_with_its_number(tmp_path: Path, row: object, told: str) -> None:
    path = lines(tmp_path / "e.jsonl", {"prose": "fine", "skill": "look"}, row)
    with pytest.raises(InputError) as caught:
        read_lessons(path, [a_skill(tmp_path)])
    assert caught.value.code == "EXAMPLES_INVALID"
    assert told in caught.value.message
    assert [error["line"] for error in caught.value.data["errors"]] == [2]


@given(
    data=st.binary(max_size=200)
    | st.recursive(
        st.none() | st.text(max_size=8) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["prose", "skill", "verb", "slots", "path"]), inner, max_size=4)
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_file_of_examples_is_a_fault(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "e.jsonl").write_bytes(data)
    try:
        read_lessons(folder / "e.jsonl", [a_skill(folder)])
    except InputError as error:
        assert error.code == "EXAMPLES_INVALID"  # noqa: PT017 - both ends are right


def test_a_goal_counts_once_and_the_file_says_more_than_the_skill(tmp_path: Path) -> None:
    skill = a_skill(tmp_path, examples=[GOALS[0], "find tax  in docs"])
    row = {"prose": "find tax in docs", "skill": "look", "slots": {"path": "docs"}}
    found = lessons_of([skill], lines(tmp_path / "e.jsonl", row, row))
    assert [(one.prose, one.values is None) for one in found] == [
        ("find tax in docs", False),
        (GOALS[0], True),
    ]
    twice = {**row, "skill": "other"}
    with pytest.raises(InputError) as caught:
        read_lessons(lines(tmp_path / "e.jsonl", row, twice), [skill, a_skill(tmp_path, "other")])
    assert "said in line 1 already, for look" in caught.value.message


def test_what_is_held_out_is_hidden_from_the_skills(tmp_path: Path) -> None:
    a_skill(tmp_path, examples=GOALS)
    less = without(find_skills([tmp_path]), {GOALS[1], f"  {GOALS[2]}"})
    assert less.by_id["look"].examples == (GOALS[0], *GOALS[3:])


def test_what_is_missing_is_said_before_anything_is_trained(home: Home, tmp_path: Path) -> None:
    def refusal(*args: Any, **more: Any) -> str:
        with pytest.raises((InputError, ModelError)) as caught:
            tune(*args, home=home, **more)
        return caught.value.code

    assert refusal([tmp_path / "none"]) == "TUNE_NO_SKILLS"
    a_skill(tmp_path / "skills", examples=GOALS[:2])
    assert refusal([tmp_path / "skills"]) == "TUNE_TOO_FEW"
    assert refusal([tmp_path / "skills"], examples=tmp_path / "no.jsonl") == "EXAMPLES_MISSING"
    a_skill(tmp_path / "skills", examples=GOALS)
    assert refusal([tmp_path / "skills"], name="../x") == "MODEL_NAME"
    assert refusal([tmp_path / "skills"], name="bundled") == "MODEL_NAME"
    Models(home).use("no-ai")
    assert refusal([tmp_path / "skills"]) == "MODEL_FORM"


@dataclass
class Copying:
    """A trainer that hands out a finished file for every training."""

    made: Path
    stop: int = 0
    calls: int = 0

    def teach(self, target: Path, **settings: Any) -> None:
        self.calls += 1
        if self.calls == self.stop:
            target.write_bytes(b"half")
            raise KeyboardInterrupt
        shutil.copyfile(self.made, target)
        for _ in range(settings["steps"]):
            settings["progress"]()

    def lend(self, taught: Any) -> None:
        """Nothing is read here."""

    def known(self, shipped: Any) -> list[Lesson]:
        values = (Value("text", "invoice", 14, 21), Value("folder", "notes", 36, 41))
        prose = "find the word invoice in the folder notes"
        return [
            Lesson(prose, "files-find", "find", values),
            *lessons_of([shipped.by_id["run-tests"]], None)[:2],
        ]


@pytest.fixture
def knows_nothing(tmp_path: Path) -> Path:
    """The bundled model with nothing but zeros for its words."""
    path = tmp_path / "zeros.gguf"
    shutil.copyfile(bundled_path(), path)
    for tensor in gguf.GGUFReader(path, "r+").tensors:
        if tensor.name == "token_embd.weight":
            tensor.data[:] = 0
            tensor.data.flush()
    return path


Trainer = Callable[..., Copying]


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Trainer:
    def use(made: Path, stop: int = 0) -> Copying:
        copying = Copying(made, stop)
        monkeypatch.setattr("mcl.plugins.train.run.Teacher", lambda base: copying)
        monkeypatch.setattr("mcl.plugins.train.run.known", copying.known)
        return copying

    return use


@pytest.mark.slow
def test_a_better_model_is_kept_beside_the_old_one_with_where_it_comes_from(
    home: Home, tmp_path: Path, knows_nothing: Path, trainer: Trainer
) -> None:
    models = Models(home)
    models.add(knows_nothing, name="new-born")
    models.use("new-born")
    a_skill(tmp_path / "skills")
    rows = [
        {"prose": prose, "skill": "look", "slots": {"dish": dish}}
        for prose, dish in zip(GOALS, DISHES, strict=True)
    ]
    examples = lines(tmp_path / "examples.jsonl", *rows)
    copying, ticks = trainer(bundled_path()), []
    tuned = tune(
        [tmp_path / "skills"],
        examples=examples,
        name="mine",
        steps=2,
        folds=2,
        home=home,
        progress=lambda *one: ticks.append(one),
    )
    assert copying.calls == 3
    assert (ticks[-1][0], ticks[-1][0]) == (ticks[-1][1], len(ticks))
    assert tuned.after.whole >= tuned.before.whole
    assert tuned.before.lessons == tuned.after.lessons == len(GOALS)
    assert not tuned.model.in_use
    assert {one.name for one in models.list()} >= {"new-born", "mine"}
    assert models.use("mine").path == home.path / "models" / "mine.gguf"
    assert sorted(path.name for path in (home.path / "models").iterdir()) == [
        "mine.gguf",
        "mine.gguf.sha256",
        "mine.md",
    ]
    assert tuned.model.digest in (home.path / "models" / "mine.md").read_text()
    (row,) = home.journal.rows(kind="record.tune")
    body = home.journal.open(row.wire).body
    assert (body["accepted"], body["model"], body["base"]) == (True, tuned.model.digest, tuned.base.digest)
    assert home.journal.verify().ok


@pytest.mark.slow
def test_a_model_that_is_no_better_is_refused_with_the_figures(
    home: Home, tmp_path: Path, knows_nothing: Path, trainer: Trainer
) -> None:
    a_skill(tmp_path / "skills", examples=GOALS)
    for made, why in ((bundled_path(), "it does no better"), (knows_nothing, "it would forget")):
        trainer(made)
        with pytest.raises(ModelError) as caught:
            tune([tmp_path / "skills"], steps=1, folds=2, home=home)
        assert caught.value.code == "TUNE_NO_BETTER"
        assert caught.value.exit == 4
        assert why in caught.value.message
        assert "bundled stays as it is" in caught.value.message
    assert list((home.path / "models").iterdir()) == []
    assert [one.name for one in Models(home).list()] == ["bundled", "no-ai"]
    assert [
        home.journal.open(row.wire).body["accepted"] for row in home.journal.rows(kind="record.tune")
    ] == [False] * 2


def test_a_stop_in_the_middle_leaves_nothing(home: Home, tmp_path: Path, trainer: Trainer) -> None:
    a_skill(tmp_path / "skills", examples=GOALS)
    trainer(bundled_path(), stop=2)
    with pytest.raises(KeyboardInterrupt):
        tune([tmp_path / "skills"], steps=1, folds=2, home=home)
    assert list((home.path / "models").iterdir()) == []
    assert not home.journal.rows(kind="record.tune")


def test_figures_add_up() -> None:
    one = Figures(lessons=2, skills=2, verbs=1, whole=1, told=2, wanted=2, right=1)
    both = one + one
    assert (both.lessons, both.whole, both.f1) == (4, 2, 0.5)
    assert Figures().f1 == 1.0
