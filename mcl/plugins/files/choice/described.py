"""The file that a goal describes where it names none: “the receipt for the washing machine”."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from executor.core.tables import table_beside
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace
from mcl.plugins.files.choice.looking import Described, Looking, Term
from mcl.plugins.files.choice.names import NamedSets
from mcl.plugins.files.choice.words import SaidWord, tokens_of

_BESIDE: Final = 0.5  # what a word of another clause counts
_LEAST: Final = 2  # words that describe a file
_LONGEST: Final = 600  # characters of a goal


@functools.cache
def _asks() -> re.Pattern[str]:
    said = table_beside(__file__)["asks"]
    return re.compile(rf"(?<![\w'])(?:{said})(?!\w)", re.IGNORECASE)


@functools.cache
def empty_words() -> frozenset[str]:
    """Words that say nothing of a file."""
    return frozenset(table_beside(__file__)["empty"].split())


def terms_of(tokens: Sequence[SaidWord], weight: float = 1.0) -> Iterator[Term]:
    """The words that may describe a file."""
    for one in tokens:
        text = re.sub(r"['’]s$", "", one.text.strip(".:()'’"))
        if len(text) > 1 and text not in empty_words() and re.search(r"\w", text):
            yield Term(one._replace(text=text), weight)


def read_located(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The file that is looked for, where all that is said of it describes one; of several a person says
    which."""
    asked = _asks().search(prose) if len(prose) <= _LONGEST else None
    if asked is None:
        return ()
    looking = Looking(NamedSets(names))
    terms: list[Term] = []
    named: list[TextPlace] = []
    for clause in clauses:
        own = list(terms_of(tokens_of(prose, *clause.place)))
        heads = any(looking.sets.of(word) for word, _ in own)
        terms += own if heads and not clause.keeps else [one._replace(weight=_BESIDE) for one in own]
        named += [clause.place] if heads and not clause.keeps else []
    found = looking.described(terms)
    if not named or not found or not is_told(found[0]):
        return ()
    alike = looking.alike(found)
    return (
        FilledInput("name", named[0], tuple(one.path for one in alike), unsure=len(alike) > 1),
        *(FilledInput("", one.place) for one in clauses),
    )


def is_told(one: Described) -> bool:
    """Whether enough describes a file that it may be meant."""
    return one.terms >= _LEAST and one.named > 0
