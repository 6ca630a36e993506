"""The order of findings, those that are told once, and the labels of the table."""

from __future__ import annotations

import itertools

import pytest
from any_findings import findings
from hypothesis import given
from hypothesis import strategies as st

from mcl.plugins.review.finding import (
    BLOCKING,
    FAMILIES,
    SEVERITIES,
    ReviewFinding,
    in_order,
    without_repeats,
)
from mcl.plugins.review.finding_text import read_findings


def test_the_labels_are_those_of_the_contract_in_their_order():
    assert SEVERITIES == ("CRITICAL", "RISK", "ARCHITECTURE", "WARNING", "MISSING", "SUGGESTION", "NOTE")
    assert set(BLOCKING) == {"CRITICAL", "RISK", "ARCHITECTURE", "WARNING"}


def test_the_worst_comes_first_then_the_line_then_the_file():
    told = in_order(
        ReviewFinding(severity, file, line, "")
        for severity in reversed(SEVERITIES)
        for file in ("b.py", "a.py")
        for line in (10, 9)
    )
    assert [(f.severity, f.line, f.file) for f in told] == [
        (severity, line, file) for severity in SEVERITIES for line in (9, 10) for file in ("a.py", "b.py")
    ]


@given(st.lists(findings, max_size=5), st.randoms(use_true_random=False))
def test_the_order_is_total(found, random):
    shuffled = random.sample(found, len(found))
    assert in_order(shuffled) == in_order(found)


PAIRS = list(itertools.combinations(SEVERITIES, 2))


@pytest.mark.parametrize(("worse", "milder"), PAIRS, ids=lambda label: label)
def test_of_one_family_the_most_severe_stays(worse, milder):
    two = (
        ReviewFinding(milder, "a.py", 3, "The key is plain."),
        ReviewFinding(worse, "a.py", 3, "the KEY  is plain"),
    )
    together = any({worse, milder} <= set(family) for family in FAMILIES)
    assert [f.severity for f in without_repeats(two)] == ([worse] if together else [milder, worse])


def test_the_families_are_those_of_the_contract():
    families = ({"CRITICAL", "RISK", "WARNING"}, {"ARCHITECTURE"}, {"MISSING"}, {"SUGGESTION", "NOTE"})
    assert [set(family) for family in FAMILIES] == list(families)


DIFFERENT = [
    (
        ReviewFinding("RISK", "a.py", 3, "the key is plain"),
        ReviewFinding("RISK", "a.py", 3, "the query is built of strings"),
    ),
    (ReviewFinding("RISK", "a.py", 3, "x"), ReviewFinding("RISK", "a.py", 4, "x")),
    (ReviewFinding("RISK", "a.py", 3, "x"), ReviewFinding("RISK", "b.py", 3, "x")),
    (ReviewFinding("RISK", "a:1", 3, "x"), ReviewFinding("RISK", "a", 1, "x")),
    (ReviewFinding("RISK", "a.py", 3, "x*y overflows"), ReviewFinding("RISK", "a.py", 3, "xy overflows")),
    (ReviewFinding("RISK", "a.py", 3, "a_b"), ReviewFinding("RISK", "a.py", 3, "ab")),
]


@pytest.mark.parametrize("two", DIFFERENT)
def test_different_findings_both_stay(two):
    assert without_repeats(two) == two


SAME = (
    *("the key is plain", "The key is plain.", "the  key\nis plain", "**the key** is plain"),
    *("the `key` is plain", "the 'key' is plain!"),
)


@pytest.mark.parametrize("body", SAME)
def test_a_body_that_differs_in_its_dress_alone_is_the_same(body):
    assert without_repeats(
        [ReviewFinding("RISK", "a.py", 3, SAME[0]), ReviewFinding("WARNING", "a.py", 3, body)]
    ) == (ReviewFinding("RISK", "a.py", 3, SAME[0]),)


def test_of_two_that_are_equally_severe_the_one_with_a_rule_stays():
    said, found = ReviewFinding("RISK", "a.py", 3, "x"), ReviewFinding("RISK", "a.py", 3, "X", rule="B602")
    assert without_repeats([said, found]) == without_repeats([found, said]) == (found,)


@given(st.lists(findings, max_size=6))
def test_telling_once_loses_no_blocking_and_is_done_once(found):
    once = without_repeats(found)
    assert set(once) <= set(found)
    assert any(f.blocking for f in once) == any(f.blocking for f in found)
    assert without_repeats(once) == once
    assert {f.location for f in once} == {f.location for f in found}


@given(st.lists(findings, max_size=6), st.randoms(use_true_random=False))
def test_what_is_told_does_not_depend_on_the_order(found, random):
    assert in_order(without_repeats(found)) == in_order(without_repeats(random.sample(found, len(found))))


def test_a_reading_as_json_is_the_form_that_programs_read():
    read = read_findings("[RISK] a.py:3\nbody\n[HIGH] b.py:4\n")
    assert read.to_json() == {
        "findings": [{"severity": "RISK", "location": "a.py:3", "line": 3, "body": "body"}],
        "blocking": True,
        "unreadable": [{"line": 3, "text": "[HIGH] b.py:4"}],
    }
    assert ReviewFinding("RISK", "a.py", 3, "x", rule="B602").to_json()["rule"] == "B602"
