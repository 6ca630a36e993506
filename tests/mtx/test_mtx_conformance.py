"""The files in checks/: each names in its first lines, as comments, all that the checks must find in it.

`# CODE LINE:COLUMN SEVERITY "offending text" "hint"` a finding, or `# nothing`; the name of a file says the
check, the case, and whether it passes, fails or only warns.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mcl.language.mtx.checks import check
from mcl.language.mtx.parser import parse
from mcl.language.mtx.source import MtxFinding

CASES = sorted((Path(__file__).parent / "checks").glob("*.mtx"))
LINE = re.compile(r'# (\w+) (\d+):(\d+) (error|warning) ("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")')


def expected(text: str) -> list[tuple[str, int, int, str, str, str]]:
    said = []
    for line in text.split("\n"):
        match = LINE.fullmatch(line)
        if match is None:
            break
        code, row, column, severity, words, hint = match.groups()
        said.append((code, int(row), int(column), severity, json.loads(words), json.loads(hint)))
    return said


def found(path: Path, *, strict: bool = False) -> list[MtxFinding]:
    parsed = parse(path.read_bytes())
    return sorted({*parsed.findings, *check(parsed.file, name="find-flights", strict=strict)})


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_file_has_just_the_findings_that_it_names(path: Path) -> None:
    findings = found(path)
    told = [(one.code, one.line, one.column, one.severity, one.text, one.hint) for one in findings]
    assert told == expected(path.read_text())
    kind = path.stem.rpartition("_")[2]
    worst = {"error"} & {one.severity for one in findings} or {one.severity for one in findings} or {"ok"}
    assert worst == {{"fail": "error"}.get(kind, kind)}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_strict_makes_errors_of_v13_to_v15_and_of_nothing_else(path: Path) -> None:
    lenient, strict = found(path), found(path, strict=True)
    assert [(one.code, one.line, one.column, one.message) for one in strict] == [
        (one.code, one.line, one.column, one.message) for one in lenient
    ]
    for before, after in zip(lenient, strict, strict=True):
        raised = before.code in ("V13", "V14", "V15")
        assert after.severity == ("error" if raised else before.severity)


def test_every_check_has_a_file_that_passes_and_several_that_do_not() -> None:
    names = [path.stem for path in CASES]
    for number in range(1, 16):
        own = [name for name in names if name.startswith(f"V{number:02}_")]
        assert any(name.endswith("_ok") for name in own), number
        assert sum(not name.endswith("_ok") for name in own) >= 2, number
