"""What memories of reviews take out: whatever the scan takes for a key or a password."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ir import KEY_SHAPES, find_secret
from ir.inline_secrets import without_secrets
from mcl.plugins.review.scan import patterns
from mcl.plugins.review.scan.patterns import PatternRule, books

HITS = [
    pytest.param(rule, hit, id=f"{rule.id}-{number}")
    for book in books()
    if book.name == "keys"
    for rule in book.rules
    for number, hit in enumerate(rule.hits)
]


@pytest.mark.parametrize(("rule", "hit"), HITS)
def test_what_the_scan_takes_for_a_secret_is_not_remembered(rule: PatternRule, hit: str) -> None:
    found = rule.pattern.search(hit)
    assert found
    value = found.groupdict().get("value") or hit.rpartition("\n")[2]
    told = without_secrets(f"before {hit}\nafter {hit} end")
    assert value not in told
    assert told.count("[redacted: ") == (1 if "PRIVATE KEY" in hit else 2)  # a cut key goes to the end
    assert told.startswith("before ")
    assert without_secrets(told) == told


@pytest.mark.parametrize(
    "text", ["", "the token is read from TOKEN", 'api_key = "your-api-key-goes-here-1"', 'password: "short"']
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert without_secrets(text) == text


def test_secrets_that_overlap_are_out_once_and_whole() -> None:
    key = "kU7/vRz2qT9LmXw4PfHs8" + "YdNc3Bj6GaEoZi1K"  # of 37 characters, as no key of AWS is
    told = without_secrets(f'aws_secret_access_key = "{key}abc" # why')
    assert told == 'aws_secret_access_key = "[redacted: secret key of AWS]" # why'


def test_a_long_line_is_searched_to_its_end() -> None:
    secret = "Zx9-Kq8WnR4tY7uKp" + "L2xVb"
    told = without_secrets("x " * 30_000 + f'client_secret = "{secret}"')
    assert secret not in told
    assert told.endswith('"[redacted: value assigned to the name of a secret]"')


def test_what_the_scan_searches_for_is_one_list_with_what_is_refused() -> None:
    keys = tomllib.loads((Path(patterns.__file__).with_name("patterns") / "keys.toml").read_text("utf-8"))
    shapes = {shape.id: shape for shape in KEY_SHAPES}
    for rule in keys["rule"]:
        shape = shapes[rule["shape"]]
        for hit in rule["hits"]:
            text = hit.replace("¦", "")
            assert shape.find(text), rule["id"]
            assert (find_secret("", text) is not None) == (shape.id != "assigned"), rule["id"]
    # What is of unknown make is taken out where it is kept, and too common in examples to be searched for.
    assert set(shapes) - {rule["shape"] for rule in keys["rule"]} == {"bearer", "basic", "set", "told"}
