"""Spellings that people use for amounts, moments, lengths, places and measures; and what stays unread."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.values.dates import read_moment, read_since, read_start
from mcl.values.durations import read_duration
from mcl.values.money import read_money, read_upper_end
from mcl.values.numbers import read_number, read_quality
from mcl.values.regions import read_regions

AT, ZONE = "2026-11-21T10:00:00.000Z", "Europe/Stockholm"  # a Saturday


@pytest.mark.parametrize(
    ("text", "asset", "amount"),
    [
        ("€1.2k", "EUR", "1200"),
        ("1 200 SEK", "SEK", "1200"),
        ("1\u00a0200 SEK", "SEK", "1200"),
        ("1\u202f200,50 €", "EUR", "1200.50"),
        ("two thousand dollars", "USD", "2000"),
        ("CHF 5'000", "CHF", "5000"),
        ("CHF 5’000.-", "CHF", "5000"),
        ("Fr. 200", "CHF", "200"),
        ("USD 1,5 million", "USD", "1500000"),
        ("3 Mio. Euro", "EUR", "3000000"),
        ("twenty quid", "GBP", "20"),
        ("20 pence", "GBP", "0.20"),
        ("1500,- kr", "SEK", "1500"),
        ("1 500:-", "SEK", "1500"),
        ("half a million dollars", "USD", "500000"),
        ("one and a half million euros", "EUR", "1500000"),
        ("two and a half thousand pounds", "GBP", "2500"),
        ("a couple of hundred dollars", "USD", "200"),
        ("20 dollars and 30 cents", "USD", "20.30"),
        ("5 euros 50 cents", "EUR", "5.50"),
        ("10 mkr", "SEK", "10000000"),
        ("500 tkr", "SEK", "500000"),
        ("tvåhundra kronor", "SEK", "200"),
        ("tvåhundrafemtio kronor", "SEK", "250"),
        ("5 hundra kronor", "SEK", "500"),
        ("₹1,00,000", "INR", "100000"),
        ("12,34,56,789.50 rupees", "INR", "123456789.50"),
        ("2 lakh rupees", "INR", "200000"),
        ("Rs. 500", "INR", "500"),
        ("R 500", "ZAR", "500"),
        ("2000 Kč", "CZK", "2000"),
        ("100 złotych", "PLN", "100"),
        ("10 lei", "RON", "10"),
        ("3000 forint", "HUF", "3000"),
        ("500 SEK incl. VAT", "SEK", "500"),
        ("500 kr inklusive moms", "SEK", "500"),
        ("300 EUR all-in", "EUR", "300"),
    ],
)
def test_amounts_are_read_however_they_are_written(text: str, asset: str, amount: str) -> None:
    found = read_money(text)
    assert found is not None
    assert (found.asset, found.amount) == (asset, amount)


@pytest.mark.parametrize(
    "text",
    ["500 SEK plus VAT", "500 kr exkl moms", "300 pesos", "300 dirhams", "99 cents", "5k", "a million",
     "20 dollars and 300 cents", "1,00,00 rupees", "$10-20", "20 USD/h", "200 kroner", "-500 SEK"],
)  # fmt: skip
def test_amounts_that_say_another_sum_or_no_one_currency_stay_unread(text: str) -> None:
    assert read_money(text) is None


@pytest.mark.parametrize(
    ("text", "asset", "amount"),
    [
        ("$10-20", "USD", "20"),
        ("$10 to $20", "USD", "20"),
        ("10–20 EUR", "EUR", "20"),
        ("between 10 and 20 dollars", "USD", "20"),
        ("from €1k to €2k", "EUR", "2000"),
        ("mellan 100 och 200 kronor", "SEK", "200"),
    ],
)
def test_the_most_of_a_range_is_its_upper_end(text: str, asset: str, amount: str) -> None:
    found = read_upper_end(text)
    assert found is not None
    assert (found.asset, found.amount) == (asset, amount)


@pytest.mark.parametrize(
    "text", ["$500", "$20-10", "€10 to $20", "10 and 20", "ten to one", "20-20 SEK", "-"]
)
def test_what_is_no_range_of_one_currency_has_no_upper_end(text: str) -> None:
    assert read_upper_end(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("2½", "2.5"), ("½ million", "500000"), ("three dozen", "36"), ("half a dozen", "6"),
     ("1 crore", "10000000"),
     ("two and a half million", "2500000"), ("tjugofem", "25"), ("femtontusen", "15000"),
     ("twelve hundred", "1200")],
)  # fmt: skip
def test_halves_dozens_and_written_together_numbers_are_read(text: str, value: str) -> None:
    found = read_number(text)
    assert found is not None
    assert format(found, "f") == value


@pytest.mark.parametrize(
    "text", ["half", "a half", "half past", "and a half", "hundratusentals", "1/2", "tjugohundratre och"]
)
def test_what_is_only_a_part_of_something_is_no_number(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("next Friday noon", "2026-11-27T11:00:00.000Z"),
        ("12 noon on Friday", "2026-11-27T11:00:00.000Z"),
        ("in two weeks", "2026-12-05T10:00:00.000Z"),
        ("by the end of the month", "2026-11-30T22:59:59.000Z"),
        ("i slutet av månaden", "2026-11-30T22:59:59.000Z"),
        ("year-end", "2026-12-31T22:59:59.000Z"),
        ("month end", "2026-11-30T22:59:59.000Z"),
        ("the last day of November", "2026-11-30T22:59:59.000Z"),
        ("the first Monday of December", "2026-12-07T22:59:59.000Z"),
        ("the last Friday of the month", "2026-11-27T22:59:59.000Z"),
        ("the 15th of next month", "2026-12-15T22:59:59.000Z"),
        ("Q3", "2027-09-30T21:59:59.000Z"),
        ("2027-Q1", "2027-03-31T21:59:59.000Z"),
        ("the first quarter of 2027", "2027-03-31T21:59:59.000Z"),
        ("H1 2027", "2027-06-30T21:59:59.000Z"),
        ("the second half of 2027", "2027-12-31T22:59:59.000Z"),
        ("week 48", "2026-11-29T22:59:59.000Z"),
        ("v. 48", "2026-11-29T22:59:59.000Z"),
        ("vecka 3", "2027-01-24T22:59:59.000Z"),
        ("2026-W50", "2026-12-13T22:59:59.000Z"),
        ("Christmas Eve", "2026-12-24T22:59:59.000Z"),
        ("before Christmas Day", "2026-12-24T23:00:00.000Z"),
        ("på julafton", "2026-12-24T22:59:59.000Z"),
        ("New Year's Eve", "2026-12-31T22:59:59.000Z"),
        ("tomorrow at 3 in the afternoon", "2026-11-22T14:00:00.000Z"),
        ("Friday afternoon at 3", "2026-11-27T14:00:00.000Z"),
        ("Monday at 9 in the morning", "2026-11-23T08:00:00.000Z"),
        ("Friday 17.30", "2026-11-27T16:30:00.000Z"),
        ("at 17.30 on Friday", "2026-11-27T16:30:00.000Z"),
        ("fredag kl. 17.30", "2026-11-27T16:30:00.000Z"),
        ("30.11", "2026-11-30T22:59:59.000Z"),
        ("5pm CET tomorrow", "2026-11-22T16:00:00.000Z"),
        ("tomorrow 9 am PST", "2026-11-22T17:00:00.000Z"),
        ("2026-12-01 15:00 CET", "2026-12-01T14:00:00.000Z"),
        ("29 Feb 2028", "2028-02-29T22:59:59.000Z"),
        ("26 October 2027 02:30", "2027-10-26T00:30:00.000Z"),
    ],
)
def test_moments_are_read_however_they_are_said(text: str, moment: str) -> None:
    assert read_moment(text, AT, ZONE) == moment


@pytest.mark.parametrize(
    "text",
    ["29 Feb 2027", "29 February", "week 54", "week 0", "30.02", "10.11", "at 5", "Friday at three",
     "early next week",
     "mid December", "new year", "innan jul", "Easter", "the sixth Monday of December", "H3 2027",
     "asap", "31.11",
     "the 32nd of next month", "25.12.26 or so"],
)  # fmt: skip
def test_moments_that_are_not_or_are_several_stay_unread(text: str) -> None:
    assert read_moment(text, AT, ZONE) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("the beginning of the year", "2025-12-31T23:00:00.000Z"),
        ("the start of the week", "2026-11-15T23:00:00.000Z"),
        ("the beginning of this month", "2026-10-31T23:00:00.000Z"),
        ("the start of last week", "2026-11-08T23:00:00.000Z"),
    ],
)
def test_since_the_beginning_of_something_is_its_beginning(text: str, moment: str) -> None:
    assert read_since(text, AT, ZONE) == moment


def test_an_afternoon_hour_begins_in_the_afternoon() -> None:
    assert read_start("tomorrow at 3 in the afternoon", AT, ZONE) == "2026-11-22T14:00:00.000Z"
    assert read_start("Friday afternoon at 3", AT, ZONE) == "2026-11-27T14:00:00.000Z"
    assert read_start("Friday 17.30", AT, ZONE) == "2026-11-27T16:30:00.000Z"


@pytest.mark.parametrize(
    ("text", "duration"),
    [("1h30", "PT1H30M"), ("three quarters of an hour", "PT45M"), ("a quarter of an hour", "PT15M"),
     ("en och en halv timme", "PT1H30M"), ("en halv timme", "PT30M"), ("two and a half hours", "PT2H30M")],
)  # fmt: skip
def test_parts_of_hours_are_read(text: str, duration: str) -> None:
    assert read_duration(text) == duration


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Nordic suppliers", ("DK", "FI", "IS", "NO", "SE")),
        ("Scandinavian companies", ("DK", "NO", "SE")),
        ("the Baltic states", ("EE", "LT", "LV")),
        ("EU member states", ("EU",)),
        ("EU-based vendors", ("EU",)),
        ("companies based in the EU", ("EU",)),
        ("suppliers from Sweden or Norway", ("SE", "NO")),
        ("EFTA", ("CH", "IS", "LI", "NO")),
        ("Hong Kong", ("HK",)),
        ("Bosnia", ("BA",)),
        ("Northern Ireland", ("GB",)),
        ("SWE", ("SE",)),
        ("DEU and FRA", ("DE", "FR")),
        ("Nicaraguan", ("NI",)),
        ("New Zealand lawyers", ("NZ",)),
        ("Swiss banks", ("CH",)),
        ("Skandinavien", ("DK", "NO", "SE")),
        ("Côte d'Ivoire", ("CI",)),
    ],
)
def test_places_are_read_by_name_adjective_group_and_code(text: str, codes: tuple[str, ...]) -> None:
    assert read_regions(text) == codes


@pytest.mark.parametrize(
    "text", ["Europe", "European suppliers", "non-EU suppliers", "domestic", "Asia", "ABC", "California"]
)
def test_places_that_are_no_country_or_known_group_stay_unread(text: str) -> None:
    assert read_regions(text) is None


@pytest.mark.parametrize(
    ("text", "metric", "minimum"),
    [("an F1 of at least 0.85", "f1", 0.85), ("ninety percent accuracy", "accuracy", 0.9),
     ("at least two reviewers", "reviewers", 2.0), ("at least twenty pages", "pages", 20.0),
     ("p95 of at least 3", "p95", 3.0)],
)  # fmt: skip
def test_measures_with_digits_and_numbers_in_words_are_read(text: str, metric: str, minimum: float) -> None:
    found = read_quality(text)
    assert found is not None
    assert (found.metric, found.minimum) == (metric, minimum)


@pytest.mark.parametrize(
    "text", ["90th percentile", "at least 1080p", "resolution 1920x1080", "at least good"]
)
def test_what_names_no_measure_stays_unread(text: str) -> None:
    assert read_quality(text) is None


_AMOUNTS = st.integers(min_value=1, max_value=10**9)


@given(
    _AMOUNTS,
    st.sampled_from([",", " ", "\u00a0", "\u202f", "'", "’"]),
    st.sampled_from(["SEK", "EUR", "CHF"]),
)
def test_every_grouping_of_an_amount_says_the_same(amount: int, group: str, code: str) -> None:
    said = f"{amount:,}".replace(",", group)
    for text in (f"{said} {code}", f"{code} {said}", f"at most {said} {code}"):
        found = read_money(text)
        assert found is not None
        assert (found.asset, found.amount) == (code, str(amount))


@given(st.dates(min_value=date(2026, 11, 22), max_value=date(2040, 12, 31)))
def test_every_spelling_of_a_day_says_the_same(day: date) -> None:
    texts = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%Y/%m/%d", "%A %d %B %Y")
    read = {read_moment(f"{day:{text}}", AT, ZONE) for text in texts}
    assert len(read) == 1
    assert None not in read


@given(st.text(alphabet="0123456789 .,:/-$€krSEKwvqH½andhalfmaforoctw’'", max_size=40))
def test_no_text_makes_a_reader_fail(text: str) -> None:
    read_money(text)
    read_upper_end(text)
    read_number(text)
    read_moment(text, AT, ZONE)
    read_since(text, AT, ZONE)
    read_start(text, AT, ZONE)
    read_duration(text)
    read_regions(text)
    read_quality(text)
