"""The worked session of docs/mcp.md, live: a person enters a server, an agent uses it, the person is asked.

    python docs/mcp-session.py [FOLDER]

The agent is a program with the SDK's client, the server is mcp-server-git on a repository of its own. All is
in one folder (default: a temporary one) with a home of its own; nothing else on the machine is touched.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import ElicitResult, Implementation

SCRIPTS = str(Path(sys.executable).parent)


def surroundings(folder: Path) -> dict[str, str]:
    """What commands and servers see."""
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder), "MCL_HOME": str(folder / "home"), "COLUMNS": "100"}


def say(text: str = "") -> None:
    sys.stdout.write(text.rstrip() + "\n")
    sys.stdout.flush()


def shell(folder: Path, line: str, *, show: bool = True) -> None:
    """A line that the person types, and what it prints."""
    done = subprocess.run(line.split(), cwd=folder, env=surroundings(folder), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{line}: {done.stdout}{done.stderr}")
    if show:
        say(f"$ {line}")
        for told in (done.stdout, done.stderr):
            if told.strip():
                say(told)
        say()


def repository(folder: Path) -> None:
    place = folder / "poems"
    place.mkdir()
    (place / "rose.txt").write_text("Roses are red.\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "First line")):
        subprocess.run(["git", *words], cwd=place, env=surroundings(folder), check=True)
    (place / "rose.txt").write_text("Roses are red.\nViolets are blue.\n")


class Agent:
    """Calls tools, and shows what it called and what came back."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        say(f"agent> {name} {json.dumps(arguments)}")
        answer = await self.client.call_tool(name, arguments)
        told: dict[str, Any] = answer.structured_content or {}
        if answer.is_error and "code" in told:
            say(f"{told['code']}: {told['message']}\n  fix: {told['fix']}")
        elif name == "retrieve_tools":
            for hit in told["tools"]:
                about = hit["description"].partition(".")[0]
                say(f"{hit['score']:.2f} {hit['name']}, to be called with {hit['call_with']}: {about}")
        else:
            say("\n".join(block.text for block in answer.content if block.type == "text"))
        say()
        return told


async def person(context: Any, params: Any) -> ElicitResult:
    """What a host shows of a form, and what the person picks."""
    say("  the host shows:")
    for line in params.message.splitlines():
        say(f"  | {line}")
    decision = {"decision": "approve", "reason": "as we agreed"}
    say(f"  the person picks: {json.dumps(decision)}")
    return ElicitResult(action="accept", content=decision)


async def conversation(folder: Path) -> None:
    mcl = StdioServerParameters(command="mcl", args=["mcp", "serve"], env=surroundings(folder), cwd=folder)
    poet = Implementation(name="poet", version="1.0")
    async with Client(mcl, elicitation_callback=person, client_info=poet) as client:
        agent = Agent(client)
        await agent.call("retrieve_tools", {"query": "show changes in the working directory", "limit": 2})
        look = {"name": "git:git_diff_unstaged", "args": {"repo_path": "poems"}}
        await agent.call("call_tool_read", look)
        reads = {"operation_type": "read", "data_sensitivity": "private"}
        await agent.call("call_tool_read", {**look, "intent": reads})
        add = {"name": "git:git_add", "args": {"repo_path": "poems", "files": ["rose.txt"]}}
        await agent.call("call_tool_read", {**add, "intent": reads})
        writes = {"operation_type": "write", "reason": "stage the second line, as asked"}
        await agent.call("call_tool_write", {**add, "intent": writes})


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[1] if sys.argv[1:] else made)
        folder.mkdir(parents=True, exist_ok=True)
        repository(folder)
        shell(folder, "mcl init --unattended", show=False)  # no person types here
        shell(folder, "mcl server add git -- mcp-server-git")
        shell(folder, "mcl server check git")
        shell(folder, "mcl tool approve git:git_diff_unstaged git:git_add --yes")
        shell(folder, "mcl server trust git")
        asyncio.run(conversation(folder))
        shell(folder, "mcl activity list")
        shell(folder, "mcl log verify")


if __name__ == "__main__":
    main()
