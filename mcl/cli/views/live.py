"""A run as it is watched on a terminal: the tree, a line a node, drawn again while it changes.

A tree that is higher than the terminal is shown around what runs now; the rest is counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from threading import Lock
from time import monotonic

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from executor.walker.interfaces import WalkEvent
from ir import PlanTree
from mcl.cli.views.layout import BAD, DIM, WARN, duration
from mcl.cli.views.plan import EFFECT_STYLES
from mcl.cli.views.rows import NodeRow, Rows, cut, padded
from mcl.cli.views.walk import STATES

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_SIGNS = {
    "pending": "·",
    "completed": "✓",
    "failed": "✗",
    "denied": "⊘",
    "cancelled": "■",
    "skipped": "–",
}
_PLAIN_FRAMES = "-\\|/"
_PLAIN_SIGNS = dict(zip(_SIGNS, ".+x!#-", strict=True))
_PLAIN = str.maketrans("│├└─…·", "||`-~-")  # for terminals that know no such signs
_PER_SECOND = 8
_STATE, _SHORT = 21, 12  # columns of a sign, a state and a time; of a sign and one of them
_ROOMY, _WIDE, _WIDEST = 60, 72, 96  # columns from which there is room for that, side effects, verdicts
_WHOLE = 300  # rows of a tree that is printed whole at the end


class LiveTree:
    """The plan's tree, drawn again as nodes change; taken off the terminal while a person is asked."""

    def __init__(self, plan: PlanTree, console: Console) -> None:
        self._console = console
        self._rows = Rows(plan)
        self._lock = Lock()
        self._live: Live | None = None
        self._first = 0  # the first row that is shown where not all are
        self._begun = monotonic()
        self._told = False  # a run that is refused before it begins leaves no tree behind
        self._plain = not console.encoding.lower().startswith("utf")
        self._frames = _PLAIN_FRAMES if self._plain else _FRAMES
        self._signs = _PLAIN_SIGNS if self._plain else _SIGNS

    def __enter__(self) -> LiveTree:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        with self._lock:
            if not self._told:
                return
            self._console.print(self._shown([*self._lines(self._last_rows(), whole=True), self._summary()]))

    def on(self, event: WalkEvent) -> None:
        """Take a node's new state."""
        with self._lock:
            self._told = True
            self._rows.take(event, monotonic())

    def pause(self, asking: bool) -> None:
        """Leave the terminal to a question while it is open."""
        if asking:
            self._stop()
            with self._lock:
                self._console.print(self._shown([self._summary()]))
        else:
            self._start()

    def _start(self) -> None:
        # Made anew each time: what was printed meanwhile is not the old one's to draw over.
        self._live = Live(
            get_renderable=self._draw,
            console=self._console,
            refresh_per_second=_PER_SECOND,
            transient=True,
            vertical_overflow="crop",
        )
        self._live.start()

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    # ---- what is drawn ----

    def _draw(self) -> RenderableType:
        with self._lock:
            height = max(6, self._console.size.height - 2)
            remarks = sum(1 for row in self._rows if row.remark)
            if len(self._rows) + remarks + 1 <= height:
                return self._shown([*self._lines(self._rows.all(), whole=False), self._summary()])
            return self._shown([*self._window(height), self._summary()])

    def _shown(self, lines: list[Text]) -> RenderableType:
        for line in lines if self._plain else ():
            line.plain = line.plain.translate(_PLAIN)  # as long as before: the styles stay where they are
        return Group(*lines)

    def _window(self, height: int) -> Iterator[Text]:
        """The rows around what runs, below the branches that they belong to, and what is left out counted."""
        rows, room = self._rows.all(), height - 3
        focus = self._rows.focus()
        if not self._first + 1 <= focus < self._first + room * 2 // 3:
            self._first = focus - room // 3
        self._first = max(0, min(self._first, len(rows) - room))
        above = self._rows.above(self._first)[-3:]
        first = self._first + len(above)
        shown, last = [*above], first
        for row in rows[first:]:
            if len(shown) + sum(bool(one.remark) for one in shown) >= room:
                break
            shown.append(row)
            last += 1
        known = {id(row) for row in above}
        if before := [row for row in rows[:first] if id(row) not in known]:
            yield self._left_out("above", before)
        yield from self._lines(shown, whole=False)
        if last < len(rows):
            yield self._left_out("below", rows[last:])

    @property
    def _width(self) -> int:
        """Columns to draw in: those of the terminal, which may have shrunk since the console was made."""
        with suppress(OSError, ValueError):
            now = os.get_terminal_size(self._console.file.fileno()).columns
            return min(self._console.width, now) if now else self._console.width
        return self._console.width

    def _left_out(self, where: str, rows: list[NodeRow]) -> Text:
        told = ", ".join(f"{count} {state}" for state, count in Counter(row.state for row in rows).items())
        return Text(cut(f"  … {len(rows)} {where}: {told}", self._width - 1), style=DIM)

    def _last_rows(self) -> list[NodeRow]:
        """What stays on the terminal: all of a tree, of a very large one what did not go well."""
        rows = self._rows.all()
        if len(rows) <= _WHOLE:
            return rows
        return self._rows.with_branches(row for row in rows if row.state not in ("completed", "skipped"))

    def _lines(self, rows: list[NodeRow], *, whole: bool) -> Iterator[Text]:
        width = self._width - 3
        effect = 9 if width >= _WIDE else 0
        gate = max((len(row.verdict) for row in rows), default=0) + 2 if width >= _WIDEST else 0
        room = _STATE if width >= _ROOMY else _SHORT
        stem = min(max((row.stem_width for row in rows), default=0) + 2, max(12, width * 2 // 5))
        what = max(0, width - stem - effect - gate - room)
        now = monotonic()
        for row in rows:
            state, style = self._state(row, now, short=room == _SHORT)
            line = Text("  ", no_wrap=True, overflow="crop")
            line.append(padded(row.guide, len(row.guide)), style=DIM)
            line.append(padded(row.id, stem - len(row.guide)))
            line.append(padded(row.what, what - 2) + "  " if what > 2 else "", style=row.what_style)
            line.append(padded(row.effect, effect), style=EFFECT_STYLES.get(row.effect, BAD))
            line.append(padded(row.verdict, gate), style=DIM if row.verdict == "allow" else WARN)
            line.append(cut(state, room), style=style)
            yield line
            if row.remark:
                indent = "  " + row.below + "  "
                remark = row.remark if whole else cut(row.remark, max(8, width - len(indent)))
                yield Text(indent, style=DIM, no_wrap=not whole, overflow="fold").append(
                    remark, style=row.remark_style
                )

    def _state(self, row: NodeRow, now: float, *, short: bool) -> tuple[str, str]:
        sign, took = self._signs.get(row.state, "?"), duration(row.ms) if row.timed else ""
        if row.state == "running":
            sign = self._frames[int(now * _PER_SECOND) % len(self._frames)]
            took = duration((now - row.began) * 1000)
        if short:  # the sign says which of the two it is
            words = [sign, took if took and row.state in ("running", "completed") else row.state]
        else:
            words = [sign, row.state, took]
        return " ".join(word for word in words if word), STATES.get(row.state, "")

    def _summary(self) -> Text:
        """How far it is: of what has work of its own, branches left out."""
        states = Counter(row.state for row in self._rows if not row.branch)
        done = sum(states.values()) - states["pending"] - states["running"]
        parts = [f"{done} of {sum(states.values())}"]
        parts += [f"{states[state]} {state}" for state in STATES if states[state] and state != "pending"]
        parts.append(duration((monotonic() - self._begun) * 1000))
        return Text(cut("  " + " · ".join(parts), self._width - 1), style=DIM)
