"""A git repository with a home of its own: changed by tests, looked at and reviewed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.cli.main import main
from mcl.plugins.review.piece import FilePiece, ReviewTarget
from mcl.plugins.review.target import look_at

GIT = {
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "2026-11-22T10:00:00Z" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_CONFIG_{which}": os.devnull for which in ("GLOBAL", "SYSTEM")},
}
APP = "def total(rows):\n    return sum(rows)\n\n\ndef mean(rows):\n    return total(rows) / len(rows)\n"


@dataclass(frozen=True)
class Told:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)


@dataclass
class Yard:
    """A repository whose one commit holds app.py; the home lies beside it."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    @property
    def home(self) -> Path:
        """Where the home is."""
        return self.folder.parent / "home"

    def git(self, *arguments: str, ok: bool = True) -> str:
        """What git says."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **GIT},
            capture_output=True,
            text=True,
            check=ok,
        )
        return done.stdout.strip()

    def write(self, name: str, content: str | bytes) -> Path:
        """Put a file in the folder."""
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    def commit(self, **files: str) -> str:
        """Write files, commit everything, give the commit's id."""
        for name, content in files.items():
            self.write(name.replace("__", "."), content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "Change")
        return self.git("rev-parse", "HEAD")

    def look(self, path: str = "", base: str = "", *, staged: bool = False) -> ReviewTarget:
        """What a review would look at."""
        workspace = Workspace(self.folder, forbidden=(self.home,))
        bench = Bench(workspace, None, "read", 1 << 20, "")  # type: ignore[arg-type]  # it asks no clock

        async def looked() -> ReviewTarget:
            return await look_at(bench, path=path, base=base, staged=staged)

        try:
            return anyio.run(looked)
        finally:
            workspace.close()

    def piece(self, path: str, base: str = "HEAD", *, staged: bool = False) -> FilePiece:
        """One file of a difference."""
        [found] = [one for one in self.look(base=base, staged=staged).pieces if one.path == path]
        return found

    def skipped(self, base: str = "HEAD", *, staged: bool = False) -> dict[str, str]:
        """Why what is not looked at is left out, by path."""
        return {one.path: one.why for one in self.look(base=base, staged=staged).skipped}

    def __call__(self, *arguments: str) -> Told:
        """Run `mcl review` in this process."""
        return self.mcl("review", *arguments)

    def mcl(self, *arguments: str) -> Told:
        """Run a command in this process."""
        self.capture.readouterr()
        code = main(arguments)
        said = self.capture.readouterr()
        return Told(code, said.out, said.err)

    def fed(self, text: str, *arguments: str) -> Told:
        """Run `mcl review` with a text as its standard input."""
        (self.folder.parent / "stdin").write_text(text)
        with (self.folder.parent / "stdin").open() as stdin, pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", stdin)
            return self(*arguments)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """All files of the folder with content and time, .git aside."""
        return {
            str(one.relative_to(self.folder)): (one.read_bytes(), one.stat().st_mtime_ns)
            for one in sorted(self.folder.rglob("*"))
            if one.is_file() and ".git" not in one.parts
        }

    def opened(self) -> Home:
        """The home."""
        return Home.open(self.home)
