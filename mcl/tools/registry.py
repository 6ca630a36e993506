"""All tools there are, by address.

The executor's own lie in executor/tools. What needs a part of mcl lies here, in the same shape: a folder a
namespace, a manifest beside each adapter.
"""

from collections.abc import Callable, Mapping
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
from mcl.home import open_home

COMMANDS: Final = "commands.toml"  # in a home: commands that its operator declared
_NAMES: Final = (
    *("cortex/find", "cortex/put", "repo/help", "repo/list", "repo/switch", "repo/where"),
    *(
        "review/conclude",
        "review/context",
        "review/decide",
        "review/look",
        "review/map",
        "review/remember",
        "review/scan",
    ),
)


def registry(
    home: Callable[[], Home] = open_home, *, commands: Path | None = None, outside: Annex | None = None
) -> Registry:
    """The tools of this build, in the order of their addresses.

    home: opened at the first call of a tool that needs it, not before. commands: the folder of a home, whose
    operator may have declared commands (commands.toml): each is a tool too. outside: the tools of other
    servers (``mcl.mcp.foreign.outside``).

    A command that cannot be used is none (``Registry.broken``).
    """
    here = Path(__file__).parent
    own = [Tool(own_manifest(here / f"{name}.toml"), partial(_run, name, home)) for name in _NAMES]
    declared, broken = _declared(commands / COMMANDS) if commands else ((), {})
    tools = [*builtin_tools(), *own, *declared]
    return Registry(sorted(tools, key=lambda tool: tool.manifest.uri), outside, broken)


def own_names() -> tuple[str, ...]:
    """The short names of the tools that come with mcl: fs/read."""
    return tuple(one.uri.removeprefix("matrix://tool/").partition("@")[0] for one in registry().own)


def _declared(place: Path) -> tuple[tuple[Tool, ...], dict[str, ManifestError]]:
    if not place.exists():
        return (), {}
    from executor.tools.process.commands import declared_commands

    return declared_commands(place)


async def _run(
    name: str, home: Callable[[], Home], args: Mapping[str, object], bench: Bench
) -> dict[str, object]:
    """A tool's work, whose module is loaded with the first call; its `run` may be a coroutine."""
    answer: Any = import_module(f"mcl.tools.{name.replace('/', '.')}").run(args, bench, home())
    given: dict[str, object] = await answer if isawaitable(answer) else answer
    return given
