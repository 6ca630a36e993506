"""The vectors of goals as a model file reads them, kept by the digest of its tensors: a text is read once."""

from __future__ import annotations

import hashlib
import multiprocessing
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import gguf
import numpy as np

from mcl.model.encoder import EncoderModel
from mcl.model.heads import Vectors, unit_length
from mcl.model.loader import load_model

_STEP = 1000  # texts between two writes to disk
_PROCESSES = 2


class GoalVectorFiles:
    """Vectors of length one by text, in `folder`: TENSORS-SOME.npy and the digests of the texts beside it."""

    def __init__(self, gguf: Path, folder: Path) -> None:
        """gguf: the model that reads. folder: where vectors are kept."""
        self._gguf, self._folder, self._tensors = gguf, folder, _digest_of(gguf)
        self._known: dict[bytes, Vectors] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob(f"{self._tensors}-*.texts.npy")):
            rows = np.load(path.with_name(path.name.replace(".texts", "")), mmap_mode="r")
            self._known.update(zip(map(bytes, np.load(path)), rows, strict=True))

    def of(self, texts: Sequence[str]) -> Vectors:
        """[len(texts), width]."""
        self.read(texts)
        return np.stack([self._known[_digest(text)] for text in texts])

    def read(self, texts: Iterable[str]) -> None:
        """Read and keep those that are not known yet."""
        new = {_digest(text): text for text in texts if _digest(text) not in self._known}
        keys = sorted(new)
        steps = [keys[start : start + _STEP] for start in range(0, len(keys), _STEP)]
        begun = multiprocessing.get_context("spawn")  # a process that runs llama.cpp is not forked
        with ProcessPoolExecutor(_PROCESSES, begun) as processes:
            texts_of = [[new[key] for key in some] for some in steps]
            read = processes.map(partial(_vectors, self._gguf), texts_of)
            for some, rows in zip(steps, read, strict=True):
                name = f"{self._tensors}-{hashlib.sha256(b''.join(some)).hexdigest()[:16]}"
                np.save(self._folder / f"{name}.npy", rows)
                np.save(self._folder / f"{name}.texts.npy", np.array([list(key) for key in some], np.uint8))
                self._known.update(zip(some, rows, strict=True))


@cache
def _model(gguf: Path) -> EncoderModel:
    with tempfile.TemporaryDirectory() as home:
        model = load_model(gguf, home_path=Path(home))
    if not isinstance(model, EncoderModel):
        raise TypeError(f"{gguf} does not encode")
    return model


def _vectors(gguf: Path, texts: Sequence[str]) -> Vectors:
    """[len(texts), width], read by a process of its own."""
    return np.stack([unit_length(_model(gguf).vector(text)) for text in texts]).astype(np.float32)


def _digest_of(path: Path) -> str:
    """Of the tensors alone: what else is in a GGUF changes no vector."""
    found = hashlib.sha256()
    for tensor in gguf.GGUFReader(str(path)).tensors:
        found.update(np.ascontiguousarray(tensor.data))
    return found.hexdigest()[:16]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]
