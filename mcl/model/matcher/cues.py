"""The matcher's knowledge of language, read from `cues.toml`."""

import functools
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

# ---- Whether a pattern of `cues.toml` can match in a text at all, told before it is compiled.

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


_FILE = Path(__file__).with_name("cues.toml")
_NEAR = 60  # characters beside a form in which its cue may stand
_ENDS = " \t\n,;"  # what no value ends with
_PART = re.compile(r"\{([A-Z]+)\}")
_GROUP = re.compile(r"[.,’]\d")  # what goes on with a number


class Place(NamedTuple):
    """A run of characters of the prose; end exclusive."""

    start: int
    end: int


@dataclass(frozen=True)
class SlotCue:
    """Which slots the patterns are for: by type, by words of the name, or both; early: they go before those
    of constraints; alone: they count only where no model reads."""

    types: frozenset[str]
    names: frozenset[str]
    patterns: tuple[str, ...]
    early: bool = False
    alone: bool = False


@dataclass(frozen=True)
class LimitCue:
    """How a limit, a sign of success or a wish is seen: by patterns, or by a form with words before or after
    it. needs: what the text must have for it to be looked at; likely: it may as well be something else."""

    field: str
    patterns: tuple[str, ...] = ()
    form: str = ""
    before: str = ""
    after: str = ""
    needs: str = ""
    likely: bool = False

    def places(self, prose: str) -> Iterator[Place]:
        """Where the prose says it, in order."""
        if self.needs and not re.search(self.needs, prose, re.IGNORECASE):
            return
        for pattern in self.patterns:
            yield from places(pattern, prose)
        for place in places(self.form, prose) if self.form else ():
            said = prose[max(0, place.start - _NEAR) : place.start]
            if (self.before and re.search(self.before, said, re.IGNORECASE)) or (
                self.after and re.match(self.after, prose[place.end : place.end + _NEAR], re.IGNORECASE)
            ):
                yield place


@dataclass(frozen=True)
class Cues:
    """All tables of `cues.toml`; digest is the sha256 (hex) of the file's bytes.

    Patterns are text, compiled when first used (`re` keeps them): all of them at once take 200 ms.
    """

    version: str
    digest: str
    probability: dict[str, float]
    limits: tuple[LimitCue, ...]
    slots: tuple[SlotCue, ...]
    rest_names: frozenset[str]
    stops: str
    drop: str
    never: str  # a rest that is no value

    @functools.cached_property
    def types(self) -> frozenset[str]:
        """The types of slots for which there are patterns of their own."""
        return frozenset(name for cue in self.slots for name in cue.types)

    @functools.cached_property
    def beside(self) -> "Cues":
        """The tables that count beside a model: forms that it may overlook, without guesses."""
        return replace(self, slots=tuple(cue for cue in self.slots if not cue.alone))


@functools.cache
def load_cues() -> Cues:
    """Read the tables, once a process."""
    data = _FILE.read_bytes()
    table = tomllib.loads(data.decode())
    parts: dict[str, str] = {}
    for name, pattern in table["parts"].items():
        parts[name] = _filled(pattern, parts)

    return Cues(
        version=table["version"],
        digest=hashlib.sha256(data).hexdigest(),
        probability=table["probability"],
        limits=tuple(_limit(entry, parts) for entry in table["limits"]),
        slots=tuple(
            SlotCue(
                types=frozenset(entry.get("types", ())),
                names=frozenset(entry.get("names", ())),
                patterns=tuple(_filled(pattern, parts) for pattern in entry["take"]),
                early=entry.get("early", False),
                alone=entry.get("alone", False),
            )
            for entry in table["slots"]
        ),
        rest_names=frozenset(table["rest"]["names"]),
        stops=table["rest"]["stops"],
        drop=table["rest"]["drop"],
        never=table["rest"]["never"],
    )


def with_cues(grammar: str) -> str:
    """What an Intent records of how it was read: a model's grammar, and the tables that counted beside it."""
    tables = f"cues sha256:{load_cues().digest}"
    return grammar if tables in grammar else f"{grammar}; {tables}"


def _limit(entry: dict[str, Any], parts: dict[str, str]) -> LimitCue:
    before = entry.get("before", "")
    return LimitCue(
        field=entry["field"],
        patterns=tuple(rf"(?<!\w){_filled(pattern, parts)}" for pattern in entry.get("take", ())),
        form=rf"(?<!\w)(?P<span>{parts[entry['form']]})" if "form" in entry else "",
        before=rf"(?<!\w){before}\s*$" if before else "",
        after=entry.get("after", ""),
        needs=_filled(entry.get("needs", ""), parts),
        likely=entry.get("likely", False),
    )


def _filled(pattern: str, parts: dict[str, str]) -> str:
    return _PART.sub(lambda part: parts[part[1]], pattern)


def places(pattern: str, prose: str) -> Iterator[Place]:
    """The `span` of each match, in order; edges trimmed of blanks and commas; none ends within a word."""
    if not may_match(pattern, prose):
        return
    for match in re.compile(pattern, re.IGNORECASE).finditer(prose):
        name = next(name for name, text in match.groupdict().items() if text is not None)
        start, end = match.span(name)
        text = prose[start:end]
        start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip(_ENDS))
        if start < end and not (_within_word(prose, start) or _within_word(prose, end)):
            yield Place(start, end)


def _within_word(prose: str, place: int) -> bool:
    """Whether a place is inside a word, or inside a number such as 1,150."""
    if not 0 < place < len(prose):
        return False
    before, behind = prose[place - 1], prose[place]
    if before in ".,’" and behind.isdecimal():
        return place > 1 and prose[place - 2].isdecimal()
    goes_on = behind.isalnum() or (before.isdecimal() and _GROUP.match(prose, place) is not None)
    return before.isalnum() and goes_on


def free(place: Place, taken: Sequence[Place]) -> bool:
    """Whether no character of `place` is taken."""
    return all(place.end <= other.start or other.end <= place.start for other in taken)
