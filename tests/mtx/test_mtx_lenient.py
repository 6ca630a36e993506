"""Files as people and generators write them: each says what it is for in its name and its own verdict.

Beside NAME.mtx, NAME.expected has one line for each finding: `line:column severity CODE text`. Without it
there is none. A name that ends in `_fail` is that of a file with errors.
"""

from pathlib import Path

import pytest

from mcl.language.mtx.codec import file_digest
from mcl.language.mtx.layout import format_file
from mcl.language.mtx.parser import findings_of, parse

FOLDER = Path(__file__).parent / "lenient"
CASES = sorted(FOLDER.glob("*.mtx"))


def verdict(path: Path) -> list[str]:
    findings = findings_of(parse(path.read_bytes()), name=path.stem)
    return [f"{one.line}:{one.column} {one.severity} {one.code} {one.text}".rstrip() for one in findings]


def test_there_are_cases_of_both_kinds() -> None:
    bad = [path for path in CASES if path.stem.endswith("_fail")]
    assert len(CASES) - len(bad) >= 25
    assert len(bad) >= 10


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_file_from_the_wild_has_just_the_findings_that_it_should(path: Path) -> None:
    expected = path.with_suffix(".expected")
    lines = expected.read_text(encoding="utf-8").splitlines() if expected.exists() else []
    assert verdict(path) == lines
    assert any(" error " in line for line in lines) == path.stem.endswith("_fail")


@pytest.mark.parametrize(
    "path", [path for path in CASES if not path.stem.endswith("_fail")], ids=lambda path: path.stem
)
def test_a_file_from_the_wild_means_the_same_in_canonical_layout(path: Path) -> None:
    parsed = parse(path.read_bytes())
    again = parse(format_file(parsed).encode())
    assert again.findings == ()
    assert again.file == parsed.file
    assert file_digest(again.file) == file_digest(parsed.file)


def test_unquoted_values_are_taken_as_they_are() -> None:
    settings = parse((FOLDER / "unquoted-values.mtx").read_bytes()).file.settings()
    assert settings["author"] == "did:pax:0x7f3A9c…d1"
    assert settings["display"] == 'Renew, cancel: or "pause" a plan'
    assert settings["homepage"] == "https://example.org/a?b=c&d=e#top"
    assert settings["color"] == "#ff8800"
    assert settings["formula"] == "a=b+c=d"
    assert settings["note"] == "it's the user's own \"choice\"; really"
    assert settings["path"] == "C:\\Users\\me"
    assert settings["empty"] == settings["only_comment"] == ""


def test_every_code_is_explained_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "skills.md").read_text(encoding="utf-8")
    codes = {
        line.split()[2]
        for path in FOLDER.glob("*.expected")
        for line in path.read_text(encoding="utf-8").split("\n")
        if line
    }
    assert "UNEXPECTED" in codes
    assert {code for code in codes if f"`{code}`" not in page} == set()
