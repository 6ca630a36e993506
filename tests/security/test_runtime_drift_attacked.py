"""Documents of tools that say otherwise than the tools do: each lie is found."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from mcl.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def dropped(contracts: Any) -> None:
    contracts["tools"].pop()


def softer(contracts: Any) -> None:
    next(one for one in contracts["tools"] if one["name"] == "fs/write")["class"] = "A"


def unwriting(contracts: Any) -> None:
    next(one for one in contracts["tools"] if one["name"] == "fs/write")["write"] = False


def unstarting(contracts: Any) -> None:
    next(one for one in contracts["tools"] if one["name"] == "process/tests")["subprocess"] = False


def wider(contracts: Any) -> None:
    next(one for one in contracts["tools"] if one["name"] == "fs/write")["resolver"] = "workspace+allowed"


def invented(contracts: Any) -> None:
    contracts["tools"].append({**contracts["tools"][0], "name": "fs/own"})


def twice(contracts: Any) -> None:
    contracts["tools"].append(contracts["tools"][0])


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the tools' documents, and a home."""
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    (tmp_path / "docs").mkdir()
    for name in ("tool_contracts.json", "TOOL_SAFETY.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs" / name)
    return tmp_path / "docs"


def verified(documents: Path) -> int:
    return main(["tool", "check", "--no-probe", "--docs", str(documents), "--json"])


def test_documents_that_are_as_the_tools_are_have_no_drift(documents: Path) -> None:
    assert verified(documents) == 0


@pytest.mark.parametrize("lie", [dropped, softer, unwriting, unstarting, wider, invented, twice])
def test_contracts_that_say_otherwise_are_found(documents: Path, lie: Any) -> None:
    place = documents / "tool_contracts.json"
    contracts = json.loads(place.read_text())
    lie(contracts)
    place.write_text(json.dumps(contracts))
    assert verified(documents) == 6


LIES = {"a row gone": (r"^\| `fs/write@.*\n", ""), "a class lowered": (r"(\| `fs/write@1.0.0` \| )C", r"\1A")}


@pytest.mark.parametrize(("pattern", "said"), LIES.values(), ids=LIES)
def test_a_safety_page_that_says_otherwise_is_found(documents: Path, pattern: str, said: str) -> None:
    place = documents / "TOOL_SAFETY.md"
    changed = re.sub(pattern, said, place.read_text(), flags=re.MULTILINE)
    assert changed != place.read_text()
    place.write_text(changed)
    assert verified(documents) == 6


@pytest.mark.parametrize("name", ["tool_contracts.json", "TOOL_SAFETY.md"])
@pytest.mark.parametrize("held", [None, b"", b"{", b"\xff\xfe", b"[]"])
def test_a_document_that_is_gone_or_broken_is_found(documents: Path, name: str, held: bytes | None) -> None:
    (documents / name).unlink()
    if held is not None:
        (documents / name).write_bytes(held)
    assert verified(documents) not in (0, 70)
