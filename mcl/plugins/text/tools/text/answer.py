"""Answers a question with the lines of a folder's text files that say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError
from executor.sandbox.redaction import visible
from executor.tools.fs.files import files_of
from executor.tools.tool import Bench
from ir.inline_secrets import lines_without_keys
from mcl.plugins.text.answers import answers
from mcl.values.pdf_text import pdf_text

_MOST_FILES, _MOST_FILE, _MOST_BYTES = 2000, 1 << 20, 32 << 20
_LIMIT = 5
_TABLES = (".csv", ".tsv")
_WIDE = 400  # characters of a line that are shown


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the lines that answer best, and the lines around each."""
    return await to_thread.run_sync(_answer, args, bench)


def _answer(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    question, limit = str(args["question"]), int(str(args.get("limit", _LIMIT)))
    texts = dict(_texts(str(args.get("path", ".")), str(args.get("glob", "")), bench))
    found = answers(question, texts.items(), limit)
    shown: dict[tuple[str, int], str] = {}
    for one in found:
        lines = texts[one.path].splitlines()
        row = one.path.endswith(_TABLES)  # of which the names of its columns say more than the rows beside it
        for number in (1, one.number) if row else (one.number - 1, one.number, one.number + 1):
            if 0 < number <= len(lines) and lines[number - 1].strip():
                shown.setdefault((one.path, number), visible(lines[number - 1].strip()[:_WIDE]))
    told = [f"{path}:{number}: {line}" for (path, number), line in shown.items()]
    return {
        "lines": [{"path": one.path, "line": one.number, "text": visible(one.text[:_WIDE])} for one in found],
        "paths": list(dict.fromkeys(one.path for one in found)),
        "count": len(found),
        "searched": len(texts),
        "text": "\n".join(told) or f"nothing in {len(texts):,} files answers that",
    }


def _texts(path: str, glob: str, bench: Bench) -> Iterator[tuple[str, str]]:
    """Text files, as many as are read at once; keys in them are left out."""
    room = _MOST_BYTES
    for count, entry in enumerate(files_of(path, glob, bench, from_thread.check_cancelled)):
        from_thread.check_cancelled()
        if count == _MOST_FILES or room < entry.size:
            return
        if entry.size > _MOST_FILE:
            continue
        try:
            data, _ = bench.workspace.read(entry.path, _MOST_FILE)
            text = pdf_text(data) or data.decode("utf-8-sig")
        except (ScopeError, UnicodeDecodeError):  # unreadable, gone since it was listed, or no text
            continue
        if "\0" not in text:
            room -= len(data)
            yield entry.path, lines_without_keys(text)
