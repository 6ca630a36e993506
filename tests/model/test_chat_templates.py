"""The chat template of a file's metadata: what people wrote for many models, and what is made to do harm."""

import pytest
from model_requests import CANDIDATES, GOAL
from random_gguf import small_words, write_gguf
from valid_answers import check_choice

from mcl.core.errors import ModelError
from mcl.model import load_model
from mcl.model.chat import ChatTemplate
from mcl.model.llama.vocabulary import Vocabulary
from mcl.model.llama.weights import Weights


def with_template(tmp_path, source: str):
    return write_gguf(tmp_path / "model.gguf", small_words(), extra={"tokenizer.chat_template": source})


def rendered(tmp_path, source: str) -> str:
    """The prompt of one request as text."""
    weights = Weights(with_template(tmp_path, source))
    vocabulary = Vocabulary.of(weights)
    prefix, rest = ChatTemplate(weights, vocabulary).prompt("SYSTEM", "FIXED ", "GOAL", "START")
    return vocabulary.text(prefix + rest)


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('no') }}",
        "{{ 1 // 0 }}",
        "{{ messages[7].content.x.y }}",
        "{{ [].pop() }}",
        "{{ 'x' * 10 ** 30 }}",
        "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
        "{{ '%d' | format('x') }}",
        "{{ strftime_now(7) }}",
        "{% include 'other' %}",
        "{% generation %}{{ messages[0].content }}",
        "{{ messages",
    ],
)
def test_one_that_cannot_be_rendered_is_an_error(tmp_path, source):
    with pytest.raises(ModelError) as caught:
        load_model(with_template(tmp_path, source), home_path=None)
    assert caught.value.code == "MODEL_TEMPLATE"
    assert "--no-ai" in caught.value.fix


def test_one_cannot_reach_python(tmp_path):
    source = "{{ ''.__class__.__mro__[1].__subclasses__() }}{{ messages[0].content }}"
    with pytest.raises(ModelError) as caught:
        load_model(with_template(tmp_path, source), home_path=None)
    assert caught.value.code == "MODEL_TEMPLATE"


@pytest.mark.parametrize("source", ["nothing", "{% for m in messages * 2 %}{{ m.content }}{% endfor %}"])
def test_one_that_leaves_the_goal_out_or_says_it_twice_is_refused(tmp_path, source):
    with pytest.raises(ModelError) as caught:
        load_model(with_template(tmp_path, source), home_path=None)
    assert caught.value.code == "MODEL_TEMPLATE"


def test_one_without_a_system_message_still_shows_the_instructions(tmp_path):
    source = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "[INST]{{ messages[0].content }}[/INST]"
    )
    assert rendered(tmp_path, source) == "[INST]SYSTEM\n\nFIXED GOAL[/INST]START"
    check_choice(load_model(tmp_path / "model.gguf", home_path=None).choose(GOAL, CANDIDATES), CANDIDATES)


def test_a_file_without_one_is_asked_in_plain_text(tmp_path):
    weights = Weights(write_gguf(tmp_path / "plain.gguf", small_words()))
    vocabulary = Vocabulary.of(weights)
    prefix, rest = ChatTemplate(weights, vocabulary).prompt("SYSTEM", "FIXED ", "GOAL", "")
    assert vocabulary.text(prefix + rest) == "SYSTEM\n\nFIXED GOAL\n\nAnswer:\n"


def test_what_is_marked_for_training_is_shown_as_it_stands(tmp_path):
    source = "{% for m in messages %}{% generation %}({{ m.content }}){% endgeneration %}{% endfor %}"
    assert rendered(tmp_path, source) == "(SYSTEM)(FIXED GOAL)START"


def test_thoughts_that_one_begins_are_closed_before_the_answer(tmp_path):
    source = "{% for m in messages %}({{ m.content }}){% endfor %}<think>"
    assert rendered(tmp_path, source).endswith("(FIXED GOAL)<think>\n</think>\n\nSTART")


def test_one_that_asks_for_the_day_gets_the_same_day_always(tmp_path):
    source = "{{ strftime_now('%Y') }}{% for m in messages %} {{ m.content }}{% endfor %}"
    assert rendered(tmp_path, source) == "2026 SYSTEM FIXED GOALSTART"


NEEDS_MORE = {"fireworks-ai-llama-3-firefunction-v2"}  # a variable `functions`, which only its own host gives


@pytest.mark.slow
def test_all_that_llama_cpp_carries_can_be_used(vocabularies, tmp_path):
    sources = sorted((vocabularies / "templates").glob("*.jinja"))
    assert sources
    refused = set()
    for source in sources:
        try:
            prompt = rendered(tmp_path, source.read_text())
        except ModelError:
            refused.add(source.stem)
        else:
            assert prompt.index("SYSTEM") < prompt.index("FIXED GOAL"), source
            assert prompt.endswith("START"), source
    assert refused <= NEEDS_MORE
