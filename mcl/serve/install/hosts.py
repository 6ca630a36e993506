"""The programs that mcl can be entered in: where each keeps its servers, and in which form.

Taken from their documentation of November 2026 (`docs`). A program that is not here takes the command and
arguments of any that is.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from mcl.core.errors import InputError

Folder = Literal["started", "variable", "named"]


@dataclass(frozen=True, slots=True)
class Host:
    """One program.

    file: of a user's own configuration, below the folder of the home; mac: where it lies elsewhere on macOS;
    moved: a variable that names the folder in which the file lies instead. key: the object in the file that
    holds the servers. extra: further fields of an entry. folder: is a server started in the folder that is
    worked in, can that be named by a variable (`variable`), or has it to be named once and for all? add: the
    program's own command for it, with ``{name}`` and ``{command}``.
    """

    name: str
    title: str
    file: str
    key: str
    docs: str
    format: Literal["json", "toml"] = "json"
    mac: str = ""
    moved: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)
    folder: Folder = "named"
    variable: str = ""
    add: str = ""

    def place(self, home: Path, environment: Mapping[str, str]) -> Path:
        """The file. home: the user's own folder."""
        if self.moved and (moved := environment.get(self.moved)):
            return Path(moved).expanduser() / Path(self.file).name
        if self.mac and sys.platform == "darwin":
            return home / self.mac
        return home / self.file


HOSTS: Final[tuple[Host, ...]] = (
    Host(
        name="claude-desktop",
        title="Claude Desktop",
        file=".config/Claude/claude_desktop_config.json",
        mac="Library/Application Support/Claude/claude_desktop_config.json",
        key="mcpServers",
        docs="https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    ),
    Host(
        name="claude-code",
        title="Claude Code",
        file=".claude.json",
        key="mcpServers",
        docs="https://code.claude.com/docs/en/mcp",
        extra={"type": "stdio"},
        folder="started",
        add="claude mcp add --scope user {name} -- {command}",
    ),
    Host(
        name="cursor",
        title="Cursor",
        file=".cursor/mcp.json",
        key="mcpServers",
        docs="https://cursor.com/docs/mcp",
        extra={"type": "stdio"},
        folder="variable",
        variable="${workspaceFolder}",
    ),
    Host(
        name="vscode",
        title="VS Code",
        file=".config/Code/User/mcp.json",
        mac="Library/Application Support/Code/User/mcp.json",
        key="servers",
        docs="https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        extra={"type": "stdio"},
        folder="variable",
        variable="${workspaceFolder}",
    ),
    Host(
        name="devin",
        title="Devin Desktop (Windsurf from June 2026 on)",
        file=".config/devin/mcp_config.json",
        key="mcpServers",
        docs="https://docs.devin.ai",
    ),
    Host(
        name="windsurf",
        title="Windsurf (before it became Devin Desktop)",
        file=".codeium/windsurf/mcp_config.json",
        key="mcpServers",
        docs="https://docs.windsurf.com/windsurf/cascade/mcp",
    ),
    Host(
        name="zed",
        title="Zed",
        file=".config/zed/settings.json",
        key="context_servers",
        docs="https://zed.dev/docs/ai/mcp",
    ),
    Host(
        name="codex",
        title="Codex",
        file=".codex/config.toml",
        format="toml",
        moved="CODEX_HOME",
        key="mcp_servers",
        docs="https://developers.openai.com/codex/mcp",
        folder="started",
        add="codex mcp add {name} -- {command}",
    ),
    Host(
        name="gemini-cli",
        title="Gemini CLI",
        file=".gemini/settings.json",
        key="mcpServers",
        docs="https://geminicli.com/docs/tools/mcp-server",
        folder="started",
        add="gemini mcp add --scope user {name} {command}",
    ),
    Host(
        name="antigravity",
        title="Antigravity",
        file=".gemini/config/mcp_config.json",
        key="mcpServers",
        docs="https://antigravity.google/docs",
    ),
    Host(
        name="copilot-cli",
        title="GitHub Copilot CLI",
        file=".copilot/mcp-config.json",
        moved="COPILOT_HOME",
        key="mcpServers",
        docs="https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
        extra={"type": "local", "tools": ["*"]},
        folder="started",
        add="copilot mcp add {name} -- {command}",
    ),
)


def host_named(name: str) -> Host:
    """The program of this name.

    Raises:
        InputError: HOST_UNKNOWN.
    """
    known = {host.name: host for host in HOSTS}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    raise InputError(
        "HOST_UNKNOWN",
        f"{name[:80]!a} is no program that is known here{f'; {near[0]} is' if near else ''}",
        place="--host",
        fix=f"one of {', '.join(known)}; others take the command that any of these is given",
    )
