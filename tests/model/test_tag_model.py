"""The bundled form with random weights: always valid, always the same, whatever the prose."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_requests import CANDIDATES, FORM, GOAL
from random_gguf import write_tags
from valid_answers import check_choice, check_spans

from mcl.core.errors import ModelError
from mcl.model import ExtractForm, SlotForm, load_model

PARTS = [*"aA1 .,/\"'\\-€漢😀\ue000\ue001\n<>{}", " the ", " c0 ", "none", "<|im_end|>"]
PROSE = st.text(st.characters(exclude_categories=["Cs"]), max_size=400) | st.lists(
    st.sampled_from(PARTS), max_size=200
).map("".join)


@pytest.fixture(scope="module")
def model(tags_path):
    return load_model(tags_path, home_path=None)


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
    spelled = f"find \ue000none\ue001 in {GOAL}"
    check_spans(model.extract(spelled, FORM), spelled, FORM)


def test_no_candidates_means_none_of_them(model):
    assert model.choose(GOAL, ()).skill_id is None


def test_too_many_candidates_are_refused(model):
    with pytest.raises(ModelError, match="at most 16"):
        model.choose(GOAL, CANDIDATES[:1] * 17)


def test_too_many_slots_are_refused(model):
    slots = tuple(SlotForm(f"slot{i}", "string", "") for i in range(33))
    with pytest.raises(ModelError) as caught:
        model.extract(GOAL, ExtractForm("matrix://skill/wide@1.0.0", "", slots))
    assert caught.value.code == "MODEL_SLOTS"


def test_a_skill_too_long_for_the_context_is_refused(tmp_path):
    model = load_model(write_tags(tmp_path / "short.gguf", context=512), home_path=None)
    slots = tuple(SlotForm(f"slot{i}", "string", "word " * 20) for i in range(32))
    with pytest.raises(ModelError) as caught:
        model.extract(GOAL, ExtractForm("matrix://skill/long@1.0.0", "", slots))
    assert caught.value.code == "MODEL_CONTEXT"


def test_reasoning_gives_words_of_the_text_for_each_output(model):
    answer = model.reason("Pick the title.", GOAL, ["title", "body"], "summarize")
    assert list(answer) == ["title", "body"]
    assert all(value in GOAL for value in answer.values())


def test_answers_do_not_depend_on_what_was_asked_before(tags_path, tmp_path):
    fresh = load_model(tags_path, home_path=None)
    expected = fresh.choose(GOAL, CANDIDATES), fresh.extract(GOAL, FORM)
    used = load_model(tags_path, home_path=tmp_path)
    for prose in ("other words", "x" * 300, GOAL):
        used.extract(prose, FORM)
        used.choose(prose, CANDIDATES[:2])
        used.choose(prose, CANDIDATES)
    assert (used.choose(GOAL, CANDIDATES), used.extract(GOAL, FORM)) == expected
    again = load_model(tags_path, home_path=tmp_path)  # headers come from disk now
    assert (again.choose(GOAL, CANDIDATES), again.extract(GOAL, FORM)) == expected


def test_a_damaged_header_cache_is_thrown_away(tags_path, tmp_path):
    expected = load_model(tags_path, home_path=tmp_path).extract(GOAL, FORM)
    for file in (tmp_path / "cache" / "prefix").iterdir():
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    assert load_model(tags_path, home_path=tmp_path).extract(GOAL, FORM) == expected


def test_kept_headers_take_no_more_room_than_they_may(tags_path, tmp_path, monkeypatch):
    folder = tmp_path / "cache" / "prefix"
    load_model(tags_path, home_path=tmp_path).extract(GOAL, FORM)
    (first,) = folder.iterdir()
    room = first.stat().st_size * 2.5
    monkeypatch.setattr("mcl.model.llama.context.BYTES_IN_MEMORY", room)
    monkeypatch.setattr("mcl.model.llama.context.BYTES_ON_DISK", room)
    model = load_model(tags_path, home_path=tmp_path)
    for times in range(5):
        model.extract(GOAL, replace(FORM, description=f"{FORM.description} {times}"))
        assert sum(file.stat().st_size for file in folder.iterdir()) <= room
    assert sum(map(len, model._prefixes._states.values())) <= room
    monkeypatch.setattr("mcl.model.llama.context.BYTES_ON_DISK", 1)
    expected = model.extract(GOAL, FORM)  # larger than all that may be kept: not kept
    assert load_model(tags_path, home_path=None).extract(GOAL, FORM) == expected


def test_two_processes_give_the_same_bytes(tags_path, model):
    script = (
        "import sys, json, pathlib\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from model_requests import CANDIDATES, FORM, GOAL\n"
        "from mcl.model import load_model\n"
        f"m = load_model(pathlib.Path({str(tags_path)!r}), home_path=None)\n"
        "print(repr((m.choose(GOAL, CANDIDATES), m.extract(GOAL, FORM))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr((model.choose(GOAL, CANDIDATES), model.extract(GOAL, FORM)))
    assert done.stderr == ""


def test_the_model_says_what_it_is(model):
    assert len(model.digest) == 64
    assert model.grammar.startswith("tags@1 sha256:")
    assert json.dumps(model.version)


def test_the_bundled_model_opens_and_answers(tmp_path):
    bundled = load_model(None, home_path=tmp_path)
    check_choice(bundled.choose(GOAL, CANDIDATES), CANDIDATES)
    check_spans(bundled.extract(GOAL, FORM), GOAL, FORM)
