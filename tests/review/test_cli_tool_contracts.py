"""`mcl tool contracts --out` and `mcl tool check`, from the command line."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from mcl.catalog.tools import registry
from mcl.cli.main import main

READ = "`fs/read@1.0.0` | A"


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Documents that were just written."""
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    assert main(["tool", "contracts", "--out", str(tmp_path / "new" / "docs")]) == 0
    assert capsys.readouterr().out.split() == [
        str(tmp_path / "new/docs" / name) for name in ("tool_contracts.json", "TOOL_SAFETY.md")
    ]
    return tmp_path / "new" / "docs"


def verified(docs: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = main(["tool", "check", "--docs", str(docs), "--json", *more])
    return code, json.loads(capsys.readouterr().out)


def test_documents_that_were_just_written_are_sound_and_anybody_may_read_them(
    docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = verified(docs, capsys, "--no-probe")
    assert (code, document["sound"], document["drift"], document["probed"]) == (0, True, [], [])
    assert {stat.S_IMODE(one.stat().st_mode) for one in docs.iterdir()} == {0o644}
    assert json.loads((docs / "tool_contracts.json").read_text())["count"] == len(registry().own)


def test_writing_them_again_changes_nothing_and_keeps_who_may_read_them(docs: Path) -> None:
    place = docs / "TOOL_SAFETY.md"
    place.chmod(0o640)
    before = {one.name: one.read_bytes() for one in docs.iterdir()}
    assert main(["tool", "contracts", "--out", str(docs)]) == 0
    assert {one.name: one.read_bytes() for one in docs.iterdir()} == before
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_a_document_that_says_otherwise_ends_with_6_and_says_what(
    docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = docs / "TOOL_SAFETY.md"
    place.write_text(place.read_text().replace(READ, READ.replace("A", "C")))
    code, document = verified(docs, capsys, "--no-probe")
    assert (code, document["sound"]) == (6, False)
    [drift] = document["drift"]
    assert (drift["code"], drift["place"]) == ("CLASS_DIFFERS", "TOOL_SAFETY.md")
    assert main(["tool", "check", "--docs", str(docs), "--no-probe"]) == 6
    told = " ".join(capsys.readouterr().out.split())
    assert "it says that fs/read@1.0.0 is class C; it is A" in told
    assert "mcl tool contracts --out" in told


def test_a_folder_without_documents_ends_with_6(
    tmp_path: Path, docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = verified(tmp_path / "nowhere", capsys, "--no-probe")
    assert (code, {one["code"] for one in document["drift"]}) == (6, {"DOCUMENT_MISSING"})


def test_a_folder_that_cannot_be_made_is_said(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (docs / "file").write_text("x")
    assert main(["tool", "contracts", "--out", str(docs / "file" / "below")]) == 2
    assert "FOLDER_UNWRITABLE" in capsys.readouterr().err


@pytest.mark.slow
def test_verify_runs_the_examples_of_all_tools_and_says_what_they_did(
    docs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "commands.toml").write_text('[hello]\ndescription = "Hi."\nargv = ["touch", "a"]\n')
    code, document = verified(docs, capsys)
    assert (code, document["drift"]) == (0, [])
    seen = {one["tool"]: one for one in document["probed"]}
    hello = seen.pop("matrix://tool/process/run-hello@1.0.0")
    assert (hello["state"], hello["reason"]) == (
        "not probed",
        "an operator's command: nobody asked for it to be run",
    )
    assert set(seen) == {one.uri for one in registry().own}
    assert seen["matrix://tool/git/status@1.0.0"]["started"] == ["git"]
    assert seen["matrix://tool/fs/append@1.0.0"]["wrote"] == ["notes/monday.md"]
    assert seen["matrix://tool/http/get@1.0.0"]["connected"]
    assert seen["matrix://tool/cortex/put@1.0.0"]["home"]
    assert main(["tool", "check"]) == 0
    told = capsys.readouterr().out
    assert "not seen at work" in told
    assert "did what their tools declare, and nothing else" in told
