"""The person at a terminal: one line in, which is exactly one of the answers or is asked again.

What puts a question is imported where one is put: every command may import this to ask for a yes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from mcl.cli.output import note, width_of
from mcl.core.text import safe

if TYPE_CHECKING:
    from typing import TypeAlias

    from executor.walker.questions import GateAnswer, GateQuestion

    # By an intent and the words: lines that show what would be corrected, and what signs it.
    Corrections: TypeAlias = Callable[[str, str], tuple[list[str], Callable[[], object]]]

TERMINAL = "/dev/tty"
_YES = ("y", "yes", "j", "ja")
CORRECT = "correct"  # typed before the words of a correction
_SHOWN = 2000  # characters of a question, and of each argument


def says_yes(word: str) -> bool:
    """Whether a word that is typed where yes or no is asked for is a yes, in letters of any size."""
    return word.strip().casefold() in _YES


def agreed(question: str) -> bool:
    """Whether the person says yes; end of input, nothing, or anything else is no."""
    from ir.characters import UNSEEN, written_out

    sys.stderr.write(f"\n{written_out(question, UNSEEN, keep='')} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        sys.stderr.write("\n")
    return says_yes(answer)


def forget_what_was_typed(source: int) -> None:
    """At a terminal an answer is typed after its question was shown; scripts may write ahead."""
    if os.isatty(source):
        import termios

        with suppress(termios.error):
            termios.tcflush(source, termios.TCIFLUSH)


class AtTerminal:
    """Puts questions on a terminal and reads answers there; the end of input answers nothing.

    pause: called before a question with what to do while it is open (a live display is taken off the
    terminal). own: on the terminal that this process belongs to, as something else comes on standard input;
    without one nobody agrees. Else on standard error, and answers come on standard input. later: an empty
    line leaves a question open. corrections: makes of words what would be corrected of the run that asks (its
    lines, and what signs it); with it the gates of a plan may be answered with a correction.
    """

    def __init__(
        self,
        pause: Callable[[bool], None] = lambda asking: None,
        *,
        own: bool = False,
        later: bool = False,
        corrections: Corrections | None = None,
    ) -> None:
        self._pause = pause
        self._corrections = corrections
        self._own, self._later = own, later
        self._waiting = b""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        from executor.gate.approvals import DENY
        from executor.walker.questions import GateAnswer

        self._pause(True)
        try:
            if not self._own:
                return await self._asked(gate, sys.stdin.fileno(), _to_standard_error)
            try:
                device = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
            except OSError:
                note("there is no terminal to ask on, and nobody agrees unasked")
                return GateAnswer(DENY, unseen=True)
            try:
                return await self._asked(gate, device, partial(_to_device, device))
            finally:
                os.close(device)
        finally:
            self._pause(False)

    async def _asked(
        self, gate: GateQuestion, source: int, write: Callable[[str], None]
    ) -> GateAnswer | None:
        from anyio import get_cancelled_exc_class

        from executor.walker.questions import GateAnswer

        plain = gate.kind == "gate" and gate.offer.is_yes_no
        try:
            self._forget_what_was_typed(source)
            corrects = self._corrections is not None and gate.kind == "gate"
            text = question_text(gate, later=self._later, corrects=corrects)
            write(_short_question(gate) if plain and self._own else text)
            line = await self._line(source)
            while corrects and line is not None and (words := _correction_in(line, gate)):
                await self._corrected(gate, words, source, write)
                write(text)
                line = await self._line(source)
        except get_cancelled_exc_class():
            write("\n  closed: decided elsewhere, out of time, or the run has ended\n")
            raise
        if line is None or not os.isatty(source):  # a terminal shows the line end that was typed
            write("\n")  # what follows shall not stand behind the question
        if line is None:
            return None
        word = line.strip()
        if self._later and not word:
            return None
        return GateAnswer("yes" if plain and says_yes(word) else word)

    async def _corrected(
        self, gate: GateQuestion, words: str, source: int, write: Callable[[str], None]
    ) -> None:
        """Show what a correction comes to, and sign it if the person agrees. It answers nothing: where it is
        material the run stops, which ends the question; else this is asked again."""
        from anyio.to_thread import run_sync

        from ir.errors import MclError

        assert self._corrections is not None, "asked before"
        try:
            lines, sign = await run_sync(self._corrections, gate.intent_id, words)
            write(on_terminal(lines) + "  Sign this correction? [y/N] ")
            line = await self._line(source)
            if line is None or not says_yes(line):
                write("\n  not corrected; nothing was signed\n")
                return
            await run_sync(sign)
            write("\n  corrected\n")
        except MclError as problem:
            write(on_terminal([f"  {safe(problem.message)} [{problem.code}]", f"  {safe(problem.fix)}"]))

    def _forget_what_was_typed(self, source: int) -> None:
        if os.isatty(source):
            self._waiting = b""
            forget_what_was_typed(source)

    async def _line(self, source: int) -> str | None:
        """One line, or None at the end of input. Other tasks go on, and may end the wait."""
        from anyio import wait_readable

        while b"\n" not in self._waiting:
            with suppress(OSError):  # a plain file cannot be waited for, and never blocks
                await wait_readable(source)
            piece = os.read(source, 65536)
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
        from anyio import sleep_forever

        self._pause(True)
        _to_standard_error(f"{safe(gate.node_id) or 'the end'} waits: mcl gate show {gate.gate_id}\n")
        self._pause(False)
        await sleep_forever()
        return None


def _short(text: str) -> str:
    """So much that the question itself stays on the terminal."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters; mcl gate show)"


def _correction_in(line: str, gate: GateQuestion) -> str:
    """The words behind "correct", where that is no answer to the question."""
    first, _, words = line.strip().partition(" ")
    return words.strip() if first.casefold().rstrip(":") == CORRECT and not gate.offer.read(line) else ""


def question_text(gate: GateQuestion, *, later: bool = False, corrects: bool = False) -> str:
    """A question as it is put, down to what is to be typed. later: as of `AtTerminal`; corrects: a correction
    may be typed too."""
    from ir.display import clear, of_value, quoted

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
    if corrects:
        lines.append(f"  ({CORRECT} …, and in your words what is to be otherwise, changes the goal instead)")
    last, none = _short(gate.offer.words), "Enter: later" if later else "Ctrl-D or no answer refuses"
    return on_terminal([*again, *lines]) + f"  type {last}{short}; {none}{until}: "


def _short_question(gate: GateQuestion) -> str:
    """A question of yes or no in a line, where the person has just said what is to be done."""
    from ir.display import clear

    first, *more = gate.question.split("\n")
    again = [f"  {clear(gate.again)}"] if gate.again else []
    return on_terminal([*again, f"? {first}", *(f"  | {line}" for line in more)]).rstrip("\n") + " [y/n] "


def _to_standard_error(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _to_device(device: int, text: str) -> None:
    with suppress(OSError):
        os.write(device, text.encode())


def on_terminal(lines: Iterable[str]) -> str:
    """Lines of views, cut where the terminal ends."""
    from mcl.cli.views.exact import cut_rows

    width = width_of(sys.stderr)
    return "\n" + "".join(f"{row}\n" for line in lines for row in cut_rows(line, width))
