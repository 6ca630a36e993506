"""Gates of a running plan, asked through the client that started the run.

A decision by `mcl gate` counts too, whichever comes first: the run itself looks for it (`executor.walker`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import anyio
from anyio import sleep_forever

from executor.store.home import Home
from executor.walker.questions import GateAnswer, GateQuestion
from mcl.catalog.channels import Channel
from mcl.serve.exchange import Caller, Filled, Form
from mcl.serve.questions.shown import gate_form, read_gate

if TYPE_CHECKING:
    from mcl.serve.session import Session

_ALIVE_S: Final = 5.0  # how often a client is told that its run still waits


def signs(home: Home) -> bool:
    """Does what a person answers in a client count as theirs? Not where their key is sealed: whoever sealed
    it wants to be asked for the passphrase, though this process may know it."""
    own = home.keyring.user.did
    return not any(key.sealed for key in home.keyring.entries() if key.did == own)


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


class GatePeople:
    """Whoever sits before a client, asked by its ``elicit``; where that cannot be, `mcl gate` decides."""

    def __init__(self, session: Session, caller: Caller) -> None:
        self._session, self._caller = session, caller

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Show the question, and wait: for the answer, or until this is cancelled, because somebody was first
        or its time is over."""
        elicit, filled = self._caller.elicit, None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_alive, self._caller.channel, gate.gate_id)
            if elicit is None or not _answerable(gate, self._session):
                await sleep_forever()
            else:
                filled = await filled_by(elicit, gate_form(gate))
            tasks.cancel_scope.cancel()
        return read_gate(gate, filled)


async def keep_alive(channel: Channel, gate: str, seconds: float | None = None) -> None:
    """Tell a client now and then that its call waits, and for what. seconds: how long it may, where known."""
    message = f"waits for a person: mcl gate approve {gate}"
    began = anyio.current_time()
    try:
        await channel.log("notice", message, "mcl")
        while True:
            await channel.progress(anyio.current_time() - began, seconds, message)
            await anyio.sleep(_ALIVE_S)
    except Exception:  # noqa: BLE001  # that a client does not hear it is no reason not to wait
        await sleep_forever()


def _answerable(gate: GateQuestion, session: Session) -> bool:
    """May an answer in a client count? What acts on a chain needs a person's own key."""
    manifest = session.registry.find(gate.tool_ref) if gate.tool_ref else None
    return signs(session.home) and not (manifest is not None and "chain" in manifest.effects)
