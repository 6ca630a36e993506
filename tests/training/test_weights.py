"""A model file read back as a checkpoint is that model, and written again it is the same file."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs torch")

from mcl.model import bundled_path, form
from mcl.model.llama.weights import Weights
from mcl.model.protocol import ExtractForm, SlotForm
from mcl.plugins.train.tuner import handwritten
from mcl.plugins.train.tuner.network import Asker
from mcl.plugins.train.tuner.weights import WeightsError, read, rewrite, tensors, unpack
from training.check import Llama, compare
from training.export import export

GOALS = [goal.text for goal in handwritten.load()[::97]]
FORM = ExtractForm("files", "Searches files", (SlotForm("folder", "string", "where to look"),))


def test_what_was_read_is_written_as_the_same_bytes(tmp_path: Path) -> None:
    found = read(bundled_path())
    rewrite(
        bundled_path(), tmp_path / "same.gguf", tensors(found.weights, found.shape), said={}, tail=found.tail
    )
    assert (tmp_path / "same.gguf").read_bytes() == bundled_path().read_bytes()


def test_a_checkpoint_read_back_answers_as_llama_cpp_does(tmp_path: Path) -> None:
    unpack(bundled_path(), tmp_path)
    asker, weights = Asker(tmp_path), Weights(bundled_path())
    prompts = [form.extract_prompt(goal, form.windows(form.words(goal))[0], FORM) for goal in GOALS[:8]]
    texts = [piece for prompt in prompts for piece in prompt.body if not piece.special]
    assert all(tuple(weights.tokens(piece.text)) == asker.vocabulary.ids(piece) for piece in texts)
    export(asker, tmp_path / "exact.gguf", "f32")
    logit, _ = compare(asker, Llama(tmp_path / "exact.gguf", precise=True), prompts)
    assert logit < 1e-3


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    from tests.model.random_gguf import small_words, write_gguf

    with pytest.raises(WeightsError):
        read(write_gguf(tmp_path / "chat.gguf", small_words()))
