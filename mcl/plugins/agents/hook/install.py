"""The settings of a host that name our hooks, and how they come into its file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from mcl.core.environment import HOME, agent_name
from mcl.plugins.agents.hosts.host import AgentHost
from mcl.plugins.agents.install.changes import ConfigChange, changed, read_object
from mcl.plugins.agents.install.hosts import command_of_mcl

_OURS: Final = ("hook pre-tool-use", "hook post-tool-use")


def settings_for(host: AgentHost, agent: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """What a host's settings have to hold. agent: a name, "" for none.

    MCL_HOME is taken from the environment, where it is set. Raises WorkError BAD_AGENT_NAME.
    """
    home = environment.get(HOME)
    before = f"MCL_HOME={shlex.quote(str(Path(home).expanduser().absolute()))} " if home else ""
    words = ["--host", host.name, *(["--agent", agent_name(agent)] if agent else [])]

    def hook(verb: str, behind: str) -> list[dict[str, Any]]:
        command = f"{before}{shlex.join([*command_of_mcl(), 'hook', verb, *words])}{behind}"
        return [{"hooks": [{"type": "command", "command": command, "timeout": host.timeout}]}]

    # Hosts let a call pass where a hook cannot be started; with the 2 they do not.
    behind = {"pre-tool-use": " || exit 2"}
    return {"hooks": {event: hook(verb, behind.get(verb, "")) for event, verb in host.events.items()}}


def change_of(host: AgentHost, settings: Mapping[str, Any], place: Path) -> ConfigChange:
    """What entering the hooks would change in a file; other hooks stay, older ones of ours are replaced.

    Raises McpError CONFIG_UNREADABLE, CONFIG_NOT_UNDERSTOOD. Nothing was written then.
    """

    def edited(said: dict[str, Any]) -> dict[str, Any]:
        hooks = _hooks_in(said)
        for event in host.events:
            there = hooks.get(event, [])
            if not isinstance(there, list):
                raise ValueError(f"hooks.{event} is no list")
            others = [one for one in there if not _is_ours(one)]
            hooks = {**hooks, event: [*others, *settings["hooks"][event]]}
        return {**said, "hooks": hooks}

    return changed(place, edited, by_hand=f"mcl hook install {host.name} prints what goes into it")


def names_in(host: AgentHost, place: Path) -> tuple[str, ...]:
    """The agents for which a host's file has our hooks already; "" where they name none.

    Nothing of a file that cannot be read, or is none.
    """
    try:
        groups = _hooks_in(read_object(place.read_text("utf-8"))).get(host.pre, [])
    except (OSError, ValueError):
        return ()
    ours = [one for one in groups if _is_ours(one)] if isinstance(groups, list) else []
    return tuple(dict.fromkeys(_name_in(str(one["command"])) for group in ours for one in group["hooks"]))


def _name_in(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((after for word, after in pairwise(words) if word == "--agent"), "")


def _hooks_in(said: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says under `hooks`. Raises ValueError where that is no object."""
    hooks = said.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("hooks is no object")
    return hooks


def _is_ours(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    commands = [one.get("command", "") for one in hooks or [] if isinstance(one, dict)]
    return bool(commands) and all(any(ours in str(one) for ours in _OURS) for one in commands)
