"""Gates of a running plan, asked through the client that started the run.

In the handshake era a form is shown while the run waits. In the modern era a server cannot ask: the run goes
on waiting in this process, its caller gets the form as an answer, and brings it back filled in. Either way a
decision by `mcl gate` counts too, whichever comes first; the run itself looks for it (`executor.walker`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

import anyio
from anyio import get_cancelled_exc_class, sleep_forever

from executor.errors import KeyringError
from executor.gate.approvals import DENY
from executor.gate.verdict import Deny
from executor.home import Home
from executor.tools.registry import Registry
from executor.walker.outcome import Outcome
from executor.walker.people import GateAnswer, GateQuestion, People
from mcl.mcp.channel import SILENT, Channel
from mcl.mcp.offered import Caller, Filled, Form, Wanted
from mcl.mcp.shown import gate_form, read_gate
from mcl.mcp.states import States

if TYPE_CHECKING:
    from mcl.mcp.serve.session import Session

FORM: Final = "gate"  # the name of the form that a client of the modern era fills in
_ALIVE_S: Final = 5.0  # how often a client is told that its run still waits

Start: TypeAlias = Callable[[People, Channel], Awaitable[Outcome]]


def signs(home: Home) -> bool:
    """Can an answer that is given to a client be signed in this process, with the user's key?"""
    try:
        home.keyring.user.signing_key  # noqa: B018  # opened here, or not at all
    except KeyringError:
        return False
    return True


async def filled_by(elicit: Callable[[Form], Awaitable[Filled]], form: Form) -> Filled | None:
    """What a client of the handshake era gives back for a form; None for what is no answer to a form.

    A client that says it cannot show it after all has asked nobody: the wait for others goes on for ever.
    """
    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError

    try:
        return await elicit(form)
    except MCPError:
        await sleep_forever()
    except (ValidationError, ValueError, TypeError):
        return None
    return None


class ElicitedPeople:
    """Whoever sits before the client of the handshake era; elsewhere `mcl gate` decides."""

    def __init__(self, home: Home, tools: Registry, caller: Caller) -> None:
        self._home, self._tools, self._caller = home, tools, caller

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Show the question; where it cannot be answered there, it stays open until `mcl gate` decides."""
        elicit = self._caller.elicit
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_alive, self._caller.channel, gate.gate_id)
            if elicit is None or not _answerable(gate, self._home, self._tools):
                await sleep_forever()
            assert elicit is not None
            filled = await filled_by(elicit, gate_form(gate))
            tasks.cancel_scope.cancel()
        return _answer(gate, filled)


async def keep_alive(channel: Channel, gate: str, seconds: float | None = None) -> None:
    """Tell a client now and then that its call waits, and for what. seconds: how long it may, where known."""
    message = f"waits for a person: mcl gate approve {gate}"
    began = anyio.current_time()
    await channel.log("notice", message, "mcl")
    while True:
        await channel.progress(anyio.current_time() - began, seconds, message)
        await anyio.sleep(_ALIVE_S)


def _answerable(gate: GateQuestion, home: Home, tools: Registry) -> bool:
    """May an answer in a client count? What acts on a chain needs a person's own key."""
    manifest = tools.find(gate.tool_ref) if gate.tool_ref else None
    return signs(home) and not (manifest is not None and "chain" in manifest.effects)


def _answer(gate: GateQuestion, filled: Filled | None) -> GateAnswer | None:
    """None where nobody can be said to have decided: that is a no too, but not one signed by the user."""
    answer = read_gate(gate, filled)
    return GateAnswer(answer.decision or DENY, answer.reason) if answer is not None else None


@dataclass
class _Switch:
    """The channel of whoever waits for a run at the moment."""

    to: Channel = SILENT

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        await self.to.progress(progress, total, message)

    async def log(self, level: str, data: object, logger: str | None) -> None:
        await self.to.log(level, data, logger)


@dataclass
class _Run:
    """A run that outlives the requests of its caller; it is the People of its own gates."""

    home: Home
    tools: Registry
    channel: _Switch = field(default_factory=_Switch)
    open: GateQuestion | None = None
    task: asyncio.Task[Outcome] | None = None

    def __post_init__(self) -> None:
        self._moved = anyio.Event()
        self._answer: asyncio.Future[GateAnswer | None] | None = None

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Leave the question for the caller, and wait."""
        if not _answerable(gate, self.home, self.tools):
            await keep_alive(self.channel, gate.gate_id)
        self.open, self._answer = gate, asyncio.get_running_loop().create_future()
        self.move()
        try:
            return await self._answer
        finally:
            self.open = None
            self.move()

    def move(self) -> None:
        """Whoever waits looks again."""
        self._moved.set()
        self._moved = anyio.Event()

    async def moved(self) -> None:
        """Wait until something happens."""
        await self._moved.wait()

    def take(self, gate: str, filled: Filled) -> None:
        """What the caller brought back; nothing where the question is not open any more."""
        if self.open is not None and self.open.gate_id == gate and self._answer and not self._answer.done():
            self._answer.set_result(_answer(self.open, filled))
            self.open = None


class Runs:
    """The runs that clients of one server process started. Close it when the process ends."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._states = States()
        self._under_way: dict[str, _Run] = {}

    async def walk(
        self, session: Session, what: str, start: Start, caller: Caller
    ) -> Outcome | Wanted | Deny:
        """Run a plan, and put its gates to the caller.

        Args:
            what: the call as it must come again with a filled-in form. start: begins the run, given who
                decides at its gates, and where its progress goes.

        Returns:
            Wanted: the client has to show a form and make the same call again. Deny: what came back with the
            call was not given out for it.

        Where the task is cancelled the run is stopped. Raises what the run raises.
        """
        if not (caller.era == "modern" and caller.can_elicit):
            return await start(ElicitedPeople(self._home, session.registry, caller), caller.channel)
        if not caller.state:
            return await self._turn(self._begin(session, start), what, caller)
        said = self._states.read(caller, what)
        run = self._under_way.get(said["run"]) if said else None
        if said is None or run is None:
            return Deny(
                "APPROVAL_MISMATCH",
                "what came back with it was not given out for just this call, or its run has ended",
                "make the call again without requestState and inputResponses",
            )
        if FORM in caller.filled:
            run.take(said["gate"], caller.filled[FORM])
        return await self._turn(said["run"], what, caller)

    def close(self) -> None:
        """Stop what still runs; `mcl run --resume` goes on with it."""
        for run in self._under_way.values():
            if run.task is not None:
                run.task.cancel()
        self._under_way.clear()

    def _begin(self, session: Session, start: Start) -> str:
        id, run = self._home.clock.new_id(), _Run(self._home, session.registry)

        async def whole() -> Outcome:
            try:
                return await start(run, run.channel)
            finally:
                asyncio.get_running_loop().call_soon(run.move)

        run.task = asyncio.get_running_loop().create_task(whole())
        self._under_way[id] = run
        return id

    async def _turn(self, id: str, what: str, caller: Caller) -> Outcome | Wanted:
        """Wait until the run has ended or asks something."""
        run = self._under_way[id]
        assert run.task is not None
        run.channel.to = caller.channel
        try:
            while not run.task.done():
                if run.open is not None:
                    state = self._states.give(caller, what, run=id, gate=run.open.gate_id)
                    return Wanted({FORM: gate_form(run.open)}, state)
                await run.moved()
        except get_cancelled_exc_class():
            self._under_way.pop(id, None)
            run.task.cancel()
            raise
        finally:
            run.channel.to = SILENT
        self._under_way.pop(id, None)
        return run.task.result()
