"""Patterns as data: each hits what it says it hits, passes what it says it passes, and takes no time."""

from __future__ import annotations

import encodings
import encodings.aliases
import pkgutil
import tomllib
from pathlib import Path

import pytest
import regex

import mcl.plugins.review.scan
from mcl.plugins.review.scan.bandit_rules import rules
from mcl.plugins.review.scan.patterns import PatternBook, PatternRule, ScanSource, books, scan_source
from mcl.plugins.review.scan.weights import KnownMarks, place_of

# Put together, so that whoever searches this file for keys finds none.
TOKEN = "ghp_" + "R4nD0mV8kQ2wZ7xLpT3sYc9HbJ6fMgNe1UaI"
KEY = "AKIA" + "Q7PZTRK3NDW5LXUB"
FOLDER = Path(mcl.plugins.review.scan.__file__).parent
RULES = [pytest.param(book, rule, id=rule.id) for book in books() for rule in book.rules]
LANGUAGES = {
    "javascript": ("app.js", "app.ts", "app.tsx", "app.vue"),
    "go": ("main.go",),
    "java": ("Shop.java", "Shop.kt"),
    "c": ("shop.c", "shop.h", "shop.cpp"),
    "rust": ("lib.rs",),
    "shell": ("run.sh", "Dockerfile", "Makefile", ".github/workflows/ci.yml"),
    "docker": ("Dockerfile", "Dockerfile.dev"),
    "yaml": ("ci.yml", "play.yaml"),
    "sql": ("schema.sql",),
    "html": ("page.html", "page.j2"),
    "keys": ("any", "notes.md", "x.properties"),
    "anywhere": ("any.c",),
    "python": ("old.py", "fast.pyx"),
    "encoding": ("shop.py",),
}
READS_OTHERWISE = {
    **dict.fromkeys(("cp864", "hz", "utf_7", "unicode_escape", "raw_unicode_escape"), "py-encoding"),
    **dict.fromkeys(("shift_jis_2004", "shift_jisx0213", "iso2022_kr"), "py-encoding"),
    **{f"iso2022_jp{which}": "py-encoding" for which in ("", "_1", "_2", "_2004", "_3", "_ext")},
    **dict.fromkeys(("big5", "big5hkscs", "cp932", "cp950", "gb18030", "gbk"), "py-encoding-wide"),
    **dict.fromkeys(("johab", "shift_jis"), "py-encoding-wide"),
}


def name_for(book: PatternBook) -> str:
    return LANGUAGES[book.name][0]


def rules_in(book: PatternBook, text: str) -> set[str]:
    if book.only:
        text = f"print 'no Python 3'\n{text}"
    return {one.rule for one in scan_source(ScanSource(name_for(book), text))}


def test_every_language_has_its_rules() -> None:
    assert {book.name for book in books()} == set(LANGUAGES)
    for book in books():
        for name in LANGUAGES[book.name]:
            assert book.fits(name.rpartition("/")[2], ""), name
    ids = [rule.id for book in books() for rule in book.rules]
    assert len(ids) == len(set(ids)) > 70


@pytest.mark.parametrize(("book", "rule"), RULES)
def test_a_pattern_hits_and_passes_what_it_says(book: PatternBook, rule: PatternRule) -> None:
    assert rule.hits
    assert rule.passes
    for text in rule.hits:
        assert rule.id in rules_in(book, text), text
    for text in rule.passes:
        assert rule.id not in rules_in(book, text), text


@pytest.mark.parametrize(("book", "rule"), RULES)
def test_a_pattern_says_what_is_to_be_done_and_how_bad_it_is(book: PatternBook, rule: PatternRule) -> None:
    assert rule.severity in ("RISK", "WARNING", "NOTE")
    assert rule.near
    assert all(word == word.lower() for word in rule.near) or not rule.ignore_case
    assert rule.says.endswith(".")
    assert not rule.fix.endswith(".")


@pytest.mark.parametrize(("book", "rule"), RULES)
def test_a_pattern_takes_no_time_whatever_it_is_given(book: PatternBook, rule: PatternRule) -> None:
    """Of pieces of its own examples, repeated to the length that it is tried on."""
    seeds = [*rule.near, *rule.hits, *rule.passes]
    seeds += [text[: len(text) * part // 4] for text in rule.hits for part in (1, 2, 3)]
    seeds += [
        f"{one}{filler}" for one in rule.near for filler in (" ", "a", '"', "(", "-", "\t", "{", "=", "/")
    ]
    for seed in filter(None, seeds):
        text = (seed * (2800 // len(seed) + 1))[:2800]
        rule.pattern.search(text, timeout=60)


def test_what_is_in_a_comment_is_no_code_but_a_secret_is_one_there_too() -> None:
    assert scan_source(ScanSource("a.js", "// eval(x)\n * eval(x)\n")) == ()
    assert scan_source(ScanSource("run.sh", "  # curl -k https://x.se\n")) == ()
    [key] = scan_source(ScanSource("a.js", f"// {TOKEN}\n"))
    assert key.rule == "secret-github"


def test_a_script_without_an_ending_is_known_by_its_first_line() -> None:
    for line in ("#!/bin/sh", "#!/usr/bin/env bash", "#!/usr/bin/env -S zsh -e", "#! /bin/dash"):
        assert [one.rule for one in scan_source(ScanSource("bin/run", f"{line}\nchmod 777 x\n"))] == [
            "sh-world-file"
        ]
    [one] = scan_source(ScanSource("bin/run", "#!/usr/bin/env python3.12\nimport os\nos.system(x)\n"))
    assert one.rule == "B605"
    assert scan_source(ScanSource("bin/run", "#!/usr/bin/perl\nchmod 777 x\n")) == ()
    assert scan_source(ScanSource("bin/run", "chmod 777 x\n")) == ()


def test_an_encoding_that_hides_code_is_told_under_each_of_its_names() -> None:
    names = {*encodings.aliases.aliases, *encodings.aliases.aliases.values(), *READS_OTHERWISE}
    for name in sorted(names):
        wanted = READS_OTHERWISE.get(encodings.aliases.aliases.get(name, name))
        for form in (name, name.upper(), name.replace("_", "--")):
            rules = {one.rule for one in scan_source(ScanSource("shop.py", f"# coding: {form}\nx = 1\n"))}
            assert rules == ({wanted} if wanted else set()), form


def test_which_encodings_hide_code_is_known() -> None:
    """Those in which Python takes a source text and reads other letters than ASCII's, or a backslash as a
    part of another character."""
    for name in sorted({one.name for one in pkgutil.iter_modules(encodings.__path__)} - {"mbcs", "oem"}):
        try:
            compile(b"# coding: " + name.encode() + b"\nx = 1\n", "shop.py", "exec")
        except (SyntaxError, LookupError, ValueError):
            continue
        plain = [bytes([one]) for one in range(9, 127)] + [b"\\x41", b"\\u0041", b"~{AA~}", b"\x1b$BAA\x1b(B"]
        wide = [bytes([first, 92]) for first in range(128, 256)]
        hides = any(_read(text, name) not in (None, text.decode()) for text in plain)
        hides |= any(len(_read(text, name) or "  ") == 1 for text in wide)
        assert hides == (name in READS_OTHERWISE), name


def _read(text: bytes, name: str) -> str | None:
    try:
        return text.decode(name)
    except UnicodeDecodeError:
        return None


def test_a_long_line_is_searched_to_its_end() -> None:
    for before in (0, 1990, 2010, 123_456):
        text = "a" * before + f" {KEY} " + "b" * 5000
        assert [one.rule for one in scan_source(ScanSource("a.json", text))] == ["secret-aws"], before


def test_a_pattern_is_told_once_a_line_and_on_the_lines_of_a_difference() -> None:
    text = "x\neval(a); eval(b)\neval(c)\n" + "eval(d);" * 1000
    assert [one.line for one in scan_source(ScanSource("a.js", text))] == [2, 3, 4]
    assert [one.line for one in scan_source(ScanSource("a.js", text), lines={3})] == [3]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("shop/app.py", "product"),
        ("shop/contest.py", "product"),
        ("shop/latest/app.py", "product"),
        ("tests/app.py", "tests"),
        ("shop/Test/app.py", "tests"),
        ("shop/test_app.py", "tests"),
        ("web/app.test.ts", "tests"),
        ("shop/conftest.py", "tests"),
        ("docs/conf.py", "examples"),
        ("README.md", "examples"),
        (".env.example", "examples"),
    ],
)
def test_a_place_is_known_by_its_path(path: str, place: str) -> None:
    assert place_of(path) == place


def test_every_rule_of_bandit_has_a_weight_and_words_of_our_own() -> None:
    weights = tomllib.loads((FOLDER / "weights.toml").read_text())
    blacklists = next(one for one in rules()["Import"] if one._test_id == "B001")._config  # type: ignore[attr-defined]
    there = {one._test_id for some in rules().values() for one in some}  # type: ignore[attr-defined]
    there |= {one["id"] for some in blacklists.values() for one in some}
    assert there - {"B001"} == set(weights["rules"])
    for name, one in weights["rules"].items():
        kinds = {one.get("is"), one.get("elsewhere"), *(some["is"] for some in one.get("where", ()))}
        kinds |= {label for table in ("HIGH", "MEDIUM", "LOW") for label in one.get(table, {}).values()}
        assert kinds <= {None, "none", "RISK", "WARNING", "NOTE"}, name
        assert "why" in one or not ({"is", "where"} & set(one)) or one.get("is") == "NOTE", name
        assert one.get("is") == "none" or {"says", "fix"} <= set(one), name
        for some in one.get("where", ()):
            for filler in ("'", "token ", "= '%s' ", "mark_safe(", "like '", "%", "{"):
                regex.search(some["fits"], (filler * 2000)[:2000], timeout=60)


def test_a_key_in_a_page_of_the_documentation_is_as_bad_and_in_a_test_it_is_a_note() -> None:
    text = f"token {TOKEN}\n"
    severities = {
        path: scan_source(ScanSource(path, text))[0].severity
        for path in ("a.cfg", "docs/a.md", "tests/a.cfg")
    }
    assert severities == {"a.cfg": "RISK", "docs/a.md": "RISK", "tests/a.cfg": "NOTE"}


def test_in_a_line_that_a_program_made_only_keys_block() -> None:
    text = "a" * 5000 + f"; eval(x); '\u202e'; {KEY}"
    some = {one.rule: one.severity for one in scan_source(ScanSource("bundle.js", text))}
    assert some == {"js-eval": "NOTE", "trojan-source": "NOTE", "secret-aws": "RISK"}


def test_a_key_is_told_where_it_begins_and_not_where_another_ends() -> None:
    head, rows = "PRIVATE KEY-----", "MIIEpAIBAAKCAQEAq8WnR4tY7uKpL2xVb9sDc5Fg"
    key = f"-----BEGIN {head}\n{rows}\n-----END {head}\n"
    assert [one.line for one in scan_source(ScanSource("keys.pem", key + key))] == [1, 4]
    assert [one.line for one in scan_source(ScanSource("keys.pem", key * 2), lines={3})] == []


def test_a_private_key_is_about_the_lines_of_the_key_too() -> None:
    head, same = "-----BEGIN OPENSSH " + "PRIVATE KEY-----", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ"

    def marks(key: str) -> list[str]:
        text = f"x\n{head}\n{same}\n{key}\n-----END-----\nnothing\n"
        known = KnownMarks(lambda path, rule, lines, nth: lines)
        assert [one.line for one in scan_source(ScanSource("key", text), lines={4})] == [4]
        assert scan_source(ScanSource("key", text), lines={1, 6}) == ()
        return [one.mark for one in scan_source(ScanSource("key", text), known=known)]

    first, second = marks("q8WnR4tY7uKpL2xVb9sDc5Fg"), marks("zAeq8WnR4tY7uKpL2xVb9sDc")
    assert len(first) == len(second) == 1
    assert first != second
