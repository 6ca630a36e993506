"""Words of a wish that speak of what an earlier one gives."""

import pytest

from mcl.compiler.stages.pointing import PointingWords
from mcl.language.mtx.core import load_core


@pytest.fixture(scope="module")
def words() -> PointingWords:
    return PointingWords.of(load_core()["coverage"])


@pytest.mark.parametrize(
    ("text", "test", "value"),
    [
        ("if there are more than 3", "at_least", "4"),
        ("zip them if there are more than three of them", "at_least", "4"),
        ("If there are at least 2 files", "at_least", "2"),
        ("if there are fewer than 3", "at_most", "2"),
        ("if there are no more than 3", "at_most", "3"),
        ("if there are exactly 3", "count", "3"),
        ("if there are more than a dozen of them", "at_least", "13"),
        ("om det finns fler än två", "at_least", "3"),
        ("om det är färre än 5 stycken", "at_most", "4"),
        ("if there are any", "not_empty", ""),
        ("spara dem om det finns några", "not_empty", ""),
        ("om inget hittas", "empty", ""),
        ("if nothing is found", "empty", ""),
        ("if it mentions “rain”", "contains", "rain"),
        ("om den nämner regn", "contains", "regn"),
    ],
)
def test_a_condition_at_the_end_is_read(words: PointingWords, text: str, test: str, value: str) -> None:
    found = words.condition(text)
    assert found is not None
    assert (found.test, found.value) == (test, value)


@pytest.mark.parametrize(
    "text",
    [
        "if it rains",
        "if there are more than a few",
        "if there are more than 2.5",
        "if there are fewer than 0",
        "ask whether there are any",
        "if there are more than 3 of them in the folder that we use",
        "",
    ],
)
def test_what_cannot_be_read_is_no_condition(words: PointingWords, text: str) -> None:
    assert words.condition(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("copy them to archive", ["them"]),
        ("skicka det till Kim", ["det"]),
        ("save the result", ["the result"]),
        ("copy the files to archive", ["the files"]),
        ("copy the files in docs", []),
        ("fetch items", []),
        ("note-it", []),
    ],
)
def test_words_that_point(words: PointingWords, text: str, found: list[str]) -> None:
    assert [text[one.start : one.end] for one in words.found(text)] == found


def test_a_pronoun_is_named_by_what_there_is(words: PointingWords) -> None:
    there = {"files": "csv", "text": ""}
    assert words.named("sum them up", there) == "sum the csv files up"
    assert words.named("save it", there) == "save the text"
    assert words.named("räkna ihop dem", there) == "räkna ihop csv-filerna"
    assert words.named("copy a.txt", there) == ""
    assert words.named("copy it", {}) == ""


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("add the sum to a.md", "number"),
        ("skriv namnen i a.md", "files"),
        ("skriv efternamnen i a.md", ""),
        ("lägg kapitalet till a.md", ""),
    ],
)
def test_only_whole_words_mean_an_answer(words: PointingWords, text: str, output: str) -> None:
    assert words.answers(text) == output
