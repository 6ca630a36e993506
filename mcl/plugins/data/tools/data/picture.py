"""Charts as SVG: the same bytes for the same values, and nothing in them that a viewer would run or fetch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width

# ---- Numbers as people read them, in columns that stand under each other.

_DIGITS = 6  # significant ones of a fraction
_WIDE = 40  # cells of a terminal that a text takes at most


def shown(value: object) -> str:
    """A number with its thousands marked and about six significant digits; None is ``-``."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.{_DIGITS - 1}e}"
    decimals = max(0, min(_DIGITS, _DIGITS - len(str(int(size))))) if size >= 1 else _DIGITS
    plain = f"{value:,.{max(2, decimals)}f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def aligned(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> Iterator[str]:
    """The rows as lines; columns in ``left`` stand left, the others right."""
    cut = [[_cut(cell) for cell in row] for row in rows]
    widths = [max(_width(row[place]) for row in cut) for place in range(len(cut[0]))]
    for row in cut:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            room = " " * (width - _width(cell))
            cells.append(cell + room if place in left else room + cell)
        yield "  ".join(cells).rstrip()


def _cut(text: str) -> str:
    if len(text) <= _WIDE * 2:
        return text
    return text[: _WIDE * 2 - 1] + "…"


def _width(text: str) -> int:
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


_LABELS = 24  # names under the axis that can be read
_STYLES = ("base.css", "style.css", "graph.css")
_LEFT_OUT = ("script", "desc")  # pygal's words to its own script, which is not there


def draw(kind: str, title: str, labels: Sequence[str], values: Sequence[float]) -> bytes:
    """A chart of one series.

    Args:
        kind: "line", or bars.
        labels: under the axis, one a value; printable text of any language.
        values: one a label.
    """
    import pygal
    from pygal.style import CleanStyle

    every = -(-len(labels) // _LABELS)
    chart = _own(pygal.Line if kind == "line" else pygal.Bar)(
        style=CleanStyle(
            background="white",
            plot_background="white",
            colors=("#2b6cb0",),
            font_family="sans-serif",
            guide_stroke_color="#dddddd",
            guide_stroke_dasharray="none",
            label_font_size=11,
            major_guide_stroke_color="#cccccc",
            major_guide_stroke_dasharray="none",
            major_label_font_size=11,
        ),
        stroke_style={"width": 2},
        js=[],
        width=900,
        height=500,
        title=title,
        show_legend=False,
        margin=25,
        dots_size=2 if len(values) <= 100 else 1,
        x_label_rotation=30 if max(map(len, labels), default=0) * min(len(labels), _LABELS) > 90 else 0,
        x_labels_major_every=every if every > 1 else None,
        show_minor_x_labels=every == 1,
        truncate_label=24,
        value_formatter=shown,
        zero=0,
        include_x_axis=kind == "bar",
    )
    chart.uuid = "mcl"
    chart.x_labels = list(labels)
    chart.add(title, list(values))
    return _plain(chart.render())


def _own(kind: Any) -> Any:
    """A chart of this kind that takes its style from its own package: pygal would look in the current folder
    first, and its scripts and the day of drawing have no place in a document."""
    import pygal
    from pygal.svg import Svg
    from pygal.util import minify_css, template

    class Drawing(Svg):  # type: ignore[misc]  # pygal has no types
        def add_styles(self) -> None:
            style = Path(pygal.__file__).with_name("css")
            text = "\n".join((style / name).read_text(encoding="utf-8") for name in _STYLES)
            look = self.graph.style
            colors = look.get_colors(self.id, self.graph._order)
            css = template(text, style=look, colors=colors, strokes=self.get_strokes(), id=self.id)
            self.node(self.defs, "style", type="text/css").text = minify_css(css)

        def add_scripts(self) -> None:
            pass

    class Own(kind):  # type: ignore[misc]
        def _draw(self) -> None:
            self.svg = Drawing(self)
            super()._draw()

    return Own


def _plain(svg: bytes) -> bytes:
    """The drawing in canonical form, without what is not drawn: whichever XML library pygal finds, the same
    bytes."""
    from xml.etree import ElementTree

    space = "{http://www.w3.org/2000/svg}"
    text = ElementTree.canonicalize(svg.decode(), exclude_tags=[space + name for name in _LEFT_OUT])
    return text.encode() + b"\n"
