"""The page about maps is true: its transcript is run again, and what it lists is all there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from orchards import orchard
from yards import Yard

from mcl.plugins.review.maps.documents import SCHEMAS
from mcl.plugins.review.maps.maps import rules
from mcl.plugins.review.maps.symbols import tables

PAGE = (Path(__file__).resolve().parents[2] / "docs/review-memory.md").read_text()


def test_the_transcript_is_what_is_said(yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = orchard(tmp_path / "orchard")
    monkeypatch.chdir(folder)
    shell = Yard(folder, yard.capture)
    found = re.search(r"^```console\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    for part in re.split(r"^\$ ", found[1], flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        words = shlex.split(line)
        if words[0] == "echo":
            with (folder / words[-1]).open("a") as file:
                file.write(f"{words[1]}\n")
            continue
        assert _plain(shell.mcl(*words[1:]).out) == _plain(expected), line


def _plain(text: str) -> str:
    """Without hashes, which differ from run to run."""
    return re.sub(r"[0-9a-f]{64}", "…", text).rstrip()


def test_every_role_and_schema_is_on_the_page() -> None:
    for role in {rule.role for rule in rules().all}:
        assert role in " ".join(PAGE.split())
    for name, schema in SCHEMAS.items():
        assert f"| `{name}.json` | `{schema}` |" in PAGE


def test_the_number_of_languages_is_right() -> None:
    assert f"and {len(tables()) - 1} other languages" in PAGE
