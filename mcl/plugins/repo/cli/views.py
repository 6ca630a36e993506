"""How a contract, its repository and its plan are shown."""

import os
import termios
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from anyio import get_cancelled_exc_class, wait_readable
from rich.console import Console, RenderableType

from executor.gate.approvals import DENY
from executor.walker.people import GateAnswer, GateQuestion
from ir.shown import clear
from mcl.cli.output import note
from mcl.cli.people import on_terminal, question_text
from mcl.cli.views.layout import DIM, STRONG, WARN, joined, plain, rows
from mcl.cli.views.plan import plan_view
from mcl.usecases.plan import Planned

if TYPE_CHECKING:
    from mcl.plugins.repo.usecases import DraftedContract


def draft_view(
    made: "DraftedContract", console: Console, *, by: str = "", note: str = ""
) -> Iterator[RenderableType]:
    """What is asked, where, what would run, and what the gate says. by, note: who made the
    contract, and what is to be known of that."""
    contract, found = made.contract, made.repository
    where = f"in {found.key}" if found else ""
    yield joined(((contract.intent, STRONG), (where, ""), (f"by the {by}" if by else "", DIM)))
    said = [
        ("message", plain(contract.message)),
        ("folder", plain(str(made.workspace))),
        *([("note", plain(note))] if note else []),
        *([("note", plain(found.note, WARN))] if found and found.note else []),
        ("contract", plain(contract.text, DIM)),
    ]
    yield rows(said)
    planned = Planned(made.intent, made.plan, "proposed", False, made.verdicts)
    yield from plan_view(planned, console)


def draft_json(made: "DraftedContract", *, by: str = "", note: str = "") -> dict[str, object]:
    """The same for programs."""
    import json

    from ir import canonical_bytes
    from mcl.plugins.repo.usecases import repository_json

    denied = made.denied
    return {
        "contract": made.contract.to_json(),
        **({"by": by} if by else {}),
        **({"note": note} if note else {}),
        "repository": repository_json(made),
        "workspace": str(made.workspace),
        "decision": "deny" if denied else "ask" if any(one.reply for one in made.verdicts) else "allow",
        "verdicts": [one.to_json() for one in made.verdicts],
        "plan": json.loads(canonical_bytes(made.plan)),
    }


# ---- Asking the person at the terminal of this process, whatever standard input is.

TERMINAL = "/dev/tty"
_YES = ("y", "yes", "j", "ja")  # in letters of any size, beside what every question of yes or no takes


class AtItsTerminal:
    """Puts questions on the terminal that this process belongs to; without one nobody agrees.

    A contract may come on standard input, so no answer is read there.
    """

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Put one question."""
        try:
            device = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            note("there is no terminal to ask on, and nobody agrees unasked")
            return GateAnswer(DENY, unseen=True)
        try:
            with suppress(termios.error):
                termios.tcflush(device, termios.TCIFLUSH)  # an answer is typed after its question
            plain = gate.kind == "gate" and gate.offer.is_yes_no
            _write(device, _question(gate) if plain else question_text(gate))
            line = await _line(device)
            if line is None:
                _write(device, "\n")
                return None
            return GateAnswer("yes" if plain and line.casefold() in _YES else line)
        except get_cancelled_exc_class():
            _write(device, "\n")
            raise
        finally:
            os.close(device)


async def _line(device: int) -> str | None:
    """One line, or None at the end of input. Other tasks go on, and may end the wait."""
    waiting = b""
    while b"\n" not in waiting:
        await wait_readable(device)
        piece = os.read(device, 4096)
        if not piece:
            return None
        waiting += piece
    return waiting.partition(b"\n")[0].decode(errors="replace").strip()


def _question(gate: GateQuestion) -> str:
    first, *more = gate.question.split("\n")
    again = [f"  {clear(gate.again)}"] if gate.again else []
    return (
        on_terminal([*again, f"? {first}", *(f"  | {line}" for line in more)]).removesuffix("\n") + " [y/n] "
    )


def _write(device: int, text: str) -> None:
    with suppress(OSError):
        os.write(device, text.encode())
