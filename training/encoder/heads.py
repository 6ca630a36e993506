"""What stands on an encoder's vectors (form enc@1): choices, verbs, kinds, wishes, tags, options; in numpy.

The heads lie behind the tensors of the GGUF, where llama.cpp does not look; the key `mcl.heads.bytes` says
how long they are:

    b"mclheads1\\n"  length of the next part (4 bytes, little endian)  JSON  numbers (float16, little endian)

JSON: {"tensors": [[name, [shape]], ...]} in the order of the numbers, and what else a form needs to be known.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcl.core.errors import ModelError
from mcl.model.llama.weights import NO_AI

SIZE_KEY = "mcl.heads.bytes"
MAGIC = b"mclheads1\n"
FIELDS = (
    "budget", "deadline", "jurisdiction_allow", "jurisdiction_deny", "quality", "rule", "delivered",
    "signed_off", "external", "attestation", "preference", "recurrence",
)  # fmt: skip
KINDS = ("goal", "none", "question", "chat")
"""What a saying is: a goal, a wish that nothing here takes, a question about something, small talk."""
WORD, SLOT, OPTION, FIELD = range(4)
_LINEAR = (
    "none", "verb", "kind", "wish", "outside_tag", "word_match", "slot_match", "slot_bias", "asking",
    "offered", "unsaid", *(f"joint.{part}" for part in ("q", "k", "v", "o", "n1", "n2", "up", "down")),
)  # fmt: skip
_NEEDED = ("scale", "types", "fields", *(f"{name}.{part}" for name in _LINEAR for part in ("weight", "bias")))
_JOINT_HEADS = 6
_EPSILON = 1e-12

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MarkForm:
    """What the words of a goal are compared with: slots and, behind each slot with options, these.

    vectors: [m, width]; kinds: SLOT or OPTION of each.
    """

    vectors: Vectors
    kinds: tuple[int, ...]


class Heads:
    """The heads of one model file."""

    def __init__(self, tensors: Mapping[str, Vectors]) -> None:
        """Raises ValueError where one is missing or has another shape than the others say."""
        for name in _NEEDED:
            if name not in tensors:
                raise ValueError(f"{name} is missing")
            if not np.isfinite(tensors[name]).all():
                raise ValueError(f"{name} has values that are no numbers")
        self._of = dict(tensors)
        self.width = int(tensors["types"].shape[1])
        self.scale = float(tensors["scale"].reshape(-1)[0])

    def choices(self, goal: Vectors, skills: Vectors) -> Vectors:
        """goal [width], skills [s, width] -> scores [1 + s], the first of `none of these`."""
        unit = _unit(goal)
        none = self._linear("none", unit)
        alike = _unit(skills) @ unit
        return np.concatenate([none, alike]).astype(np.float32) * np.float32(self.scale)

    def verbs(self, goal: Vectors) -> Vectors:
        """Scores of the verbs for a goal or a wish [width]."""
        return self._linear("verb", goal)

    def kinds(self, goal: Vectors) -> Vectors:
        """Scores of KINDS for a whole goal [width]."""
        return self._linear("kind", goal)

    def begins(self, words: Vectors) -> Vectors:
        """words [n, width] -> scores [n, 2]: no, yes a further wish begins here."""
        return self._linear("wish", words)

    def joined(self, words: Vectors, form: MarkForm) -> tuple[Vectors, Vectors]:
        """Words and what they are compared with, having seen one another: [n, width], [m + fields, width]."""
        types = self._of["types"]
        x = np.concatenate(
            [
                words + types[WORD],
                (form.vectors + types[list(form.kinds)]).reshape(-1, self.width),
                self._of["fields"] + types[FIELD],
            ]
        )
        x = self._layer(x)
        return x[: len(words)], x[len(words) :]

    def tags(self, words: Vectors, items: Vectors) -> Vectors:
        """joined words [n, width] and items [m, width] -> scores [n, 2 + m]: none, goes on, begins item j."""
        met = self._linear("word_match", words) @ self._linear("slot_match", items).T
        begins = met / math.sqrt(self._of["word_match.bias"].shape[0]) + self._linear("slot_bias", items).T
        return np.concatenate([self._linear("outside_tag", words), begins], axis=1)

    def options(self, slot: Vectors, options: Vectors) -> Vectors:
        """joined slot [width] and options [k, width] -> scores [1 + k], the first of `not said`."""
        met = self._linear("offered", options) @ self._linear("asking", slot)
        said = met / math.sqrt(self._of["asking.bias"].shape[0])
        return np.concatenate([self._linear("unsaid", slot), said])

    def _linear(self, name: str, x: Vectors) -> Vectors:
        return x @ self._of[f"{name}.weight"].T + self._of[f"{name}.bias"]

    def _layer(self, x: Vectors) -> Vectors:
        n, width = x.shape
        each = width // _JOINT_HEADS

        def split(part: str) -> Vectors:
            return self._linear(f"joint.{part}", x).reshape(n, _JOINT_HEADS, each).transpose(1, 0, 2)

        q, k, v = split("q"), split("k"), split("v")
        scores = q @ k.transpose(0, 2, 1) * np.float32(each**-0.5)
        seen = (_softmax(scores) @ v).transpose(1, 0, 2).reshape(n, width)
        x = self._norm("n1", x + self._linear("joint.o", seen))
        return self._norm("n2", x + self._linear("joint.down", _gelu(self._linear("joint.up", x))))

    def _norm(self, part: str, x: Vectors) -> Vectors:
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(-1, keepdims=True) + _EPSILON)
        return centred / spread * self._of[f"joint.{part}.weight"] + self._of[f"joint.{part}.bias"]


def _unit(x: Vectors) -> Vectors:
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def _softmax(x: Vectors) -> Vectors:
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def _gelu(x: Vectors) -> Vectors:
    return 0.5 * x * (1 + np.tanh(np.float32(math.sqrt(2 / math.pi)) * (x + 0.044715 * x * x * x)))


def probabilities(scores: Vectors, temperature: float = 1.0) -> Vectors:
    """Softmax of scores divided by a temperature, over the last axis."""
    return _softmax(scores / np.float32(temperature))


def packed_heads(tensors: Mapping[str, Vectors], more: Mapping[str, object]) -> bytes:
    """Heads as they lie in a file; more: what else is said of them in JSON."""
    told = {**more, "tensors": [[name, list(tensor.shape)] for name, tensor in tensors.items()]}
    head = json.dumps(told, sort_keys=True, separators=(",", ":")).encode()
    numbers = b"".join(np.ascontiguousarray(t, dtype="<f2").tobytes() for t in tensors.values())
    return MAGIC + struct.pack("<I", len(head)) + head + numbers


def read_heads(path: Path, start: int, size: int) -> tuple[Heads, dict[str, Any]]:
    """The heads at `start` of a model file, and what else is said of them. Raises ModelError MODEL_BROKEN."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(size)
        if len(data) < size or data[: len(MAGIC)] != MAGIC:
            raise ValueError("they do not begin as they should")
        (length,) = struct.unpack_from("<I", data, len(MAGIC))
        at = len(MAGIC) + 4
        told = json.loads(data[at : at + length])
        at += length
        tensors: dict[str, Vectors] = {}
        for name, shape in told.pop("tensors"):
            count = math.prod(map(int, shape))
            if count < 0 or at + 2 * count > len(data):
                raise ValueError(f"{name} is cut off")
            numbers = np.frombuffer(data, "<f2", count, at)
            tensors[str(name)] = numbers.reshape([int(n) for n in shape]).astype(np.float32)
            at += 2 * count
        return Heads(tensors), told
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError) as error:
        message = f"its heads are damaged: {error}"
        raise ModelError("MODEL_BROKEN", message, place=str(path), fix=NO_AI) from error
