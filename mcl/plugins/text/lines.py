"""A text file as lines, and a file put back as it was written: its line ends, its mark, its last line."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from anyio import from_thread

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.redaction import visible
from executor.tools.fs.edit import require_editable
from executor.tools.tool import Bench

MOST_BYTES: Final = 64 << 20
_SHOWN: Final = 200  # lines in an answer
_WIDE: Final = 400  # characters of a line there


@dataclass(frozen=True)
class TextLines:
    """lines: without their ends. end: what ends most of them. closed: whether the last has one too."""

    lines: tuple[str, ...]
    end: str = "\n"
    closed: bool = True
    mark: bool = False

    @classmethod
    def read(cls, data: bytes, path: str) -> TextLines:
        """The lines of a file. Raises ToolError NOT_TEXT."""
        mark = data.startswith(codecs.BOM_UTF8)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = ""
        if b"\0" in data or (data and not text and not mark):
            fix = "name a text file in UTF-8"
            raise ToolError("NOT_TEXT", f"{path!r} is no text in UTF-8", place=path, fix=fix)
        ends = text.count("\n")
        crlf = ends > 0 and text.count("\r\n") * 2 > ends
        rows = text.split("\n")
        closed = not rows[-1]
        if closed:
            rows.pop()
        return cls(tuple(row.removesuffix("\r") for row in rows), "\r\n" if crlf else "\n", closed, mark)

    def data(self, lines: Sequence[str]) -> bytes:
        """Other lines as bytes, written as these are."""
        text = self.end.join(lines) + (self.end if lines and (self.closed or not self.lines) else "")
        return (codecs.BOM_UTF8 if self.mark else b"") + text.encode()


def read_lines(path: str, bench: Bench) -> TextLines:
    """The lines of a file. Raises ToolError NOT_TEXT, TOO_LARGE; ScopeError as ``Workspace.read``."""
    data, size = bench.workspace.read(path, MOST_BYTES)
    if size > MOST_BYTES:
        raise too_large(path)
    return TextLines.read(data, path)


def too_large(path: str) -> ToolError:
    """The error for a file that is not read as a whole."""
    message = f"{path!r} has more than {MOST_BYTES:,} bytes"
    return ToolError("TOO_LARGE", message, place=path, fix="take a smaller file")


@dataclass(frozen=True)
class Rewritten:
    """A file that was written. before, after: its lines."""

    path: str
    size: int
    sha256: str
    before: int
    after: int

    def answer(self, text: str, **more: object) -> dict[str, object]:
        """What a tool answers."""
        return {"path": self.path, "size": self.size, "sha256": self.sha256, **more, "text": visible(text)}


def rewrite(path: str, to: str, bench: Bench, change: Callable[[TextLines], Sequence[str]]) -> Rewritten:
    """Put what ``change`` makes of the lines of ``path`` into ``to``: the same file, or a new one.

    A file that is there and another one is never replaced. Raises as ``read_lines``, ScopeError EXISTS.
    """
    counts: list[tuple[int, int]] = []

    def changed(data: bytes | None) -> bytes:
        if data is None:
            message, fix = f"{path!r} does not exist", "look with fs/list first"
            raise ScopeError("NOT_FOUND", message, place=path, fix=fix)
        text = TextLines.read(data, path)
        lines = change(text)
        counts.append((len(text.lines), len(lines)))
        return text.data(lines)

    workspace = bench.workspace
    require_editable(workspace.split(to), to)
    if workspace.split(path) == workspace.split(to):
        if workspace.check(path) is None:
            changed(None)
        written = workspace.update(path, changed, limit=MOST_BYTES, check=from_thread.check_cancelled)
    else:
        data, size = workspace.read(path, MOST_BYTES)
        if size > MOST_BYTES:
            raise too_large(path)
        made = changed(data)
        written = workspace.write(to, made, replace=False, check=from_thread.check_cancelled)
    before, after = counts[-1]
    return Rewritten(written.path, written.size, written.sha256, before, after)


def shown(lines: Sequence[str]) -> str:
    """Lines for people: as many as can be read, each as wide."""
    cut = [line if len(line) <= _WIDE else line[: _WIDE - 1] + "…" for line in lines[:_SHOWN]]
    more = [f"and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
    return visible("\n".join([*cut, *more]))


def sort_key(text: str) -> tuple[str, str]:
    """How texts are ordered: whatever the case, å ä ö behind z; equal ones by their letters."""
    order = str.maketrans({"å": "z\x01", "ä": "z\x02", "æ": "z\x02", "ö": "z\x03", "ø": "z\x03"})
    return text.casefold().translate(order), text
