"""Rows for training: the same from the same seed, and no goal called nobody's that an offered skill takes."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("torch", reason="training needs torch")


from mcl.plugins.train.tuner.generator.skills import FAMILIES, utter
from mcl.plugins.train.tuner.rows import TokenVocabulary, TrainingRow
from mcl.plugins.train.tuner.utterances import CorpusSkill, Utterance
from training import corpora
from training.corpora import Corpus
from training.sampling import Sampler
from training.stock import COMMON, alike
from training.train import learn_pieces

WIDTH = 288


def small() -> Corpus:
    """A corpus of every source with a few skills each, of the generator's own words."""
    corpus, r = Corpus(), random.Random(1)
    for source in corpora.NAMES:
        for family in FAMILIES[:9]:
            key = (source, f"{source}_{family.name}")
            corpus.skills[key] = CorpusSkill(source, key[1], family.descriptions[0], family.slots)
            made = [utter(family, r) for _ in range(12)]
            corpus.train += [Utterance(one.text, key, one.marks, one.verb) for one in made]
    corpus.skills["clinc", "oos"] = CorpusSkill("clinc", "oos", "", hidden=True)
    corpus.train += [Utterance(f"what is {n} plus {n}", ("clinc", "oos")) for n in range(9)]
    return corpus


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> TokenVocabulary:
    path = tmp_path_factory.mktemp("words") / "tokenizer.json"
    learn_pieces([one.text for one in small().train], path)
    return TokenVocabulary(path)


def rows(known: TokenVocabulary, seed: int, number: int) -> list[TrainingRow]:
    sampler = Sampler(small(), ["ping the host", "show the date"], known, seed, WIDTH)
    return [sampler.row() if n % 4 else sampler.wide_row(2 * WIDTH) for n in range(number)]


def test_the_same_rows_follow_from_the_same_seed(known: TokenVocabulary) -> None:
    assert rows(known, 3, 40) == rows(known, 3, 40)
    assert rows(known, 3, 4) != rows(known, 4, 4)


def test_rows_keep_to_their_width_and_every_answer_is_one_that_is_allowed(known: TokenVocabulary) -> None:
    for n, row in enumerate(rows(known, 5, 120)):
        assert row.length <= (WIDTH if n % 4 else 2 * WIDTH)
        assert row.bodies
        for body in row.bodies:
            assert all(-1 <= answer < len(allowed) for _, allowed, answer, _ in body.reads)


def test_skills_that_do_the_same_are_told_apart_only_where_both_are_installed() -> None:
    assert alike(("own", "delegate-task"), ("own", "assign_task"))
    assert alike(("written", "files-find"), ("written", "code-search"))
    assert alike(("sgd", "Buses_1.FindBus"), ("sgd", "Buses_2.FindBus"))
    assert not alike(("own", "run-tests"), ("own", "web-fetch"))
    assert not alike(("own", "run-tests"), ("written", "run-tests"))
    assert {"schedule-reminder", "note-write"} <= COMMON
