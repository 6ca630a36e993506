"""The matcher's rules and words, read from `rules.toml`."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mcl.plugins.repo.contract import Language

Phrase: TypeAlias = tuple[str, ...]
Where: TypeAlias = Literal["start", "anywhere", "commands"]

_FILE = Path(__file__).with_name("rules.toml")


@dataclass(frozen=True)
class MatchRule:
    """One row: `rules.toml` says what each field means. Longer phrases come first."""

    intent: str
    where: Where
    phrases: tuple[tuple[Phrase, Language], ...]
    leads: frozenset[str]
    needs: str
    yields: bool
    whole: bool
    compat: tuple[str, ...]


@dataclass(frozen=True)
class WordLists:
    """The lists of words that belong to no rule."""

    openings: tuple[Phrase, ...]
    joins: frozenset[str]
    commands: frozenset[str]
    aside: tuple[Phrase, ...]
    since: frozenset[str]
    showing: frozenset[str]
    between: frozenset[str]
    before_key: frozenset[str]
    after_key: frozenset[str]
    tails: tuple[Phrase, ...]
    negations: frozenset[str]
    changes: tuple[Phrase, ...]
    about: frozenset[str]
    swedish: frozenset[str]


@functools.cache
def rules() -> tuple[tuple[MatchRule, ...], WordLists]:
    """All rules in their order, and the words."""
    table = _table()
    words = table["words"]
    return tuple(map(_rule, table["rule"])), WordLists(
        openings=_phrases(words["openings"]),
        joins=frozenset(words["joins"]),
        commands=frozenset(words["commands"]),
        aside=_phrases(words["aside"]),
        since=frozenset(words["since"]),
        showing=frozenset(words["showing"]),
        between=frozenset(words["between"]),
        before_key=frozenset(words["before_key"]),
        after_key=frozenset(words["after_key"]),
        tails=_phrases(words["tails"]),
        negations=frozenset(words["negations"]),
        changes=_phrases(words["changes"]),
        about=frozenset(words["about"]),
        swedish=frozenset(words["swedish"]),
    )


@functools.cache
def search_words() -> Mapping[str, frozenset[str]]:
    """What stands around the text of a search, by what it is: `rules.toml` says what each list means."""
    return {name: frozenset(words) for name, words in _table()["search"].items()}


@functools.cache
def phrase_words() -> frozenset[str]:
    """All words of all phrases: none of them is the name of a repository that is not known."""
    return frozenset(word for rule in rules()[0] for phrase, _ in rule.phrases for word in phrase)


def words_before(intent: str) -> frozenset[str]:
    """What may stand before an argument of an intent, in any of its rules: leads, and words of phrases."""
    own = [rule for rule in rules()[0] if rule.intent == intent]
    phrases = {word for rule in own for phrase, _ in rule.phrases for word in phrase}
    return frozenset(phrases).union(rules()[1].between, *(rule.leads for rule in own))


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text("utf-8"))


def _rule(row: dict[str, object]) -> MatchRule:
    # A phrase of both languages is taken for English: the words around it tell when it is not.
    both: tuple[Language, Language] = ("sv", "en")
    phrases = {phrase: language for language in both for phrase in _phrases(row.get(language, []))}
    return MatchRule(
        intent=str(row["intent"]),
        where=row["where"],  # type: ignore[arg-type]
        phrases=tuple(sorted(phrases.items(), key=lambda one: -len(one[0]))),
        leads=frozenset(_texts(row.get("leads", []))),
        needs=str(row.get("needs", "")),
        yields=bool(row.get("yields", False)),
        whole=bool(row.get("whole", False)),
        compat=_texts(row.get("compat", [])),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _phrases(value: object) -> tuple[Phrase, ...]:
    found = (tuple(text.casefold().split()) for text in _texts(value))
    return tuple(sorted(found, key=len, reverse=True))
