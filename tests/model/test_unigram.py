"""Pieces with scores: what training reads is what llama.cpp reads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_gguf import few_pieces, write_encoder

from mcl.model import form, load_model
from mcl.model.llama.weights import Weights
from training.unigram import BEGIN, END, UNKNOWN, UnigramVocabulary, charsmap

KEPT = few_pieces()
ODD = [" ", "  ", "<s>", "</s>", "漢", "\0", "\u0308", "👩\u200d💻", "\U0010ffff"]
PARTS = [*KEPT.pieces[4:], *KEPT.read_as, *ODD]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.lists(
    st.sampled_from(PARTS), max_size=20
).map("".join)


@pytest.fixture(scope="module")
def weights(unigram_path) -> Weights:
    return Weights(unigram_path)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_training_reads_what_llama_cpp_reads(weights, text):
    assert KEPT.tokens(text) == weights.tokens(text)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=3), st.text("ab ½€", max_size=3), max_size=40), st.data())
def test_any_table_of_characters_is_read_alike(tmp_path_factory, names, data):
    names = {name: said for name, said in names.items() if "\0" not in name}
    kept = few_pieces(names)
    weights = Weights(write_encoder(tmp_path_factory.mktemp("names") / "m.gguf", unigram=kept))
    for _ in range(10):
        text = data.draw(st.lists(st.sampled_from([*names, *"ab ½c"]), max_size=8).map("".join))
        assert kept.tokens(text) == weights.tokens(text)


def test_marks_behind_a_word_have_no_blank_before_them():
    units = form.words('find "nästa", the 12 (a)!')
    assert form.spaced(units) == [" find", ' "', "nästa", '"', ",", " the", " 12", " (", "a", ")", "!"]
    assert form.spaced(form.words("  a , b")) == [" a", " ,", " b"]
    assert form.spaced(form.words("x" * 50)) == [" " + "x" * form.UNIT_CHARS]


def test_units_in_a_row_are_read_as_the_whole_text_is():
    text = "find nästa, the 12 (find)!"
    units = [piece for unit in form.spaced(form.words(text)) for piece in KEPT.tokens(unit)]
    assert units == KEPT.tokens(f" {text}")


def test_what_no_piece_spells_is_unknown_once():
    assert KEPT.tokens("漢字a") == [UNKNOWN, KEPT.pieces.index("a")]
    assert KEPT.tokens("") == []


def test_control_pieces_stand_for_no_text():
    assert not {BEGIN, END} & set(KEPT.tokens(" <s> </s>"))


def test_a_letter_and_its_mark_are_the_letter():
    assert KEPT.tokens(" na\u0308sta") == KEPT.tokens(" nästa") == [KEPT.pieces.index("\u2581nästa")]


def test_a_cut_vocabulary_reads_alike_what_it_keeps_and_comes_back_from_its_file(tmp_path):
    kept = KEPT.cut(KEPT.tokens(" find nästa 12"))
    assert kept.pieces[:4] == KEPT.pieces[:4]
    for text in (" find", " nästa", " 12"):
        assert [kept.pieces[i] for i in kept.tokens(text)] == [KEPT.pieces[i] for i in KEPT.tokens(text)]
    kept.save(tmp_path / "kept.json")
    assert UnigramVocabulary.load(tmp_path / "kept.json") == kept


def test_a_character_that_is_read_as_many_fits(tmp_path):
    kept = few_pieces({"½": "ab" * 40})
    path = write_encoder(tmp_path / "long.gguf", unigram=kept)
    weights = Weights(path)
    assert kept.tokens("½" * 40) == weights.tokens("½" * 40)
    assert load_model(path, home_path=None).vector("½" * 400 + " a").shape == (24,)


def test_the_table_begins_with_its_length_and_ends_with_what_is_read():
    table = charsmap({"½": "1⁄2", "ä": "a"})
    size = int.from_bytes(table[:4], "little")
    assert size % 1024 == 0
    assert table[4 + size :] == "1⁄2\0a\0".encode()
