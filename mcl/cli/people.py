"""Asking the person at the terminal: one line in, which is exactly one of the answers or is asked again."""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress

from anyio import get_cancelled_exc_class, sleep_forever, wait_readable

from executor.walker.people import GateAnswer, GateQuestion
from ir.shown import clear, of_value, quoted
from mcl.core.safe import safe

_SHOWN = 2000  # characters of a question, and of each argument


class AtTerminal:
    """Puts questions on standard error and reads answers from standard input; its end answers nothing.

    pause: called before a question with what to do while it is open (a live display is taken off the
    terminal).
    """

    def __init__(self, pause: Callable[[bool], None] = lambda asking: None) -> None:
        self._pause = pause
        self._waiting = b""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Put one question."""
        self._pause(True)
        try:
            self._forget_what_was_typed()
            sys.stderr.write(question_text(gate))
            sys.stderr.flush()
            line = await self._line()
        except get_cancelled_exc_class():
            sys.stderr.write("\n  closed: decided elsewhere, out of time, or the run has ended\n")
            sys.stderr.flush()
            raise
        finally:
            self._pause(False)
        if line is None or not sys.stdin.isatty():  # a terminal shows the line end that was typed
            sys.stderr.write("\n")  # what follows shall not stand behind the question
        return None if line is None else GateAnswer(line.strip())

    def _forget_what_was_typed(self) -> None:
        """At a terminal an answer is typed after its question was shown; scripts may write ahead."""
        if sys.stdin.isatty():
            import termios

            self._waiting = b""
            with suppress(termios.error):
                termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    async def _line(self) -> str | None:
        """One line of standard input, or None at its end. Other tasks go on, and may end the wait."""
        descriptor = sys.stdin.fileno()
        while b"\n" not in self._waiting:
            with suppress(OSError):  # a plain file cannot be waited for, and never blocks
                await wait_readable(descriptor)
            piece = os.read(descriptor, 65536)
            if not piece:
                return None
            self._waiting += piece
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line.decode(errors="replace")


class Elsewhere:
    """Asks nobody here: the question stays open until it is decided with `mcl gate`, or its time is over.

    pause: called around what is written (a live display is taken off the terminal).
    """

    def __init__(self, pause: Callable[[bool], None] = lambda asking: None) -> None:
        self._pause = pause

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Say which question waits; the run looks whether it was decided."""
        self._pause(True)
        sys.stderr.write(f"{safe(gate.node_id) or 'the end'} waits: mcl gate show {gate.gate_id}\n")
        sys.stderr.flush()
        self._pause(False)
        await sleep_forever()
        return None


def _short(text: str) -> str:
    """So much that the question itself stays on the terminal."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters; mcl gate show)"


def question_text(gate: GateQuestion) -> str:
    """A question as it is put, down to what is to be typed."""
    first, *more = _short(gate.question).split("\n")
    named = not gate.node_id or f" {gate.node_id} " in first
    lines = [f"? {first}" if named else f"? {clear(gate.node_id)}: {first}"]
    lines += [f"  | {line}" for line in more]  # none of it can pass for a question of ours
    # What the question does not say in full already, one argument a line.
    for name, value in gate.args.items():
        if f"{quoted(name)} = {of_value(value)}" not in gate.question:
            lines.append(f"  {quoted(name)} = {of_value(value, _SHOWN)}")
    until = f" (until {gate.expires_at[:16].replace('T', ' ')} UTC)" if gate.expires_at else ""
    again = [f"  {clear(gate.again)}"] if gate.again else []
    short = " (or y / n)" if gate.offer.is_yes_no else ""
    last = _short(gate.offer.words)
    return on_terminal([*again, *lines]) + f"  type {last}{short}; no answer refuses{until}: "


def on_terminal(lines: Iterable[str]) -> str:
    """Lines of views, cut where the terminal ends."""
    from mcl.cli.output import width_of
    from mcl.cli.views.exact import cut_rows

    width = width_of(sys.stderr)
    return "\n" + "".join(f"{row}\n" for line in lines for row in cut_rows(line, width))
