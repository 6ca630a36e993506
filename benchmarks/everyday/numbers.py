"""Numbers in what was shown, however they are written: 1 144,65 and 1144.65 are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Not those of dates, times, paths, versions and names: nothing of these may stand next to it.
_NUMBER = re.compile(r"(?<![\w.,:/#–-])[-−]?\d+(?:[ \u00a0\u202f]\d{3}\b)*(?:[.,]\d+)*(?![\w/:-]|[.,]\d)")
_CUT = str.maketrans("", "", " \u00a0\u202f")


def numbers_in(text: str) -> Iterator[float]:
    """Each number, in each way it can be read (1,250 is two)."""
    for found in _NUMBER.finditer(text):
        word = found[0].replace("−", "-").translate(_CUT)
        yield from _readings(word)
        if found[0] != word and " " in found[0]:  # "2 250" may be two numbers in two columns
            for part in found[0].split():
                yield from _readings(part)


def _readings(word: str) -> Iterator[float]:
    seps = [sign for sign in word if sign in ".,"]
    if not seps:
        yield float(word)
        return
    last = max(word.rfind("."), word.rfind(","))
    whole = word[:last].replace(".", "").replace(",", "")
    if len(set(seps)) > 1 or len(seps) == 1:
        yield float(f"{whole}.{word[last + 1 :]}")
    if len(set(seps)) == 1 and len(word) - last == 4:  # groups of thousands
        yield float(word.replace(".", "").replace(",", ""))


def same_number(one: float, wanted: float) -> bool:
    """Whether one is the wanted number, as exact as that was given."""
    digits = len(f"{wanted:.6f}".rstrip("0").partition(".")[2])
    return abs(one - wanted) <= 0.5000001 * 10**-digits if digits else abs(one - wanted) < 0.005


def holds_number(text: str, wanted: float) -> bool:
    return any(same_number(one, wanted) for one in numbers_in(text))


def as_number(text: str) -> float | None:
    """The number that a whole text is, or None."""
    found = _NUMBER.fullmatch(text.strip())
    return next(_readings(found[0].replace("−", "-").translate(_CUT)), None) if found else None
