"""What stands on an encoder's vectors (form enc@1): choices, verbs, kinds, wishes, tags, options; in numpy.

The heads lie behind the tensors of the GGUF, where llama.cpp does not look; the key `mcl.heads.bytes` says
how long they are:

    b"mclheads1\\n"  length of the next part (4 bytes, little endian)  JSON  numbers (float16, little endian)

JSON: {"tensors": [[name, [shape]], ...]} in the order of the numbers, and what else a form needs to be known;
"taught": {skill: {part: [labels]}} says what was taught of single skills (see Taught).
"""

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcl.core.errors import ModelError
from mcl.model.llama.weights import NO_AI

SIZE_KEY = "mcl.heads.bytes"
MAGIC = b"mclheads1\n"
KINDS = ("goal", "none", "question", "chat", "correction")
"""What a saying is: a goal, a wish that nothing here takes, a question about something, small talk, a change
of what was said last."""
CHANGES = ("change", "add", "drop", "again", "undo", "new")
"""What a correction does: another value, one more, one less, the same once more, back; or it is none."""
WORD, SLOT, OPTION, FIELD = range(4)
_LINEAR = (
    "none", "verb", "kind", "change", "wish", "outside_tag", "word_match", "slot_match", "slot_bias",
    "asking", "offered", "unsaid",
    *(f"joint.{part}" for part in ("q", "k", "v", "o", "n1", "n2", "up", "down")),
)  # fmt: skip
_NEEDED = (
    "scale", "example", "named", "types", "fields",
    *(f"{name}.{part}" for name in _LINEAR for part in ("weight", "bias")),
)  # fmt: skip
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


@dataclass(frozen=True, slots=True)
class CardForm:
    """What skills say of themselves, texts [t, width] of length one, those of a skill side by side.

    starts: of each skill where its texts begin (ascending); examples: which are goals that it takes.
    """

    vectors: Vectors
    starts: NDArray[np.int64]
    examples: NDArray[np.bool_]

    @classmethod
    def of(cls, skills: Sequence[Vectors]) -> "CardForm":
        """skills: of each the vectors of its description and of its examples, [1 + k, width]."""
        counts = np.array([len(one) for one in skills], np.int64)
        starts = np.concatenate([[0], counts.cumsum()[:-1]]).astype(np.int64) if skills else counts
        examples = np.ones(int(counts.sum()), np.bool_)
        examples[starts] = False
        rows = np.concatenate(skills) if skills else np.zeros((0, 1), np.float32)
        return cls(unit_length(rows), starts, examples)


@dataclass(frozen=True, slots=True)
class Taught:
    """What was taught of one skill: for each part what is added to the scores of its labels, where this skill
    is asked about; nothing else changes.

    parts: labels and weights [labels, width + 1] of a part (the last column is added as it is): PICK, VERB,
    TAG (labels "none", "in", "slot.NAME"), and "option NAME" of a slot (labels "" for not said, and options).
    """

    parts: Mapping[str, tuple[tuple[str, ...], Vectors]]

    def added(self, part: str, labels: Sequence[str], x: Vectors) -> Vectors:
        """x [..., width] -> [..., labels]: what is added to the score of each; 0 for what was not taught."""
        found = np.zeros((*x.shape[:-1], len(labels)), np.float32)
        known, weights = self.parts.get(part, ((), np.zeros((0, x.shape[-1] + 1), np.float32)))
        places = {label: place for place, label in enumerate(known)}
        own = [place for place, label in enumerate(labels) if label in places]
        if own:
            rows = weights[[places[labels[place]] for place in own]]
            found[..., own] = x @ rows[:, :-1].T + rows[:, -1]
        return found


PICK, VERB, TAG, OPTIONS = "pick", "verb", "tag", "option "
"""Parts of what is taught of a skill; OPTIONS is followed by the name of a slot."""


class Heads:
    """The heads of one model file, and what was taught of single skills, by id."""

    def __init__(self, tensors: Mapping[str, Vectors], taught: Mapping[str, Taught] | None = None) -> None:
        """Raises ValueError where one is missing or has another shape than the others say."""
        for name in _NEEDED:
            if name not in tensors:
                raise ValueError(f"{name} is missing")
            if not np.isfinite(tensors[name]).all():
                raise ValueError(f"{name} has values that are no numbers")
        self._of = dict(tensors)
        self.taught = dict(taught or {})
        self.width = int(tensors["types"].shape[1])
        self.scale, self._example, self._named = (
            np.float32(tensors[name].reshape(-1)[0]) for name in ("scale", "example", "named")
        )

    @property
    def tensors(self) -> Mapping[str, Vectors]:
        """All of them but what was taught of single skills."""
        return self._of

    def choices(self, goal: Vectors, skills: CardForm) -> Vectors:
        """goal [width], cards of s skills -> scores [1 + s], the first of `none of these`."""
        unit = unit_length(goal)
        alike = skills.vectors @ unit
        alike[skills.examples] += self._example
        best = np.maximum.reduceat(alike, skills.starts) if len(skills.starts) else alike
        none = self._linear("none", unit)
        return np.concatenate([none, best]).astype(np.float32) * np.float32(self.scale)

    def verbs(self, goal: Vectors) -> Vectors:
        """Scores of the verbs for a goal or a wish [width]."""
        return self._linear("verb", goal)

    def kinds(self, goal: Vectors) -> Vectors:
        """Scores of KINDS for a whole goal [width]."""
        return self._linear("kind", goal)

    def changes(self, goal: Vectors) -> Vectors:
        """Scores of CHANGES for a whole goal [width] that corrects another."""
        return self._linear("change", goal)

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

    def options(self, slot: Vectors, options: Vectors, named: Vectors) -> Vectors:
        """joined slot [width] and options [k, width], how nearly a word of the goal is each of them [k] ->
        scores [1 + k], the first of `not said`."""
        met = self._linear("offered", options) @ self._linear("asking", slot)
        said = met / math.sqrt(self._of["asking.bias"].shape[0]) + self._named * named
        return np.concatenate([self._linear("unsaid", slot), said])

    def _linear(self, name: str, x: Vectors) -> Vectors:
        found: Vectors = x @ self._of[f"{name}.weight"].T + self._of[f"{name}.bias"]
        return found

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
        found: Vectors = centred / spread * self._of[f"joint.{part}.weight"] + self._of[f"joint.{part}.bias"]
        return found


def unit_length(x: Vectors) -> Vectors:
    """The same directions, of length one."""
    found: Vectors = x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), np.float32(1e-12))
    return found


def _softmax(x: Vectors) -> Vectors:
    weights: Vectors = np.exp(x - x.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights


def _gelu(x: Vectors) -> Vectors:
    found: Vectors = 0.5 * x * (1 + np.tanh(np.float32(math.sqrt(2 / math.pi)) * (x + 0.044715 * x * x * x)))
    return found


def probabilities(scores: Vectors, temperature: float = 1.0) -> Vectors:
    """Softmax of scores divided by a temperature, over the last axis."""
    return _softmax(scores / np.float32(temperature))


def packed_heads(
    tensors: Mapping[str, Vectors], more: Mapping[str, object], taught: Mapping[str, Taught] | None = None
) -> bytes:
    """Heads as they lie in a file; more: what else is said of them in JSON."""
    told = {**more}
    if taught:
        told["taught"] = {
            id: {part: labels for part, (labels, _) in one.parts.items()} for id, one in taught.items()
        }
        own = {
            _taught_name(id, part): weights
            for id, one in taught.items()
            for part, (_, weights) in one.parts.items()
        }
        tensors = {**tensors, **own}
    told["tensors"] = [[name, list(tensor.shape)] for name, tensor in tensors.items()]
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
        width = tensors["types"].shape[1]
        taught = {
            str(id): Taught(
                {part: _taught_part(tensors, id, part, labels, width) for part, labels in parts.items()}
            )
            for id, parts in told.pop("taught", {}).items()
        }
        return Heads(tensors, taught), told
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError) as error:
        message = f"its heads are damaged: {error}"
        raise ModelError("MODEL_BROKEN", message, place=str(path), fix=NO_AI) from error


def _taught_name(id: str, part: str) -> str:
    return f"taught {id} {part}"


def _taught_part(
    tensors: dict[str, Vectors], id: str, part: str, labels: Sequence[str], width: int
) -> tuple[tuple[str, ...], Vectors]:
    """Labels and weights of a part, which are taken out of the tensors. Raises ValueError, KeyError."""
    weights = tensors.pop(_taught_name(id, part))
    if weights.shape != (len(labels), width + 1) or not np.isfinite(weights).all():
        raise ValueError(f"what was taught of {id} ({part}) has another shape, or values that are no numbers")
    return tuple(map(str, labels)), weights
