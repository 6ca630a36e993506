"""Rows as CSV, TSV, JSON, JSON lines and Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from executor.core.errors import ToolError
from mcl.plugins.data.tools.data.table import MISSING, read_number

FORMATS: Final = ("csv", "tsv", "json", "jsonl", "md")
_ENDINGS: Final = {"ndjson": "jsonl", "markdown": "md", "tab": "tsv"}


def format_of(path: str) -> str:
    """The format that an ending stands for. Raises ToolError UNKNOWN_FORMAT."""
    ending = path.rpartition(".")[2].lower() if "." in path else ""
    found = _ENDINGS.get(ending, ending)
    if found not in FORMATS:
        fix = f"end its name with one of {', '.join(f'.{one}' for one in FORMATS)}"
        raise ToolError("UNKNOWN_FORMAT", f"{path!r} does not say a format", place=path, fix=fix)
    return found


def table_bytes(
    names: Sequence[str], rows: Sequence[Sequence[str]], form: str, *, comma: bool = False
) -> bytes:
    """A table in a format. comma: whether its numbers have a decimal comma, and semicolons between them."""
    writers: dict[str, Callable[[], str]] = {
        "csv": lambda: _separated(names, rows, ";" if comma else ","),
        "tsv": lambda: _separated(names, rows, "\t"),
        "json": lambda: json.dumps(_objects(names, rows, comma=comma), ensure_ascii=False, indent=2) + "\n",
        "jsonl": lambda: "".join(
            json.dumps(one, ensure_ascii=False) + "\n" for one in _objects(names, rows, comma=comma)
        ),
        "md": lambda: _markdown(names, rows),
    }
    return writers[form]().encode()


def _separated(names: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue()


def _objects(names: Sequence[str], rows: Sequence[Sequence[str]], *, comma: bool) -> list[dict[str, Any]]:
    return [{name: _value(cell, comma=comma) for name, cell in zip(names, row, strict=True)} for row in rows]


def _value(cell: str, *, comma: bool) -> Any:
    """A cell as JSON: a number as one where JSON writes it alike, else its text; nothing as null."""
    text = cell.strip()
    if not text or text.lower() in MISSING:
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    found = read_number(text, comma=comma)
    if found is None:
        return cell
    number, whole = found
    if whole:
        return int(number) if abs(number) < 1 << 53 else cell
    return float(number) if len(number.as_tuple().digits) <= 15 else cell


def _markdown(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [[_marked(cell) for cell in row] for row in (names, *rows)]
    widths = [max(3, *(len(row[place]) for row in lines)) for place in range(len(names))]

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |\n"

    return line(lines[0]) + line(["-" * width for width in widths]) + "".join(map(line, lines[1:]))


def _marked(cell: str) -> str:
    return " ".join(cell.replace("\\", "\\\\").replace("|", "\\|").split())
