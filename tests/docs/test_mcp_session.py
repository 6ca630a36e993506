"""The worked session in docs/mcp.md is what `docs/mcp-session.py` prints, but for what differs each time."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_readme import plain

ROOT = Path(__file__).resolve().parents[2]
ALSO = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "<moment>"),
    (re.compile(r"\d+\s+<moment>"), "<row> <moment>"),
    (re.compile(r"\d+ rows"), "<some> rows"),
    (re.compile(r"mcp-git [\d.]+"), "mcp-git <version>"),
    (re.compile(r"\b\d+\.\d+\b"), "<number>"),
)


def compared(text: str) -> str:
    for pattern, instead in ALSO:
        text = pattern.sub(instead, text)
    return plain(text)


@pytest.mark.slow
def test_the_worked_session_is_what_its_script_prints(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "mcp.md").read_text().partition("## A worked session")[2]
    shown = re.search(r"```console\n(.*?)```", text, re.DOTALL)
    assert shown is not None
    run = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "mcp-session.py"), str(tmp_path / "session")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert compared(run.stdout) == compared(shown[1])
