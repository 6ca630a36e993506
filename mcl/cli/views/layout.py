"""The few pieces every view is laid out with: lines, sheets of labels and values, tables, commands.

Rich, which draws them, is imported where something is drawn: who asks for JSON need not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcl.core.text import safe

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

_LONG = 72  # characters of a command beside which nothing is said
_MONTH = 30 * 86_400  # seconds
LABEL = 12  # width of the column of labels
_LAST = 16  # columns of a terminal that the last column of a listing, which folds, can do with

DIM, STRONG = "dim", "bold"
GOOD, WARN, BAD = "green", "yellow", "red"


def plain(text: str, style: str = "") -> Text:
    """Text from elsewhere, safe for a terminal."""
    from rich.text import Text

    return Text(safe(text), style=style)


def joined(parts: Iterable[tuple[str, str]]) -> Text:
    """(text, style) pairs on one line, two spaces apart; empty texts left out."""
    from rich.text import Text

    return Text("  ").join(plain(text, style) for text, style in parts if text)


def rows(pairs: Sequence[tuple[str, RenderableType]], *, label: int = LABEL) -> RenderableType:
    """A sheet: labels to the left (`label` columns), values to the right; a repeated label is shown once. A
    value that is a text is shown as `plain`."""
    return Sheet(pairs, label)


@dataclass(frozen=True)
class Sheet:
    """Labels and values, drawn when they are printed."""

    pairs: Sequence[tuple[str, RenderableType]]
    label: int

    def __rich__(self) -> Padding:
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1))
        table.add_column(width=self.label, overflow="fold")
        table.add_column(overflow="fold")
        shown = ""
        for name, value in self.pairs:
            said = plain(value) if isinstance(value, str) else value
            table.add_row(Text("" if name == shown else name, style=DIM), said)
            shown = name
        return Padding(table, (0, 0, 0, 2))


def one_line(text: Text) -> RenderableType:
    """A text that is cut where the line ends (a bare Text is wrapped, whatever it says of itself)."""
    from rich.console import Group

    text.no_wrap, text.overflow = True, "ellipsis"
    return Group(text)


def columns(cells: Sequence[Sequence[tuple[str, str]]]) -> Table:
    """Aligned columns of (text, style) cells; the last column folds."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    width = max((len(line) for line in cells), default=0)
    for index in range(width):
        table.add_column(overflow="fold", no_wrap=index < width - 1)
    for line in cells:
        table.add_row(*(plain(text, style) for text, style in line))
    return table


def quiet_table() -> Table:
    """A table with quiet heads and no lines, without its columns."""
    from rich.table import Table

    return Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)


def listing(heads: Sequence[str], lines: Sequence[Sequence[tuple[str, str]]]) -> RenderableType:
    """A table with quiet heads and no lines; the last column folds, the others keep to one line. Where they
    do not fit, each line becomes a block of its own: nothing is cut."""
    return Listing(heads, lines)


@dataclass(frozen=True)
class Listing:
    """A table that becomes blocks where the terminal is too narrow for it."""

    heads: Sequence[str]
    lines: Sequence[Sequence[tuple[str, str]]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._needs() <= options.max_width:
            yield self._table()
        else:
            for line in self.lines:
                yield from self._block(line)

    def _needs(self) -> int:
        """The width below which the table would lose something, or be hard to read."""
        from rich.cells import cell_len

        cells = [
            [head, *(safe(line[index][0]) for line in self.lines)] for index, head in enumerate(self.heads)
        ]
        widths = [max(map(cell_len, column)) for column in cells]
        return sum(widths[:-1]) + min(widths[-1], _LAST) + 2 * (len(widths) - 1)

    def _table(self) -> Table:
        table = quiet_table()
        for index, head in enumerate(self.heads):
            table.add_column(head, overflow="fold", no_wrap=index < len(self.heads) - 1)
        for line in self.lines:
            table.add_row(*(plain(text, style) for text, style in line))
        return table

    def _block(self, line: Sequence[tuple[str, str]]) -> Iterable[RenderableType]:
        """What the line is about, then a line for each further column that says something."""
        about = next((index for index, head in enumerate(self.heads) if head), 0)
        top = [cell for index, cell in enumerate(line) if index == about or not self.heads[index]]
        yield joined(top)
        named = [
            (head, plain(*cell)) for head, cell in zip(self.heads, line, strict=True) if head and cell[0]
        ]
        if further := named[1:] if line[about][0] else named:
            yield rows(further, label=max(map(len, self.heads)))


def guides(depths: Sequence[int]) -> list[tuple[str, str]]:
    """The lines of a tree, from how deep each of its parts lies, in the order of a walk: what is drawn before
    a part, and before what is said below it. A part is the last of its branch where none of its depth
    follows."""
    drawn: list[tuple[str, str]] = []
    followed: set[int] = set()  # depths at which another part of the same branch follows
    for depth in reversed(depths):
        followed = {one for one in followed if one <= depth}
        above = "".join("│  " if one in followed else "   " for one in range(1, depth))
        more = depth in followed
        own = ("├─ ", "│  ") if more else ("└─ ", "   ")
        drawn.append((above + own[0], above + own[1]) if depth else ("", ""))
        followed.add(depth)
    return drawn[::-1]


def commands(pairs: Sequence[tuple[str, str]]) -> Padding:
    """What to do next: exact commands, each with what it does, below it where it is long."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    long = [plain(text) for pair in pairs if len(pair[0]) > _LONG for text in (pair[0], f"  {pair[1]}")]
    for command, purpose in pairs:
        if len(command) <= _LONG:
            table.add_row(plain(command, STRONG), plain(purpose, DIM))
    return Padding(Group(*long, table), (1, 0, 0, 2))


def coloured(console: Console) -> bool:
    """Whether styles can be seen, so that meaning need not be written out as signs."""
    return console.color_system is not None and not console.no_color


def moment(text: str) -> str:
    """An ISO 8601 moment in UTC as a person reads it: `2026-11-21 10:00 UTC`."""
    date, _, time = text.removesuffix("Z").partition("T")
    clock = time.partition(".")[0]
    return f"{date} {clock.removesuffix(':00')} UTC" if clock.count(":") == 2 else f"{date} {clock} UTC"


def age(at: str, now: str) -> str:
    """How long ago a moment was, for eyes alone: `3 min ago`; of more than a month its day."""
    from datetime import datetime

    seconds = (datetime.fromisoformat(now) - datetime.fromisoformat(at)).total_seconds()
    if not 0 <= seconds < _MONTH:  # a clock that was set back
        return at[:10]
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def duration(milliseconds: float) -> str:
    """A length of time in the unit that a person would choose."""
    if milliseconds < 1:
        return "<1 ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"
