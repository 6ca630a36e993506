"""Calls in folders for which a person signed work: a plug-in says what governs them, and follows them.

Of a call that nothing governs, everything is as if there were no such folders.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from executor.call import Call
from executor.gate.checkout import Checkouts
from executor.gate.context import Context
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.manifest import Manifest
from mcl.plugins.hooks import plugins
from mcl.serve.exchange import Caller


@dataclass
class Watch:
    """One call while it is made. answer: what the tool said, set by whoever makes it."""

    answer: Mapping[str, object] | None = None


class Governed(Checkouts, Protocol):
    """What governs one call of one agent."""

    @property
    def root(self) -> Path:
        """The governed folder."""
        ...

    @property
    def agent(self) -> str:
        """Who calls."""
        ...

    @property
    def intent_id(self) -> str:
        """The ULID of what the agent holds, "" where it is nothing."""
        ...

    @property
    def lease(self) -> str:
        """A mark of what is held: another one as soon as that is something else."""
        ...

    def key(self, call: Call, context: Context) -> str:
        """What a refusal of this call is counted under, whichever door it comes by."""
        ...

    def based(self, call: Call, manifest: Manifest) -> Call:
        """The same call, over the version of the file that the agent saw last."""
        ...

    def watched(
        self, judged: Judged, manifest: Manifest, warn: Callable[[str, str], None]
    ) -> AbstractAsyncContextManager[Watch]:
        """While this lasts the call is made; files that it may change are kept first, and what it changed is
        traced when it has ended. Raises ScopeError, HomeError: the call must not be made."""
        ...


class Folders(Protocol):
    """The signed work that counts in the workspace of one process."""

    def of(self, call: Call, context: Context, caller: Caller) -> Governed | None:
        """What governs a call; None where nothing does. Raises HomeError."""
        ...

    def recover(self) -> None:
        """Trace what killed processes left."""
        ...

    def close(self) -> None:
        """Nobody calls any more."""
        ...


class NoFolders:
    """Nothing is governed: no plug-in knows of signed work."""

    def of(self, call: Call, context: Context, caller: Caller) -> Governed | None:
        return None

    def recover(self) -> None:
        """Nothing is left."""

    def close(self) -> None:
        """Nothing was opened."""


def folders_of(home: Home, workspace: Workspace, agent: str) -> Folders:
    """What a plug-in knows of signed work in a workspace. agent: the name of every agent that calls, "" where
    each has its client's. Raises WorkError BAD_AGENT_NAME."""
    for plugin in plugins():
        if plugin.checkouts:
            found: Folders = plugin.load_named(plugin.checkouts)(home, workspace, agent)
            return found
    return NoFolders()


@dataclass(frozen=True)
class Judged:
    """A call and what the gate judges it by.

    stamp: differs whenever another verdict could come of the same call. agent: who calls, "" where that does
    not matter. governed: None where nothing governs the call.
    """

    call: Call
    context: Context
    stamp: object
    agent: str = ""
    governed: Governed | None = None

    @property
    def intent_id(self) -> str:
        """The ULID of what its agent has checked out; "" for nothing, and for a call that only reads."""
        held, manifest = self.governed.held() if self.governed else None, self.context.manifest(self.call)
        if held is None or manifest is None:
            return ""
        return "" if self.context.effect(self.call, manifest).operation == "read" else held.intent_id


def judged_as(
    folders: Folders, home: Home, call: Call, context: Context, stamp: object, caller: Caller
) -> Judged:
    """The call as it is where nothing governs it; else with the version of its file that its agent saw, and
    with what the agent holds. Raises HomeError."""
    with home.db.moment():
        governed = folders.of(call, context, caller)
    if governed is None:
        return Judged(call, context, stamp)
    manifest = context.manifest(call)
    based = governed.based(call, manifest) if manifest is not None else call
    return Judged(
        based, replace(context, checkouts=governed), (stamp, governed.lease), governed.agent, governed
    )


@asynccontextmanager
async def watched(
    judged: Judged, manifest: Manifest, warn: Callable[[str, str], None]
) -> AsyncIterator[Watch]:
    """While this lasts the call is made, and followed by what governs it. warn: takes code and words of what
    could not be noted, once the call was made. Raises ScopeError, HomeError."""
    if judged.governed is None:
        yield Watch()
        return
    async with judged.governed.watched(judged, manifest, warn) as watch:
        yield watch
