"""How sure a tag model is of each kind of answer: a GGUF may say that it is too sure of one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from model_requests import CANDIDATES, GOAL
from random_gguf import small_words, write_gguf

from mcl.core.errors import ModelError
from mcl.model import ExtractForm, SlotForm, load_model
from mcl.model import form as shape

ASKED = ExtractForm("x", "anything", (SlotForm("a", "string", ""), SlotForm("b", "enum", "", ("one", "two"))))


def saying(path: Path, **temperatures: str) -> Path:
    """A tag model with random weights that says these temperatures."""
    words = small_words([shape.token_text(name) for name in shape.SPECIALS])
    extra: dict[str, str | bool | int] = {"mcl.form": shape.FORM, "llama.attention.causal": False}
    extra |= {f"mcl.temperature.{kind}": said for kind, said in temperatures.items()}
    return write_gguf(path, words, layers=2, width=32, context=2048, seed=0, extra=extra)


def test_each_read_of_a_prompt_is_of_its_kind() -> None:
    choice = shape.choose_prompt(GOAL, CANDIDATES)
    assert [shape.kind_of(read) for read in choice.reads] == ["pick", "verb"]
    units = shape.words(GOAL)
    found = [shape.kind_of(read) for read in shape.extract_prompt(GOAL, units, ASKED).reads]
    assert found == ["tag"] * len(units) + ["option"]


def test_scores_of_a_kind_are_divided_by_its_temperature(tmp_path: Path) -> None:
    plain = load_model(saying(tmp_path / "plain.gguf"), home_path=None).choose(GOAL, CANDIDATES)
    cool = load_model(saying(tmp_path / "cool.gguf", pick="2.0"), home_path=None).choose(GOAL, CANDIDATES)
    assert cool.skill_id == plain.skill_id
    assert (cool.verb, cool.verb_probability) == (plain.verb, plain.verb_probability)
    was, now = dict(plain.probabilities), dict(cool.probabilities)
    for a in was:
        for b in was:
            assert math.log(now[a] / now[b]) == pytest.approx(math.log(was[a] / was[b]) / 2, abs=1e-6)


@pytest.mark.parametrize("said", ["hot", "0", "-1", "nan", "inf"])
def test_a_temperature_that_is_none_is_refused(tmp_path: Path, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(saying(tmp_path / "broken.gguf", tag=said), home_path=None)
    assert caught.value.code == "MODEL_BROKEN"
