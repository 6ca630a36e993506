"""How many there are, and some of many, in the words that messages share."""

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """1 file; 1,200 files."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def some(names: Sequence[str], most: int, joint: str = " and") -> str:
    """The first of some names and how many more there are; "" of none."""
    more = f"{joint} {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
