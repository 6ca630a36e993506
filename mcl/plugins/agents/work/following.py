"""The file follows what was decided: its status line is edited, and everything else stays as it is."""

from __future__ import annotations

from pathlib import Path

from ir import MclError
from mcl.plugins.agents.file import NAME as FILE
from mcl.plugins.agents.file import edit_status, read_file
from mcl.plugins.agents.file.labels import Status
from mcl.plugins.agents.work.file import change_bytes


def follow(root: Path, label: str, before: Status, after: Status, at: str) -> str:
    """Write a new status into the file. Gives "" or why the file does not say it: it is a view, and nothing
    depends on it.

    before: what the file must say now; whoever wrote another status there has it imported, or loses nothing.
    """

    def change(data: bytes) -> bytes:
        entry = read_file(data).entry(label)
        if entry is None or entry.status != before:
            raise _Differs
        return edit_status(data, label, after, at)

    try:
        change_bytes(root, change)
    except _Differs:
        return f"{FILE} says something else of {label} than what was signed, and was left as it is"
    except MclError as problem:
        return f"{FILE} does not say that {label} is {after}: {problem.message}"
    return ""


class _Differs(Exception):  # noqa: N818  # a signal inside this file
    pass
