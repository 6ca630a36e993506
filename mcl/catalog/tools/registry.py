"""All tools there are, by address.

The executor's own lie in executor/tools, and what a plug-in adds in its own folder `tools`, in the same
shape: a folder a namespace, a manifest beside each adapter.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from executor.core.errors import ManifestError
from executor.store.home import Home
from executor.tools.manifest import OWN, Manifest, own_manifest
from executor.tools.registry import BUILTIN, Annex, Registry, tools_in
from executor.tools.tool import Tool
from mcl.catalog.extras import require_extras
from mcl.core.home import open_home
from mcl.language.mtx.files import Cache
from mcl.plugins.hooks import plugins

COMMANDS: Final = "commands.toml"  # in a home: commands that its operator declared


def registry(
    home: Callable[[], Home] = open_home, *, commands: Path | None = None, outside: Annex | None = None
) -> Registry:
    """The tools of this build, in the order of their addresses.

    home: opened at the first call of a tool that needs it, not before. commands: the folder of a home, whose
    operator may have declared commands (commands.toml): each is a tool too. outside: the tools of other
    servers (``mcl.plugins.mcp.outside``).

    A command that cannot be used is none (``Registry.broken``).
    """
    declared, broken = _declared(commands / COMMANDS) if commands else ((), {})
    tools = [*shipped_tools(home, commands / "cache" if commands else None), *declared]
    return Registry(sorted(tools, key=lambda tool: tool.manifest.uri), outside, broken)


def shipped_tools(home: Callable[[], Home] = open_home, cache: Path | None = None) -> list[Tool]:
    """Those of the executor and of plug-ins. home: as of ``registry``. cache: the folder in which a home
    keeps what their manifests say."""
    others = [one for one in plugins() if one.tools]
    rooms = [BUILTIN, *((f"{one.package}.tools", Path(one.folder, "tools"), one.tools) for one in others)]
    if cache is not None and cache.is_dir():
        _read([folder / f"{name}.toml" for _, folder, names in rooms for name in names], Cache(cache))
    return [tool for room in rooms for tool in tools_in(*room, before=_need, home=home)]


def _read(places: Sequence[Path], cache: Cache) -> None:
    """Read manifests as they were kept by their bytes: TOML takes ten times as long."""
    if not (places := [place for place in places if place not in OWN and place.is_file()]):
        return

    def made() -> list[object]:
        return [own_manifest(place).model_dump(mode="json", exclude_unset=True) for place in places]

    def read(kept: list[object]) -> dict[Path, Manifest]:
        return dict(zip(places, map(Manifest.model_validate, kept), strict=True))

    OWN.update(cache.get("manifests", "1", b"\0".join(map(Path.read_bytes, places)), made, read))


def own_names() -> tuple[str, ...]:
    """The short names of the tools that come with mcl: fs/read."""
    return tuple(one.uri.removeprefix("matrix://tool/").partition("@")[0] for one in registry().own)


def _need(name: str) -> None:
    """What is not there is told before a tool does anything: half of its work might be done by then."""
    require_extras([name])


def _declared(place: Path) -> tuple[tuple[Tool, ...], dict[str, ManifestError]]:
    if not place.exists():
        return (), {}
    from executor.tools.process.commands import declared_commands

    return declared_commands(place)
