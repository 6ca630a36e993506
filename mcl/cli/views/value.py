"""What a tool or a step gave, whatever its shape."""

import json
from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding

from mcl.cli.views.layout import DIM, listing, plain, rows
from mcl.core.text import one_line

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
                yield rows([(name, plain(one_line(str(item)))) for name, item in flat.items()])
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
