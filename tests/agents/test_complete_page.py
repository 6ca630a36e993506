"""What the page says: its set-up, step by step, leads from a file to work that is done."""

from __future__ import annotations

import os
import pty
import re
import threading
from pathlib import Path

import pytest

from mcl.cli.main import main
from mcl.core.home import open_home
from mcl.plugins.agents.file.document import NAME

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "coding-agents.md").read_text()
FILE = re.search(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
STEPS = re.findall(r"^\$ mcl (work .*)\n((?:[ <].*\n)*)", PAGE, re.MULTILINE)


def test_the_set_up_of_the_page_leads_to_work_that_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert FILE is not None
    (tmp_path / "project" / ".orchestration").mkdir(parents=True)
    (tmp_path / "project" / NAME).write_text(FILE[1])
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MCL_AGENT", raising=False)
    monkeypatch.chdir(tmp_path / "project")
    open_home(tmp_path / "home").close()
    (tmp_path / "project" / "docs").mkdir()
    (tmp_path / "project" / "docs" / "authentication.md").write_text("How people log in.\n")
    ours, theirs = pty.openpty()
    try:
        with os.fdopen(os.dup(theirs), "r") as terminal:
            monkeypatch.setattr("sys.stdin", terminal)
            os.write(ours, b"y\n")  # to the import
            assert [step for step, _ in STEPS] == [
                "work check",
                "work import",
                "work select INT-001",
                "work complete INT-001",
            ]
            for step, shown in STEPS:
                capsys.readouterr()
                if step.startswith("work complete"):  # to what only people can say, once it was asked
                    threading.Timer(1.5, lambda: os.write(ours, b"y\n")).start()
                assert main(step.split()) == 0
                said = capsys.readouterr().out
                assert said == shown if shown else True
    finally:
        os.close(ours)
        os.close(theirs)
    assert "status: DONE" in (tmp_path / "project" / NAME).read_text()
