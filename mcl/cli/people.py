"""Asking the person at the terminal: one line in, which is exactly one of the answers or is asked again."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from anyio import get_cancelled_exc_class, sleep_forever, wait_readable

from executor.walker.people import GateAnswer, GateQuestion
from mcl.cli.safe import one_line, safe

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


def _quoted(question: str) -> str:
    """The question with a mark before each further line: none of it can pass for a question of ours."""
    return _short(question).replace("\n", "\n  | ")


def _says(question: str, name: str, value: object) -> bool:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{name} = {safe(text)}".replace("\n", "\\n") in question


def _short(text: str) -> str:
    """So much that the question itself stays on the terminal."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters; mcl gate show)"


def question_text(gate: GateQuestion) -> str:
    """A question as it is put, down to what is to be typed."""
    gate = replace(gate, question=_quoted(gate.question))
    named = not gate.node_id or f" {gate.node_id} " in gate.question
    lines = ["", f"? {gate.question}" if named else f"? {gate.node_id}: {gate.question}"]
    # What the question does not say in full already, one argument a line.
    unsaid = {name: value for name, value in gate.args.items() if not _says(gate.question, name, value)}
    lines += [f"  {name} = {_short(json.dumps(value, ensure_ascii=False))}" for name, value in unsaid.items()]
    until = f" (until {gate.expires_at[:16].replace('T', ' ')} UTC)" if gate.expires_at else ""
    again = f"  {one_line(gate.again)}\n" if gate.again else ""
    text = safe("\n".join(lines))
    short = " (or y / n)" if gate.offer.is_yes_no else ""
    return f"{again}{text}\n  type {one_line(gate.offer.words, _SHOWN)}{short}; no answer refuses{until}: "
