"""The form enc@1 with random weights: always valid, always the same, whatever the goal."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_requests import CANDIDATES, FORM, GOAL
from random_gguf import random_heads, write_encoder
from valid_answers import check_choice, check_spans

from mcl.compiler.stages.classify import candidate_of
from mcl.core.errors import ModelError
from mcl.language.skills import find_skills, skill_folders
from mcl.model import Candidate, ExtractForm, SlotForm, load_model
from mcl.model.heads import unit_length
from mcl.model.loader import bundled_path
from mcl.model.skill_classifier import ZERO, key_of, packed
from training.shipped_vectors import prepare

PARTS = [*"aA1 .,/\"'\\-€漢😀\ue000\ue001\n<>{}", " the ", "[CLS]", "[SEP]", "none", "[MASK]"]
PROSE = st.text(st.characters(exclude_categories=["Cs"]), max_size=400) | st.lists(
    st.sampled_from(PARTS), max_size=200
).map("".join)
ANY = Candidate("matrix://skill/general@1.0.0", "Anything", "whatever else", (), takes_any=True)


@pytest.fixture(scope="module", params=["word pieces", "unigram"])
def path(request, encoder_path, unigram_path):
    """A model with each kind of vocabulary."""
    return encoder_path if request.param == "word pieces" else unigram_path


@pytest.fixture(scope="module")
def model(path):
    return load_model(path, home_path=None)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PROSE)
def test_any_prose_gets_a_valid_choice(model, prose):
    check_choice(model.choose(prose, CANDIDATES), CANDIDATES)


@settings(max_examples=60, deadline=None)
@given(PROSE)
def test_any_prose_gets_valid_spans(model, prose):
    check_spans(model.extract(prose, FORM), prose, FORM)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.builds(
            SlotForm,
            name=st.text(max_size=30),
            type=st.just("string"),
            hint=st.text(max_size=60),
            options=st.lists(st.text(min_size=1, max_size=12), max_size=4, unique=True).map(tuple),
            many=st.integers(1, 3),
        ),
        max_size=12,
        unique_by=lambda slot: slot.name,
    )
)
def test_any_skill_gets_valid_spans(model, slots):
    form = ExtractForm("matrix://skill/any@1.0.0", "anything", tuple(slots))
    check_spans(model.extract(GOAL, form), GOAL, form)


def test_long_prose_is_read_to_its_end(model):
    prose = " ".join(f"word{i} {'x' * 60}" for i in range(400))
    spans = model.extract(prose, FORM)
    check_spans(spans, prose, FORM)
    assert max(span.end for span in spans if span.end) > len(prose) // 2


def test_one_word_of_eight_thousand_characters_is_read(model):
    check_spans(model.extract("€" * 8000, FORM), "€" * 8000, FORM)


def test_control_tokens_spelled_in_prose_stay_text(model):
    spelled = f"find [SEP] in {GOAL}"
    check_spans(model.extract(spelled, FORM), spelled, FORM)


def test_no_candidates_means_none_of_them(model):
    assert model.choose(GOAL, ()).skill_id is None


def test_any_number_of_skills_is_asked_about_at_once(model):
    many = tuple(replace(CANDIDATES[0], skill_id=f"skill-{i}", description=f"does {i}") for i in range(500))
    check_choice(model.choose(GOAL, many), many)


def test_too_many_slots_are_refused(model):
    slots = tuple(SlotForm(f"slot{i}", "string", "") for i in range(257))
    with pytest.raises(ModelError) as caught:
        model.extract(GOAL, ExtractForm("matrix://skill/wide@1.0.0", "", slots))
    assert caught.value.code == "MODEL_SLOTS"


def test_a_goal_is_for_the_skill_that_has_it_as_an_example(tmp_path):
    model, goal = load_model(None, home_path=tmp_path), "find every TODO in the src folder before Friday"
    for place, one in enumerate(CANDIDATES):
        shown = list(CANDIDATES)
        shown[place] = replace(one, examples=("something else", goal))
        told = dict(model.choose(goal, shown).probabilities)
        assert max(told, key=told.__getitem__) == one.skill_id


def test_what_no_other_skill_takes_goes_to_the_one_that_takes_any_goal(model):
    without = dict(model.choose(GOAL, CANDIDATES).probabilities)
    told = dict(model.choose(GOAL, (*CANDIDATES, ANY)).probabilities)
    left = told[""] + told[ANY.skill_id]
    assert left < without[""]
    for one in CANDIDATES:
        among = without[one.skill_id] / (1 - without[""])
        assert told[one.skill_id] / (1 - left) == pytest.approx(among, abs=1e-5)


def test_reasoning_gives_words_of_the_text_for_each_output(model):
    answer = model.reason("Pick the title.", GOAL, ["title", "body"], "summarize")
    assert list(answer) == ["title", "body"]
    assert all(value in GOAL for value in answer.values())


def test_answers_do_not_depend_on_what_was_asked_before(encoder_path, tmp_path):
    fresh = load_model(encoder_path, home_path=None)
    expected = fresh.choose(GOAL, CANDIDATES), fresh.extract(GOAL, FORM)
    used = load_model(encoder_path, home_path=tmp_path)
    for prose in ("other words", "x" * 300, GOAL):
        used.extract(prose, FORM)
        used.choose(prose, CANDIDATES[:2])
        used.choose(prose, CANDIDATES)
    assert (used.choose(GOAL, CANDIDATES), used.extract(GOAL, FORM)) == expected
    again = load_model(encoder_path, home_path=tmp_path)  # vectors of skills come from disk now
    assert (again.choose(GOAL, CANDIDATES), again.extract(GOAL, FORM)) == expected


def test_damaged_vectors_on_disk_are_thrown_away(encoder_path, tmp_path):
    expected = load_model(encoder_path, home_path=tmp_path).extract(GOAL, FORM)
    (file,) = (tmp_path / "cache" / "vectors").iterdir()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert load_model(encoder_path, home_path=tmp_path).extract(GOAL, FORM) == expected


def test_two_processes_give_the_same_bytes(path, model):
    script = (
        "import sys, json, pathlib\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from model_requests import CANDIDATES, FORM, GOAL\n"
        "from mcl.model import load_model\n"
        f"m = load_model(pathlib.Path({str(path)!r}), home_path=None)\n"
        "print(repr((m.choose(GOAL, CANDIDATES), m.extract(GOAL, FORM))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr((model.choose(GOAL, CANDIDATES), model.extract(GOAL, FORM)))
    assert done.stderr == ""


def test_a_file_that_does_not_state_what_a_text_stands_between_is_refused(tmp_path):
    with pytest.raises(ModelError) as caught:
        load_model(write_encoder(tmp_path / "open.gguf", around=False), home_path=None)
    assert caught.value.code == "MODEL_BROKEN"


def test_the_model_says_what_it_is(model):
    assert len(model.digest) == 64
    assert model.grammar.startswith("enc@1 sha256:")
    assert json.dumps(model.version)


def test_scores_of_a_kind_are_divided_by_its_temperature(encoder_path, tmp_path):
    path = write_encoder(tmp_path / "cool.gguf", more={"temperatures": {"pick": 2.0}})
    plain = load_model(encoder_path, home_path=None).choose(GOAL, CANDIDATES)
    cool = load_model(path, home_path=None).choose(GOAL, CANDIDATES)
    assert (cool.verb, cool.skill_id) == (plain.verb, plain.skill_id)
    was, now = dict(plain.probabilities), dict(cool.probabilities)
    for a in was:
        for b in was:
            assert math.log(now[a] / now[b]) == pytest.approx(math.log(was[a] / was[b]) / 2, abs=1e-3)


@pytest.mark.parametrize("said", ["hot", 0, -1, math.nan, math.inf, None])
def test_a_temperature_that_is_none_is_refused(tmp_path, said):
    path = write_encoder(tmp_path / "broken.gguf", more={"temperatures": {"tag": said}})
    with pytest.raises(ModelError) as caught:
        load_model(path, home_path=None)
    assert caught.value.code == "MODEL_BROKEN"


def test_heads_for_other_vectors_are_refused(tmp_path):
    path = write_encoder(tmp_path / "broken.gguf", heads=random_heads(48))
    with pytest.raises(ModelError) as caught:
        load_model(path, home_path=None)
    assert caught.value.code == "MODEL_BROKEN"


def test_heads_that_are_no_numbers_are_refused(tmp_path):
    heads = random_heads(24) | {"verb.bias": np.full(10, np.nan, np.float32)}
    with pytest.raises(ModelError) as caught:
        load_model(write_encoder(tmp_path / "broken.gguf", heads=heads), home_path=None)
    assert caught.value.code == "MODEL_BROKEN"


def test_a_form_of_another_version_is_refused(tmp_path):
    with pytest.raises(ModelError) as caught:
        load_model(write_encoder(tmp_path / "other.gguf", form_name="enc@9"), home_path=None)
    assert caught.value.code == "MODEL_FORM"


def test_the_bundled_model_opens_and_answers(tmp_path):
    bundled = load_model(None, home_path=tmp_path)
    check_choice(bundled.choose(GOAL, CANDIDATES), CANDIDATES)
    check_spans(bundled.extract(GOAL, FORM), GOAL, FORM)


def known_skills(width: int) -> bytes:
    """A member that knows one of CANDIDATES by name, by the vector of the goal alone."""
    row = {"names": [key_of(CANDIDATES[0].display)], "told": [key_of(CANDIDATES[0].description)]}
    row |= {"source": "a", "scale": 0.0, "stretch": 0.01, "bias": -1.0}
    head = {"buckets": 1, "width": width, "classes": [row], "verbs": {}}
    return packed(head, b"\x10", [bytes([ZERO])], [bytes([100] * width)])


def test_what_the_shipped_skills_say_was_read_before_the_model_was_shipped(tmp_path):
    """Where this fails, what a skill says has changed: python -m training.shipped_vectors"""
    skills = list(find_skills(skill_folders(None)))
    model = load_model(None, home_path=tmp_path)
    prepare(model)
    assert model.texts.data() == b""
    fresh = load_model(bundled_path(), home_path=None)  # by its path it is any model: it reads for itself
    goal, candidates = "find invoice in notes", [candidate_of(skill) for skill in skills]
    assert fresh.choose(goal, candidates).skill_id == model.choose(goal, candidates).skill_id


def test_what_is_read_of_skills_takes_none_of_a_goals_time(encoder_path, tmp_path):
    model = load_model(encoder_path, home_path=tmp_path)
    model.prepare(CANDIDATES)
    model.prepare(FORM)
    known = model.texts.data()
    model.choose(GOAL, CANDIDATES)
    model.extract(GOAL, FORM)
    assert model.texts.data() == known != b""


def test_of_a_skill_that_was_taught_by_name_the_vector_of_the_goal_speaks(tmp_path):
    path = write_encoder(tmp_path / "taught.gguf", skills=known_skills(24))
    model = load_model(path, home_path=None)
    margins = model.margins("invoices", CANDIDATES)
    unit = unit_length(model.vector("invoices"))
    assert margins[0] == pytest.approx(unit.sum() - 1, abs=1e-4)
    assert set(margins[1:]) == {None}
    assert model.margins("invoices", CANDIDATES[1:]) == ()


def test_a_model_that_was_taught_no_skill_by_name_says_nothing_of_any(model):
    assert model.margins(GOAL, CANDIDATES) == ()


def test_what_is_known_of_skills_for_other_vectors_is_an_error(tmp_path):
    path = write_encoder(tmp_path / "other.gguf", skills=known_skills(23))
    with pytest.raises(ModelError) as caught:
        load_model(path, home_path=None).margins(GOAL, CANDIDATES)
    assert caught.value.code == "MODEL_BROKEN"
