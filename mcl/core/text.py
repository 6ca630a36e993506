"""Text from elsewhere, made harmless for a terminal; how many things there are, and some of them."""

import re
from collections.abc import Iterator, Sequence


def safe(text: str) -> str:
    """`text` with every character that could drive a terminal or disguise the text written out as an
    escape.
    """
    if text.isascii() and text.isprintable():
        return text  # --version loads nothing

    from ir.characters import written_out

    return written_out(text)


def safe_json(document: str) -> str:
    """The same for a written JSON document: its escapes mean what was there, so nothing is lost."""
    from ir.characters import written_in_json

    return written_in_json(document)


def one_line(text: str, limit: int = 200) -> str:
    """`text` on a single line of at most `limit` characters, safe for a terminal."""
    line = safe(" ".join(text.split()))
    return cut(line, limit)


def whole(value: object) -> Iterator[str]:
    """Every line of an argument in the view of what is signed (``ir.display``)."""
    from executor.core.hashing import json_bytes
    from ir.display import clear_json, lines_of

    yield from lines_of(value) if isinstance(value, str) else [clear_json(json_bytes(value).decode())]


# ---- Addresses as people read them.

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def counted(count: int, noun: str) -> str:
    """1 file; 1,200 files."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def some(names: Sequence[str], most: int, joint: str = " and") -> str:
    """The first of some names and how many more there are; "" of none."""
    more = f"{joint} {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def cut(text: str, most: int) -> str:
    """At most so many characters of a text; the last says that there are more."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def skill_named(ref: str) -> str:
    """The skill that an address means: ``files-find@1.0.0``, or with the beginning of its digest."""
    name, at, version = ref.removeprefix("matrix://skill/").partition("@")
    return name + at + (version.removeprefix("sha256:")[:12] if _DIGEST.fullmatch(version) else version)


def edits(a: str, b: str, most: int) -> int:
    """How many letters are to be put in, left out, exchanged, or swapped with the next to make one word of
    another; `most` + 1 for more."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before, above = list[int](), list(range(len(b) + 1))
    for row, letter in enumerate(a, 1):
        line = [row]
        for place, other in enumerate(b, 1):
            cost = min(above[place] + 1, line[-1] + 1, above[place - 1] + (letter != other))
            if row > 1 and place > 1 and (letter, a[row - 2]) == (b[place - 2], other):
                cost = min(cost, before[place - 2] + 1)
            line.append(cost)
        before, above = above, line
    return min(above[-1], most + 1)
