"""Patterns of paths beside a slow way of reading them, and beside the program that others read them with."""

from __future__ import annotations

import json
import random
import subprocess

from glob_reference import Name, accepts, common, text_of
from hypothesis import example, given
from hypothesis import strategies as st

from executor.core.globs import Glob, GlobError, Scope
from tests.npm import npm_package

ALPHABET = "ab.z/"  # z stands for every character that no pattern names

SIGNS = st.sampled_from(
    ["a", "b", ".", "a", "b", "?", "*", ("in", "ab"), ("in", "b."), ("not", "a"), ("not", ".b")]
)
PLAIN = st.lists(SIGNS, min_size=1, max_size=4)
CHOICES = st.lists(st.lists(SIGNS, max_size=2), min_size=2, max_size=3).map(tuple)
NAMES = st.tuples(SIGNS, st.lists(st.one_of(SIGNS, SIGNS, CHOICES), max_size=3)).map(
    lambda one: [one[0], *one[1]]
)
NAMED = st.one_of(NAMES, PLAIN).filter(lambda name: "**" not in text_of([name]))
PATTERNS = st.lists(st.one_of(NAMED, NAMED, st.just("**")), min_size=1, max_size=4)
PATHS = st.text(ALPHABET, min_size=1, max_size=9)


def read(pattern: list[Name | str]) -> Glob | None:
    """The pattern; None where it is one of those that are refused."""
    try:
        return Glob.read(text_of(pattern))
    except GlobError:
        return None


def plain(path: str) -> bool:
    return not {"", ".", ".."} & set(path.split("/"))


@given(PATTERNS, st.lists(PATHS, min_size=1, max_size=20))
def test_a_pattern_fits_the_paths_that_the_reference_says(
    pattern: list[Name | str], paths: list[str]
) -> None:
    if (glob := read(pattern)) is not None:
        assert {path: glob.matches(path) for path in paths} == {
            path: plain(path) and accepts(pattern, path) for path in paths
        }


@given(PATTERNS, PATTERNS)
@example([["a"]], ["**", ["*", ([], ["*"])], ["a"]])
def test_two_patterns_meet_just_where_the_reference_finds_a_path(
    one: list[Name | str], other: list[Name | str]
) -> None:
    mine, its = read(one), read(other)
    if mine is None or its is None:
        return
    found, right = mine.meeting(its), common(one, other, ALPHABET)
    assert (found is None) == (right is None), (found, right)
    if found is not None:
        assert plain(found)
        assert mine.matches(found)
        assert its.matches(found)
        assert accepts(one, found)
        assert accepts(other, found)
        assert its.meeting(mine) is not None


@given(st.lists(PATTERNS, max_size=5), st.lists(PATTERNS, max_size=4), PATHS)
def test_a_scope_finds_what_looking_at_each_of_its_patterns_finds(
    ones: list[list[Name | str]], others: list[list[Name | str]], path: str
) -> None:
    mine, its = ([glob for one in side if (glob := read(one))] for side in (ones, others))
    scope = Scope(tuple(mine))
    assert scope.pattern_of(path) == next((one.text for one in mine if one.matches(path)), None)
    assert [(one.one, one.other, one.witness) for one in scope.meetings(Scope(tuple(its)))] == [
        (one.text, other.text, found) for one in mine for other in its if (found := one.meeting(other))
    ]


@given(PATTERNS)
def test_every_pattern_that_is_read_fits_something(pattern: list[Name | str]) -> None:
    if (glob := read(pattern)) is not None:
        assert glob.meeting(glob) is not None
        assert common(pattern, ["**"], ALPHABET) is not None


@given(st.text(st.one_of(st.sampled_from("ab/*?[]{},!-^\\.#(@"), st.characters()), max_size=40))
def test_any_text_is_a_pattern_or_refused_where_it_goes_wrong(text: str) -> None:
    try:
        glob = Glob.read(text)
    except GlobError as problem:
        refused = problem
    else:
        assert (found := glob.meeting(glob)) is not None
        assert glob.matches(found)
        return
    assert refused.code in ("INVALID_GLOB", "ABSOLUTE_PATH")
    assert 0 <= refused.position <= len(text)
    assert refused.fix


def _random_pattern(chance: random.Random) -> list[Name | str]:
    signs: Name = [
        "a",
        "b",
        ".",
        "c",
        "?",
        "*",
        ("in", "ab"),
        ("not", "a"),
        ("in", "b."),
        (["a"], ["b", "*"]),
    ]
    names: list[Name] = [
        [chance.choice(signs) for _ in range(chance.randint(1, 4))] for _ in range(chance.randint(1, 4))
    ]
    return ["**" if chance.random() < 0.25 else name for name in names]


def test_a_pattern_fits_what_minimatch_says() -> None:
    """Names that begin with a dot are like others, and nothing is negated or a comment."""
    minimatch = npm_package("minimatch")
    chance = random.Random(7)
    cases: list[tuple[str, str]] = []
    while len(cases) < 2000:
        pattern = _random_pattern(chance)
        path = "/".join(
            "".join(chance.choices("abc.", k=chance.randint(1, 3))) for _ in range(chance.randint(1, 4))
        )
        if plain(path) and read(pattern) is not None:
            cases.append((text_of(pattern), path))
    program = (
        f"const {{minimatch}} = require({json.dumps(str(minimatch))});"
        "const cases = JSON.parse(require('fs').readFileSync(0));"
        "const how = {dot: true, nonegate: true, nocomment: true};"
        "console.log(JSON.stringify(cases.map(([glob, path]) => minimatch(path, glob, how))));"
    )
    done = subprocess.run(
        ["node", "-e", program], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    theirs = json.loads(done.stdout)
    assert 200 < sum(theirs) < len(theirs)
    different = [
        (case, their)
        for case, their in zip(cases, theirs, strict=True)
        if Glob.read(case[0]).matches(case[1]) != their
    ]
    assert different == []
