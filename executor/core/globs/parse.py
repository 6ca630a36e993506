"""Reading a pattern of paths: its braces written out, its names parted, each name's characters.

What other programs read in different ways (escapes, `!`, `a**b`, `(a|b)`, `{1..9}`) is refused, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from executor.core.globs.braces import Written, written_out
from executor.core.globs.chars import ANY, Chars, all_but, both, gather, just
from executor.core.globs.refusing import EXAMPLE, refuse, refuse_absolute
from executor.core.globs.segment import ANY_NAME, Segment, literal, segment
from executor.core.globs.sequence import Gapped, gapped

MAX_TEXT: Final = 512  # characters of a pattern
MAX_NAMES: Final = 64  # names in what its braces stand for

Path = Gapped[Segment]

_ABSOLUTE: Final = re.compile(r"/|\\|~|[A-Za-z]:")
_EXTENDED: Final = re.compile(r"[?*+@!]\(")
_NO_TEXT: Final = re.compile("[\0-\x1f\x7f\ud800-\udfff]")
_SPECIAL: Final = re.compile(r"[*?\[]")
_NEGATES: Final = ("!", "^")


def parse(text: str) -> tuple[Path, ...]:
    """The patterns without braces that a pattern stands for, each as names and gaps; in the order written.

    Raises:
        GlobError: INVALID_GLOB, ABSOLUTE_PATH.
    """
    _plain(text)
    return tuple(_path(one, text) for one in dict.fromkeys(written_out(text)))


def _plain(text: str) -> None:
    """What can be said of the text before it is read."""
    if not text:
        refuse(text, 0, "it is empty", f"name files or folders, such as {EXAMPLE}")
    if len(text) > MAX_TEXT:
        refuse(text, MAX_TEXT, f"it has more than {MAX_TEXT} characters", "write two patterns")
    if found := _NO_TEXT.search(text):
        refuse(text, found.start(), "it holds a control character or half of one", "leave it out")
    if _ABSOLUTE.match(text):
        refuse_absolute(text)
    if (place := text.find("\\")) >= 0:
        refuse(text, place, "it holds a backslash", "write / between folders, and [*] for the sign itself")
    if found := _EXTENDED.search(text):
        refuse(text, found.start(), "it holds an extended pattern", "write alternatives as {a,b}")


def _path(written: Written, text: str) -> Path:
    """Names and gaps; everything below a folder is a gap, and one name that ends it."""
    names, places = written.text.split("/"), written.places
    if written.text[:1] in ("", "/"):
        if written.text:
            refuse_absolute(text)
        refuse(text, 0, "one of its alternatives is empty", "name files or folders in each")
    if written.text[0] in "!#":
        refuse(text, places[0], f"it begins with {written.text[0]!r}", "name what is meant, not what is not")
    if len(names) > MAX_NAMES:
        refuse(text, 0, f"it has more than {MAX_NAMES} names", "name a folder further up")
    known: dict[str, Segment | None] = {}
    items: list[Segment | None] = []
    here = 0
    for name in names:
        if name in known and name != "**":  # which means another thing where braces put it together
            item = known[name]
        elif name:
            item = known[name] = _name(name, places[here : here + len(name)], text)
        elif here < len(written.text):
            refuse(text, places[here], "a name between two / is empty", "write one /")
        else:
            item = None
        if item is not None or not items or items[-1] is not None:
            items.append(item)
        here += len(name) + 1
    if items[-1] is None:  # what is below a folder is not the folder itself
        items.append(ANY_NAME)
    return gapped(items)


def _name(name: str, places: Sequence[int], text: str) -> Segment | None:
    """The pattern of one name; None for `**`."""
    if name == "**" and places[1] == places[0] + 1:  # not one that braces put together
        return None
    if name in (".", ".."):
        fix = f"write {EXAMPLE}, from the workspace on"
        refuse(text, places[0], f"{name} is no name of a file or folder", fix)
    if not _SPECIAL.search(name):
        return literal(name)
    items: list[Chars | None] = []
    sets: dict[str, Chars] = {}
    here = 0
    while here < len(name):
        char = name[here]
        if char == "*":
            if items and items[-1] is None:
                fix = "write ** for folders between two /, such as src/**/*.ts"
                refuse(text, places[here], "** stands together with something else", fix)
            items.append(None)
        elif char == "?":
            items.append(ANY)
        elif char == "[":
            end = name.index("]", here + (3 if name[here + 1] in _NEGATES else 2))
            if (inside := name[here + 1 : end]) not in sets:
                sets[inside] = _set(inside, places[here + 1 : end], text)
            items.append(sets[inside])
            here = end
        else:
            items.append(just(char))
        here += 1
    found = segment(items)
    if found.sample in ("", ".", ".."):
        refuse(text, places[0], f"no name fits {name}", "name files or folders")
    return found


def _set(signs: str, places: Sequence[int], text: str) -> Chars:
    """The characters of a class, from what stands between its brackets."""
    here = 1 if signs[0] in _NEGATES else 0
    ranges: list[tuple[int, int]] = []
    while here < len(signs):
        ends = here + 2 if signs[here + 1 : here + 2] == "-" and here + 2 < len(signs) else here
        if signs[ends] < signs[here]:
            refuse(text, places[here], "a range in a class goes backwards", "write [a-z]")
        if ends > here and signs[ends + 1 : ends + 2] == "-" and ends + 2 < len(signs):
            refuse(text, places[ends + 1], "a range in a class goes on", "write [a-z]; a - at the end is one")
        ranges.append((ord(signs[here]), ord(signs[ends])))
        here = ends + 1
    found = gather(ranges)
    return all_but(found) if signs[0] in _NEGATES else both(ANY, found)
