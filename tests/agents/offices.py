"""A server in this process, and coding agents that talk to it by the SDK's client, each under its name."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp.types import Implementation

from executor import Home
from mcl.plugins.agents.usecases import import_work
from mcl.plugins.mcp.process import opened
from mcl.plugins.mcp.server import Face
from mcl.plugins.mcp.service import GoalCompiler

FILE = ".orchestration/active_intents.yaml"
HEAD = {"created_at": "2026-11-01T10:00:00Z", "updated_at": "2026-11-01T10:00:00Z"}


def write_intents(root: Path, *entries: dict[str, Any]) -> None:
    """The file of a folder; JSON is YAML too, and the status lines of its own are the file's to keep."""
    lines = ["active_intents:"]
    for entry in entries:
        fields = {"status": "DRAFT", "constraints": ["Keep it short"], **HEAD, **entry}
        fields.setdefault("acceptance_criteria", ["It reads well"])
        marks = iter(("  - ", *("    " for _ in fields)))
        lines += [f"{next(marks)}{name}: {json.dumps(value)}" for name, value in fields.items()]
    (root / FILE).parent.mkdir(parents=True, exist_ok=True)
    (root / FILE).write_text("\n".join(lines) + "\n")


@dataclass
class Agent:
    """A coding agent: what it is called, and a client that is connected."""

    name: str
    portal: BlockingPortal
    client: Any

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool; the whole result."""
        return self.portal.call(lambda: self.client.call_tool(name, arguments))

    def told(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """What a tool answers that has no reason to refuse."""
        result = self.call(name, **arguments)
        assert not result.is_error, result.structured_content
        said: dict[str, Any] = result.structured_content
        return said

    def refused(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """With what a tool refuses."""
        result = self.call(name, **arguments)
        assert result.is_error, result.structured_content
        said: dict[str, Any] = result.structured_content
        assert said.keys() == {"code", "message", "fix", "example", "data"}
        return said

    def read(self, path: str) -> dict[str, Any]:
        """Read a file through mcl."""
        said = {"name": "mcl:fs/read", "args": {"path": path}, "intent": {"operation_type": "read"}}
        return self.told("call_tool_read", **said)

    def write(self, path: str, content: str, **more: Any) -> dict[str, Any]:
        """Write a file through mcl."""
        return self.told("call_tool_write", **writing(path, content, **more))

    def write_refused(self, path: str, content: str, **more: Any) -> dict[str, Any]:
        """With what a write is refused."""
        return self.refused("call_tool_write", **writing(path, content, **more))


def writing(path: str, content: str, **more: Any) -> dict[str, Any]:
    """The arguments of call_tool_write for a file."""
    args = {"path": path, "content": content, **more}
    return {"name": "mcl:fs/write", "args": args, "intent": {"operation_type": "write"}}


@dataclass
class Office:
    """A home, a folder that it serves, and whoever works there."""

    home: Home
    root: Path
    stack: ExitStack
    portal: BlockingPortal
    face: Face = field(init=False)

    def serve(self, workspace: Path | None = None, agent: str = "") -> Office:
        """Serve the folder, or another one."""
        serving = opened(self.home, workspace or self.root, GoalCompiler(self.home, ai=False), agent)
        self.face = self.stack.enter_context(self.portal.wrap_async_context_manager(serving))
        return self

    def agent(self, name: str, mode: str = "auto") -> Agent:
        """A client that calls itself so."""
        told = Implementation(name=name, version="1")
        client = Client(self.face.server, mode=mode, client_info=told, read_timeout_seconds=60)
        return Agent(
            name, self.portal, self.stack.enter_context(self.portal.wrap_async_context_manager(client))
        )

    def sign(self, *entries: dict[str, Any]) -> None:
        """A person writes the file, and signs what it says."""
        write_intents(self.root, *entries)
        assert import_work(agree=lambda plan: True, root=self.root, home=self.home).agreed
