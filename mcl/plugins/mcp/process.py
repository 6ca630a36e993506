"""Serving until the client is gone, or the process is asked to end."""

from __future__ import annotations

import json
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import Event, create_task_group, open_signal_receiver, sleep
from anyio.abc import TaskStatus

from executor.core.errors import KeyringError
from ir import MclError
from mcl.catalog.definitions import Definitions
from mcl.catalog.servers import Servers
from mcl.catalog.tools import registry
from mcl.catalog.tools.registry import COMMANDS
from mcl.core.errors import McpError
from mcl.plugins.mcp.call_questions import CallQuestions
from mcl.plugins.mcp.offered.tools import OFFERED
from mcl.plugins.mcp.outside import OutsideTools
from mcl.plugins.mcp.records import Activity
from mcl.plugins.mcp.server import Face
from mcl.plugins.mcp.service import ServedRuns, Service
from mcl.plugins.mcp.upstream.channels import Channels
from mcl.plugins.mcp.upstream.upstreams import Upstreams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from executor.store.home import Home
    from mcl.plugins.mcp.service import GoalCompiler
    from mcl.plugins.mcp.upstream.answers import Kind


# ---- Everything that a server needs, opened in its order and closed in the other.

_COMMITS: Final = 200  # for which the database's log has room beforehand; then it begins anew
_LOOK_S: Final = 1.0  # how often it is looked whether another process changed what tools there are
_log = logging.getLogger(__name__)


@asynccontextmanager
async def opened(home: Home, workspace: Path, compiler: GoalCompiler, agent: str = "") -> AsyncIterator[Face]:
    """A session with its face, connected to the servers of the home; closed again at the end.

    agent: what every agent is called; "": what its client calls itself.

    Raises:
        McpError: KEYS_SEALED, nothing could be signed. ScopeError, PolicyError, WorkError: as Service.
    """
    _require_signing(home)
    home.db.make_room(_COMMITS)
    channels, definitions, servers = Channels(), Definitions(home), Servers(home)
    outside = OutsideTools(definitions, channels=channels)
    heard: list[Kind] = []

    def on_listing(server: str, kind: Kind, items: Sequence[dict[str, object]]) -> None:
        outside.heard(server, kind, items)
        heard.append(kind)

    watching: list[Callable[[str, str], None]] = []

    def on_updated(server: str, uri: str) -> None:
        for told in watching:
            told(server, uri)

    async with AsyncExitStack() as stack:
        upstreams = await stack.enter_async_context(
            Upstreams(servers, on_listing=on_listing, on_updated=on_updated)
        )
        outside.connect(upstreams)
        questions = CallQuestions(home)
        stack.callback(questions.close)
        tasks = await stack.enter_async_context(create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        session = Service(
            home,
            workspace,
            upstreams=upstreams,
            definitions=definitions,
            activity=Activity(home),
            questions=questions,
            runs=ServedRuns(tasks),
            channels=channels,
            compiler=compiler,
            tools=lambda: registry(lambda: home, commands=home.path, outside=outside),
            stamp=_stamp_of(home, definitions),
            agent=agent,
        )
        stack.callback(session.close)
        session.folders.recover()
        face = Face(session, OFFERED)
        watching.append(face.proxy.subscriptions.updated)
        tasks.start_soon(_watch, face, session, servers, definitions, heard)
        tasks.start_soon(face.proxy.subscriptions.tell)
        yield face


def _stamp_of(home: Home, definitions: Definitions) -> Callable[[], object]:
    """What differs whenever there are other tools, or one of them stands otherwise."""
    commands = home.path / COMMANDS

    def stamp() -> object:
        try:
            status = commands.stat()
        except OSError:
            return definitions.stamp()
        return definitions.stamp(), status.st_ino, status.st_mtime_ns, status.st_size

    return stamp


async def _watch(
    face: Face, session: Service, servers: Servers, definitions: Definitions, heard: list[Kind]
) -> None:
    """Connect to servers whose tools nobody knows yet, and tell clients of lists that change.

    Of the others it is known what they offer; they are started when somebody needs them.
    """
    started: set[str] = set()
    seen: object = session.stamp
    entries: object = None
    async with create_task_group() as tasks:
        while True:
            try:
                if (now := servers.stamp()) != entries:
                    entries = now
                    entered, listed = servers.list(), definitions.listed()
                    for one in entered:
                        if one.id not in started | listed:
                            tasks.start_soon(_start, session, one.name)
                    started = {one.id for one in entered}
                now_there = session.stamp
                changed, seen = now_there != seen, now_there
            except MclError as problem:  # a database that is busy: the next look will tell
                _log.warning("%s: %s", problem.code, problem.message)
                changed = False
            if changed:
                await face.changes.tell("tools")
                heard += ["resources", "prompts"]  # what may be read of them may have changed too
            if heard:
                kinds, heard[:] = set(heard), []
                if kinds & {"resources", "templates"}:
                    await face.changes.tell("resources")
                if "prompts" in kinds:
                    await face.changes.tell("prompts")
            await sleep(_LOOK_S)


async def _start(session: Service, server: str) -> None:
    try:
        for status in await session.upstreams.start(server):
            if status.problem:
                _log.warning("server %s: %s", status.server, status.problem)
    except McpError as problem:  # taken out again meanwhile
        _log.warning("server %s: %s", server, problem.message)
    except Exception:  # noqa: BLE001  # nothing that a server does may end the others
        _log.exception("a fault of mcl itself with the server %s", server)


def _require_signing(home: Home) -> None:
    """Every call is kept, signed by the agent's key: where that is sealed no call could be answered."""
    try:
        home.keyring.agent.signing_key  # noqa: B018  # opened here, or not at all
    except KeyringError as problem:
        raise McpError(
            "KEYS_SEALED",
            f"the agent's key is sealed, and each call is kept signed by it: {problem.message}",
            place=problem.place,
            fix="start it with MCL_PASSPHRASE set, in the environment that its client starts it with",
        ) from problem


async def serve_stdio(
    home: Home, workspace: Path, compiler: GoalCompiler, agent: str, incoming: int, outgoing: int
) -> None:
    """Serve the one client at the other end of two descriptors, until it closes its end."""
    from mcl.plugins.mcp.stdio import connected

    async with create_task_group() as tasks:
        ended = await tasks.start(_signalled)

        async def until_then() -> None:
            await ended.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(until_then)
        async with (
            opened(home, workspace, compiler, agent) as face,
            connected(incoming, outgoing) as (lines, sink),
        ):
            await face.server.run(lines, sink, face.options)
        tasks.cancel_scope.cancel()


async def serve_http(
    home: Home,
    workspace: Path,
    compiler: GoalCompiler,
    agent: str,
    bound: socket.socket,
    token: str,
    token_file: Path,
) -> None:
    """Serve all clients that have the token, until the process is asked to end; what is under way then has a
    moment to finish."""
    from mcl.plugins.mcp.http import serving

    async with create_task_group() as tasks:
        ended = await tasks.start(_signalled)
        async with opened(home, workspace, compiler, agent) as face, serving(face, bound, token) as url:
            told = {"event": "listening", "url": url, "token_file": str(token_file)}
            sys.stderr.write(json.dumps(told) + "\n")
            sys.stderr.flush()
            await ended.wait()
        tasks.cancel_scope.cancel()


async def _signalled(*, task_status: TaskStatus[Event]) -> None:
    """Give an event that is set when the process is asked to end."""
    ended = Event()
    with open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started(ended)
        async for _ in signals:
            ended.set()
