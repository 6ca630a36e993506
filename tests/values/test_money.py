from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.values.money import read_money
from mcl.values.numbers import read_number


@pytest.mark.parametrize(
    ("text", "asset", "amount"),
    [
        ("$500", "USD", "500"),
        ("500 USD", "USD", "500"),
        ("usd 500", "USD", "500"),
        ("$500 USD", "USD", "500"),
        ("$500 CAD", "CAD", "500"),
        ("US$ 40", "USD", "40"),
        ("1,200.50 euros", "EUR", "1200.50"),
        ("1.200,50 €", "EUR", "1200.50"),
        ("€1 200", "EUR", "1200"),
        ("1'200 CHF", "CHF", "1200"),
        ("SEK 3000", "SEK", "3000"),
        ("500 kr", "SEK", "500"),
        ("500:-", "SEK", "500"),
        ("500 kronor", "SEK", "500"),
        ("200 norwegian kroner", "NOK", "200"),
        ("3k dollars", "USD", "3000"),
        ("$3k", "USD", "3000"),
        ("1.5 million yen", "JPY", "1500000"),
        ("$1.25m", "USD", "1250000"),
        ("two hundred pounds", "GBP", "200"),
        ("two hundred and fifty pounds sterling", "GBP", "250"),
        ("a thousand dollars", "USD", "1000"),
        ("under $500", "USD", "500"),
        ("at most 300 euros", "EUR", "300"),
        ("a budget of 20 000 SEK", "SEK", "20000"),
        ("no more than £99.99", "GBP", "99.99"),
        ("$200 or less", "USD", "200"),
        ("50 dollars max", "USD", "50"),
        ("max 500 kr", "SEK", "500"),
        ("0.5 BTC", "BTC", "0.5"),
        ("700 swedish kronor", "SEK", "700"),
        ("90 Georgian laris", "GEL", "90"),
        ("12 XAF", "XAF", "12"),
    ],
)
def test_usual_spellings_become_an_amount_of_a_currency(text: str, asset: str, amount: str) -> None:
    found = read_money(text)
    assert found is not None
    assert (found.asset, found.amount) == (asset, amount)


@pytest.mark.parametrize(
    "text",
    ["", "500", "dollars", "a lot of money", "$", "$50 per month", "$200-$300", "50 pesos", "1.200 euros",
    "500 qqq",
     "€500 USD", "$1,2,3", "cheap", "$-5", "5 dollars and a fish", "٣ dollars"],
)  # fmt: skip
def test_what_names_no_single_amount_is_not_read(text: str) -> None:
    assert read_money(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("1,200", 1200), ("1,200.50", "1200.50"), ("1.200,50", "1200.50"), ("1.200.000", 1200000),
        ("1 200", 1200), ("3,5", "3.5"), ("3k", 3000), ("2.5k", 2500), ("1.5 million", 1500000), ("five", 5),
        ("twenty-five", 25), ("two hundred and fifty", 250), ("a dozen", 12), ("a couple of", 2),
        ("one thousand", 1000),
        ("two million three hundred thousand", 2300000), ("tjugo", 20), ("zero", 0),
    ],
)  # fmt: skip
def test_numbers_are_read_in_figures_and_words(text: str, value: str | int) -> None:
    assert read_number(text) == Decimal(value)


@pytest.mark.parametrize(
    "text",
    ["1.200", "", "one two", "twenty eleven", "and", "five and", "k", "two k", "1,2,3", "x",
     "thousand million", "two thousand five thousand", "zero thousand"],
)  # fmt: skip
def test_numbers_that_can_be_read_two_ways_or_not_at_all_are_refused(text: str) -> None:
    assert read_number(text) is None


@given(st.text(max_size=120))
def test_no_text_makes_the_readers_of_money_fail(text: str) -> None:
    read_money(text)
    read_number(text)


@given(st.decimals(min_value=0, max_value=10**9, places=2), st.sampled_from(["USD", "EUR", "SEK"]))
def test_grouped_amounts_are_read_exactly(amount: Decimal, code: str) -> None:
    found = read_money(f"{amount:,.2f} {code}")
    assert found is not None
    assert (found.asset, found.value) == (code, amount)
