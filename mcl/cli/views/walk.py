"""A run as it is shown: node by node, as a tree that grows, its end; what was put back, or compared."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from executor.sandbox.redaction import visible
from executor.walker.interfaces import WalkEvent
from ir import PlanTree
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, columns, duration, joined, listing, plain, rows
from mcl.cli.views.plan import EFFECT_STYLES
from mcl.cli.views.rows import NodeRow, Rows, cut, padded
from mcl.core.text import counted, one_line

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.undo.images import Pruned
    from executor.walker.undo.records import NotUndone
    from executor.walker.undo.undo import UndoReport

_MOST = 12  # nodes whose outputs are shown at the end

STATES: Mapping[str, str] = {
    "pending": DIM,
    "running": "cyan",
    "completed": GOOD,
    "failed": BAD,
    "denied": BAD,
    "cancelled": WARN,
    "skipped": DIM,
}


class NodeLines:
    """One line for each node that ended: for pipes, logs and dumb terminals."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def on(self, event: WalkEvent) -> None:
        """Print a node that ended, or an attempt that did."""
        if event.state in ("pending", "running") and not event.error:
            return
        took = duration(event.ms) if event.state not in ("skipped", "running", "pending") else ""
        indent = "  " * event.depth
        line = joined(
            (
                (f"  {indent}{event.node_id:<{max(1, 10 - len(indent))}}", ""),
                (f"{event.state:<9}", STATES.get(event.state, "")),
                (f"{took:>7}", DIM),
                (one_line(event.error or event.description, 200), _style(event)),
            )
        )
        self._console.print(line, soft_wrap=True)

    def spoke(self, node_id: str, text: str) -> None:
        """Print what a node said while it runs, a line each."""
        for one in text.splitlines():
            self._console.print(joined(((f"  {node_id} |", DIM), (one, ""))), soft_wrap=True)


def _style(event: WalkEvent) -> str:
    if not event.error:
        return ""
    return WARN if event.state in ("pending", "running") else BAD


def outcome_view(outcome: Outcome, plan: PlanTree | None) -> Iterator[RenderableType]:
    """What the last nodes gave, and how the run ended."""
    yield from outputs_view(outcome.outputs, plan)
    if outcome.failure is not None:
        where = f" at {outcome.failure.node_id}" if outcome.failure.node_id else ""
        yield plain(f"{outcome.failure.code}{where}: {outcome.failure.message}", BAD)
        if outcome.failure.fix:
            yield plain(f"  {outcome.failure.fix}", DIM)
    for criterion in outcome.criteria:
        if not criterion.holds:
            yield plain(f"not met: {criterion.predicate.type}: {criterion.reason}", BAD)
    yield plain(outcome.state, STATES.get(outcome.state, WARN))


def outputs_view(outputs: Mapping[str, object], plan: PlanTree | None) -> Iterator[RenderableType]:
    given = [leaf for leaf in _leaves(plan) if leaf[0] in outputs]
    if len(given) > _MOST:
        yield plain(f"… what {len(given) - _MOST} nodes before these gave: --json has it all", DIM)
        yield ""
    for node_id, description in given[-_MOST:]:
        yield joined(((node_id, STRONG), (description, DIM)))
        output = outputs[node_id]
        text = output.get("text") if isinstance(output, dict) else None
        yield from value_view(text if isinstance(text, str) and text else output)
        yield ""


def said_view(said: Mapping[str, str], outputs: Mapping[str, object]) -> Iterator[RenderableType]:
    """What nodes said that gave nothing: those that run, or did not come to their end."""
    for node_id, text in said.items():
        if node_id not in outputs:
            yield joined(((node_id, STRONG), ("said before it ended", DIM)))
            yield from value_view(visible(text))
            yield ""


def next_steps(outcome: Outcome, plan: PlanTree | None, *, compiled: bool = True) -> list[tuple[str, str]]:
    """The commands that make sense after a run. compiled: was the intent made from words, by a compile?"""
    id = outcome.intent_id
    if outcome.state == "corrected":
        return [(f"mcl accept {id}", "sign the correction"), (f"mcl run {id}", "go on")]
    if outcome.state == "paused":
        return [(f"mcl run {id} --resume", "go on"), (f"mcl cancel {id}", "or end it")]
    if not outcome.nodes:
        return [(f"mcl plan {id}", "what the gate says to it")]
    steps = [(f"mcl log {id}", "what was signed")]
    if compiled and outcome.state == "failed":
        steps.append((f'mcl correct {id} "…"', "say what is to be otherwise, and go on from there"))
    if compiled:
        steps.append((f"mcl replay {id}", "compile it again"))
    if plan is not None and may_write(plan, outcome.nodes):
        steps.append((f"mcl undo {id} --check", "which files could be put back"))
    return steps


def may_write(plan: PlanTree, states: Mapping[str, str]) -> bool:
    """May a run of a plan have changed files? What it dispatches to might. states: how its nodes ended."""
    return any(
        (node.sub_dispatch is not None and not node.children)
        or (node.tool_call is not None and node.tool_call.side_effect_class in ("write", "shell"))
        for node, _ in plan.root.walk()
        if states.get(node.id) not in ("denied", "skipped")
    )


def _leaves(plan: PlanTree | None) -> list[tuple[str, str]]:
    if plan is None:
        return []
    return [
        (node.id, node.description)
        for node, _ in plan.root.walk()
        if node.tool_call or node.step or (node.sub_dispatch and not node.children)
    ]


# ---- A run as it is watched on a terminal: the tree, a line a node, drawn again while it changes.


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
        with self._lock:
            self._told = True
            self._rows.take(event, monotonic())

    def spoke(self, node_id: str, text: str) -> None:
        """Show the last line of what a node said, below it."""
        with self._lock:
            self._rows.hear(node_id, text)

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


# ---- What an undo did, or would do.


_HEADS = {
    "undone": ("undone", GOOD),
    "ready": ("this would be undone", STRONG),
    "changed": ("cannot be undone as it stands: nothing is touched", BAD),
    "already": ("undone already: there is nothing left to do", GOOD),
    "nothing": ("nothing to undo: no file was changed", ""),
}


def undo_view(report: UndoReport) -> Iterator[RenderableType]:
    """Files that are put back, what stands against it, and what stays."""
    lines: list[tuple[tuple[str, str], ...]] = []
    blocked = {one.path for one in report.changed}
    lines += [(("restore", GOOD), (path, "")) for path in report.restored if path not in blocked]
    lines += [(("remove", WARN), (path, "")) for path in report.removed if path not in blocked]
    lines += [(("remove", WARN), (f"{path}/", "")) for path in report.folders if report.state != "changed"]
    lines += [(("keep", DIM), (f"{path}/  it holds something", DIM)) for path in report.left]
    for one in report.changed:
        lines.append((("changed", BAD), (f"{one.path}  {one.why}", "")))
    yield plain(*_HEADS[report.state])
    if lines:
        yield columns([(("", ""), *line) for line in lines])
    if report.not_undone:
        yield ""
        yield plain("stays as it is", DIM)
        yield columns(
            [
                (
                    ("", ""),
                    (one.node, ""),
                    (one.tool.removeprefix("matrix://tool/"), DIM),
                    (f"{one.path}  {one.why}" if one.path else one.why, ""),
                )
                for one in report.not_undone
            ]
        )


def uncovered_view(files: Sequence[NotUndone]) -> Iterator[RenderableType]:
    """After a run: the files that it changed and no undo will put back."""
    for one in files:
        yield plain(f"no undo will put {one.path} back: {one.why} ({one.node})", WARN)


def pruned_view(pruned: Pruned) -> Iterator[RenderableType]:
    """What was removed, and what is left."""
    count = counted(pruned.images, "image")
    yield plain(f"removed {count} ({_size(pruned.size)}); {_size(pruned.left)} are kept")
    yield from (plain(f"  {intent} can no longer be undone", DIM) for intent in pruned.intents)


def _size(size: int) -> str:
    if size < 10_000:
        return f"{size:,} bytes"
    return f"{size / 1e3:,.0f} kB" if size < 10_000_000 else f"{size / 1e6:,.0f} MB"


# ---- What a tool or a step gave, whatever its shape.


MOST_LINES = 40  # of one list or text; the whole is in --json and in the journal


def value_view(value: object) -> Iterator[RenderableType]:
    """Lists of records as columns, records as labels and values, text as it is.

    Long ones cut, and told so.
    """
    match value:
        case str():
            yield from _lines(value.splitlines())
        case list() if value and all(isinstance(item, dict) for item in value):
            yield from _records(value)
        case list():
            yield from _lines(
                [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value]
            )
        case dict():
            flat = {
                name: item
                for name, item in value.items()
                if not isinstance(item, list | dict) and "\n" not in str(item)
            }
            for name, item in value.items():
                if name not in flat and item not in ([], {}):
                    yield from value_view(item)
            if flat:
                yield rows([(name, one_line(str(item))) for name, item in flat.items()])
        case _:
            yield plain(str(value))


def _lines(lines: list[str]) -> Iterator[RenderableType]:
    for line in lines[:MOST_LINES]:
        yield Padding(plain(line), (0, 0, 0, 2))
    yield from _more(len(lines))


def _records(records: list[dict[str, object]]) -> Iterator[RenderableType]:
    names = list(dict.fromkeys(name for record in records for name in record))
    # What is long goes last, where it may fold.
    names.sort(key=lambda name: max(len(str(record.get(name, ""))) for record in records[:MOST_LINES]) > 40)
    lines = [[(one_line(str(record.get(name, ""))), "") for name in names] for record in records[:MOST_LINES]]
    yield Padding(listing(names, lines), (0, 0, 0, 2))
    yield from _more(len(records))


def _more(count: int) -> Iterator[RenderableType]:
    if count > MOST_LINES:
        yield Padding(plain(f"… {count - MOST_LINES} more (--json gives all)", DIM), (0, 0, 0, 2))
