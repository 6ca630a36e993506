"""How like a prompt is to the ways in which each intent is asked for, as data says them. Pure.

A small model knows English and few words of git; examples know both languages. What speaks for an intent is
the cosine with the most similar of its examples, over words, pairs of words and runs of characters, each
weighed by how rare it is. What is named (repositories, files, names, commands) counts by its kind alone.
"""

import functools
import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from mcl.model.tags.familiar import features
from mcl.plugins.repo.intents import COMMANDS, Language, intent_types
from mcl.plugins.repo.rules import rules
from mcl.plugins.repo.wording import Word, begin, is_name, named_in, words_of

_LANGUAGES: tuple[Language, ...] = ("en", "sv")
_KINDS = {"REPO": "0repo", "FILE": "0name", "NAME": "0name", "COMMAND": "0command"}
_RUN_WEIGHT = 0.4  # of a run of characters; words and pairs of words count whole


@dataclass(frozen=True)
class _Index:
    """of: the intent of each example. rarity: of each feature. shares: the examples that have it."""

    of: tuple[str, ...]
    rarity: dict[str, float]
    unheard: float
    shares: dict[str, list[tuple[int, float]]]


def likeness(prompt: str, keys: Collection[str]) -> dict[str, float]:
    """Of each intent how like `prompt` is to what it is asked for with, 0 to 1. keys: known repositories."""
    index = _index()
    said = _weighed(_counted(prompt, keys), index.rarity, index.unheard)
    products = [0.0] * len(index.of)
    for feature, weight in said.items():
        for place, share in index.shares.get(feature, ()):
            products[place] += weight * share
    best = dict.fromkeys(intent_types(), 0.0)
    for name, product in zip(index.of, products, strict=True):
        best[name] = max(best[name], product)
    return best


@functools.cache
def asking_words() -> frozenset[str]:
    """The words that the examples ask with, case-folded: hardly the name of anything."""
    kinds = intent_types().values()
    texts = [text for kind in kinds for language in _LANGUAGES for text in kind.asked[language]]
    return frozenset(word.folded for text in texts for word in words_of(text) if word.text not in _KINDS)


@functools.cache
def _index() -> _Index:
    examples = [
        (kind.name, _counted(text, ()))
        for kind in intent_types().values()
        for language in _LANGUAGES
        for text in kind.asked[language]
    ]
    having = Counter(feature for _, counts in examples for feature in counts)
    rarity = {feature: math.log(1 + len(examples) / (1 + count)) for feature, count in having.items()}
    unheard = math.log(1 + len(examples))
    shares: dict[str, list[tuple[int, float]]] = {feature: [] for feature in having}
    for place, (_, counts) in enumerate(examples):
        for feature, weight in _weighed(counts, rarity, unheard).items():
            shares[feature].append((place, weight))
    return _Index(tuple(name for name, _ in examples), rarity, unheard, shares)


def _weighed(counts: dict[str, float], rarity: dict[str, float], unheard: float) -> dict[str, float]:
    weights = {feature: count * rarity.get(feature, unheard) for feature, count in counts.items()}
    length = math.sqrt(math.fsum(weight * weight for weight in weights.values())) or 1.0
    return {feature: weight / length for feature, weight in weights.items()}


def _counted(text: str, keys: Collection[str]) -> dict[str, float]:
    words = words_of(text)
    named = {one.word for one in named_in(words, keys)}
    first = begin(words, rules()[1])
    kinds = (_kind(word, known=place in named) for place, word in enumerate(words) if place >= first)
    said: list[str] = []
    for kind in kinds:
        if kind != "0name" or said[-1:] != ["0name"]:  # some words in quotes are one name
            said.append(kind)
    return {
        feature: 1.0 if _is_whole(feature) else _RUN_WEIGHT for feature in sorted(features(" ".join(said)))
    }


def _is_whole(feature: str) -> bool:
    """Whether it is a word or a pair of words; else a run of characters."""
    return feature.startswith("w") or " " in feature


def _kind(word: Word, *, known: bool) -> str:
    if known:
        return "0repo"
    if word.text in _KINDS:
        return _KINDS[word.text]
    if word.folded in COMMANDS:
        return "0command"
    return "0name" if is_name(word) else word.folded
