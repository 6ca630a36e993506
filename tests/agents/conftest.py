"""A folder with work for coding agents, a home of its own, and a clock that tests set."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from executor.core.clock import SystemClock, instant
from executor.store.home import Home
from executor.walker.questions import People
from mcl.core.home import open_home
from mcl.plugins.agents.file.document import NAME
from mcl.plugins.agents.usecases import ImportedWork, complete_work, import_work, select_work
from mcl.plugins.agents.work.completion import CompleteResult
from mcl.plugins.agents.work.item import WorkItem
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.selection import SelectResult
from mcl.plugins.agents.work.store import SignedWork
from tests.agents.hosting import ClaudeCode


class SetClock(SystemClock):
    """A clock that stands until a test moves it; its ids are fresh all the same."""

    def __init__(self, at: str = "2026-11-21T10:00:00.000Z") -> None:
        super().__init__()
        self.at = at

    def now(self) -> str:
        return self.at

    def later(self, *, minutes: float) -> None:
        self.at = instant(datetime.fromisoformat(self.at) + timedelta(minutes=minutes))


@dataclass
class Written:
    """An entry of the file, as a test wants it. Lists of texts; criteria may be YAML maps in braces."""

    label: str = "INT-001"
    name: str = "Log people in with tokens"
    status: str = "DRAFT"
    scope: tuple[str, ...] = ("src/auth/**",)
    constraints: tuple[str, ...] = ("Hash passwords with bcrypt",)
    criteria: tuple[str, ...] = ("A wrong password is answered with 401",)
    dependencies: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    created_at: str = "2026-11-01T08:00:00Z"
    updated_at: str = "2026-11-02T08:00:00Z"

    def lines(self) -> Iterator[str]:
        yield f"  - id: {self.label}"
        yield f'    name: "{self.name}"'
        yield f"    status: {self.status}  # where it is"
        yield f'    created_at: "{self.created_at}"'
        yield f'    updated_at: "{self.updated_at}"'
        yield from (f"    {line}" for line in self.more)
        lists = {
            "owned_scope": self.scope,
            "constraints": self.constraints,
            "acceptance_criteria": self.criteria,
            "dependencies": self.dependencies,
            "references": self.references,
        }
        for name, texts in lists.items():
            yield f"    {name}:{'' if texts else ' []'}"
            yield from (f"      - {text}" if text.startswith("{") else f'      - "{text}"' for text in texts)


def yaml_of(*entries: Written) -> str:
    """The file with these entries."""
    return "\n".join(["active_intents:", *(line for entry in entries for line in entry.lines())]) + "\n"


@dataclass
class Project:
    """A folder, its home, and what people and agents do there."""

    root: Path
    home: Home
    clock: SetClock
    work: SignedWork = field(init=False)
    leases: Leases = field(init=False)

    def __post_init__(self) -> None:
        self.work = SignedWork(self.home)
        self.leases = Leases(self.home, self.work)

    @property
    def file(self) -> Path:
        return self.root / NAME

    def write(self, *entries: Written) -> str:
        """Write the file."""
        text = yaml_of(*entries)
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(text)
        return text

    def sign(self, *entries: Written) -> ImportedWork:
        """Write the file, if entries are given, and sign what it says, as a person does."""
        if entries:
            self.write(*entries)
        return import_work(agree=lambda plan: True, root=self.root, home=self.home)

    def select(self, label: str, agent: str = "one") -> SelectResult:
        return select_work(label, agent=agent, root=self.root, home=self.home)

    def complete(
        self, label: str = "", agent: str = "one", *, notes: str = "", people: People | None = None
    ) -> CompleteResult:
        return complete_work(label, agent=agent, notes=notes, people=people, root=self.root, home=self.home)

    def item(self, label: str = "INT-001") -> WorkItem:
        found = self.work.item(self.root, label)
        assert found is not None
        return found


@pytest.fixture(scope="session")
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with its keys and first grants, to be copied: to make one takes longer than most tests."""
    folder = tmp_path_factory.mktemp("made") / "home"
    open_home(folder, unattended=True).close()
    return folder


@pytest.fixture
def project(tmp_path: Path, made_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A folder without a file yet."""
    monkeypatch.delenv("MCL_AGENT", raising=False)
    root = tmp_path / "project"
    root.mkdir()
    clock = SetClock()
    shutil.copytree(made_home, tmp_path / "home")
    with Home.open(tmp_path / "home", clock=clock) as home:
        yield Project(root.resolve(), home, clock)


AUTH = Written("INT-001", scope=("src/auth/**", "notes/[ab].md"))
DOCS = Written("INT-002", "Write the docs", scope=("docs/**",))


@pytest.fixture
def claude(project: Project) -> ClaudeCode:
    """Claude Code in a governed folder with two pieces of work, of which nothing is checked out."""
    for path in ("src/auth/login.py", "docs/index.md", "src/main.py"):
        (project.root / path).parent.mkdir(parents=True, exist_ok=True)
        (project.root / path).write_text("one\ntwo\n")
    project.sign(AUTH, DOCS)
    return ClaudeCode(project.home, project.root)


@pytest.fixture
def working(project: Project, claude: ClaudeCode) -> ClaudeCode:
    """The same, with INT-001 checked out."""
    assert project.select("INT-001").success
    return claude
