"""One host as its table says it is; a table a file, `<name>.toml` with `_` for `-`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final, Literal, cast

from mcl.core.errors import InputError

Does = Literal["reads", "searches", "writes", "shell", "nothing", "ours", "unknown"]
Style = Literal["permission", "decision"]

NAMES: Final = ("claude-code", "gemini-cli")
# The tools that our own MCP server offers; it judges their calls itself.
OURS: Final = frozenset(
    {
        *("retrieve_tools", "describe_tool", "call_tool_read", "call_tool_write", "call_tool_destructive"),
        *("compile_intent", "get_intent", "run_intent", "read_activity"),
        *("list_active_intents", "select_active_intent", "complete_intent", "release_active_intent"),
    }
)


@dataclass(frozen=True, slots=True)
class HostTool:
    """What a tool of a host does. paths, folders: arguments that name files, or the folder a command runs in;
    command: the one that holds it; same: our tool that does the same, "" none; named: by the name of an
    argument, what that calls it, "" for what makes no other call of it. finds: does it look for a file of
    that name, where a relative path leads to none?"""

    does: Does
    paths: tuple[str, ...] = ()
    command: str = ""
    folders: tuple[str, ...] = ()
    same: str = ""
    finds: bool = False
    named: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AgentHost:
    """A host.

    pre, post: what it calls the events; failed: the one that comes in place of post after a call that ended
    with an error, "" where there is none. style: how it is answered. ours: how the names of our own MCP tools
    begin there; others: how those of any server begin, and what stands between server and tool; server: where
    an event says which server a tool is of, where names leave that open. settings:
    the file in a project that names hooks. project_variable: the environment variable that names the project.
    timeout: of a hook, in the host's own unit. own: files below the user's home folder that it has its agents
    write for itself, such as plans; `*` stands for what is in one name.
    """

    name: str
    title: str
    docs: str
    pre: str
    post: str
    style: Style
    ours: str
    others: tuple[str, str]
    settings: str
    project_variable: str
    timeout: int
    failed: str = ""
    server: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    tools: Mapping[str, HostTool] = field(default_factory=dict)

    @property
    def events(self) -> Mapping[str, str]:
        """The events that it tells of calls, each with our verb for it."""
        after = {name: "post-tool-use" for name in (self.post, self.failed) if name}
        return {self.pre: "pre-tool-use", **after}

    def tool(self, name: str, event: Mapping[str, object]) -> HostTool:
        """What a call of this name is; whatever is not known counts as destructive."""
        if (known := self.tools.get(name)) is not None:
            return known
        if self._is_ours(name, event):
            return HostTool("ours")
        return HostTool("unknown", same=self._of_server(name, event))

    def _of_server(self, name: str, event: Mapping[str, object]) -> str:
        """What our server calls a tool of another one that it stands before, "" where its name is no such."""
        begin, between = self.others
        rest = name.removeprefix(begin)
        said = self._said(event)
        server = rest.partition(between)[0] if said is None else said
        tool = rest.removeprefix(f"{server}{between}")
        return f"{server}:{tool}" if rest != name and server and tool and tool != rest else ""

    def _said(self, event: Mapping[str, object]) -> str | None:
        """The server that an event names; None where this host's events name none."""
        said: object = event
        for step in self.server:
            said = said.get(step) if isinstance(said, Mapping) else None
        return None if not self.server else said if isinstance(said, str) else ""

    def _is_ours(self, name: str, event: Mapping[str, object]) -> bool:
        rest = name.removeprefix(self.ours)
        # Another server may be called `mcl__x` or `mcl_x`, and its tools begin as ours do.
        if rest == name or rest not in OURS:
            return False
        return self._said(event) in (None, "mcl")


def host_named(name: str) -> AgentHost:
    """The host of this name. Raises InputError HOST_UNKNOWN."""
    if name not in NAMES:
        raise InputError(
            "HOST_UNKNOWN",
            f"{name[:80]!a} is no host whose events are known here",
            place="--host",
            fix=f"one of {', '.join(NAMES)}",
        )
    return _load(name)


@cache
def _load(name: str) -> AgentHost:
    table = tomllib.loads(files(__package__).joinpath(f"{name.replace('-', '_')}.toml").read_text("utf-8"))
    settings = table["settings"]
    return AgentHost(
        name=name,
        title=table["title"],
        docs=table["docs"],
        pre=table["pre"],
        post=table["post"],
        style=cast(Style, table["style"]),
        ours=table["ours"],
        others=(table["others"][0], table["others"][1]),
        settings=settings["file"],
        project_variable=settings["project_variable"],
        timeout=settings["timeout"],
        failed=table.get("failed", ""),
        server=tuple(table.get("server", ())),
        own=tuple(table.get("own", ())),
        tools={
            tool: HostTool(
                does=said["does"],
                paths=tuple(said.get("paths", ())),
                command=said.get("command", ""),
                folders=tuple(said.get("folders", ())),
                same=said.get("same", ""),
                finds=said.get("finds", False),
                named=said.get("named", {}),
            )
            for tool, said in table["tools"].items()
        },
    )
