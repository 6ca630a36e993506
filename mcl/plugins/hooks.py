"""What a plug-in adds to the kernel, and where plug-ins are found.

The kernel imports this file and no plug-in. Whatever a plug-in adds it names ("package.module:name"), and it
is loaded when it is needed. docs/plugins.md writes one.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing typing, or dataclasses, takes as long as `mcl hook` may
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.metadata import EntryPoint
    from typing import Any

GROUP = "mcl.plugins"  # of entry points: each leads to a Plugin
# Command lines that are answered before anything else is loaded: an agent's host waits for each of its calls.
FIRST = {"hook": "mcl.plugins.agents.hook.entry:main"}
SHIPPED = (
    *("rights", "checking", "mcp", "authoring", "memories", "agents", "review", "repo"),
    *("data", "files", "text", "editor", "train", "weights", "probing", "schedules", "derived"),
    *("versions", "messages", "desktop", "writing"),
)
_others: list[Plugin] | None = None  # those of others; None: not looked for yet


class Plugin:
    """One plug-in, whose package is that of its module.

    name: its own, and that of its extra. needs: modules that the extra brings. commands: by their words, a
    typer.Typer that has them, or a function that adds them to one; several may name the same.
    `commands.toml` beside the module says who may give them. tools: "namespace/name"; manifest and adapter
    lie in the package's folder `tools`. serves: tools of the kernel that need the extra too. skills: whether
    its folder `skills` has some. derived: makes more of what a home knows
    (`mcl.language.skills.Derived`). services: enters a web
    service by a document that describes it. offered: tools that are offered over MCP.
    checkouts: what has a say about a call in a folder for which work was signed
    (`mcl.serve.folders.Folders`); hooks ask `agents` alone, so there is one. runs: what answers steps of
    some plans and follows their runs (`mcl.usecases.runs.Runs`). answers: of the files of a workspace, those
    that answer a goal. moments: what a goal for a calendar says of moments that stand in files.
    fills: by skill, what reads its inputs in them (`mcl.compiler.stages.filled.Filler`); by another name,
    what one reads for another plug-in. chooses: which of them a goal means
    (`mcl.compiler.stages.filled.Chooser`); there is one. outside: the tools of other servers
    (`mcl.catalog.tools.foreign.OutsideAnnex`); there is one. distribution: its own.
    """

    def __init__(
        self,
        name: str,
        module: str,
        *,
        needs: Sequence[str] = (),
        commands: Mapping[str, str] | None = None,
        tools: Sequence[str] = (),
        serves: Sequence[str] = (),
        skills: bool = False,
        offered: Sequence[str] = (),
        derived: str = "",
        services: str = "",
        checkouts: str = "",
        runs: str = "",
        answers: str = "",
        moments: str = "",
        chooses: str = "",
        outside: str = "",
        fills: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self.package, self.needs = name, module.rpartition(".")[0], needs
        self.commands, self.tools, self.serves, self.skills = dict(commands or {}), tools, serves, skills
        self.services = services
        self.derived, self.offered, self.checkouts, self.runs = derived, offered, checkouts, runs
        self.answers, self.moments, self.chooses, self.outside = answers, moments, chooses, outside
        self.fills = dict(fills or {})
        self.distribution = ""
        self.folder = os.path.dirname(str(sys.modules[module].__file__))  # noqa: PTH120

    def load_named(self, named: str) -> Any:
        """What "package.module:name" of this plug-in names. Raises InputError PLUGIN_BROKEN."""
        return _loaded(self.name, self.distribution, named)


def load_named(named: str) -> Any:
    """What "package.module:name" names."""
    from importlib import import_module

    module, _, name = named.partition(":")
    return getattr(import_module(module), name)


def plugins() -> Iterator[Plugin]:
    """All there are, those that come with mcl first. Raises InputError PLUGIN_BROKEN."""
    global _others
    for name in SHIPPED:
        yield _loaded(name, "", f"mcl.plugins.{name}.plugin:PLUGIN")
    if _others is None:
        from mcl.core.distribution import entry_points_of

        _others = [_other(entry) for entry in entry_points_of(GROUP)]
    yield from _others


def _other(entry: EntryPoint) -> Plugin:
    of = entry.dist.name if entry.dist is not None else entry.name
    plugin: Plugin = _loaded(entry.name, of, entry.value)
    plugin.distribution = of
    if plugin.checkouts:
        from mcl.core.distribution import broken_plugin

        raise broken_plugin(entry.name, "it names checkouts, which the plug-in agents alone may", of)
    return plugin


def _loaded(name: str, of: str, named: str) -> Any:
    """A part of a plug-in. of: its distribution, "" for mcl itself."""
    try:
        return load_named(named)
    except Exception as problem:
        from mcl.core.distribution import DISTRIBUTION, broken_plugin

        raise broken_plugin(name, f"{type(problem).__name__}: {problem}", of or DISTRIBUTION) from problem
