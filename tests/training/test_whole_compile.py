"""How the whole compile is measured: what counts as found, as invented and as sure."""

from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance
from training.whole_compile import calibration_error, invented, told, wanted

HOTEL = CorpusSkill(
    "made",
    "Hotel",
    "book a hotel",
    (SlotForm("city", "string", "where"), SlotForm("class", "string", "how good", ("high end", "plain"))),
)


def test_wanted_are_spans_and_members_but_no_category_that_is_not_offered() -> None:
    marks = (
        LabelMark("slot.city", "Oslo", 8, 12),
        LabelMark("slot.class", "high end", None, None),
        LabelMark("slot.class", "royal", None, None),
        LabelMark("slot.city", "anywhere", None, None),
    )
    said = Utterance("book in Oslo", ("made", "Hotel"), marks)
    assert wanted(said, HOTEL) == {("city", "oslo"), ("class", "high_end")}


def test_told_are_all_values_of_a_list_and_numbers_as_their_digits() -> None:
    assert told({"slots": {"city": ["Oslo", "Rome"], "count": 2}}) == {
        ("city", "oslo"),
        ("city", "rome"),
        ("count", "2"),
    }


def test_invented_is_what_the_prose_does_not_say_unless_a_closed_list_does() -> None:
    result = {"slots": {"city": ["Oslo", "Rome"], "class": "high_end"}}
    assert list(invented(result, "a posh hotel in  Oslo", HOTEL)) == ["city=Rome"]


def test_the_calibration_error_is_the_mean_gap_between_confidence_and_what_is_right() -> None:
    assert calibration_error([(1.0, True), (0.95, True)]) < 0.03
    assert abs(calibration_error([(0.75, True), (0.75, False)]) - 0.25) < 1e-9
    assert calibration_error([]) == 0.0
