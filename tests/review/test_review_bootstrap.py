"""First memories from what a repository says of itself: cut, placed, the same each time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import FixedClock, Home, Workspace
from mcl.memory import MemoryStore
from mcl.plugins.review.memory.documents import (
    LONGEST_SECTION,
    MOST_SECTIONS,
    Bootstrapped,
    bootstrap,
    conventions,
    sections,
)
from mcl.plugins.review.memory.history import ReviewMemories

AT = "2026-11-22T10:00:00.000Z"
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home", clock=FixedClock(AT)) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


class Again:
    """Bootstraps a folder as often as it is asked to."""

    def __init__(self, home: Home, root: Path) -> None:
        self.memories = ReviewMemories(home, root)
        self.workspace = Workspace(root, forbidden=(home.path,))

    def __call__(self) -> Bootstrapped:
        return bootstrap(self.memories, self.workspace)

    @property
    def told(self) -> dict[str, tuple[str, str]]:
        """Kind and source by text."""
        return {one.text: (one.kind, one.source) for one in self.memories.meanings.all()}


@pytest.fixture
def again(home: Home, root: Path) -> Again:
    return Again(home, root)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("README.md", "summary"),
        ("ROADMAP.md", "fact"),
        ("RUNTIME_CONTRACT.md", "convention"),
        ("docs/RUNTIME_CONTRACT.md", "convention"),
        ("docs/ORCHESTRATION_CONTRACT.md", "convention"),
        ("docs/TOOL_SAFETY.md", "warning"),
        ("api-contract.txt", "convention"),
        ("docs/architecture/SYSTEM_OVERVIEW.md", None),
        ("readme.rst", "summary"),
        ("README", "summary"),
        ("CONTRIBUTING.md", "convention"),
        ("SECURITY.md", "warning"),
        ("NEWS.md", None),
        ("README.py", None),
    ],
)
def test_these_documents_are_read(again: Again, root: Path, name: str, kind: str | None) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("A text about it.")
    done = again()
    assert done.documents == (((name, 1),) if kind else ())
    assert again.told == ({"A text about it.": (kind, f"{name}:1")} if kind else {})


README = """\
[![badge](https://example.org/x.svg)](https://example.org)
# Shop
<p align="center"><img src="x"></p>

It sells paper.
Every day.

## Use
```python
import shop  # code is no prose
```
Call `shop.run`.

### Security notes
Never log the card.

Install
-------
Use pip.
"""


def test_a_document_is_cut_at_its_headings_and_each_piece_names_its_lines(again: Again, root: Path) -> None:
    (root / "README.md").write_text(README)
    again()
    assert again.told == {
        "Shop: It sells paper.\nEvery day.": ("summary", "README.md:5-6"),
        "Shop > Use: Call `shop.run`.": ("summary", "README.md:12"),
        "Shop > Use > Security notes: Never log the card.": ("warning", "README.md:15"),
        "Shop > Install: Use pip.": ("summary", "README.md:19"),
    }


def test_the_same_documents_are_the_same_memories_and_what_is_gone_is_forgotten(
    again: Again, root: Path, home: Home
) -> None:
    (root / "README.md").write_text(README)
    (root / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    own = again.memories.meanings.remember("said by a person", tags=["mine"])
    first = again()
    assert (first.written, first.unchanged, first.forgotten, first.conventions) == (5, 0, 0, 1)
    size = MemoryStore(home).snapshot().size
    second = again()
    assert (second.written, second.unchanged, second.forgotten) == (0, 5, 0)
    assert MemoryStore(home).snapshot().size == size
    (root / "README.md").write_text(
        README.replace("Use pip.", "Use uv.").replace("### Security", "### Safety")
    )
    third = again()
    assert (third.written, third.unchanged, third.forgotten) == (2, 3, 1)
    [installed] = [one for one in again.memories.meanings.all() if "Use uv." in one.text]
    assert installed.uri.endswith("@v2")  # another text of the same section
    (root / "README.md").unlink()
    (root / "pyproject.toml").unlink()
    assert again().forgotten == 5
    assert again.memories.meanings.all() == (own,)


def test_two_homes_remember_the_same(again: Again, root: Path, tmp_path: Path) -> None:
    (root / "README.md").write_text(README * 3)
    again()
    with Home.open(tmp_path / "second", clock=FixedClock(AT)) as second:
        other = Again(second, root)
        other()
        assert other.memories.meanings.all() == again.memories.meanings.all()


def test_secrets_of_documents_are_not_remembered(again: Again, root: Path, home: Home) -> None:
    (root / "README.md").write_text(f"# Deploy {KEY}\nUse http://u:hunter22@host and {KEY}.\n")
    again()
    documents = repr(home.db.read("SELECT wire FROM journal WHERE kind LIKE 'record.cortex.%'"))
    assert KEY not in documents
    assert "hunter22" not in documents
    assert "[redacted: " in documents


def test_what_is_not_read_is_said(again: Again, root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside")
    (root / "README.md").symlink_to(tmp_path / "secret.md")
    (root / "ROADMAP.md").write_bytes(b"\xff\xfe")
    (root / "SECURITY.md").write_bytes(b"x" * (600 << 10))
    os.mkfifo(root / "CONTRACT.md")
    (root / "docs").symlink_to(tmp_path)
    (root / "AGENTS.md").write_text("\n\n".join("word " * 200 for _ in range(250)))
    done = again()
    assert dict(done.skipped) == {
        "AGENTS.md": f"only its first {MOST_SECTIONS} pieces were read",
        "CONTRACT.md": "it is no plain file (a link, device or FIFO)",
        "README.md": "it is no plain file (a link, device or FIFO)",
        "ROADMAP.md": "it is not UTF-8 text",
        "SECURITY.md": "it is larger than 524,288 bytes",
        "docs": dict(done.skipped)["docs"],
    }
    assert done.documents == (("AGENTS.md", MOST_SECTIONS),)
    assert "outside" not in repr(again.told)


def test_a_document_that_grows_when_all_of_it_is_made_seen_is_remembered_and_cut(
    again: Again, root: Path
) -> None:
    (root / "README.md").write_text("\U000e0041 " * 500)
    assert again().written == 1
    [text] = again.told
    assert len(text) == 4_000
    assert text.endswith(" … [cut]")


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.11"', "The code runs on Python >=3.11."),
        (
            "pyproject.toml",
            "[tool.mypy]\nstrict = true",
            "Python is checked by mypy in strict mode: everything has types.",
        ),
        ("pyproject.toml", "[tool.mypy]\nstrict = false", ""),
        ("pyproject.toml", "[tool.ruff]\nline-length = true", ""),
        ("pyproject.toml", "[tool]\nruff = 3", ""),
        ("pyproject.toml", "[tool.ruff", ""),
        ("pyproject.toml", "a = " + "[" * 100_000, ""),
        (
            ".editorconfig",
            "root = true\n[*]\nindent_style = tab\n",
            "Files are indented by tabs (.editorconfig).",
        ),
        (
            "setup.cfg",
            "[flake8]\nmax-line-length = 99",
            "Lines of Python have at most 99 characters (flake8).",
        ),
        (
            "setup.cfg",
            "[flake8]\nmax-line-length = %(x)s",
            "Lines of Python have at most %(x)s characters (flake8).",
        ),
        ("package.json", '{"type": "module"}', "JavaScript files are modules of the type module."),
        ("package.json", '{"type": "' + "x" * 200 + '"}', ""),
        ("package.json", '{"type": "a\\u001b[2J"}', ""),
        ("package.json", "[" * 100_000, ""),
        ("package.json", '{"type": ' + "1" * 5_000 + "}", ""),
        ("tsconfig.json", '{"compilerOptions": {"strict": true}}', "TypeScript is checked in strict mode."),
        ("Cargo.toml", '[package]\nedition = "2021"', "Rust of the edition 2021."),
    ],
)
def test_settings_say_conventions_and_nothing_else(
    again: Again, root: Path, file: str, text: str, says: str
) -> None:
    (root / file).write_text(text)
    assert [one.text for one in conventions(again.workspace)] == ([says] if says else [])
    again()
    assert list(again.told.values()) == ([("convention", file)] if says else [])


@given(
    st.text(max_size=400)
    | st.lists(
        st.sampled_from(
            ["# a", "## b", "text", "", "```", "===", "---", "x" * 1_500, "a b. " * 300, "| - |", "\r"]
        ),
        max_size=20,
    ).map("\n".join)
)
def test_pieces_are_short_in_order_and_from_the_text(text: str) -> None:
    found = sections(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert found == sections(text)
    assert [one.first for one in found] == sorted(one.first for one in found)
    for one in found:
        assert 0 < len(one.text) <= LONGEST_SECTION or not one.text.strip()
        assert 1 <= one.first <= one.last <= len(lines)
        whole = "\n".join(lines[one.first - 1 : one.last])
        assert all(piece.strip() in whole for piece in one.text.split("\n"))


def test_a_long_section_becomes_pieces_that_lose_nothing() -> None:
    text = "# Long\n\n" + "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(20))
    found = sections(text)
    assert len(found) > 5
    assert [one.part for one in found] == list(range(len(found)))
    assert {one.headings for one in found} == {("Long",)}
    assert " ".join(" ".join(one.text for one in found).split()) == " ".join(
        text.removeprefix("# Long").split()
    )
