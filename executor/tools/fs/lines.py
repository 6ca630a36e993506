"""Lines that a search found: where words end, and what is shown of a long one."""

from __future__ import annotations

from executor.sandbox.redaction import visible


def in_word(text: str, cut: int) -> bool:
    """Does a word go on across this place?"""
    if not 0 < cut < len(text):
        return False
    return all(char == "_" or char.isalnum() for char in text[cut - 1 : cut + 1])


def shown(line: str, place: int, most: int) -> str:
    """At most ``most`` characters of a line, around a place in it; its line end is left out, and what a
    terminal would obey is escaped."""
    line = line.rstrip("\r")
    if len(line) <= most:
        return visible(line)
    start = max(0, min(place - most // 4, len(line) - most))
    end = start + most
    return ("…" if start else "") + visible(line[start:end]) + ("…" if end < len(line) else "")
