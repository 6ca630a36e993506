"""Whether a pattern of `cues.toml` can match in a text at all, told before it is compiled.

Every match of `(?:by|before|no\\s+later\\s+than)\\s+…` holds "by ", "before " or "no later than ". To look
for these takes a microsecond; to compile such a pattern takes up to four milliseconds, to run it a hundred
microseconds. What each pattern needs was worked out beforehand (`python -m training.prefilter`) and lies in
`prefilter.json` under the sha256 of its text; a pattern that is not there is not held back.
"""

import functools
import hashlib
import json
import re
from pathlib import Path
from typing import Final, NamedTuple

PREFILTER_FILE: Final = Path(__file__).with_name("prefilter.json")
_ASCII: Final = {
    0x130: "i",
    0x131: "i",
    0x17F: "s",
    0x212A: "k",
}  # what else re.IGNORECASE takes for a letter


class Needs(NamedTuple):
    """One of these is in every text that a pattern matches in: `words` among its words, `signs` as they
    stand."""

    words: tuple[str, ...]
    signs: tuple[str, ...]


class Folded(NamedTuple):
    """A text as needs are looked for in it: small letters, digits as 0, blanks as one. In `words` what is no
    part of a word is a blank too, and one stands at each end."""

    words: str
    signs: str


def may_match(pattern: str, text: str) -> bool:
    """False where `pattern`, letters of either case being the same, certainly matches nowhere in `text`."""
    needs = _table().get(digest_of(pattern))
    return needs is None or fits(needs, folded(text))


def fits(needs: Needs, text: Folded) -> bool:
    """Whether a text has one of them."""
    return any(word in text.words for word in needs.words) or any(sign in text.signs for sign in needs.signs)


@functools.lru_cache(maxsize=8)
def folded(text: str) -> Folded:
    """A text, made ready to be looked through."""
    small = re.sub(r"\d", "0", text.translate(_ASCII).lower())
    words = re.sub(r"\W+", " ", small)
    return Folded(f" {words} ", re.sub(r"\s+", " ", small))


@functools.lru_cache(maxsize=1024)
def digest_of(pattern: str) -> str:
    """The name of a pattern in the table."""
    return hashlib.sha256(pattern.encode()).hexdigest()[:16]


@functools.cache
def _table() -> dict[str, Needs]:
    table = json.loads(PREFILTER_FILE.read_bytes())
    return {name: Needs(tuple(words), tuple(signs)) for name, (words, signs) in table.items()}
