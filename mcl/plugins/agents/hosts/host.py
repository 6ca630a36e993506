"""One host as its table says it is; a table a file, `<name>.toml` with `_` for `-`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal, cast

from executor.core.tables import table_beside
from executor.sandbox.redaction import visible
from mcl.core.errors import HookError, InputError
from mcl.plugins.agents.hosts import NAMES

Does = Literal["reads", "searches", "writes", "shell", "nothing", "ours", "unknown"]
Style = Literal["permission", "decision"]

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
    table = table_beside(__file__, name.replace("-", "_"))
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


# ---- A host's event, read strictly: what a tool is about to do, or did.

MOST: Final = 16 << 20  # bytes of an event
_DEEPEST: Final = 100  # objects and lists in one another
_PATHS: Final = 64  # that one call names
_LONGEST: Final = 4096  # characters of a name or a path
_COMMAND: Final = 1 << 20  # characters
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_BROKEN: Final = re.compile(r"[\x00\ud800-\udfff]")

When = Literal["pre", "post"]


@dataclass(frozen=True, slots=True)
class Event:
    """One call of a tool.

    when: is it about to be made, or was it? cwd: the folder the host works in, absolute. tool: as the host
    calls it. paths: that its arguments name, as they stand there. command: of a shell; folder: where it is to
    run, "" for cwd. key: the same before and after one call, and of no other call of the session unless the
    host gives its calls no ids; call: the same for the same tool and arguments, whenever and whoever.
    planning: the host's person asked for a plan, and for nothing to be done yet. own: as of AgentHost. same:
    our tool that does the same, "" none; given: what it would be given for this, without the path. finds: as
    of HostTool. name: what the host calls the event; failed: does it tell of a call that ended with an error?
    """

    when: When
    session: str
    cwd: str
    tool: str
    does: Does
    paths: tuple[str, ...]
    command: str
    folder: str
    key: str
    call: str
    planning: bool = False
    own: tuple[str, ...] = ()
    same: str = ""
    finds: bool = False
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)
    name: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class HookCaller:
    """Who calls. agent: its name; in_environment: do commands that it starts know it (MCL_AGENT)? project:
    the folder that the host was started for, "" where it does not say; search: the PATH of its shell."""

    agent: str
    in_environment: bool = False
    project: str = ""
    search: str = ""


def read_event(data: bytes, host: AgentHost, when: When) -> Event:
    """Read an event.

    data: JSON, as the host writes it. Raises HookError EVENT_TOO_LARGE, BAD_EVENT; nothing of an event is
    guessed.
    """
    said = _object(data)
    name = said.get("hook_event_name")
    wanted = [event for event, verb in host.events.items() if verb == f"{when}-tool-use"]
    if name not in wanted:
        raise _bad(f"its hook_event_name is {str(name)[:40]!a}, not {' or '.join(wanted)}")
    tool, cwd, session = (_text(said, field) for field in ("tool_name", "cwd", "session_id"))
    if not cwd.startswith("/"):
        raise _bad("cwd is no absolute path")
    given = said.get("tool_input", {})
    if not isinstance(given, dict):
        raise _bad("tool_input is no object")
    known = host.tool(tool, said)
    paths = tuple(path for field in known.paths for path in _paths(given, field))
    if len(paths) > _PATHS:
        raise _bad(f"it names more than {_PATHS} paths")
    if known.does == "writes" and not paths:
        raise _bad(f"{tool} names no file: none of {', '.join(known.paths)} is there")
    command = given.get(known.command) if known.does == "shell" else ""
    if not isinstance(command, str) or len(command) > _COMMAND:
        raise _bad(f"{known.command} is no text of at most {_COMMAND:,} characters")
    folders = [path for field in known.folders for path in _paths(given, field)]
    if len(set(folders)) > 1:
        raise _bad("it names several folders to run in")
    call = _digest([tool, given])
    own = said.get("tool_use_id")
    key = _digest([host.name, session, own if isinstance(own, str) and own else call])
    folder = folders[0] if folders else ""
    planning = said.get("permission_mode") == "plan"
    return Event(
        *(when, session, cwd, tool, known.does, paths, command, folder, key, call, planning, host.own),
        same=known.same if len(paths) < 2 else "",
        finds=known.finds,
        given=_as_ours(given, known),
        name=str(name),
        failed=name == host.failed,
    )


def _as_ours(given: Mapping[str, Any], known: HostTool) -> dict[str, Any]:
    """The arguments of a call as our tool that does the same names them."""
    named = {known.named.get(name, name): value for name, value in given.items() if name not in known.paths}
    return {name: value for name, value in named.items() if name}


def _object(data: bytes) -> dict[str, Any]:
    if len(data) > MOST:
        raise HookError(
            "EVENT_TOO_LARGE",
            f"the event has more than {MOST >> 20} MiB",
            place="event",
            fix="write the file in smaller pieces",
        )
    try:
        said = json.loads(data, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError as problem:
        raise _bad("it is nested too deeply") from problem
    except ValueError as problem:
        raise _bad(f"it is no JSON: {str(problem)[:100]}") from problem
    if not isinstance(said, dict):
        raise _bad("it is no object")
    _shallow(said)
    return said


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):  # the host may take the other one
        raise ValueError("a name stands in one object twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _shallow(value: object) -> None:
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise _bad("it is nested too deeply")


def _text(said: Mapping[str, Any], field: str) -> str:
    value = said.get(field)
    if not isinstance(value, str) or not value:
        raise _bad(f"{field} is missing, or no text")
    if len(value) > _LONGEST or _CONTROL.search(value):
        raise _bad(f"{field} is too long, or holds control characters")
    return value


def _paths(given: Mapping[str, Any], field: str) -> list[str]:
    value = given.get(field)
    if value is None or value == "":
        return []
    several = value if isinstance(value, list) else [value]
    for one in several:
        if not isinstance(one, str) or len(one) > _LONGEST or _BROKEN.search(one):
            raise _bad(f"{field} is no path")
    return list(several)


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _bad(why: str) -> HookError:
    return HookError(
        "BAD_EVENT",
        f"the event on standard input cannot be used: {why}",
        place="event",
        fix="see that --host names the program that calls, with the hooks that `mcl hook install` prints",
    )


# ---- What a host is told, in its own form.

BLOCK: Final = 2  # the only exit code with which hosts stop a call
_MOST: Final = 9_000  # characters of a text; hosts cut at 10,000

Verdict = Literal["allow", "ask", "deny", "leave"]


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """What goes out: the exit code, standard output (JSON) and standard error."""

    exit: int
    out: str
    err: str = ""


def answer_before(host: AgentHost, verdict: Verdict, reason: str = "") -> HostAnswer:
    """The decision about a call. leave: none, the host's own rules decide."""
    reason = _shown(reason)
    if verdict == "leave":
        return HostAnswer(0, "{}")
    out: dict[str, Any]
    if host.style == "permission":
        said = {"hookEventName": host.pre, "permissionDecision": verdict, "permissionDecisionReason": reason}
        out = {"hookSpecificOutput": said}
    else:
        out = {"decision": verdict, "reason": reason}
        if verdict == "ask":
            out["systemMessage"] = reason
    text = json.dumps(out)
    return HostAnswer(BLOCK, text, reason + "\n") if verdict == "deny" else HostAnswer(0, text)


def answer_after(event: str, context: str = "") -> HostAnswer:
    """What is told about a call that was made; it never blocks. event: what the host calls it."""
    if not context:
        return HostAnswer(0, "{}")
    said = {"hookEventName": event, "additionalContext": _shown(context)}
    return HostAnswer(0, json.dumps({"hookSpecificOutput": said}))


def _shown(text: str) -> str:
    text = visible(text)
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
