"""What the bundled model knows of skills that it was taught by name: a linear member beside its heads.

It lies behind the tensors of the GGUF, where llama.cpp does not look (as a metadata array it would be turned
into text at each load, half a second for ten megabytes); the key `mcl.familiar.bytes` says how long it is.

    b"mclfam2\\n"  length of the next part (4 bytes, little endian)  JSON  rarities  rows  directions

JSON: {"buckets": B, "width": W, "classes": [{"names": [keys], "told": [keys], "source", "scale", "bias",
"stretch"}], "verbs": {verb: its place among the classes}}.
rarities: B bytes, the rarity of each bucket's features in sixteenths. rows: B rows of one byte a class, its
weight plus 128. directions: W signed bytes a class. The margin of a class is scale * sum(rarity * weight) /
sqrt(sum(rarity^2)) over the buckets of the prose's features, plus stretch * (its direction times the vector
of the prose, which is W numbers and of length one), plus bias: as a support vector machine against all else
learned it, above 0 is its own, near -1 is not. Sums over buckets are of whole numbers, so that every machine
finds the same.
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

import numpy as np
from numpy.typing import NDArray

from mcl.core.errors import ModelError
from mcl.model.form import plain
from mcl.model.llama.weights import NO_AI
from mcl.model.protocol import Candidate

SIZE_KEY = "mcl.familiar.bytes"
"""GGUF key: how many bytes at the end of the file are a familiar member (none: there is none)."""
MAGIC = b"mclfam2\n"
RARITY_UNIT = 16
ZERO = 128
_LONGEST = 512  # words that are looked at; 4,000 features and more would overflow no sum, but say nothing new
_MOST_RESOLVED = 4096
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
        self._asked: tuple[tuple[Candidate, ...], list[int | None]] = ((), [])
        self._last: tuple[str, NDArray[np.float32], list[float]] | None = None

    def _read(self, start: int) -> None:
        data = self._data
        if start < 0 or data[start : start + len(MAGIC)] != MAGIC:
            raise ValueError("it does not begin as it should")
        (length,) = struct.unpack_from("<I", data, start + len(MAGIC))
        at = start + len(MAGIC) + 4
        head = json.loads(data[at : at + length].decode())
        self._classes = [_class(row) for row in head["classes"]]
        self._scales, self._stretches, self._biases = (
            np.array([_number(row[name]) for row in head["classes"]], np.float64)
            for name in ("scale", "stretch", "bias")
        )
        self._verbs = {str(verb): int(place) for verb, place in head["verbs"].items()}
        self._buckets, self.width, count = int(head["buckets"]), int(head["width"]), len(self._classes)
        at += length
        if (
            self._buckets < 1
            or self.width < 1
            or at + self._buckets * (1 + count) + self.width * count != len(data)
        ):
            raise ValueError("it is not as long as it says")
        self._rarities = np.frombuffer(data, np.uint8, self._buckets, at)
        at += self._buckets
        self._rows = np.frombuffer(data, np.uint8, self._buckets * count, at).reshape(self._buckets, count)
        at += self._buckets * count
        directions = np.frombuffer(data, np.int8, self.width * count, at).reshape(count, self.width)
        self._directions = directions.astype(np.float32)
        if not all(0 <= place < len(self._classes) for place in self._verbs.values()):
            raise ValueError("a verb is out of range")
        self._by_name: dict[str, list[int]] = {}
        self._by_told: dict[str, list[int]] = {}
        for place, one in enumerate(self._classes):
            for index, keys in ((self._by_name, one.names), (self._by_told, one.told)):
                for key in keys:
                    index.setdefault(key, []).append(place)

    def margins(
        self, prose: str, vector: NDArray[np.float32], candidates: Sequence[Candidate]
    ) -> tuple[float | None, ...]:
        """How clearly `prose` is for each candidate: above 0 it is, near -1 it is not; None: never taught.

        vector: of the prose, [width], of length one.
        """
        places = self._places(candidates)
        if all(place is None for place in places):
            return (None,) * len(places)
        margins = self._margins(prose, vector)
        return tuple(None if place is None else margins[place] for place in places)

    def verbs(self, prose: str, vector: NDArray[np.float32]) -> dict[str, float]:
        """How clearly `prose` says each verb that was taught, as `margins` does."""
        margins = self._margins(prose, vector) if self._verbs else []
        return {verb: margins[place] for verb, place in self._verbs.items()}

    def _margins(self, prose: str, vector: NDArray[np.float32]) -> list[float]:
        """Of all classes. The same goal is asked about for its verb and its skill: the last is kept."""
        if self._last is None or self._last[0] != prose or not np.array_equal(self._last[1], vector):
            self._last = prose, vector, self._computed(prose, vector)
        return self._last[2]

    def _computed(self, prose: str, vector: NDArray[np.float32]) -> list[float]:
        buckets = buckets_of(prose, self._buckets)
        rarities = self._rarities[buckets].astype(np.int64)
        # 255 * 255 * features is far below 2^53: the sums are exact.
        weights = self._rows[buckets].astype(np.float64) - ZERO
        sums = rarities.astype(np.float64) @ weights
        length = math.sqrt(int(rarities @ rarities)) or 1.0
        alike = self._directions @ vector
        found: list[float] = (self._scales * sums / length + self._stretches * alike + self._biases).tolist()
        return found

    def _places(self, candidates: Sequence[Candidate]) -> list[int | None]:
        """The class of each candidate. Where several bear its name, that of the catalogue which most of the
        candidates are from. The same are asked about for goal after goal: their places are kept."""
        asked = tuple(candidates)
        if self._asked[0] != asked:
            self._asked = asked, self._looked_up(asked)
        return self._asked[1]

    def _looked_up(self, candidates: Sequence[Candidate]) -> list[int | None]:
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
    return _Class(frozenset(map(str, names)), frozenset(map(str, told)), str(row["source"]))


def _number(said: object) -> float:
    if not isinstance(said, float) or not math.isfinite(said):
        raise TypeError("scale, stretch and bias are numbers")
    return said


def packed(
    head: dict[str, object], rarities: bytes, rows: Iterable[bytes], directions: Iterable[bytes]
) -> bytes:
    """A familiar member as it lies in a file."""
    told = json.dumps(head, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    return b"".join((MAGIC, struct.pack("<I", len(told)), told, rarities, *rows, *directions))
