"""Which limits, signs and wishes a goal has words for: the others a chat model cannot answer at all."""

import pytest

from mcl.model.form import FIELDS
from mcl.model.limits import is_such, sayable

NO_LIMITS = (
    "show me the status of the repository",
    "find the word lantern in my poems",
    "tell us what the parser does",
    "visa loggen för mappen bokföring",
)


@pytest.mark.parametrize("goal", NO_LIMITS)
def test_a_goal_without_limits_has_words_for_none(goal):
    assert set(sayable(goal)) <= {"delivered"}


@pytest.mark.parametrize(
    ("field", "english", "swedish"),
    [
        ("budget", "order paper for at most 20 euros", "beställ papper för högst 200 kr"),
        ("budget", "spend two hours on the parser", "lägg två timmar på parsern"),
        ("budget", "read it with at most 12 calls", "läs det med högst 12 anrop"),
        ("deadline", "write the report by Friday", "skriv rapporten till fredag"),
        ("deadline", "write the report before the audit", "skriv rapporten innan revisionen"),
        ("jurisdiction_allow", "find a printer in Norway", "hitta ett tryckeri i Norge"),
        ("jurisdiction_deny", "rent a server, not in the US", "hyr en server, inte i USA"),
        ("quality", "test it, at least 90 % coverage", "testa det, minst 90 procent"),
        ("quality", "with five stars or better", "med minst fyra stjärnor"),
        ("rule", "tidy the folder, delete nothing", "städa mappen, radera ingenting"),
        ("rule", "list the files without opening them", "lista filerna utan att öppna dem"),
        ("delivered", "send the minutes to Ada", "skicka protokollet till Ada"),
        ("signed_off", "publish it once Ada approves it", "publicera det när Ada har godkänt det"),
        ("external", "merge it when the tests are green", "slå ihop det när testerna är gröna"),
        ("attestation", "pay the caterer, with a receipt", "betala firman, med kvitto"),
        ("preference", "book a table, preferably outside", "boka ett bord, helst ute"),
        ("recurrence", "send it every Monday", "skicka det varje måndag"),
        ("recurrence", "check the site twice a week", "titta på sidan två gånger i veckan"),
    ],
)
def test_a_limit_may_be_answered_where_words_for_it_stand(field, english, swedish):
    assert field in sayable(english)
    assert field in sayable(swedish)
    assert list(sayable(english)) == [one for one in FIELDS if one in sayable(english)]


@pytest.mark.parametrize(
    ("field", "value", "other"),
    [
        ("budget", "20 euros", "paper"),
        ("jurisdiction_allow", "Norway", "printer"),
        ("jurisdiction_deny", "the us", "us"),
        ("quality", "90 %", "the tests"),
        ("rule", "delete nothing", "tidy the folder"),
        ("recurrence", "every Monday", "send it"),
    ],
)
def test_a_value_without_a_word_of_its_kind_is_none(field, value, other):
    assert is_such(field, value)
    assert not is_such(field, other)


def test_every_field_has_its_words():
    everything = (
        "never in Norway, at least 90 % coverage by Friday, under 20 euros, weekly, preferably signed off by "
        "Ada, with a receipt, sent to Bo when the tests are green"
    )
    assert sayable(everything) == FIELDS
