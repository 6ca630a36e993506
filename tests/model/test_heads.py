"""Heads of an encoder: read as they were written, refused where they are damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from random_gguf import random_heads

from mcl.core.errors import ModelError
from mcl.model.form import FIELDS
from mcl.model.heads import OPTION, SLOT, CardForm, MarkForm, Taught, packed_heads, read_heads

WIDTH = 24


@pytest.fixture
def file(tmp_path: Path) -> tuple[Path, int, int]:
    data = packed_heads(random_heads(WIDTH), {"temperatures": {"tag": 1.5}})
    path = tmp_path / "model.gguf"
    path.write_bytes(b"tensors" + data)
    return path, 7, len(data)


def test_heads_are_read_as_they_were_written(file: tuple[Path, int, int]) -> None:
    heads, told = read_heads(*file)
    assert told == {"temperatures": {"tag": 1.5}}
    made = np.random.default_rng(2)
    words = made.normal(size=(5, WIDTH)).astype(np.float32)
    form = MarkForm(made.normal(size=(3, WIDTH)).astype(np.float32), (SLOT, OPTION, OPTION))
    seen, items = heads.joined(words, form)
    assert heads.tags(seen, items).shape == (5, 2 + 3 + len(FIELDS))
    assert heads.options(items[0], items[1:3], np.zeros(2, np.float32)).shape == (3,)
    assert heads.choices(words[0], CardForm.of([words[1:3], words[3:]])).shape == (3,)


@pytest.mark.parametrize("cut", [1, 40, 3000])
def test_damaged_heads_are_refused_with_a_way_out(file: tuple[Path, int, int], cut: int) -> None:
    path, start, size = file
    path.write_bytes(path.read_bytes()[: start + size - cut])
    with pytest.raises(ModelError) as caught:
        read_heads(path, start, size)
    assert caught.value.code == "MODEL_BROKEN"
    assert caught.value.fix


def test_what_was_taught_of_a_skill_is_read_again_and_added_by_label(tmp_path: Path) -> None:
    weights = np.eye(2, WIDTH + 1, dtype=np.float32)
    weights[1, -1] = 0.5
    data = packed_heads(random_heads(WIDTH), {}, {"water": Taught({"verb": (("find", "modify"), weights)})})
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    heads, told = read_heads(path, 0, len(data))
    assert told == {}
    assert heads.tensors.keys() == random_heads(WIDTH).keys()
    x = np.arange(1, WIDTH + 1, dtype=np.float32)
    taught = heads.taught["water"]
    assert taught.added("verb", ("modify", "build", "find"), x).tolist() == [2.5, 0.0, 1.0]
    assert taught.added("tag", ("none", "in"), np.stack([x, x])).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_what_was_taught_with_another_shape_is_refused(tmp_path: Path) -> None:
    weights = np.zeros((1, WIDTH), np.float32)
    data = packed_heads(random_heads(WIDTH), {}, {"water": Taught({"pick": (("pick",), weights)})})
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        read_heads(path, 0, len(data))
    assert caught.value.code == "MODEL_BROKEN"
