"""A model whose findings are likely noise is said to be one, and nothing else changes by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import Scripted
from yards import Yard

from mcl.model.files import GgufHeader, read_header
from mcl.model.loader import bundled_path
from mcl.plugins.review.answer import bound, noise_note
from mcl.plugins.review.usecases.draft import draft_review
from tests.model.random_gguf import small_words, write_gguf


def header(weights: int, **metadata: object) -> GgufHeader:
    return GgufHeader(3, {"general.architecture": "llama", **metadata}, 1, weights)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (134_515_008, "135 million weights"),
        (1, "1 million weights"),
        (bound().below - 1, "500 million weights"),
        (bound().below, ""),
        (7_000_000_000, ""),
        (0, ""),
    ],
)
def test_below_a_named_size_the_reason_is_told(weights: int, said: str) -> None:
    told = noise_note(header(weights))
    assert (said in told, bool(told)) == (True, bool(said))
    assert (bound().reason in told) == bool(said)


def test_a_model_that_only_chooses_is_told_as_one() -> None:
    assert "only chooses" in noise_note(read_header(bundled_path()))


def test_the_weights_of_a_file_are_those_of_its_tensors(tmp_path: Path) -> None:
    from gguf import GGUFReader

    path = write_gguf(tmp_path / "a.gguf", small_words(), seed=1)
    assert read_header(path).weights == sum(int(one.n_elements) for one in GGUFReader(path).tensors)


def test_it_stands_in_the_draft_of_a_file_that_is_named_or_in_use(yard: Yard, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "small.gguf", small_words(), seed=1)
    with yard.opened() as home:
        named = draft_review("app.py", model=path, workspace=yard.folder, home=home)
        assert "likely noise" in named.note
        assert "--model" in named.note
        assert draft_review("app.py", model=path, ai=False, workspace=yard.folder, home=home).note == ""
    assert yard.mcl("model", "add", str(path)).code == 0
    assert yard.mcl("model", "use", "small").code == 0
    with yard.opened() as home:
        assert draft_review("app.py", workspace=yard.folder, home=home).note == named.note
        open_model = Scripted(lambda request: "No findings.", digest="0" * 64)
        assert draft_review("app.py", model=open_model, workspace=yard.folder, home=home).note == ""


def test_the_command_says_it_before_the_model_is_asked(yard: Yard, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "small.gguf", small_words(), seed=1, context=512)
    told = yard("app.py", "--model", str(path), "--json")
    lines = told.err.splitlines()
    assert "likely noise" in lines[0]
    assert "likely noise" in told.document["note"]
