"""The governed folders of one workspace, as one call of one agent meets them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import CancelScope, to_thread

from executor.call import Call
from executor.core.errors import ScopeError
from executor.core.globs import Scope
from executor.gate.breaker import same_call
from executor.gate.checkout import Checkout
from executor.gate.context import Context
from executor.gate.effects import NO_FILE, lasting
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.manifest import Manifest
from ir import MclError
from mcl.core.environment import agent_name
from mcl.plugins.agents.install.hosts import HOSTS
from mcl.plugins.agents.work.leases import BoundCheckouts, CallCheckouts, Leases
from mcl.plugins.agents.work.store import SignedWork
from mcl.plugins.agents.writes.callers import Callers, recover
from mcl.plugins.agents.writes.images import SeenVersions, WriteCaller, keep, left, trace_writes
from mcl.serve.folders import Folders, Judged, Watch

if TYPE_CHECKING:
    from mcl.serve.exchange import Caller


# ---- What the agent behind a call is called: its leases, what it saw and what it changed are kept under
# it.

UNNAMED: Final = "mcp"
_ODD: Final = re.compile(r"[^A-Za-z0-9._:@-]+")
_LONGEST: Final = 64


def name_of(client: str) -> str:
    """The name of an agent that nobody named, from what its client calls itself: that of its host where it is
    one that is known (gemini-cli-mcp-client is gemini-cli, as in its hooks), else the same in plain letters.

    It says who is meant, and proves nothing: an agent that takes another's name shares its leases.
    """
    name = _ODD.sub("-", client.strip()).strip("-")[:_LONGEST].lower()
    of_host = [host.name for host in HOSTS if name == host.name or name.startswith(f"{host.name}-")]
    return max(of_host, key=len, default=name) or UNNAMED


# ---- A scope that was signed for one folder, asked about paths of a workspace that lies in it or around
# it.


@dataclass(frozen=True)
class ShiftedScope(Scope):
    """The patterns of a governed folder as they count in a workspace.

    inside: turns a path of the workspace into one of the governed folder; None where it is none of its.
    """

    inside: Callable[[str], str | None] = lambda path: path

    @classmethod
    def shifted(cls, scope: Scope, inside: Callable[[str], str | None]) -> ShiftedScope:
        """The same patterns, held against paths of a workspace."""
        return cls(scope.globs, inside)

    def pattern_of(self, path: str) -> str | None:
        """The first pattern that the path of the workspace fits."""
        within = self.inside(path)
        return super().pattern_of(within) if within is not None else None

    def holds(self, folder: str) -> bool:
        """Is everything below this folder of the workspace in scope?"""
        within = self.inside(folder)
        return super().holds(within) if within is not None else False

    def touches(self, folder: str) -> bool:
        """Is anything below this folder of the workspace in scope?"""
        within = self.inside(folder)
        return super().touches(within) if within is not None else False


def shift(workspace: Path, root: Path, root_of: Callable[[Path], Path | None]) -> Callable[[str], str | None]:
    """What turns paths of a workspace into paths of a governed folder. root_of: the folder that governs a
    place; what another one governs is not of this one."""

    def inside(path: str) -> str | None:
        place = workspace.joinpath(*path.split("/")) if path not in ("", ".") else workspace
        if not place.is_relative_to(root) or root_of(place) != root:
            return None
        within = place.relative_to(root).as_posix()
        return "" if within == "." else within

    return inside


_READS: Final = "matrix://tool/fs/read@"  # answers with the sha256 of the file that it read


class GovernedFolders:
    """The signed work that counts in the workspace of one server process.

    agent: the name of every agent that calls, "" where each has its client's.

    Raises:
        WorkError: BAD_AGENT_NAME. HomeError.
    """

    def __init__(self, home: Home, workspace: Workspace, agent: str = "") -> None:
        self.home, self.workspace = home, workspace
        self.work = SignedWork(home)
        self.leases = Leases(home, self.work)
        self.seen, self.callers = SeenVersions(home), Callers(home)
        self._agent = agent_name(agent) if agent else ""

    def name_of(self, caller: Caller) -> str:
        """What the agent behind a call is called."""
        return self._agent or name_of(caller.client)

    @property
    def root(self) -> Path | None:
        """The folder that governs the workspace itself; None where none does."""
        return self.work.root_of(self.workspace.root)

    def recover(self, root: Path | None = None) -> None:
        """Trace what killed servers left in a governed folder (default: that of the workspace); what cannot
        be traced stays open, and stops nobody."""
        if (root := root or self.root) is not None:
            with suppress(MclError):
                recover(self.home, root, self.callers)

    def close(self) -> None:
        self.callers.close()

    def of(self, call: Call, context: Context, caller: Caller) -> GovernedCall | None:
        """What governs this call: the folder that its files lie in, else the one that the workspace lies in.

        None where nothing does: then everything is as if there were no such folders. Raises HomeError.
        """
        manifest, root = context.manifest(call), self.root
        for path in _paths(call, context, manifest) if manifest is not None else ():
            if (found := self.work.root_of(self.workspace.root / path)) is not None:
                root = found
                break
        return GovernedCall(self, root, self.name_of(caller)) if root is not None else None


class GovernedCall(CallCheckouts):
    """One call in a governed folder, as the gate asks about it: paths and scope are of the workspace, which
    lies in that folder or around it."""

    def __init__(self, here: GovernedFolders, root: Path, agent: str) -> None:
        super().__init__(here.work, here.leases, root, agent)
        self.here = here

    def owners(self, path: str) -> tuple[str, ...]:
        """The labels of the work that has a path of the workspace in its scope."""
        within = self._inside(path)
        return super().owners(within) if within is not None else ()

    @property
    def lease(self) -> str:
        """A mark of what is held: another one as soon as that is something else."""
        return f"{self.root} {self.agent} {self.intent_id}"

    def key(self, call: Call, context: Context) -> str:
        """What a refusal of this call is counted under, the same as where the agent's host asks about it."""
        manifest, args = context.manifest(call), dict(call.args)
        if manifest is None or manifest.outside is not None:
            return same_call(manifest.name if manifest is not None else call.tool_ref, args, "", None)
        base, file = args.pop("base", None), None
        if isinstance(path := args.get("path"), str) and (file := self.file(path)) is not None:
            del args["path"]
        return same_call(manifest.name, args, file or "", base if isinstance(base, str) else None)

    def based(self, call: Call, manifest: Manifest) -> Call:
        """The same call, over the version of the file that the agent saw last, where it names no other."""
        if manifest.outside is not None or "base" in call.args:
            return call
        known = manifest.args.get("properties")
        if not isinstance(known, dict) or not {"base", "path"} <= known.keys():
            return call
        file = self.file(str(call.args.get("path", "")))
        saw = self.here.seen.of(self.root, self.agent, file) if file is not None else None
        return replace(call, args={**call.args, "base": saw}) if saw is not None else call

    def watched(
        self, judged: Judged, manifest: Manifest, warn: Callable[[str, str], None]
    ) -> AbstractAsyncContextManager[Watch]:
        """Keep what the call may change, and trace what it changed. Raises ScopeError, HomeError."""
        return _watched(self, judged, manifest, warn)

    def file(self, path: str) -> str | None:
        """A path of the workspace as one of the governed folder; None where it is none of its files."""
        try:
            parts = self.here.workspace.split(path)
        except ScopeError:
            return None
        return self._inside("/".join(parts))

    @cached_property
    def _held(self) -> Checkout | None:
        held = BoundCheckouts.held(self)
        return None if held is None else replace(held, scope=ShiftedScope.shifted(held.scope, self._inside))

    def _inside(self, path: str) -> str | None:
        return shift(self.here.workspace.root, self.root, self.here.work.root_of)(path)


def _paths(call: Call, context: Context, manifest: Manifest) -> list[str]:
    """Where the call's files lie, those first that it writes to."""
    found = []
    for path, mode in context.paths(call, manifest):
        try:
            found.append((mode in ("read", "list"), "/".join(context.workspace.split(path))))
        except ScopeError:
            continue
    return [path for _, path in sorted(found, key=lambda one: one[0])]


def here_of(folders: Folders) -> GovernedFolders:
    """What the tools of this plug-in know of a server's folders."""
    assert isinstance(folders, GovernedFolders), "they are offered where this plug-in is"
    return folders


@asynccontextmanager
async def _watched(
    governed: GovernedCall, judged: Judged, manifest: Manifest, warn: Callable[[str, str], None]
) -> AsyncIterator[Watch]:
    """While this lasts the call is made.

    Files that it may change are kept first, so that `mcl undo` of the intent puts them back. However it ends,
    what it changed is traced then, and what its agent saw is noted. warn: takes code and words of what could
    not be, once the call was made.

    Raises:
        ScopeError, HomeError: a file could not be kept; the call must not be made.
    """
    watch = Watch()
    writes, gone = bool(judged.intent_id), False
    node = f"call-{governed.here.home.clock.new_id()}"
    if writes:
        await to_thread.run_sync(_kept, governed, judged, manifest, node)
    try:
        yield watch
    except ScopeError as problem:
        gone = problem.code == "NOT_FOUND"
        raise
    finally:
        with CancelScope(shield=True):
            try:
                if writes:
                    await to_thread.run_sync(_traced, governed, manifest, node, watch.answer)
                elif manifest.uri.startswith(_READS) and (watch.answer is not None or gone):
                    said = watch.answer["sha256"] if watch.answer is not None else None
                    await to_thread.run_sync(_see, governed, judged.call.args.get("path"), said)
            except MclError as problem:  # what was done is done, and its answer goes out
                warn(problem.code, problem.message)


def _kept(governed: GovernedCall, judged: Judged, manifest: Manifest, node: str) -> None:
    here, context = governed.here, judged.context
    paths = context.paths(judged.call, manifest)
    why = lasting(manifest, context.effect(judged.call, manifest))
    why = why or ("" if any(mode not in ("read", "list") for _, mode in paths) else NO_FILE)
    intent, tool, held = judged.intent_id, manifest.uri, governed.held()
    assert held is not None, "what writes holds something"
    here.recover(governed.root)
    caller = WriteCaller(here.callers.name, held.label, manifest.name, governed.agent)
    keep(
        *(here.home, here.workspace, paths),
        intent=intent,
        node=node,
        tool=tool,
        why_not=why,
        root=governed.root,
        caller=caller,
    )


def _traced(
    governed: GovernedCall, manifest: Manifest, node: str, answer: Mapping[str, object] | None
) -> None:
    here, held = governed.here, governed.held()
    assert held is not None, "what writes holds something"
    changed = left(here.home, here.workspace, intent=held.intent_id, node=node, answer=answer)
    if not changed and answer is not None and "path" in answer and "sha256" in answer:
        _see(governed, answer["path"], answer["sha256"])  # what was there already, it knows now
    trace_writes(
        here.home,
        governed.root,
        here.workspace,
        changed,
        label=held.label,
        intent_id=held.intent_id,
        tool=manifest.name,
        agent=governed.agent,
        node=node,
    )


def _see(governed: GovernedCall, path: object, sha256: object) -> None:
    file = governed.file(str(path))
    if file is not None:
        known = sha256 if isinstance(sha256, str) else None
        governed.here.seen.note(governed.root, governed.agent, file, known)
