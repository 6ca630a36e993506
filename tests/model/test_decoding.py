"""Vocabularies, grammars and the decode loop, below the models."""

import ctypes

import pytest

from mcl.core.errors import ModelError
from mcl.model.llama.context import ContextSize, ModelContext
from mcl.model.llama.decoder import Decoder
from mcl.model.llama.vocabulary import Grammars, Vocabulary
from mcl.model.llama.weights import Weights


@pytest.fixture(scope="module")
def weights(chat_path):
    return Weights(chat_path)


@pytest.fixture(scope="module")
def vocabulary(weights):
    return Vocabulary.of(weights)


@pytest.fixture(scope="module")
def compiled(weights, vocabulary):
    return Grammars(weights, vocabulary)


@pytest.fixture
def decoder(weights, vocabulary):
    return Decoder(ModelContext(weights, ContextSize(tokens=512, batch=64)), vocabulary)


def same_as_library(weights: Weights) -> None:
    ours = Vocabulary.of(weights)
    room = 32_768
    buffer = ctypes.create_string_buffer(room)
    for token, piece in enumerate(ours.pieces):
        size = weights.library.c.llama_token_to_piece(weights.vocab, token, buffer, room, 0, True)
        assert ctypes.string_at(buffer, size) == piece, token


def test_our_pieces_are_those_of_the_library(weights):
    same_as_library(weights)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-spm", "gpt-2", "qwen2", "phi-3", "llama-bpe", "deepseek-coder"])
def test_our_pieces_are_those_of_the_library_for_real_vocabularies(real_chat_path, name):
    same_as_library(Weights(real_chat_path("llama", name)))


def test_tokens_spell_their_text(weights, vocabulary):
    text = "Find the other line in ÅÄÖ 漢字 😀 for the lot\n\t."
    assert vocabulary.text(weights.tokens(text)) == text


def test_control_tokens_are_made_only_where_they_are_asked_for(weights, vocabulary):
    assert len(weights.tokens("<|im_start|>", specials=True)) == 1
    assert not set(weights.tokens("<|im_start|>")) & vocabulary.specials


BAD = ("start: nothing", "start: /(/", "", "start: %regex {", "start: <[9-1]>")


@pytest.mark.parametrize("lark", BAD)
def test_a_bad_grammar_is_an_exception(compiled, lark):
    with pytest.raises(ModelError) as caught:
        compiled.matcher(lark, name="bad@1")
    assert caught.value.code == "GRAMMAR_BROKEN"
    assert caught.value.place == "bad@1"


def test_a_repetition_above_two_thousand_is_refused(compiled):
    with pytest.raises(ModelError, match="2001"):
        compiled.matcher("start: /a{1,2001}/", name="long@1")


@pytest.mark.parametrize(
    "lark", ['start: /["a]{1,2001}/', 'start: "a" /b{9}/{3,99999999999}', "start: /\\/{2001}/"]
)
def test_a_repetition_is_seen_wherever_it_counts(compiled, lark):
    with pytest.raises(ModelError, match="the repetition"):
        compiled.matcher(lark, name="long@1")


def test_a_repetition_that_is_only_spelled_is_none(compiled):
    compiled.matcher(
        'start: "{0,9999}" WORDS /\\{9999\\}/\nWORDS: %regex {"substring_chunks": ["a{5000}"]}', name="x"
    )


def test_what_the_grammar_leaves_no_choice_about_is_forced(compiled, decoder, vocabulary, weights):
    matcher = compiled.matcher('start: "the lot"', name="x")
    answer = decoder.answer(weights.tokens("go"), matcher, budget=9, weigh=True)
    assert vocabulary.text(answer.tokens) == "the lot"


def test_probabilities_are_over_what_was_allowed(compiled, decoder, weights):
    matcher = compiled.matcher('start: "a" | "b" | "c"', name="x")
    chances = decoder.first(weights.tokens("go"), matcher)
    assert sum(chances.values()) == pytest.approx(1.0)
    assert len(chances) == 3


def test_the_weighed_and_the_fast_path_choose_the_same_tokens(compiled, weights, vocabulary):
    answers = []
    for weigh in (True, False):
        decoder = Decoder(ModelContext(weights, ContextSize(tokens=512, batch=64)), vocabulary)
        matcher = compiled.matcher("start: /[a-z ]{5,30}/ /[0-9]{2}/", name="x")
        answers.append(decoder.answer(weights.tokens("go"), matcher, budget=60, weigh=weigh))
    assert answers[0].tokens == answers[1].tokens


def test_an_answer_longer_than_its_budget_is_an_error(compiled, decoder, weights):
    matcher = compiled.matcher("start: /[a-z]{50}/", name="x")
    with pytest.raises(ModelError) as caught:
        decoder.answer(weights.tokens("go"), matcher, budget=5, weigh=False)
    assert caught.value.code == "MODEL_BUDGET"


def test_a_prompt_longer_than_the_context_is_an_error(compiled, decoder, weights):
    matcher = compiled.matcher('start: "a" | "b"', name="x")
    with pytest.raises(ModelError) as caught:
        decoder.answer(weights.tokens("x" * 600), matcher, budget=5, weigh=True)
    assert caught.value.code == "MODEL_CONTEXT"


def test_the_size_of_batches_does_not_change_what_is_held(weights):
    tokens = weights.tokens("the quick brown fox " * 10)
    small, large = (ModelContext(weights, ContextSize(tokens=512, batch=batch)) for batch in (16, 512))
    for context in (small, large):
        context.feed(tokens, reads=[len(tokens) - 1])
    size = weights.vocab_size
    assert small.used == large.used
    assert small.logits(-1)[:size] == pytest.approx(large.logits(-1)[:size], rel=1e-2, abs=1e-2)
