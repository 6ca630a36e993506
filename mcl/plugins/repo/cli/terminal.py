"""Asking the person at the terminal of this process, whatever standard input is."""

import os
import termios
from contextlib import suppress

from anyio import get_cancelled_exc_class, wait_readable

from executor.gate.approvals import DENY
from executor.walker.people import GateAnswer, GateQuestion
from ir.shown import clear
from mcl.cli.output import note
from mcl.cli.people import on_terminal, question_text

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
