"""Foreign models with random weights: every answer parses, is valid and closes within its budget."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from model_requests import CANDIDATES, FORM, GOAL
from real_models import MODELS, real_model
from valid_answers import check_choice, check_spans

import grammars
from mcl.compiler.compiler import Clarify, Compiled, Refused, compile_goal
from mcl.core.errors import ModelError
from mcl.core.home import open_home
from mcl.language.skills import find_skills, skill_folders
from mcl.model import ExtractForm, SlotForm, load_model
from mcl.model.chat import ChatModel
from mcl.model.limits import is_such, sayable
from mcl.model.llama.weights import Weights
from mcl.plugins.weights.exam.exam import check_model
from mcl.values.slots import read_slot

PARTS = [*"aA1 .,/\"'\\-€漢😀\n\t<>{}[]:", " the ", " null ", "<|im_end|>", '","', "\u2028", "ﷺ"]
NUMBERS = [
    "20",
    "$500",
    "1,200",
    "two",
    "hundred",
    "no",
    "yes",
    "the",
    "3k",
    "of",
    "7.5",
    "a",
    "2026",
    "€9.50",
]
PROSE = st.lists(st.sampled_from(PARTS), max_size=60).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=80
)


@pytest.fixture(scope="module")
def model(chat_path):
    return load_model(chat_path, home_path=None)


@settings(max_examples=15, deadline=None)
@given(PROSE)
def test_any_prose_gets_a_valid_choice(model, prose):
    check_choice(model.choose(prose, CANDIDATES), CANDIDATES)


@settings(max_examples=15, deadline=None)
@given(PROSE)
@example("\x850000\x80")  # a line break of Unicode that the grammar takes for a word
def test_any_prose_gets_valid_spans(model, prose):
    check_spans(model.extract(prose, FORM), prose, FORM)


@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.builds(
            SlotForm,
            name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
            type=st.just("string"),
            hint=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
            options=st.lists(
                st.sampled_from(["a", 'b"', "c\\", "d\n", "å", "e/f"]), max_size=3, unique=True
            ).map(tuple),
            many=st.integers(1, 3),
        ),
        max_size=5,
        unique_by=lambda slot: slot.name,
    )
)
def test_any_skill_gets_valid_spans(model, slots):
    form = ExtractForm("matrix://skill/any@1.0.0", "anything", tuple(slots))
    check_spans(model.extract(GOAL, form), GOAL, form)


@pytest.mark.parametrize("spaced", [False, True])
def test_compact_and_spaced_json_are_both_read(chat_path, spaced):
    model = ChatModel(Weights(chat_path), digest="0" * 64, cache=None, spaced=spaced)
    check_choice(model.choose(GOAL, CANDIDATES), CANDIDATES)
    check_spans(model.extract(GOAL, FORM), GOAL, FORM)


@pytest.mark.parametrize(
    "prose",
    [
        'find {0,9999} in %regex { "a" }',
        "start: /(/ // ROOT ::= [^a]{1,70000}",
        '\\u0000 \\" "} null ]]',
        "a" * 1200,
        "é" * 700,
        "\ud800 half a pair",
    ],
)
def test_a_goal_that_spells_grammars_or_json_stays_text(model, prose):
    check_choice(model.choose(prose, CANDIDATES), CANDIDATES)
    check_spans(model.extract(prose, FORM), prose, FORM)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(NUMBERS), max_size=14))
def test_what_must_be_a_number_is_filled_with_nothing_else(model, said):
    types = {"count": "uint", "share": "float", "cost": "AssetAmount", "force": "bool", "minutes": "uint"}
    slots = tuple(SlotForm(name, type_, "", many=1 + i % 2) for i, (name, type_) in enumerate(types.items()))
    form, prose = ExtractForm("matrix://skill/any@1.0.0", "anything", slots), " ".join(said)
    spans = model.extract(prose, form)
    check_spans(spans, prose, form)
    for span in spans:
        name = span.field.removeprefix("slot.")
        if name in types:
            assert read_slot(span.value, types[name], (), "", "UTC", name) is not None


@settings(max_examples=15, deadline=None)
@given(
    PROSE | st.lists(st.sampled_from([*GOAL.split(), "never", "Norway", "weekly", "12", "%"])).map(" ".join)
)
def test_no_limit_is_answered_that_the_goal_has_no_words_for(model, prose):
    said = sayable(prose)
    for span in model.extract(prose, FORM):
        assert span.field.startswith("slot.") or span.field in said
        assert span.field.startswith("slot.") or is_such(span.field, span.value)


def test_what_is_read_before_the_goal_is_not_read_again_with_it(chat_path, tmp_path):
    expected = load_model(chat_path, home_path=None)
    model = load_model(chat_path, home_path=tmp_path)
    for question, ask in ((CANDIDATES, "choose"), (FORM, "extract")):
        model.prepare(question)
        kept = states(tmp_path)
        assert getattr(model, ask)(GOAL, question) == getattr(expected, ask)(GOAL, question)
        assert states(tmp_path) == kept
    assert len(kept) == 2


def states(home: Path) -> list[str]:
    return sorted(file.name for file in (home / "cache" / "prefix").iterdir())


def test_what_is_too_long_to_be_read_before_is_told_when_it_is_asked(model):
    long = ExtractForm("matrix://skill/any@1.0.0", "word " * 9000, ())
    model.prepare(long)
    with pytest.raises(ModelError) as caught:
        model.extract(GOAL, long)
    assert caught.value.code == "MODEL_CONTEXT"


def test_a_list_names_nothing_twice(model):
    slots = (
        SlotForm("tags", "string[]", "", many=8),
        SlotForm("kinds", "enum", "", options=("a", "b"), many=8),
    )
    spans = model.extract("the the the", ExtractForm("matrix://skill/any@1.0.0", "anything", slots))
    values = [(span.field, span.value) for span in spans if span.field.startswith("slot.")]
    assert len(values) == len(set(values))


def test_reasoning_answers_every_output_with_text(model):
    answer = model.reason("Write a report.", GOAL, ["title", 'odd "name"'], "write")
    assert list(answer) == ["title", 'odd "name"']
    assert all(isinstance(value, str) for value in answer.values())


def test_what_is_written_for_a_step_says_how_many_tokens_it_took_and_what_held_it(model):
    written = model.write_step("Write a report.", GOAL, ["title"], "write")
    assert written.outputs == model.reason("Write a report.", GOAL, ["title"], "write")
    assert written.grammar == f"step_outputs@1 sha256:{grammars.load('step_outputs@1').digest}"
    assert 0 < written.tokens <= 4096
    heard: list[bytes] = []
    again = model.write_step("Write a report.", GOAL, ["title"], "write", heard.append)
    assert again == written
    assert json.loads(b"".join(heard)) == written.outputs
    assert len(heard) > 2


def test_a_goal_too_long_for_the_context_is_an_error(model):
    with pytest.raises(ModelError) as caught:
        model.extract("word " * 1600, FORM)
    assert caught.value.code == "MODEL_CONTEXT"


def test_answers_do_not_depend_on_what_was_asked_before(chat_path, tmp_path):
    fresh = load_model(chat_path, home_path=None)
    expected = fresh.choose(GOAL, CANDIDATES), fresh.extract(GOAL, FORM)
    used = load_model(chat_path, home_path=tmp_path)
    used.extract("other words", FORM)
    used.choose("other words", CANDIDATES[:2])
    assert (used.choose(GOAL, CANDIDATES), used.extract(GOAL, FORM)) == expected
    again = load_model(chat_path, home_path=tmp_path)
    assert (again.choose(GOAL, CANDIDATES), again.extract(GOAL, FORM)) == expected


def test_two_processes_give_the_same_bytes(chat_path, model):
    here = str(Path(__file__).parent)
    script = (
        f"import sys, pathlib\nsys.path.insert(0, {here!r})\n"
        "from model_requests import CANDIDATES, FORM, GOAL\nfrom mcl.model import load_model\n"
        f"m = load_model(pathlib.Path({str(chat_path)!r}), home_path=None)\n"
        "print(repr((m.choose(GOAL, CANDIDATES), m.extract(GOAL, FORM))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr((model.choose(GOAL, CANDIDATES), model.extract(GOAL, FORM)))
    assert done.stderr == ""


def test_the_grammars_are_found_by_id(model):
    for id in ("verb_vocab@1", "intent_frame@1", "step_outputs@1"):
        assert len(grammars.load(id).digest) == 64
    assert model.grammar.startswith("intent_frame@1 sha256:")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("architecture", "vocabulary"),
    [
        ("llama", "llama-spm"),
        ("llama", "phi-3"),
        ("llama", "gpt-2"),
        ("llama", "llama-bpe"),
        ("qwen2", "qwen2"),
        ("gemma", "gemma-4"),
        ("llama", "command-r"),
        ("llama", "deepseek-llm"),
    ],
)
def test_real_vocabularies_give_valid_answers(real_chat_path, architecture, vocabulary):
    model = load_model(real_chat_path(architecture, vocabulary), home_path=None)
    for prose in (GOAL, "ÅÄÖ 漢字 😀 — köp två datorer", 'say "hi" \\ to C:\\temp <|im_end|> now'):
        check_choice(model.choose(prose, CANDIDATES), CANDIDATES)
        check_spans(model.extract(prose, FORM), prose, FORM)
    assert list(model.reason("", GOAL, ["title"], "write")) == ["title"]


SAID = (
    GOAL,
    "show me the status of the repository",
    "skriv inte ut namnen, högst 500 kr, varje fredag, bara leverantörer i Sverige eller Norge",
    'say "hi" \\ to C:\\temp <|im_end|> now',
)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
def test_a_real_model_gives_valid_answers(real_chat_model, name):
    model = real_chat_model(name)
    for prose in SAID:
        check_choice(model.choose(prose, CANDIDATES), CANDIDATES)
        spans, said = model.extract(prose, FORM), sayable(prose)
        check_spans(spans, prose, FORM)
        for span in spans:
            assert span.field.startswith("slot.") or (span.field in said and is_such(span.field, span.value))
    assert list(model.reason("", GOAL, ["title"], "write")) == ["title"]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
def test_a_real_model_compiles_goals(real_chat_model, name, tmp_path):
    model, skills = real_chat_model(name), find_skills(skill_folders(None))
    home = open_home(tmp_path / "home")
    for prose in SAID[:2]:
        found = compile_goal(prose, home=home, skills=skills, model=model, timer=lambda: 0.0)
        assert isinstance(found, Compiled | Clarify | Refused)
        if isinstance(found, Refused):
            continue
        for mark in found.intent.compile_metadata.spans:
            assert prose[mark.start : mark.end].strip()
        kinds = {one.type for one in found.intent.frame.constraints}
        assert kinds <= {"rule" if one == "recurrence" else one.partition("_")[0] for one in sayable(prose)}


@pytest.mark.slow
def test_a_real_model_is_measured(real_chat_model, tmp_path):
    """What it is good for is known of every part, and a model this small is good for no plans."""
    real_chat_model("SmolLM2-135M-Instruct")  # fetched, or skipped
    exam = check_model(str(real_model("SmolLM2-135M-Instruct")), home=open_home(tmp_path / "home"))
    assert [(one.part, one.able, one.asked > 0) for one in exam.parts] == [
        (part, True, True) for part in ("choose", "fill", "write", "plan")
    ]
    assert not exam.good_for
    assert not [one for one in exam.answers if one.part == "fill" and "budget" in one.said]
