"""What the bundled model knows of skills that it was taught by name: a linear member beside the tag model.

It lies behind the tensors of the GGUF, where llama.cpp does not look (as a metadata array it would be turned
into text at each load, half a second for ten megabytes); the key `mcl.familiar.bytes` says how long it is.

    b"mclfam1\\n"  length of the next part (4 bytes, little endian)  JSON  rarities  rows

JSON: {"buckets": B, "classes": [{"names": [keys], "told": [keys], "source", "scale", "bias", "mean",
"spread"}], "verbs": {verb: its place among the classes}}; mean and spread (or neither) are of its margins
over many goals.
rarities: B bytes, the rarity of each bucket's features in sixteenths. rows: B rows of one byte a class, its
weight plus 128. The margin of a class is scale * sum(rarity * weight) / sqrt(sum(rarity^2)) + bias over the
buckets of the prose's features, as a support vector machine against all else learned it: above 0 is its own,
near -1 is not. Sums are of whole numbers, so that every machine finds the same.
"""

import json
import math
import mmap
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from mcl.core.errors import ModelError
from mcl.model.form import plain
from mcl.model.llama.weights import NO_AI
from mcl.model.protocol import Candidate

SIZE_KEY = "mcl.familiar.bytes"
"""GGUF key: how many bytes at the end of the file are a familiar member (none: there is none)."""
MAGIC = b"mclfam1\n"
RARITY_UNIT = 16
ZERO = 128
_LONGEST = 512  # words that are looked at; 4,000 features and more would overflow no sum, but say nothing new
_MOST_RESOLVED = 4096
_PROFILE = 24  # classes of a profile
_LANE = 4  # bytes of a class in a sum: 255 * 255 * features stays far below 2^32
_WORD = re.compile(r"\w+|[^\w\s]")
_GRAMS = (3, 4, 5)
_NOT_LETTER = re.compile(r"[\W\d_]+")


def features(prose: str) -> set[str]:
    """Words, pairs of neighbouring words, and runs of 3 to 5 characters of words, in lower case."""
    words = _WORD.findall(prose.lower())[:_LONGEST]
    found = {f"w{word}" for word in words}
    for word in set(words):
        edged = f"<{word}>"
        for size in _GRAMS:
            found.update(edged[i : i + size] for i in range(len(edged) - size + 1))
    found.update(f"{a} {b}" for a, b in zip(["^", *words], [*words, "$"], strict=True))
    return found


def buckets_of(prose: str, buckets: int) -> list[int]:
    """The buckets of the features of `prose`, each once, in ascending order."""
    return sorted({crc32(feature.encode("utf-8", "replace")) % buckets for feature in features(prose)})


def key_of(text: str) -> str:
    """A name or description as it is compared: its letters alone, in lower case.

    So `Banks_1.CheckBalance`, `banks-check-balance` and `banks check balance` are the same.
    """
    return _NOT_LETTER.sub("", text.casefold())


@dataclass(frozen=True)
class _Class:
    """One skill that was taught. names, told: keys of its names and descriptions; source: the catalogue that
    it is from."""

    names: frozenset[str]
    told: frozenset[str]
    source: str
    scale: float
    bias: float
    mean: float
    spread: float  # 0: not known, and no part of a profile


class SkillClassifier:
    """The linear member of one model file, mapped into memory: a goal touches some hundred rows of it."""

    def __init__(self, path: Path, size: int) -> None:
        """size: bytes at the end of the file. Raises ModelError MODEL_BROKEN, MODEL_MISSING."""
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            message = f"the model file cannot be read: {error}"
            raise ModelError("MODEL_MISSING", message, place=str(path), fix=NO_AI) from error
        try:
            self._read(len(self._data) - size)
        except (ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError) as error:
            message = f"what it knows of skills by name is damaged: {error}"
            raise ModelError("MODEL_BROKEN", message, place=str(path), fix=NO_AI) from error
        self._resolved: dict[tuple[str, str, str], tuple[int, ...]] = {}
        # The candidates that kinship was last asked of, and by class those whose profiles have it.
        self._catalogue: tuple[list[tuple[str, str, str]], dict[int, list[tuple[int, float]]]] = ([], {})
        self._scored: tuple[str, tuple[Sequence[int], int, float]] | None = None

    def _read(self, start: int) -> None:
        data = self._data
        if start < 0 or data[start : start + len(MAGIC)] != MAGIC:
            raise ValueError("it does not begin as it should")
        (length,) = struct.unpack_from("<I", data, start + len(MAGIC))
        at = start + len(MAGIC) + 4
        head = json.loads(data[at : at + length].decode())
        self._classes = [_class(row) for row in head["classes"]]
        self._verbs = {str(verb): int(place) for verb, place in head["verbs"].items()}
        self._buckets, self._rarities = int(head["buckets"]), at + length
        self._rows = self._rarities + self._buckets
        if self._buckets < 1 or self._rows + self._buckets * len(self._classes) != len(data):
            raise ValueError("it is not as long as it says")
        if not all(0 <= place < len(self._classes) for place in self._verbs.values()):
            raise ValueError("a verb is out of range")
        self._by_name: dict[str, list[int]] = {}
        self._by_told: dict[str, list[int]] = {}
        for place, one in enumerate(self._classes):
            for index, keys in ((self._by_name, one.names), (self._by_told, one.told)):
                for key in keys:
                    index.setdefault(key, []).append(place)

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """How clearly `prose` is for each candidate: above 0 it is, near -1 it is not; None: never taught."""
        places = self._places(candidates)
        if all(place is None for place in places):
            return (None,) * len(places)
        scores = self._scores(prose)
        return tuple(None if place is None else self._margin(place, scores) for place in places)

    def verbs(self, prose: str) -> dict[str, float]:
        """How clearly `prose` says each verb that was taught, as `margins` does."""
        if not self._verbs:
            return {}
        scores = self._scores(prose)
        return {verb: self._margin(place, scores) for verb, place in self._verbs.items()}

    def kinship(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float, ...]:
        """How alike `prose` and what each candidate says of itself are, 0 to 1: the cosine of their profiles.

        A profile is which of the taught skills a text speaks for more than most texts do. So a goal finds a
        skill that was never taught and shares no word with it: both are like what was taught.
        """
        said = [(one.skill_id, one.display, one.description) for one in candidates]
        if self._catalogue[0] != said:
            by_class: dict[int, list[tuple[int, float]]] = {}
            for index, (id, display, description) in enumerate(said):
                for place, weight in self._profile(f"{plain(display or id)} {description}"):
                    by_class.setdefault(place, []).append((index, weight))
            self._catalogue = said, by_class
        kinship = [0.0] * len(said)
        for place, much in self._profile(prose):
            for index, weight in self._catalogue[1].get(place, ()):
                kinship[index] += much * weight
        return tuple(kinship)

    def _profile(self, text: str) -> tuple[tuple[int, float], ...]:
        """The classes that a text speaks for most, each with its weight; of length 1."""
        scores = self._scores(text)
        above = [
            ((self._margin(place, scores) - one.mean) / one.spread, place)
            for place, one in enumerate(self._classes)
            if one.spread
        ]
        best = sorted(((-much, place) for much, place in above if much > 0))[:_PROFILE]
        length = math.sqrt(sum(much * much for much, _ in best)) or 1.0
        return tuple((place, -much / length) for much, place in best)

    def _margin(self, place: int, scores: tuple[Sequence[int], int, float]) -> float:
        sums, zero, length = scores
        one = self._classes[place]
        return one.scale * (sums[place] - zero) / length + one.bias

    def _scores(self, prose: str) -> tuple[Sequence[int], int, float]:
        """The sum of each class, what a sum of no weight is, and the length of the prose's vector.

        All classes are summed at once, as one long whole number with a lane of 32 bits a class.
        """
        if self._scored and self._scored[0] == prose:  # one goal is asked about several times
            return self._scored[1]
        data, rarities, rows, width = self._data, self._rarities, self._rows, len(self._classes)
        lanes = bytearray(_LANE * width)
        total = zero = squares = 0
        for bucket in buckets_of(prose, self._buckets):
            rarity = data[rarities + bucket]
            at = rows + bucket * width
            lanes[::_LANE] = data[at : at + width]
            total += rarity * int.from_bytes(lanes, "little")
            zero += rarity * ZERO
            squares += rarity * rarity
        sums = struct.unpack(f"<{width}I", total.to_bytes(_LANE * width, "little"))
        self._scored = prose, (sums, zero, math.sqrt(squares) or 1.0)
        return self._scored[1]

    def _places(self, candidates: Sequence[Candidate]) -> list[int | None]:
        """The class of each candidate. Where several bear its name, that of the catalogue which most of the
        candidates are from."""
        found = [self._known(one) for one in candidates]
        votes: dict[str, int] = {}
        for places in found:
            for source in {self._classes[place].source for place in places}:
                votes[source] = votes.get(source, 0) + 1
        return [
            max(places, key=lambda place: (votes[self._classes[place].source], -place)) if places else None
            for places in found
        ]

    def _known(self, candidate: Candidate) -> tuple[int, ...]:
        said = candidate.skill_id, candidate.display, candidate.description
        places = self._resolved.get(said)
        if places is None:
            if len(self._resolved) >= _MOST_RESOLVED:
                self._resolved.clear()
            places = self._resolved[said] = self._lookup(*said)
        return places

    def _lookup(self, id: str, display: str, description: str) -> tuple[int, ...]:
        """Classes with this description; else those with this name, where it has two words or more or nothing
        else is said: many things are called `order`."""
        told = key_of(description)
        if told in self._by_told:
            return tuple(self._by_told[told])
        name = id.rsplit("/", 1)[-1].split("@", 1)[0]
        for text in (name, display):
            key = key_of(text)
            if key in self._by_name and (" " in plain(text).strip() or told in ("", key)):
                return tuple(self._by_name[key])
        return ()


def _class(row: dict[str, Any]) -> _Class:
    names, told = row["names"], row["told"]
    if not isinstance(names, list) or not isinstance(told, list):
        raise TypeError("names and descriptions are lists")
    scale, bias = row["scale"], row["bias"]
    mean, spread = row.get("mean", 0.0), row.get("spread", 0.0)
    for number in (scale, bias, mean, spread):
        if not isinstance(number, float) or not math.isfinite(number):
            raise TypeError("scale, bias, mean and spread are numbers")
    if spread < 0:
        raise ValueError("a spread is below 0")
    keys = frozenset(map(str, names)), frozenset(map(str, told))
    return _Class(*keys, str(row["source"]), scale, bias, mean, spread)


def packed(head: dict[str, object], rarities: bytes, rows: Iterable[bytes]) -> bytes:
    """A familiar member as it lies in a file."""
    told = json.dumps(head, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    return b"".join((MAGIC, struct.pack("<I", len(told)), told, rarities, *rows))
