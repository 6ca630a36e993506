"""What a text that was not found comes closest to: for people and models that try again."""

from __future__ import annotations

from difflib import SequenceMatcher

from executor.sandbox.redaction import visible

_LINES = 20_000  # of a file that are compared
_LONGEST = 400  # characters of a line that are compared
_SHOWN = 160  # characters of a line that are shown
_COMPARED = 500  # lines that are compared letter by letter; more take seconds
_LIKE = 0.6  # from here on two lines are alike
_MOST = 3  # lines that are told


def nearest(there: bytes, old: str) -> str:
    """A piece of a message: where the text is but for white space, else the lines most like its first one.

    Empty where nothing is like it.
    """
    lines = there.decode("utf-8", "replace").split("\n")[:_LINES]
    wanted = [" ".join(line.split()) for line in old.split("\n")]
    while len(wanted) > 1 and not wanted[0]:
        wanted.pop(0)
    while len(wanted) > 1 and not wanted[-1]:
        wanted.pop()
    if not wanted[0]:
        return ""
    plain = [" ".join(line.split()) for line in lines]
    for number in range(len(plain) - len(wanted) + 1):
        if plain[number : number + len(wanted)] == wanted:
            return f"; line {number + 1} has it with other white space: {_shown(lines[number])}"
    alike = _alike(plain, wanted[0])
    if not alike:
        return ""
    told = "; ".join(f"line {number}: {_shown(lines[number - 1])}" for number in alike)
    return f"; most like its first line: {told}"


def _alike(plain: list[str], first: str) -> list[int]:
    """The numbers (from 1) of the lines most like this one, the likest first."""
    matcher = SequenceMatcher(None, "", first[:_LONGEST], autojunk=False)
    found: list[tuple[float, int]] = []
    seen: dict[str, float] = {}
    left = _COMPARED
    for number, line in enumerate(plain, start=1):
        cut = line[:_LONGEST]
        if cut not in seen:
            matcher.set_seq1(cut)
            # The cheap bounds first: most lines of a file are nothing like it.
            close = left > 0 and matcher.real_quick_ratio() >= _LIKE and matcher.quick_ratio() >= _LIKE
            left -= close
            seen[cut] = matcher.ratio() if close else 0.0
        if seen[cut] >= _LIKE:
            found.append((-seen[cut], number))
    return [number for _, number in sorted(found)[:_MOST]]


def _shown(line: str) -> str:
    text = visible(line.rstrip("\r"))
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
