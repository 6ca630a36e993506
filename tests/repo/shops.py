"""A repository with a home of its own, and commands run for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from executor.store.home import Home
from mcl.cli.main import main
from mcl.plugins.repo.contract import SCHEMA, RepoIntent, intent_types
from tests.cli.conftest import Ended

GIT = {
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "2026-11-22T10:00:00Z" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_CONFIG_{which}": os.devnull for which in ("GLOBAL", "SYSTEM")},
}


def git(folder: Path, *arguments: str) -> str:
    """What git says in a folder."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **GIT}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """A repository with one commit and a changed file."""
    folder.mkdir(parents=True)
    (folder / "app.py").write_text("def sell():\n    # TODO: sell something\n    return 0\n")
    (folder / "README.md").write_text("# Shop\n")
    git(folder, "init", "-q", "-b", "main", "--template=")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Open the shop")
    (folder / "README.md").write_text("# Shop\n\nOpen daily.\n")
    return folder


def asked(intent: str, *args: str, **more: Any) -> RepoIntent:
    """A contract; what its intent needs besides is filled in."""
    command = "doctor" if intent_types()[intent].takes_command else None
    return RepoIntent(
        **{"intent": intent, "repo": None, "command": command, "args": args, "message": "", **more}
    )


def contract(intent: str, *args: str, **more: object) -> bytes:
    """A contract as a document."""
    fields = {
        "schema": SCHEMA,
        "intent": intent,
        "repo": None,
        "command": None,
        "args": list(args),
        "message": "",
    }
    return json.dumps({**fields, **more}).encode()


@dataclass
class Shop:
    """A repository that the home knows as `shop`, and the folder beside it that commands are run in."""

    folder: Path
    place: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def __call__(self, *arguments: str) -> Ended:
        """Run a command in this process."""
        self.capture.readouterr()
        code = main(["repo", *arguments])
        said = self.capture.readouterr()
        return Ended(code, said.out, said.err)

    def fed(self, data: bytes, *arguments: str) -> Ended:
        """Run a command in this process with a file as its standard input."""
        (self.place.parent / "stdin").write_bytes(data)
        with self.patch.context() as patch, (self.place.parent / "stdin").open() as stdin:
            patch.setattr(sys, "stdin", stdin)
            return self(*arguments)

    @contextmanager
    def home(self) -> Iterator[Home]:
        """The home, opened."""
        with Home.open(self.place) as home:
            yield home

    @property
    def branch(self) -> str:
        """The branch that is checked out."""
        return git(self.folder, "branch", "--show-current")

    def kinds(self) -> list[str]:
        """The kinds of the journal's rows, oldest first, but for those about the home itself."""
        own = ("record.home.", "record.journal.")  # it is unattended, and was copied
        with self.home() as home:
            return [row.kind for row in home.journal.rows() if not row.kind.startswith(own)]

    @contextmanager
    def terminal(self, *answers: bytes) -> Iterator[list[str]]:
        """A pseudo-terminal that gives one answer to each question; yields what was shown on it."""
        master, slave = os.openpty()
        shown: list[str] = []

        def answer() -> None:
            waiting, left = "", list(answers)
            while True:
                try:
                    piece = os.read(master, 4096)
                except OSError:
                    return
                waiting += piece.decode()
                shown.append(piece.decode())
                if "[y/n] " in waiting and left:
                    waiting = ""
                    os.write(master, left.pop(0))

        thread = threading.Thread(target=answer, daemon=True)
        with self.patch.context() as patch:
            patch.setattr("mcl.cli.people.TERMINAL", os.ttyname(slave))
            thread.start()
            yield shown
        os.close(slave)  # the reader's end: it has read all by then
        thread.join(10)
        os.close(master)
