"""A folder of short texts that say the same of each thing (invoices, orders): a table with a row for each.

In each stands "Status: unpaid" on a line of its own. What is said in most of them is a column; a blank form
among them is no entry. Where they say nothing by name, what each costs is: receipts.
"""

from __future__ import annotations

import re
import stat
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from ir.inline_secrets import lines_without_keys
from mcl.plugins.data.tools.data.table import read_date, read_number

ENDINGS: Final = (".txt", ".md")
_LINE: Final = re.compile(r"\s*(?:[-*]\s+)?(?P<name>[^\W\d_][\w ./-]{0,40}?)\s*:\s+(?P<value>\S.*?)\s*")
_AMOUNT: Final = re.compile(
    r"(?:[€$£]\s*)?(?P<number>\d[\d \u00a0.,]*\d|\d)\s*(?:kr|:-|sek|kronor|nok|eur|euros?|usd|gbp|€|\$|£)?",
    re.IGNORECASE,
)
_DATED: Final = re.compile(r"(?P<value>[^\W\d].*?)[,;]?\s+(?P<date>\d{4}-\d\d-\d\d)")
_MONEY: Final = re.compile(
    r"(?<![\w.,-])(?P<number>\d{1,3}(?:[ \u00a0]\d{3})+(?:[.,]\d\d)?|\d+(?:[.,]\d\d)?)[ \u00a0]?"
    r"(?:kr|:-|sek|kronor|nok|eur|euros?|usd|gbp|€|\$|£)(?!\w)",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_FILE, _TITLE = "file", "title"
RECEIPTS: Final = (_FILE, _TITLE, "date", "amount")  # the columns of texts that only say what each costs
_LEAST: Final = 2  # files, and of what they say
_MOST_FILES: Final = 1000
_MOST_BYTES: Final = 1 << 16  # of a file
_TYPED: Final = 0.6  # of the cells of a column that tell what it holds


def is_folder(path: str, bench: Bench) -> bool:
    """Whether a path is a folder that is there."""
    status = bench.workspace.check(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def entries_of(path: str, bench: Bench, check: Callable[[], None]) -> tuple[tuple[str, ...], list[list[str]]]:
    """The names of the columns and the rows, in the order of the names of the files.

    Raises:
        ToolError: NO_ROWS, where the files do not say the same of several things.
    """
    prefix = "/".join(bench.workspace.split(path))
    files = [
        one.path
        for one in bench.workspace.walk(path, check=check)
        if one.kind == "file" and one.size <= _MOST_BYTES and one.path.casefold().endswith(ENDINGS)
    ]
    files = [one for one in files if one.removeprefix(prefix).strip("/").count("/") == 0][:_MOST_FILES]
    return entries_in(path, {one: bench.workspace.read(one, _MOST_BYTES)[0] for one in files})


def entries_in(path: str, texts: Mapping[str, bytes]) -> tuple[tuple[str, ...], list[list[str]]]:
    """The same of these files with their texts, which lie in a folder. Raises ToolError NO_ROWS."""
    said = {one: _said(data) for one, data in texts.items()}
    counts = Counter(name for found in said.values() for name in found)
    having = [one for one in texts if said[one].keys() - {_TITLE}]
    names = [name for name, many in counts.items() if many >= _LEAST and 2 * many > len(having)]
    rows = _filled([[name_of(one), *(said[one].get(name, "") for name in names)] for one in having])
    if len(rows) >= _LEAST and len(names) >= _LEAST and 2 * len(having) > len(texts):
        return (_FILE, *names), rows
    rows = [[name_of(one), *paid] for one, data in texts.items() if (paid := _paid(data))]
    if len(rows) < _LEAST or len(rows) < len(texts):
        message, fix = f"the texts in {path!r} do not say the same of several things", "name a table"
        raise ToolError("NO_ROWS", message, place=path, fix=fix)
    return RECEIPTS, rows


def _paid(data: bytes) -> tuple[str, str, str] | None:
    """The first line of a text, its first date, and what it says that something costs; None where that is
    not one amount of money."""
    try:
        text = lines_without_keys(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None
    amounts = {re.sub(r"[ \u00a0]", "", one["number"]).replace(",", ".") for one in _MONEY.finditer(text)}
    date = _DATE.search(text)
    title = next((line.strip("# ") for line in text.splitlines() if line.strip()), "")
    return (title, date[0] if date else "", amounts.pop()) if len(amounts) == 1 else None


def name_of(path: str) -> str:
    """The name of a file without its folders."""
    return path.rpartition("/")[2]


def _said(data: bytes) -> dict[str, str]:
    """What a text says by name; the date that a value ends with by a name of its own."""
    found: dict[str, str] = {}
    try:
        text = lines_without_keys(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return found
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            title = line.strip("# ")
            if not found and title:
                found[_TITLE] = title
            continue
        name, value = match["name"].strip(), match["value"]
        amount, dated = _AMOUNT.fullmatch(value), _DATED.fullmatch(value)
        if amount is not None and read_date(value) is None:
            plain = re.sub(r"[ \u00a0]", "", amount["number"])
            value = plain if read_number(plain, comma=False) else plain.replace(",", ".")
        elif dated is not None:
            value = dated["value"]
        found.setdefault(name, value)
    return found


def _filled(rows: Sequence[list[str]]) -> list[list[str]]:
    """The rows but for blank forms: where several dates and numbers of the others are none."""
    typed: list[tuple[int, Callable[[str], bool]]] = []
    for place in range(1, len(rows[0]) if rows else 0):
        cells = [row[place] for row in rows if row[place]]
        for fits in (_is_number, _is_date):
            if cells and sum(map(fits, cells)) >= _TYPED * len(cells):
                typed.append((place, fits))

    def blanks(row: list[str]) -> int:
        return sum(bool(row[place]) and not fits(row[place]) for place, fits in typed)

    return [row for row in rows if blanks(row) < _LEAST]


def _is_number(cell: str) -> bool:
    return read_number(cell, comma=False) is not None


def _is_date(cell: str) -> bool:
    return read_date(cell) is not None
