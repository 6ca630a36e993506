"""Heads of an encoder: read as they were written, refused where they are damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcl.core.errors import ModelError
from training.encoder.heads import FIELDS, OPTION, SLOT, MarkForm, packed_heads, read_heads

WIDTH, MATCH = 24, 16
SHAPES = {
    "scale": (1,), "types": (4, WIDTH), "fields": (len(FIELDS), WIDTH), "none": (1, WIDTH),
    "verb": (10, WIDTH),
    "kind": (4, WIDTH), "wish": (2, WIDTH), "outside_tag": (2, WIDTH), "word_match": (MATCH, WIDTH),
    "slot_match": (MATCH, WIDTH), "slot_bias": (1, WIDTH), "asking": (MATCH, WIDTH),
    "offered": (MATCH, WIDTH), "unsaid": (1, WIDTH),
}  # fmt: skip
JOINT = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH), "n1": (WIDTH,),
         "n2": (WIDTH,), "up": (2 * WIDTH, WIDTH), "down": (WIDTH, 2 * WIDTH)}  # fmt: skip


def tensors() -> dict[str, np.ndarray]:
    made = np.random.default_rng(1)
    found: dict[str, np.ndarray] = {}
    for name, shape in [*SHAPES.items(), *((f"joint.{part}", shape) for part, shape in JOINT.items())]:
        values = made.normal(size=shape).astype(np.float32)
        if name in ("scale", "types", "fields"):
            found[name] = values
        else:
            found[f"{name}.weight"] = values
            found[f"{name}.bias"] = made.normal(size=shape[0]).astype(np.float32)
    return found


@pytest.fixture
def file(tmp_path: Path) -> tuple[Path, int, int]:
    data = packed_heads(tensors(), {"temperatures": {"tag": 1.5}})
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
    assert heads.options(items[0], items[1:3]).shape == (3,)
    assert heads.choices(words[0], words[1:]).shape == (5,)


@pytest.mark.parametrize("cut", [1, 40, 3000])
def test_damaged_heads_are_refused_with_a_way_out(file: tuple[Path, int, int], cut: int) -> None:
    path, start, size = file
    path.write_bytes(path.read_bytes()[: start + size - cut])
    with pytest.raises(ModelError) as caught:
        read_heads(path, start, size)
    assert caught.value.code == "MODEL_BROKEN"
    assert caught.value.fix
