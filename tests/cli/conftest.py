"""The command line as a test runs it: in this process for speed, or in another one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mcl.cli.main import main
from tests.conftest import make_home

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)


@dataclass
class Shell:
    """A folder with a home of its own, and commands run in it."""

    # A goal that is compiled without questions whatever the matcher learns: everything is said beforehand.
    COMPILE: ClassVar[tuple[str, ...]] = (
        *(
            "compile",
            "find the word invoice in the folder notes",
            "--no-ai",
            "--skill",
            "files-find",
            "--verb",
            "find",
        ),
        *("--slot", "text=invoice", "--slot", "folder=notes", "--slot", "pattern=*"),
    )

    folder: Path
    home: Path
    capture: pytest.CaptureFixture[str]
    passphrase: str = ""

    def __call__(self, *arguments: str) -> Ended:
        """Run a command in this process."""
        self.capture.readouterr()
        if self.passphrase:  # which each command takes out of the environment
            os.environ["MCL_PASSPHRASE"] = self.passphrase
        code = main(arguments)
        said = self.capture.readouterr()
        return Ended(code, said.out, said.err)

    def fed(self, data: bytes, *arguments: str) -> Ended:
        """Run a command in this process with a file as its standard input."""
        (self.home.parent / "stdin").write_bytes(data)
        with pytest.MonkeyPatch.context() as patch, (self.home.parent / "stdin").open() as stdin:
            patch.setattr(sys, "stdin", stdin)
            return self(*arguments)

    def other(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Ended:
        """Run a command in another process."""
        done = self.start(*arguments, env=env).communicate(stdin, timeout=60)
        return Ended(self._last.returncode, done[0].decode(), done[1].decode())

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command in another process and do not wait."""
        make_home(self.home)
        self._last = subprocess.Popen(
            [sys.executable, "-m", "mcl", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "MCL_HOME": str(self.home), **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return self._last

    def compiled(self) -> str:
        """The id of a compiled intent."""
        done = self(*self.COMPILE, "--json")
        assert done.code == 0, done.out + done.err
        return str(done.document["id"])

    def signed(self) -> str:
        """The id of an accepted intent."""
        id = self.compiled()
        assert self("accept", id, "--yes").code == 0
        return id


@pytest.fixture
def mcl(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    """A shell in a folder with two notes, and an empty home."""
    folder = tmp_path / "work"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "monday.txt").write_text("Call the plumber.\nInvoice 4711 is due on Friday.\n")
    (folder / "notes" / "tuesday.md").write_text("Invoice 4712 came in.\nBuy coffee.\n")
    home = tmp_path / "home"
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MCL_HOME", str(home))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("MCL_DEBUG", raising=False)
    return Shell(folder, home, capsys)
