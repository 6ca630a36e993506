"""The phrases of a core module's tables, as patterns: a list of words of a language is data, and never
written as a pattern.

Words of a phrase stand between blanks. `word?` may be left out (not the first), `*` stands for letters,
`<word>` for any word, `<words>` (not the first) for a few or none, and ' for either apostrophe.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from mcl.core.patterns import late

_FEW: Final = r"(?:\s+[\w'’./-]+){0,10}?"


def either(phrases: Iterable[str]) -> str:
    """What matches one of the phrases, the first that does; nothing where there are none."""
    return f"(?:{'|'.join(map(_pattern, phrases)) or '(?!)'})"


def any_of(phrases: Iterable[str], *, unless_behind: Iterable[str] = ()) -> re.Pattern[str]:
    """Matches one of the phrases where no letter stands beside it, whatever the case, and no word of
    `unless_behind` before it."""
    return compiled(rf"(?<!\w){not_behind(unless_behind)}{either(phrases)}(?!\w)")


def not_behind(words: Iterable[str]) -> str:
    """What matches where none of these words stands just before."""
    return "".join(rf"(?<!\b{literal(one)}\s)" for one in words)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, whatever the case; made once a process, however often core modules are read."""
    return late(pattern, re.IGNORECASE)


@cache
def literal(words: str) -> str:
    """What matches these words, with any blanks between them and either apostrophe."""
    return r"\s+".join(re.escape(word).replace("'", "['’]") for word in words.split())


def _pattern(phrase: str) -> str:
    made = ""
    for word in phrase.split():
        if word == "<words>":
            made += _FEW
            continue
        bare = word.removesuffix("?")
        one = r"\w+" if bare == "<word>" else literal(bare).replace(r"\*", r"\w*")
        one = rf"\s+{one}" if made else one
        made += one if bare == word else f"(?:{one})?"
    return made
