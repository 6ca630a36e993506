"""Patterns of paths: what is one, what it fits, and whether scopes meet."""

from __future__ import annotations

import pytest

from executor import ExecutorError
from executor.core.globs import Glob, GlobError, Meeting, Scope


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        (
            "docs/authentication.md",
            ["docs/authentication.md"],
            ["docs/Authentication.md", "x/docs/authentication.md"],
        ),
        (
            "src/auth/**",
            ["src/auth/a", "src/auth/a/b.ts", "src/auth/.hidden"],
            ["src/auth", "src/authx/a", "src/a"],
        ),
        ("src/auth/", ["src/auth/a", "src/auth/a/b"], ["src/auth"]),
        ("*.ts", ["a.ts", ".ts", "a.b.ts"], ["src/a.ts", "a.tsx", "a.TS"]),
        ("**/*.ts", ["a.ts", "src/a.ts", "a/b/c.ts"], ["a.js"]),
        ("tests/**/auth.spec.ts", ["tests/auth.spec.ts", "tests/a/b/auth.spec.ts"], ["tests/xauth.spec.ts"]),
        ("**", ["a", "a/b", ".a/.b"], []),
        ("*", ["a", ".a"], ["a/b"]),
        ("a/*/b", ["a/x/b"], ["a/b", "a/x/y/b"]),
        ("a/**/**/b", ["a/b", "a/x/y/b"], ["ab"]),
        ("a?c", ["abc", "aåc", "a.c"], ["ac", "a/c", "abbc"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "Ax", "x"]),
        ("[!a-c]x", ["dx", ".x"], ["ax", "/x"]),
        ("[^a]x", ["bx"], ["ax"]),
        ("[]a]x", ["]x", "ax"], ["bx"]),
        ("[[]id]/page.tsx", ["[id]/page.tsx"], ["i/page.tsx"]),
        ("app/(auth)/@modal/page.tsx", ["app/(auth)/@modal/page.tsx"], ["app/auth/@modal/page.tsx"]),
        ("[*]", ["*"], ["a"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("{src,lib}/**", ["src/a", "lib/b/c"], ["tests/a"]),
        ("a{b,c{d,e}}f", ["abf", "acdf", "acef"], ["acf", "af"]),
        ("src/auth{,.test}.ts", ["src/auth.ts", "src/auth.test.ts"], ["src/auth.x.ts"]),
        ("{a/b,c}/d", ["a/b/d", "c/d"], ["a/d"]),
        ("src/{**,a}/x", ["src/x", "src/a/b/x", "src/a/x"], ["src/a"]),
        ("{docs/,README.md}", ["docs/a/b", "README.md"], ["docs"]),
        ("mål/*.md", ["mål/å.md"], ["ma\u030al/a.md"]),
    ],
)
def test_a_pattern_fits_what_it_says_and_nothing_else(
    pattern: str, fits: list[str], fits_not: list[str]
) -> None:
    glob, scope = Glob.read(pattern), Scope.of(["never/here", pattern])
    assert [path for path in fits if not glob.matches(path)] == []
    assert [path for path in fits_not if glob.matches(path)] == []
    assert {scope.pattern_of(path) for path in fits} == {pattern}
    assert {scope.pattern_of(path) for path in fits_not} <= {None}


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/a", "a/", "a//b", "./a", "a/.", "a/./b", "..", "../a", "a/..", "a/../b", ".", "//a"),
        *("a\0b", "a\nb", "a\x7f", "a/\ud800", "a/" * 3000 + "b"),
    ],
)
def test_only_a_path_in_its_plain_spelling_is_in_any_scope(path: str) -> None:
    assert not Glob.read("**").matches(path)
    assert not Scope.of(["**", "a/**", "*", "?*", "[!x]*"]).matches(path)


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("", 0),
        ("../x", 0),
        ("a/../b", 2),
        ("./a", 0),
        ("a/./b", 2),
        ("a//b", 2),
        ("a\\b", 1),
        ("a/\\*", 2),
        ("!a", 0),
        ("#a", 0),
        ("{!a,b}", 1),
        ("a**", 2),
        ("a/**b/c", 3),
        ("***", 1),
        ("a/*{*,b}/c", 4),
        ("*{,a}*", 5),
        ("src/auth/[invalid", 9),
        ("a[", 1),
        ("[]", 0),
        ("[a/b]", 0),
        ("[z-a]", 1),
        ("[a-c-e]", 4),
        ("[[:alpha:]]", 0),
        ("[a,b]", 0),
        ("[{]", 0),
        ("[.]", 0),
        ("x/[.][.]", 2),
        ("{a,b", 0),
        ("a}", 1),
        ("{a}", 0),
        ("{1..9}", 0),
        ("{}", 0),
        ("a${b,c}", 1),
        ("{a,}", 0),
        ("a/{b,}/c", 6),
        ("@(a|b)", 0),
        ("a/!(b)", 2),
        ("a*(b)", 1),
        ("+(a)", 0),
        ("a\nb", 1),
        ("a\ud800", 1),
        ("a\x7f", 1),
        ("a" * 513, 512),
        ("a/" * 80 + "b", 0),
        ("{" * 300, 8),
        ("{a,b}" * 6, 29),
    ],
)
def test_what_others_read_otherwise_or_not_at_all_is_refused_with_its_place(
    pattern: str, position: int
) -> None:
    with pytest.raises(GlobError) as caught:
        Glob.read(pattern)
    assert (caught.value.code, caught.value.position) == ("INVALID_GLOB", position)
    assert caught.value.place == pattern
    assert caught.value.fix
    assert f"character {position + 1})" in caught.value.message
    assert isinstance(caught.value, ExecutorError)


def test_an_alternative_that_is_another_ones_beginning_leaves_no_empty_name() -> None:
    with pytest.raises(GlobError, match="empty"):
        Glob.read("a{/,//}b")
    with pytest.raises(GlobError, match="empty"):
        Glob.read("a/{/b,c}")


@pytest.mark.parametrize(
    "pattern", ["/", "/src/**", "C:/x", "c:x", "~/x", "~", "\\\\server\\x", "{/a,b}", "{,a}/b", "//x"]
)
def test_an_absolute_pattern_is_told_as_such(pattern: str) -> None:
    with pytest.raises(GlobError) as caught:
        Glob.read(pattern)
    assert caught.value.code == "ABSOLUTE_PATH"


@pytest.mark.parametrize(
    ("one", "other", "witness"),
    [
        ("src/**", "src/auth/*.ts", "src/auth/a.ts"),
        ("src/auth/**", "src/authors/**", None),
        ("*.ts", "a*", "a.ts"),
        ("*.ts", "*", "a.ts"),
        (".*", "*s", ".s"),
        ("*.ts", "*.js", None),
        ("*.ts", "src/*.ts", None),
        ("**/x", "a/**", "a/x"),
        ("a/**/b", "**/c/**/b", "a/c/b"),
        ("*ab*", "*ba*", "abba"),
        ("a*b", "ab", "ab"),
        ("aba*", "*aba", "abaaba"),
        ("?", ".*", None),
        ("?", "[.a]*", "a"),
        ("??", ".*", ".a"),
        ("??", "..*", None),
        ("???", "..*", "..a"),
        ("[.][.]*", "*[.]", "..."),
        ("[a-m]*", "[m-z]*", "m"),
        ("[a-l]*", "[m-z]*", None),
        ("[!a]", "[!b]", "c"),
        ("{a,b}/x", "{b,c}/x", "b/x"),
        ("{a,b}/x", "{c,d}/x", None),
        ("a/", "a/b/", "a/b/a"),
        ("a/**", "a", None),
    ],
)
def test_whether_two_patterns_meet_is_told_with_a_path_that_both_fit(
    one: str, other: str, witness: str | None
) -> None:
    first, second = Glob.read(one), Glob.read(other)
    assert (first.meeting(second) is None) == (second.meeting(first) is None) == (witness is None)
    for found in (first.meeting(second), second.meeting(first)):
        assert found is None or (first.matches(found) and second.matches(found))
    assert first.meeting(second) == witness


def test_scopes_meet_by_the_first_of_their_patterns_that_do() -> None:
    one = Scope.of(["docs/*.md", "src/auth/**", "src/**/*.ts"])
    other = Scope.of(["tests/**", "**/auth.ts", "src/auth/x"])
    assert one.meeting(other) == Meeting("src/auth/**", "**/auth.ts", "src/auth/auth.ts")
    assert [(each.one, each.other) for each in one.meetings(other)] == [
        ("src/auth/**", "**/auth.ts"),
        ("src/auth/**", "src/auth/x"),
        ("src/**/*.ts", "**/auth.ts"),
    ]
    assert one.meeting(Scope.of(["tests/**", "docs/x/*.md"])) is None
    assert one.texts == ("docs/*.md", "src/auth/**", "src/**/*.ts")


@pytest.mark.parametrize(
    ("patterns", "folder", "all_below", "any_below"),
    [
        (["src/**"], "src", True, True),
        (["src/**"], "src/auth/x", True, True),
        (["src/"], "src", True, True),
        (["src/**"], "", False, True),
        (["**"], "", True, True),
        (["**"], "a/b", True, True),
        (["src/*"], "src", False, True),
        (["src/**/*.ts"], "src", False, True),
        (["src/**/x"], "src/a/b", False, True),
        (["{src,lib}/**"], "lib/a", True, True),
        (["s?c/**"], "src/a", True, True),
        (["src/auth/**"], "src", False, True),
        (["src/auth/**"], "docs", False, False),
        (["docs/a.md"], "docs", False, True),
        (["docs/a.md"], "docs/a.md", False, False),
        (["**"], "../x", False, False),
        (["**"], "/", False, False),
        (["**"], "a//b", False, False),
        ([], "", False, False),
    ],
)
def test_a_folder_is_in_scope_as_far_as_what_is_below_it(
    patterns: list[str], folder: str, all_below: bool, any_below: bool
) -> None:
    scope = Scope.of(patterns)
    assert (scope.holds(folder), scope.touches(folder)) == (all_below, any_below)


def test_a_pattern_that_would_take_others_forever_is_read_matched_and_compared() -> None:
    """Patterns and paths on which backtracking takes longer than the universe is old."""
    path = "a" * 250
    stars = Glob.read("*a" * 250 + "*b")
    assert not stars.matches(path)
    assert stars.meeting(Glob.read("a" * 250)) is None
    assert stars.meeting(Glob.read("*a*c")) is None
    folders = Glob.read("**/a/" * 30 + "b")
    assert not folders.matches("a/" * 2000 + "c")
    assert folders.meeting(Glob.read("a/" * 60 + "c")) is None
    assert Glob.read("{a,b}{a,b}{a,b}{a,b}{a,b}").weight == 160
