"""The few pieces every view is laid out with."""

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mcl.cli.safe import safe

LABEL = 12  # width of the column of labels

DIM, STRONG = "dim", "bold"
GOOD, WARN, BAD = "green", "yellow", "red"


def plain(text: str, style: str = "") -> Text:
    """Text from elsewhere, safe for a terminal."""
    return Text(safe(text), style=style)


def joined(parts: Iterable[tuple[str, str]]) -> Text:
    """(text, style) pairs on one line, two spaces apart; empty texts left out."""
    return Text("  ").join(plain(text, style) for text, style in parts if text)


def rows(pairs: Sequence[tuple[str, RenderableType]], *, label: int = LABEL) -> Padding:
    """Labels to the left (`label` columns), values to the right; a repeated label is shown once."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=label, overflow="fold")
    table.add_column(overflow="fold")
    shown = ""
    for name, value in pairs:
        table.add_row(Text("" if name == shown else name, style=DIM), value)
        shown = name
    return Padding(table, (0, 0, 0, 2))


def one_line(text: Text) -> RenderableType:
    """A text that is cut where the line ends (a bare Text is wrapped, whatever it says of itself)."""
    text.no_wrap, text.overflow = True, "ellipsis"
    return Group(text)


def columns(cells: Sequence[Sequence[tuple[str, str]]]) -> Table:
    """Aligned columns of (text, style) cells; the last column folds."""
    table = Table.grid(padding=(0, 2))
    width = max((len(line) for line in cells), default=0)
    for index in range(width):
        table.add_column(overflow="fold", no_wrap=index < width - 1)
    for line in cells:
        table.add_row(*(plain(text, style) for text, style in line))
    return table


def listing(heads: Sequence[str], lines: Sequence[Sequence[tuple[str, str]]]) -> Table:
    """A table with quiet heads and no lines; the last column folds, the others keep to one line."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)
    for index, head in enumerate(heads):
        table.add_column(head, overflow="fold", no_wrap=index < len(heads) - 1)
    for line in lines:
        table.add_row(*(plain(text, style) for text, style in line))
    return table


def commands(pairs: Sequence[tuple[str, str]]) -> Padding:
    """What to do next: exact commands, each with what it does."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for command, purpose in pairs:
        table.add_row(plain(command, STRONG), plain(purpose, DIM))
    return Padding(table, (1, 0, 0, 2))


def coloured(console: Console) -> bool:
    """Whether styles can be seen, so that meaning need not be written out as signs."""
    return console.color_system is not None and not console.no_color


def moment(text: str) -> str:
    """An ISO 8601 moment in UTC as a person reads it: `2026-11-21 10:00 UTC`."""
    date, _, time = text.removesuffix("Z").partition("T")
    clock = time.partition(".")[0]
    return f"{date} {clock.removesuffix(':00')} UTC" if clock.count(":") == 2 else f"{date} {clock} UTC"


def duration(milliseconds: float) -> str:
    """A length of time in the unit that a person would choose."""
    if milliseconds < 1:
        return "<1 ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"
