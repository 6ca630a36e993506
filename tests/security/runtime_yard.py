"""The project that examples of tools run in, and witnesses around it: what git was told, what was started."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest

from executor import AlwaysApprove, Home
from executor.sandbox.child import unlaunched
from executor.tools.manifest import Manifest
from ir.errors import MclError
from mcl.catalog.contracts.contract import programs_of
from mcl.catalog.tools import registry
from mcl.plugins.probing.folder import (
    AREAS,
    environment_of,
    make_stand_ins,
    make_template,
    settle,
    take_place,
)
from mcl.usecases.call import Called, call_tool

MANIFESTS = registry().manifests
SECRET = "the-secret-outside"
LOGGED = '#!/bin/sh\nprintf "%s\\n" "$*" >> {log}\nexec {git} "$@"\n'

_started: list[tuple[str, ...]] | None = None


def _hear(event: str, args: tuple[object, ...]) -> None:
    if _started is None or event not in ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system"):
        return
    if event == "os.system":
        _started.append(("sh", str(args[0])))
        return
    words = args[1] if isinstance(args[1], list | tuple) else [args[0]]
    _started.append(unlaunched([os.fsdecode(word) for word in words]))  # type: ignore[arg-type]  # of an argv


_listening: list[bool] = []


@contextmanager
def started() -> Iterator[list[tuple[str, ...]]]:
    """The command lines that this process starts meanwhile. A hook of Python's cannot be taken away again."""
    global _started
    if not _listening:
        sys.addaudithook(_hear)
        _listening.append(True)
    _started = []
    try:
        yield _started
    finally:
        _started = None


@dataclass
class Yard:
    """One project with a home, and what lies around it."""

    place: Path
    home: Home
    told_git: Path
    codes: list[str] = field(default_factory=list)

    @property
    def work(self) -> Path:
        """The workspace."""
        return self.place / "work"

    def call(self, name: str, args: Mapping[str, object]) -> Called | None:
        """Sign a call and make it; every question is answered with yes. None: it could not be proposed."""
        try:
            called = call_tool(
                name,
                args,
                agree=lambda seen: True,
                people=AlwaysApprove(),
                workspace=self.work,
                home=self.home,
            )
        except MclError as refused:
            self.codes.append(refused.code)
            return None
        failure = called.outcome.failure if called.outcome else None
        self.codes.append(called.refused.code if called.refused else failure.code if failure else "")
        return called

    def snapshot(self, *areas: str) -> dict[str, str]:
        """Every path around, with a hash of what it is."""
        found = {}
        for area in areas or AREAS:
            for path in sorted((self.place / area).rglob("*")):
                status = path.lstat()
                held = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
                link = os.readlink(path) if path.is_symlink() else ""  # noqa: PTH115  # as it stands
                found[str(path.relative_to(self.place))] = (
                    f"{status.st_mode:o} {status.st_mtime_ns} {held}{link}"
                )
        return found

    def refs(self) -> dict[str, str]:
        """The references of the repository and what they name, and HEAD."""
        git = self.work / ".git"
        files = [*(git / "refs").rglob("*"), git / "packed-refs"]
        return {str(path.relative_to(git)): path.read_text() for path in files if path.is_file()}

    def commit(self) -> str:
        """What HEAD names in the end."""
        head = (self.work / ".git" / "HEAD").read_text().removeprefix("ref: ").strip()
        return self.refs()[head].strip() if head.startswith("refs/") else head

    def git_was_told(self) -> list[list[str]]:
        """The command lines of git, word by word."""
        return (
            [line.split() for line in self.told_git.read_text().splitlines()]
            if self.told_git.exists()
            else []
        )


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A project that was made once, with stand-ins for programs, and a git that keeps what it is told."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # not in memory, as `on_disk`
        yield _made(Path(folder).resolve())


def _made(place: Path) -> Path:
    anyio.run(lambda: make_template(place / "template", host="https://example.org"))
    make_stand_ins(place, sorted({name for one in MANIFESTS for name in programs_of(one)}))
    (place / "template" / "beside" / "secret.txt").write_text(SECRET)
    git = shutil.which("git")
    assert git is not None
    wrapper = place / "stand-ins" / "git"
    wrapper.write_text(LOGGED.format(log=place / "told-git", git=git))
    wrapper.chmod(0o755)
    return place


@pytest.fixture
def yard(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    """A fresh copy of it, as the current folder, with its variables."""
    place = template / "places" / tmp_path.name
    take_place(template / "template", place)
    for name in [*os.environ]:
        if name != "PYTHONPATH":
            monkeypatch.delenv(name)
    for name, value in environment_of(place).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place / "work")
    with suppress(FileNotFoundError):
        (template / "told-git").unlink()
    with Home.open(place / "mcl") as home:
        settle(place, home)
        yield Yard(place, home, template / "told-git")
    shutil.rmtree(place)


def short(manifest: Manifest) -> str:
    """``fs/read``."""
    return manifest.uri.removeprefix("matrix://tool/").partition("@")[0]
