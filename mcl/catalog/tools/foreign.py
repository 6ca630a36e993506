"""The tools of other servers in a command: nothing of them is loaded before one of them is asked for, and no
server is started before one is called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from executor.core.errors import HomeError, KeyringError
from executor.store.home import Home
from executor.tools.registry import Annex, Registry
from mcl.catalog.tools.registry import registry
from mcl.plugins.hooks import plugins

if TYPE_CHECKING:
    from mcl.catalog.definitions import DescribedTool


class OutsideAnnex(Annex, Protocol):
    """The tools of other servers that a home knows, as the plug-in has them that speaks with these."""

    def __init__(self, home: Home) -> None: ...

    def known(self) -> Sequence[DescribedTool]:
        """What is known of each, those that are gone too."""
        ...

    @classmethod
    def connected(cls, home: Home) -> AbstractAsyncContextManager[OutsideAnnex]:
        """The same to be called, as long as this lasts."""
        ...


def _outside() -> type[OutsideAnnex]:
    plugin = next(one for one in plugins() if one.outside)
    found: type[OutsideAnnex] = plugin.load_named(plugin.outside)
    return found


def outside_tools(home: Home) -> Sequence[DescribedTool]:
    """What is known of each tool of another server, those that are gone too."""
    return _outside()(home).known()


def all_tools(home: Home) -> Registry:
    """All tools that a home knows: to be looked at and judged. Those of other servers cannot be run by it."""
    return registry(lambda: home, commands=home.path, outside=_outside()(home))


@contextmanager
def tools_at(path: Path) -> Iterator[Registry]:
    """The tools that the home in a folder knows; where there is none that can be opened, those of this build
    and the commands that the folder declares. No home is made."""
    home = None
    if (path / "mcl.db").exists():
        with suppress(HomeError, KeyringError):
            home = Home.open(path)
    if home is None:
        yield registry(commands=path)
        return
    with home:
        yield all_tools(home)


@asynccontextmanager
async def connected(home: Home) -> AsyncIterator[Registry]:
    """The same to be run: connected to servers from the first call of one of their tools to the end."""
    async with _outside().connected(home) as outside:
        yield registry(lambda: home, commands=home.path, outside=outside)
