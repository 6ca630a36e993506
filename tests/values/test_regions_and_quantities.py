import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.values.numbers import read_quality
from mcl.values.regions import read_regions
from mcl.values.slots import read_slot

AT = "2026-11-21T10:00:00.000Z"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Sweden", ("SE",)),
        ("in Sweden and Norway", ("SE", "NO")),
        ("Sweden, Norway or Denmark", ("SE", "NO", "DK")),
        ("only in the EU", ("EU",)),
        ("the EU and the UK", ("EU", "GB")),
        ("US", ("US",)),
        ("outside the United States", ("US",)),
        ("German companies", ("DE",)),
        ("EU suppliers only", ("EU",)),
        ("Trinidad and Tobago", ("TT",)),
        ("Bosnia and Herzegovina", ("BA",)),
        ("South Korea", ("KR",)),
        ("SE, NO", ("SE", "NO")),
        ("the Nordics", ("DK", "FI", "IS", "NO", "SE")),
        ("Tyskland", ("DE",)),
        ("Kazakhstan", ("KZ",)),
    ],
)
def test_countries_unions_and_demonyms_become_alpha_2_codes(text: str, codes: tuple[str, ...]) -> None:
    assert read_regions(text) == codes


@pytest.mark.parametrize("text", ["", "Atlantis", "Sweden and Atlantis", "QQ", "the", "and", "my house"])
def test_a_list_with_anything_else_in_it_is_not_read(text: str) -> None:
    assert read_regions(text) is None


@pytest.mark.parametrize(
    ("text", "metric", "minimum"),
    [
        ("at least 95% accuracy", "accuracy", 0.95),
        ("accuracy above 95 percent", "accuracy", 0.95),
        ("95 percent test coverage", "test coverage", 0.95),
        ("coverage >= 80%", "coverage", 0.8),
        ("a rating of at least 4.5", "rating", 4.5),
        ("4.5 stars or better", "stars", 4.5),
        ("4+ stars", "stars", 4),
        ("99.9% uptime", "uptime", 0.999),
        ("at least 10 sources", "sources", 10),
        ("10k reviews", "reviews", 10000),
        ("1.5 million users", "users", 1500000),
        ("minst 90 procent precision", "precision", 0.9),
    ],
)
def test_a_least_quality_is_a_metric_and_a_number(text: str, metric: str, minimum: float) -> None:
    found = read_quality(text)
    assert found is not None
    assert (found.metric, found.minimum) == (metric, minimum)
    assert found.share == any(one in text for one in ("%", "percent", "procent", "per cent"))


@pytest.mark.parametrize(
    "text",
    ["", "very good", "95%", "at most 5% errors", "latency under 200 ms", "accuracy",
     "rated 4.5 or better", "4/5 stars"],
)  # fmt: skip
def test_a_quality_without_metric_or_minimum_or_with_an_upper_bound_is_not_read(text: str) -> None:
    assert read_quality(text) is None


@pytest.mark.parametrize(
    ("text", "type_", "options", "value"),
    [
        ("the last five", "uint", (), "5"),
        ("five commits", "uint", (), "5"),
        ("20", "uint", (), "20"),
        ("1,000", "uint", (), "1000"),
        ("-3", "uint", (), None),
        ("2.5", "uint", (), None),
        ("two and a half", "uint", (), None),
        ("2.5", "float", (), "2.5"),
        ("-2.5", "float", (), "-2.5"),
        ("15%", "float", (), "0.15"),
        ("yes", "bool", (), "true"),
        ("off", "bool", (), "false"),
        ("perhaps", "bool", (), None),
        ("Business", "enum", ("economy", "business"), "business"),
        ("premium economy", "enum", ("premium_economy",), "premium_economy"),
        ("first", "enum", ("economy", "business"), None),
        ("tomorrow", "iso8601", (), "2026-11-22T23:59:59.000Z"),
        ("two hours", "iso8601", (), "PT2H"),
        ("$500", "AssetAmount", (), "500 USD"),
        (
            "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH",
            "did",
            (),
            "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH",
        ),
        ("me", "did", (), None),
        (" notes/todo.txt ", "string", (), "notes/todo.txt"),
        ("the red one", "ArtifactRef", (), "the red one"),
    ],
)
def test_a_slot_takes_only_what_its_type_allows(
    text: str, type_: str, options: tuple[str, ...], value: str | None
) -> None:
    assert read_slot(text, type_, options, AT, "UTC") == value


@given(
    st.text(max_size=120),
    st.sampled_from(["uint", "float", "bool", "AssetAmount", "did", "ulid", "sha256", "string"]),
)
def test_no_text_makes_a_reader_fail(text: str, type_: str) -> None:
    read_regions(text)
    read_quality(text)
    read_slot(text, type_, (), AT, "UTC")
