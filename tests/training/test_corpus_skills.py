"""Catalogues of corpora as skill folders."""

from pathlib import Path

from mcl.language.skills import find_skills
from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance
from training.corpus_skills import examples_of, shelf_id, taking_several, write_shelf

HOTEL = CorpusSkill(
    "made",
    "Hotels_2.Book house?",
    'Book a "house" \\ flat',
    (
        SlotForm("city", "string", "where it is"),
        SlotForm("class", "string", "how good", ("ultra high-end", "plain")),
    ),
    ("acquire",),
)
CHAT = CorpusSkill("made", "chat", "small talk")


def test_a_skill_of_a_corpus_becomes_a_skill_that_loads_and_says_the_same(tmp_path: Path) -> None:
    shelf = write_shelf([HOTEL, CHAT], tmp_path, examples={HOTEL.name: ['book "Vista" in Oslo']})

    found = find_skills([tmp_path])
    assert not found.broken
    assert set(shelf) == set(found.ids)
    hotel = found.by_id[shelf_id(HOTEL.name)]
    assert hotel.display == "hotels book house?"
    assert hotel.description == HOTEL.description
    assert hotel.examples == ('book "Vista" in Oslo',)
    assert [(slot.name, slot.type, slot.options, slot.required, slot.hint) for slot in hotel.slots] == [
        ("city", "string", (), False, "where it is"),
        ("class", "enum", ("ultra_high-end", "plain"), False, "how good"),
    ]


def test_a_skill_has_its_own_verb_and_small_talk_has_all(tmp_path: Path) -> None:
    write_shelf([HOTEL, CHAT], tmp_path)
    found = find_skills([tmp_path])
    assert found.by_id[shelf_id(HOTEL.name)].verbs == ("acquire",)
    assert len(found.by_id["chat"].verbs) == 10


def test_a_slot_that_some_utterance_fills_twice_takes_a_list(tmp_path: Path) -> None:
    marks = tuple(LabelMark("slot.city", name, 0, 1) for name in ("Oslo", "Rome"))
    several = taking_several([Utterance("Oslo or Rome", ("made", HOTEL.name), marks)])
    write_shelf([HOTEL], tmp_path, several=several)
    city, grade = find_skills([tmp_path]).by_id[shelf_id(HOTEL.name)].slots
    assert (city.most, grade.most) == (4, 1)


def test_examples_are_the_first_different_utterances_of_a_skill() -> None:
    said = [Utterance(text, ("made", "chat")) for text in ("hello", "hello", "hi", "good morning")]
    assert examples_of(said, 2) == {"chat": ["hello", "hi"]}
