"""A home that knows servers and their tools, as if each had listed them; nothing is started."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from executor import Home
from executor.gate.pins import Pins
from executor.tools.names import slug
from mcl.catalog.definitions import Definitions
from mcl.catalog.servers import Servers
from mcl.core.home import open_home
from mcl.language.skills import Derived, Skills
from mcl.usecases.compile import compile_goal
from mcl.usecases.installed import installed

DEFINITIONS: Mapping[str, Sequence[Mapping[str, Any]]] = json.loads(
    Path(__file__).parents[1].joinpath("mcp", "definitions.json").read_text()
)
AT = "2026-11-27T10:00:00.000Z"


@dataclass
class Shelf:
    """What a home knows of servers."""

    home: Home

    def listed(self, server: str, *definitions: Mapping[str, Any], trusted: bool = True) -> None:
        """A server lists tools, and a person approves them as they are."""
        servers = Servers(self.home)
        if servers.find(server) is None:
            servers.add(server, command=["true"])
            if trusted:
                servers.trust(server)
        known = Definitions(self.home)
        known.observe(server, definitions)
        with self.home.journal.tables.changing():
            for one in known.known():
                if one.server == server and one.standing == "new":
                    Pins(self.home).approve(one.manifest)

    @property
    def skills(self) -> Skills:
        return installed(self.home.path, here=self.home.path)

    @property
    def derived(self) -> Derived:
        return self.skills.derived

    def skills_at(self, folder: Path) -> Skills:
        return installed(self.home.path, here=folder)

    def slug(self, tool: str) -> str:
        """The end of the address of a tool whose name an address cannot hold."""
        return slug(tool).rpartition("-")[2]

    def compile_kept(self, goal: str, **more: Any) -> Any:
        return compile_goal(goal, home=self.home, **more)

    def compile(self, goal: str, **more: Any) -> Any:
        return compile_goal(goal, home=self.home, at=AT, zone="Europe/Stockholm", dry_run=True, **more)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with open_home(tmp_path / "home") as home:
        yield Shelf(home)


def tool(name: str, description: str = "", required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    """The definition of a tool that only reads."""
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": list(required)},
        "annotations": {"readOnlyHint": True},
    }
