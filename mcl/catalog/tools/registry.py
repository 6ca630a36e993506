"""All tools there are, by address.

The executor's own lie in executor/tools. What needs a part of mcl lies here, and what a plug-in adds in
its own folder `tools`, in the same shape: a folder a namespace, a manifest beside each adapter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final

from executor.core.errors import ManifestError
from executor.store.home import Home
from executor.tools.builtin import builtin_tools
from executor.tools.manifest import own_manifest
from executor.tools.registry import Annex, Registry
from executor.tools.tool import Bench, Tool
from mcl.core.home import open_home
from mcl.plugins.hooks import plugins

COMMANDS: Final = "commands.toml"  # in a home: commands that its operator declared
_PACKAGE: Final = "mcl.catalog.tools"
_NAMES: Final = ("cortex/find", "cortex/put")


def registry(
    home: Callable[[], Home] = open_home, *, commands: Path | None = None, outside: Annex | None = None
) -> Registry:
    """The tools of this build, in the order of their addresses.

    home: opened at the first call of a tool that needs it, not before. commands: the folder of a home, whose
    operator may have declared commands (commands.toml): each is a tool too. outside: the tools of other
    servers (``mcl.catalog.foreign.outside``).

    A command that cannot be used is none (``Registry.broken``).
    """
    own = list(_lying_in(_PACKAGE, _NAMES, home))
    for plugin in (one for one in plugins() if one.tools):
        own += _lying_in(f"{plugin.package}.tools", plugin.tools, home)
    declared, broken = _declared(commands / COMMANDS) if commands else ((), {})
    tools = [*builtin_tools(), *own, *declared]
    return Registry(sorted(tools, key=lambda tool: tool.manifest.uri), outside, broken)


def own_names() -> tuple[str, ...]:
    """The short names of the tools that come with mcl: fs/read."""
    return tuple(one.uri.removeprefix("matrix://tool/").partition("@")[0] for one in registry().own)


def _lying_in(package: str, names: Sequence[str], home: Callable[[], Home]) -> Iterator[Tool]:
    """The tools of a package, by the names that it lists."""
    folder = Path(str(import_module(package).__file__)).parent
    for name in names:
        module = f"{package}.{name.replace('/', '.')}"
        yield Tool(own_manifest(folder / f"{name}.toml"), partial(_run, module, home))


def _declared(place: Path) -> tuple[tuple[Tool, ...], dict[str, ManifestError]]:
    if not place.exists():
        return (), {}
    from executor.tools.process.commands import declared_commands

    return declared_commands(place)


async def _run(
    module: str, home: Callable[[], Home], args: Mapping[str, object], bench: Bench
) -> dict[str, object]:
    """A tool's work, whose module is loaded with the first call; its `run` may be a coroutine."""
    answer: Any = import_module(module).run(args, bench, home())
    given: dict[str, object] = await answer if isawaitable(answer) else answer
    return given
