"""A whole file from entries: the same bytes for the same entries, and it reads as them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mcl.plugins.agents.file.entries import FIELDS, Criterion, Entry
from mcl.plugins.agents.file.quoting import quoted

_ALWAYS: Final = ("id", "name", "status", "created_at", "updated_at")
_LISTS: Final = ("owned_scope", "constraints", "acceptance_criteria", "dependencies", "references")
_HEAD: Final = (
    "# Intents for coding agents. A person changes this file and then imports it: mcl intents import\n"
)


def write_file(entries: Iterable[Entry]) -> bytes:
    """The file. Raises ValueError for a text with half a character in it."""
    lines = [line for entry in entries for line in _entry(entry)]
    if not lines:
        return f"{_HEAD}active_intents: []\n".encode()
    return f"{_HEAD}active_intents:\n{''.join(lines)}".encode()


def _entry(entry: Entry) -> Iterator[str]:
    start = "    - "
    for name in FIELDS:
        value = entry.label if name == "id" else getattr(entry, name)
        if name in _LISTS:
            yield f"{start}{name}:{'' if value else ' []'}\n"
            yield from (f"          - {_item(item)}\n" for item in value)
        elif value or name in _ALWAYS:
            yield f"{start}{name}: {quoted(value)}\n"
        else:
            yield f"{start}{name}: null\n"
        start = "      "


def _item(item: Criterion) -> str:
    return quoted(item) if isinstance(item, str) else _flow(item.to_json())


def _flow(texts: dict[str, str]) -> str:
    """A map between braces: also JSON."""
    return "{" + ", ".join(f"{quoted(name)}: {quoted(text)}" for name, text in texts.items()) + "}"
