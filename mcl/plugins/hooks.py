"""What a plug-in adds to the kernel, and where plug-ins are found.

The kernel imports this file and no plug-in. Whatever a plug-in adds it names ("package.module:name"), and it
is loaded when it is needed. docs/plugins.md writes one.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = (
    False  # an agent's host waits for `mcl hook`, which comes by here: typing and dataclasses take too long
)
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

GROUP = "mcl.plugins"  # of entry points: each leads to a Plugin
# Command lines that are answered before anything else is loaded: an agent's host waits for each of its calls.
FIRST = {"hook": "mcl.plugins.agents.hook.entry:main"}
SHIPPED = ("agents", "review", "repo", "editor", "train", "probing")  # mcl.plugins.<name>.plugin:PLUGIN


class Plugin:
    """One plug-in, whose package is that of its module.

    name: its own, and that of the extra that it needs. commands: by their words ("review", "skill lsp"), what
    adds them to the command line, or to the noun that they belong to; beside the module, `commands.toml` says
    who may give them.
    tools: as "namespace/name"; manifest and adapter lie in the package's `tools` folder. skills: whether its
    `skills` folder has some. offered: tools that are offered over MCP. checkouts: what has a say about a call
    in a folder for which work was signed (`mcl.serve.governed.Checkouts`). runs: what answers the steps of
    some plans, and follows their runs (`mcl.usecases.runs.Runs`).
    """

    def __init__(
        self,
        name: str,
        module: str,
        *,
        commands: Mapping[str, str] | None = None,
        tools: Sequence[str] = (),
        skills: bool = False,
        offered: Sequence[str] = (),
        checkouts: str = "",
        runs: str = "",
    ) -> None:
        self.name, self.package = name, module.rpartition(".")[0]
        self.commands = dict(commands or {})
        self.tools, self.skills, self.offered = tuple(tools), skills, tuple(offered)
        self.checkouts, self.runs = checkouts, runs


def load_named(named: str) -> Any:
    """What "package.module:name" names."""
    from importlib import import_module

    module, _, name = named.partition(":")
    return getattr(import_module(module), name)


def plugins() -> Iterator[Plugin]:
    """All there are, those that come with mcl first. Raises InputError PLUGIN_BROKEN."""
    yield from (load_named(f"mcl.plugins.{name}.plugin:PLUGIN") for name in SHIPPED)
    if _others is None:
        _look_for_others()
    yield from _others or ()


_others: list[Plugin] | None = None  # not looked for yet


def _look_for_others() -> None:
    global _others
    _others = []  # Python's reader of metadata takes 30 ms: it is asked only where there is something to read
    if any(_names_group(place) for place in sys.path):
        from importlib.metadata import entry_points

        for entry in entry_points(group=GROUP):
            try:
                _others.append(entry.load())
            except Exception as problem:
                from mcl.core.errors import InputError

                message = f"the plug-in {entry.name} cannot be loaded: {type(problem).__name__}: {problem}"
                fix = f"take it away, or mend it: {entry.value}"
                raise InputError("PLUGIN_BROKEN", message, place=entry.name, fix=fix) from problem


def _names_group(place: str) -> bool:
    from contextlib import suppress

    with suppress(OSError):
        for entry in os.scandir(place or "."):
            if entry.name.endswith(".dist-info"):
                with suppress(OSError), open(f"{entry.path}/entry_points.txt", "rb") as file:  # noqa: PTH123
                    if f"[{GROUP}]".encode() in file.read():
                        return True
    return False
