"""A host of a coding agent, played: it sends the events that its documentation shows, and reads answers."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from executor.store.home import Home
from ir import MclError
from mcl.plugins.agents.guard.judge import REFUSED
from mcl.plugins.agents.hook.answer import Answering, failed
from mcl.plugins.agents.hook.messages import packed
from mcl.plugins.agents.trace.line import TRACE

if TYPE_CHECKING:
    from tests.agents.conftest import Project

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass
class Told:
    """An answer. verdict: allow, ask, deny, or "" where the host's own rules decide."""

    exit: int
    out: dict[str, Any]
    err: str

    @property
    def verdict(self) -> str:
        said = self.out.get("hookSpecificOutput", self.out)
        return str(said.get("permissionDecision", said.get("decision", "")))

    @property
    def reason(self) -> str:
        said = self.out.get("hookSpecificOutput", self.out)
        return str(said.get("permissionDecisionReason", said.get("reason", "")))

    @property
    def context(self) -> str:
        return str(self.out.get("hookSpecificOutput", {}).get("additionalContext", ""))


@dataclass
class ClaudeCode:
    """Claude Code, as https://code.claude.com/docs/en/hooks describes its tool events."""

    home: Home
    cwd: Path
    agent: str = "one"
    session: str = "11111111-2222-3333-4444-555555555555"
    project: str = ""
    search: str = SYSTEM_PATH
    environment_agent: str = ""
    name: str = "claude-code"
    pre_name: str = "PreToolUse"
    post_name: str = "PostToolUse"
    failure_name: str = "PostToolUseFailure"
    calls: int = 0
    _answering: Answering | None = field(default=None, repr=False)

    def event(self, when: str, tool: str, given: object, **more: object) -> dict[str, object]:
        said: dict[str, object] = {
            "session_id": self.session,
            "transcript_path": "/home/ada/.claude/projects/x/transcript.jsonl",
            "cwd": str(self.cwd),
            "permission_mode": "default",
            "hook_event_name": {"pre": self.pre_name, "post": self.post_name}.get(when, self.failure_name),
            "tool_name": tool,
            "tool_input": given,
            "tool_use_id": f"toolu_{self.calls:03}",
        }
        if when == "post":
            said["tool_response"] = {"success": True}
        if when == "failed":
            said |= {"error": "Command failed with exit code 1", "is_interrupt": False}
        return {**said, **more}

    def send(self, when: str, data: bytes) -> Told:
        """An event as bytes."""
        self._answering = self._answering or Answering(self.home)
        around = packed(
            [os.fsencode(one) for one in (*self._projects(), self.environment_agent, self.search)]
        )
        parts = [when.encode(), self.name.encode(), self.agent.encode(), around[4:]]
        try:
            answer = self._answering.answer(parts, data)
        except (MclError, OSError, ValueError) as problem:
            answer = failed(parts, problem)
        return Told(answer.exit, json.loads(answer.out or "{}"), answer.err)

    def _projects(self) -> tuple[str, str]:
        return self.project, ""

    def pre(self, tool: str, given: object, **more: object) -> Told:
        """A tool is about to be used."""
        self.calls += 1
        return self.send("pre", json.dumps(self.event("pre", tool, given, **more)).encode())

    def post(self, tool: str, given: object, **more: object) -> Told:
        """It was used."""
        return self.send("post", json.dumps(self.event("post", tool, given, **more)).encode())

    def failed(self, tool: str, given: object, **more: object) -> Told:
        """It was used, and ended with an error."""
        return self.send("post", json.dumps(self.event("failed", tool, given, **more)).encode())

    def write(self, path: str | Path, content: str = "new\n") -> Told:
        """Write a file as the host does: asked first, done where that is allowed, told afterwards."""
        given = {"file_path": str(path), "content": content}
        told = self.pre("Write", given)
        if told.verdict == "allow":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(content)
            self.post("Write", given)
        return told

    def read(self, path: str | Path) -> Told:
        told = self.pre("Read", {"file_path": str(path)})
        self.post("Read", {"file_path": str(path)})
        return told

    def bash(self, command: str) -> Told:
        return self.pre("Bash", {"command": command, "description": "what it does"})


@dataclass
class GeminiCli(ClaudeCode):
    """Gemini CLI, as https://geminicli.com/docs/hooks/reference describes it; its calls have no ids."""

    name: str = "gemini-cli"
    pre_name: str = "BeforeTool"
    post_name: str = "AfterTool"
    failure_name: str = "AfterTool"  # there is no other

    def _projects(self) -> tuple[str, str]:
        return "", self.project

    def event(self, when: str, tool: str, given: object, **more: object) -> dict[str, object]:
        said = super().event(when, tool, given, **more)
        del said["tool_use_id"], said["permission_mode"]
        return {**said, "timestamp": "2026-11-21T10:00:00.000Z"}


def trace(project: Project) -> list[dict[str, object]]:
    place = project.file.parent / TRACE
    return [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []


def refusals(project: Project) -> list[dict[str, object]]:
    journal = project.home.journal
    return [dict(journal.open(row.wire).body) for row in journal.rows(kind=REFUSED)]  # type: ignore[arg-type]
