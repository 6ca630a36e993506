"""Searching source text."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from walks import NODE, Walks, tool

from executor import ToolError
from executor.tools.project.sources import globs_of
from mcl.plugins.repo.tools.code.search import matcher


def search(pattern: str, **args: str) -> NODE:
    return tool("n1", "code/search", pattern=pattern, **args)


def paths(walks: Walks, pattern: str, **args: str) -> list[str]:
    return [one["path"] for one in walks.ask(search(pattern, **args))["matches"]]


@pytest.fixture
def project(walks: Walks) -> Walks:
    walks.write("src/app.py", "import os\n\ndef total(items):\n    return sum(items)  # total\n")
    walks.write("src/app.ts", "const total = 1;\n")
    walks.write("docs/guide.md", "The total.\n")
    walks.write("node_modules/lib/index.js", "total\n")
    walks.write("build/out.py", "total\n")
    walks.write("ignored.log", "total\n")
    walks.write(".gitignore", "*.log\n/build/\n")
    walks.write(".env", "total=1\n")
    (walks.workspace / "logo.bin").write_bytes(b"total\0")
    return walks


def test_a_search_gives_path_line_and_text_in_the_order_of_paths(project: Walks) -> None:
    found = project.ask(search("total"))
    assert found["text"].splitlines() == [
        "docs/guide.md:1: The total.",
        "ignored.log:1: total",
        "src/app.py:3: def total(items):",
        "src/app.py:4:     return sum(items)  # total",
        "src/app.ts:1: const total = 1;",
    ]
    assert (found["count"], found["files"], found["truncated"]) == (5, 4, False)


def test_in_a_repository_the_files_are_those_that_git_knows_or_does_not_ignore(project: Walks) -> None:
    project.git("init", "-q")
    project.write("known.log", "total\n")
    project.git("add", "-f", "known.log", "build/out.py")
    assert paths(project, "total") == [
        "build/out.py",  # git knows it, so it is source, whatever its folder is called
        "docs/guide.md",
        "known.log",
        "src/app.py",
        "src/app.py",
        "src/app.ts",
    ]
    assert paths(project, "total", path="src", language="python") == ["src/app.py", "src/app.py"]


def test_a_folder_of_the_repository_is_searched_by_the_rules_of_the_whole(project: Walks) -> None:
    project.git("init", "-q")
    project.write("src/.gitignore", "*.ts\n")
    project.write("src/new.log", "total\n")
    assert paths(project, "total", path="src") == ["src/app.py", "src/app.py"]


def test_what_is_named_is_searched_even_where_it_would_be_left_out(project: Walks) -> None:
    assert paths(project, "total", path="node_modules/lib") == ["node_modules/lib/index.js"]
    assert paths(project, "total", path="build/out.py") == ["build/out.py"]
    project.git("init", "-q")
    assert paths(project, "total", path="ignored.log") == ["ignored.log"]
    assert paths(project, "total", path="build") == ["build/out.py"]


def test_a_name_with_a_line_end_or_an_unknown_byte_stops_no_search(project: Walks) -> None:
    (project.workspace / "a\nb.py").write_text("total")
    (Path(project.workspace) / "caf\udce9.py").write_text("total")
    assert "src/app.py" in paths(project, "total")
    project.git("init", "-q")
    assert "src/app.py" in paths(project, "total")


def test_languages_and_globs_narrow_each_other(project: Walks) -> None:
    assert paths(project, "total", language="TypeScript") == ["src/app.ts"]
    assert paths(project, "total", language="md") == ["docs/guide.md"]
    assert paths(project, "total", glob="src/**") == ["src/app.py", "src/app.py", "src/app.ts"]
    assert paths(project, "total", glob="docs/**", language="python") == []


def test_an_unknown_language_is_named_with_those_that_are_near(project: Walks) -> None:
    outcome = project.go(search("x", language="pyton"))
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.fix) == (
        "UNKNOWN_LANGUAGE",
        "did you mean python or python3?",
    )


def test_every_other_name_of_a_language_leads_to_one() -> None:
    for name in ("c++", "golang", "JS", " rust ", "yml", "C#", "sh"):
        assert globs_of(name)


def test_a_pattern_is_literal_unless_it_is_said_to_be_a_regular_expression(walks: Walks) -> None:
    walks.write("a.py", "a.b(c)\naxb(c)\n$HOME\n")
    assert [one["line"] for one in walks.ask(search("a.b("))["matches"]] == [1]
    assert [one["line"] for one in walks.ask(search(r"a.b\(", regex="true"))["matches"]] == [1, 2]
    assert [one["line"] for one in walks.ask(search("$"))["matches"]] == [3]
    assert [one["line"] for one in walks.ask(search("^a.*c\\)$", regex="true"))["matches"]] == [1, 2]


def test_words_and_case(walks: Walks) -> None:
    walks.write("a.py", "Total\ntotals\nsub_total\ntotal(\nÜBER über\n")
    for expression in ("false", "true"):
        lines = [
            one["line"] for one in walks.ask(search("total", whole_word="true", regex=expression))["matches"]
        ]
        assert lines == [4]
        folded = walks.ask(search("total", whole_word="true", ignore_case="true", regex=expression))
        assert [one["line"] for one in folded["matches"]] == [1, 4]
        assert walks.ask(search("ÜBER", ignore_case="true", regex=expression))["count"] == 1


def test_context_is_told_beside_each_match_and_once_in_the_text(walks: Walks) -> None:
    walks.write("a.txt", "1\n2 x\n3\n4 x\n5\n6\n7\n8 x\n")
    found = walks.ask(search("x", context="1"))
    first = found["matches"][0]
    assert (first["before"], first["after"]) == (["1"], ["3"])
    assert found["text"].splitlines() == [
        "a.txt-1- 1",
        "a.txt:2: 2 x",
        "a.txt-3- 3",
        "a.txt:4: 4 x",
        "a.txt-5- 5",
        "--",
        "a.txt-7- 7",
        "a.txt:8: 8 x",
        "a.txt-9- ",
    ]


def test_more_matches_than_are_shown_are_said_to_be_there(walks: Walks) -> None:
    walks.write("a.txt", "x\n" * 500)
    found = walks.ask(search("x"))
    assert (found["count"], found["truncated"]) == (200, True)
    assert found["text"].endswith("only the first 200 matching lines are shown")
    assert not walks.ask(search("x", limit="500"))["truncated"]
    walks.write("b.txt", ("x" + "é" * 400 + "\n") * 2000)
    wide = walks.ask(search("xé", limit="2000", context="5"))
    assert wide["truncated"]
    assert wide["count"] > 20


def test_nothing_found_says_where_it_was_looked_for(walks: Walks) -> None:
    walks.write("a.txt", "y")
    assert walks.ask(search("x"))["text"] == "nothing found in 1 file"


def test_text_that_is_no_utf8_is_read_as_latin_1(walks: Walks) -> None:
    (walks.workspace / "a.txt").write_bytes("naïve grüße".encode("latin-1"))
    assert walks.ask(search("grüße"))["matches"][0]["text"] == "naïve grüße"


@pytest.mark.parametrize(
    ("pattern", "position"),
    [("a(b", 2), ("[a", 1), ("*a", 1), ("a)", 2), ("(?P<x>a)(?P<x>b)", 13), ("a\\", 2)],
)
def test_a_bad_pattern_is_refused_with_the_place_of_its_flaw(
    walks: Walks, pattern: str, position: int
) -> None:
    walks.write("a.txt", "a")
    outcome = walks.go(search(pattern, regex="true"))
    assert outcome.failure is not None
    assert outcome.failure.code == "BAD_PATTERN"
    assert f"at character {position} of" in outcome.failure.message


@pytest.mark.parametrize(
    "pattern",
    [
        "(((a{1000}){1000}){1000})",
        "(?:(?:a{,200}){200})",
        "(?:a{99}b|c{5}){500}",
        "(?R)",
        "(a)(?1)",
        "a\nb",
        r"\L<words>",
    ],
)
def test_a_pattern_that_could_take_all_memory_or_has_no_bound_is_refused(walks: Walks, pattern: str) -> None:
    walks.write("a.txt", "a" * 5000)
    assert walks.refusal(search(pattern, regex="true")) == "BAD_PATTERN"


@pytest.mark.parametrize(
    "pattern",
    ["[a-f0-9]{64}", "(?:x{3}-){40}", r"\{1000000}", "[{100000}]", "a{9999}", "x{2}" * 20, "[]{5}]a"],
)
def test_an_ordinary_count_is_no_bad_pattern(pattern: str) -> None:
    matcher(pattern, regex=True, word=False, ignore_case=False)


@pytest.mark.parametrize("pattern", ["foo{e<=3}", "a{}", "{i}", "x{1,2", "{", "a{,}b", "if.*{"])
def test_braces_mean_what_they_mean_in_python(pattern: str) -> None:
    found = matcher(pattern, regex=True, word=False, ignore_case=False)
    for line in ("foo{e<=3}", "fo", "a{}", "{i}", "x{1,2", "aaab", "if x {", ""):
        assert bool(list(found.lines(line, ""))) == bool(re.search(pattern, line)), line


def test_a_pattern_that_takes_too_long_is_stopped_and_the_file_named(walks: Walks) -> None:
    walks.write("a.txt", "a" * 5000 + "!")
    started = time.monotonic()
    outcome = walks.go(search("(a|b|ab|aa)*c(a+)+$|(a+)+b", regex="true"))
    if outcome.failure is None:
        walks.write("a.txt", "a" * 40 + "!")
        outcome = walks.go(search(r"^(([a-z])+.)+[A-Z]([a-z])+$", regex="true"))
    assert outcome.failure is not None
    assert outcome.failure.code == "PATTERN_TOO_SLOW"
    assert "a.txt" in outcome.failure.message
    assert time.monotonic() - started < 30


def test_a_huge_file_and_a_long_line_are_no_obstacle(walks: Walks) -> None:
    with walks.write("huge.txt", "needle\n").open("r+b") as file:
        file.truncate(1 << 33)
    walks.write("long.js", "x" * 100_000 + "needle" + "y" * 100_000)
    found = walks.ask(search("needle"))
    assert [one["path"] for one in found["matches"]] == ["long.js"]
    assert found["skipped"] == 1
    assert len(found["matches"][0]["text"]) < 400


TEXTS = st.text(st.sampled_from("aAbBkKſßsSéÉıİ _-\n\r.0"), max_size=60)


@given(TEXTS, st.text(st.sampled_from("aAbkKſßséÉ_."), min_size=1, max_size=3), st.booleans())
@example("KELVIN \u212a", "k", True)
def test_a_literal_search_finds_just_the_lines_that_hold_the_text(text: str, needle: str, fold: bool) -> None:
    found = matcher(needle, regex=False, word=False, ignore_case=fold)
    lines = [
        number
        for number, line in enumerate(text.split("\n"), start=1)
        if (needle.casefold() in line.casefold() if fold else needle in line)
    ]
    assert [number for number, _ in found.lines(text, "")] == lines
    assert found.worth(text.encode()) or not lines
    if all(ord(char) < 256 for char in text):
        assert found.worth(text.encode("latin-1")) or not lines


@given(TEXTS, st.text(st.sampled_from("abs_ "), min_size=1, max_size=3))
def test_a_word_is_found_as_a_regular_expression_with_edges_would_find_it(text: str, word: str) -> None:
    found = [number for number, _ in matcher(word, regex=False, word=True, ignore_case=False).lines(text, "")]
    edges = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    strict = [number for number, line in enumerate(text.split("\n"), start=1) if edges.search(line)]
    if word[0] != " " and word[-1] != " ":
        assert found == strict
    else:
        assert set(strict) <= set(found) | set(strict)


@given(
    st.text(st.sampled_from("ab\n\r "), max_size=30),
    st.text(st.sampled_from("ab(|)*+?.^$ \\sSwWbBAZ[]-!:<="), min_size=1, max_size=12),
    st.booleans(),
)
@example("b\na", r"(?<!\s)a", False)
@example("a \n b", r"a\s*+$", False)
@example("a\r\nb", "a$", False)
def test_a_regular_expression_finds_just_the_lines_that_it_fits_alone(
    text: str, pattern: str, fold: bool
) -> None:
    try:
        found = matcher(pattern, regex=True, word=False, ignore_case=fold)
    except ToolError:
        return
    alone = regex.compile(pattern, regex.IGNORECASE if fold else 0)
    lines = text.replace("\r\n", "\n").split("\n")
    expected = [number for number, line in enumerate(lines, start=1) if alone.search(line)]
    assert [number for number, _ in found.lines(text, "")] == expected


@given(st.text(st.sampled_from("ab(){}[]|*+?\\^$.,0123:=<>!P"), max_size=20))
def test_no_pattern_ends_in_anything_but_a_matcher_or_bad_pattern(pattern: str) -> None:
    try:
        found = matcher(pattern, regex=True, word=False, ignore_case=False)
    except ToolError as problem:
        if problem.code != "BAD_PATTERN":
            raise
    else:
        lines = [line for line in ("ab", "(a)", "") if re.search(pattern, line)]
        assert len(list(found.lines("ab\n(a)\n", ""))) == len(lines)
