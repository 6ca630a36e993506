"""The alternatives of a pattern, written out: `a{b,c}d` stands for `abd` and `acd`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from executor.core.globs.refusing import refuse

MAX_ALTERNATIVES: Final = 32  # patterns that the braces of one stand for
MAX_WRITTEN_OUT: Final = 1024  # characters of all of these
MAX_DEPTH: Final = 8  # braces in braces


@dataclass(frozen=True, slots=True)
class Written:
    """A pattern without braces. text: its characters. places: where each stands in what was written."""

    text: str
    places: Sequence[int] = field(compare=False)

    def then(self, other: Written) -> Written:
        """This, and the other behind it."""
        return Written(self.text + other.text, (*self.places, *other.places))


def written_out(text: str) -> list[Written]:
    """All that a pattern stands for, in the order written. Classes stay as they are.

    Raises:
        GlobError: INVALID_GLOB.
    """
    if not any(sign in text for sign in "{}["):
        return [Written(text, range(len(text)))]
    return _Reading(text).until("", 0)


class _Reading:
    def __init__(self, text: str) -> None:
        self.text = text
        self.here = 0

    def until(self, ends: str, depth: int) -> list[Written]:
        """What stands before one of these ends, or before the end of the text where there is none."""
        found = [Written("", ())]
        while self.here < len(self.text) and (char := self.text[self.here]) not in ends:
            if char == "}":
                refuse(self.text, self.here, "a } closes nothing", "open it with {, or write two patterns")
            if char == "{":
                more = self._group(depth + 1)
            else:
                start = self.here
                self.here = self._class() if char == "[" else start + 1
                more = [Written(self.text[start : self.here], range(start, self.here))]
            found = [before.then(behind) for before in found for behind in more]
            if len(found) > MAX_ALTERNATIVES or sum(len(one.text) for one in found) > MAX_WRITTEN_OUT:
                refuse(
                    self.text,
                    self.here - 1,
                    f"its braces stand for more than {MAX_ALTERNATIVES} patterns, or for long ones",
                    "write several patterns",
                )
        return found

    def _group(self, depth: int) -> list[Written]:
        """The alternatives between two braces."""
        start, found, choices = self.here, list[Written](), 0
        if start and self.text[start - 1] == "$":
            refuse(self.text, start - 1, "it holds ${", "nothing is put in for variables here")
        if depth > MAX_DEPTH:
            refuse(self.text, start, f"its braces lie more than {MAX_DEPTH} deep", "write several patterns")
        while choices == 0 or self.text[self.here] == ",":
            self.here += 1
            found += self.until(",}", depth)
            choices += 1
            if self.here == len(self.text):
                refuse(self.text, start, "a { is not closed", "close it with }")
        self.here += 1
        if choices == 1:
            refuse(self.text, start, "braces with one alternative", "write {a,b}; ranges as {1,2,3}")
        return found

    def _class(self) -> int:
        """Where the class that begins here ends. Some read the braces and commas in it first: refused."""
        start = self.here
        begins = start + (2 if self.text[start + 1 : start + 2] in ("!", "^") else 1)
        end = self.text.find("]", begins + 1)
        inside = self.text[begins:end] if end >= 0 else "/"
        if "/" in inside:
            refuse(self.text, start, "a [ is not closed", "close it with ]; [[] is the sign itself")
        if odd := next((sign for sign in ("{", "}", ",", "[:", "[.", "[=") if sign in inside), ""):
            refuse(self.text, start, f"a class holds {odd!r}", "list the characters alone, such as [a-z0-9_]")
        return end + 1
