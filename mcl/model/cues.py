"""The patterns of `cues.toml`, and what they find for slots and constraints in a goal. No model."""

import functools
import hashlib
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from mcl.language.bm25 import stems
from mcl.model.protocol import SlotForm, Span
from mcl.model.slot_claims import NO_THINGS, SlotClaims, element

# ---- The matcher's knowledge of language, read from `cues.toml`.

_FILE = Path(__file__).with_name("cues.toml")
_NEAR = 60  # characters beside a form in which its cue may stand
_ENDS = " \t\n,;"  # what no value ends with
_PART = re.compile(r"\{([A-Z]+)\}")
_GROUP = re.compile(r"[.,’]\d")  # what goes on with a number


class TextPlace(NamedTuple):
    """A run of characters of the prose; end exclusive."""

    start: int
    end: int

    @classmethod
    def of(cls, match: re.Match[str], group: int | str = 0) -> "TextPlace":
        """Where a match, or a group of it, stands."""
        return cls(*match.span(group))


@dataclass(frozen=True)
class SlotCue:
    """Which slots the patterns are for: by type, by words of the name, or both; early: they go before those
    of constraints; alone: they count only where no model reads; only: nothing
    else fills such a slot."""

    types: frozenset[str]
    names: frozenset[str]
    patterns: tuple[str, ...]
    early: bool = False
    alone: bool = False
    only: bool = False


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

    def places(self, prose: str) -> Iterator[TextPlace]:
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
class WordCue:
    """When a model that writes may answer a field at all: all of `needs` are found in the goal, and with
    `region` the name of a country or region. value: what stands in such an answer ("": anything)."""

    field: str
    needs: tuple[str, ...] = ()
    value: str = ""
    region: bool = False


@dataclass(frozen=True)
class Cues:
    """All tables of `cues.toml`; digest is the sha256 (hex) of the file's bytes.

    Patterns are text, compiled when first used (`re` keeps them): all of them at once take 200 ms.
    """

    version: str
    digest: str
    probability: dict[str, float]
    limits: tuple[LimitCue, ...]
    words: tuple[WordCue, ...]
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
        words=tuple(
            WordCue(
                field=entry["field"],
                needs=tuple(_filled(pattern, parts) for pattern in entry.get("needs", ())),
                value=_filled(entry.get("value", ""), parts),
                region=entry.get("region", False),
            )
            for entry in table["words"]
        ),
        slots=tuple(
            SlotCue(
                types=frozenset(entry.get("types", ())),
                names=frozenset(entry.get("names", ())),
                patterns=tuple(_filled(pattern, parts) for pattern in entry["take"]),
                early=entry.get("early", False),
                alone=entry.get("alone", False),
                only=entry.get("only", False),
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


def places(pattern: str, prose: str) -> Iterator[TextPlace]:
    """The `span` of each match, in order; edges trimmed of blanks and commas; none ends within a word."""
    for match in re.compile(pattern, re.IGNORECASE).finditer(prose):
        # A pattern may have a group in each of its alternatives; Python wants names that differ, so whichever
        # matched is the span.
        name = next(name for name, text in match.groupdict().items() if text is not None)
        start, end = match.span(name)
        text = prose[start:end]
        start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip(_ENDS))
        if start < end and not (_within_word(prose, start) or _within_word(prose, end)):
            yield TextPlace(start, end)


def _within_word(prose: str, place: int) -> bool:
    """Whether a place is inside a word, or inside a number such as 1,150."""
    if not 0 < place < len(prose):
        return False
    before, behind = prose[place - 1], prose[place]
    if before in ".,’" and behind.isdecimal():
        return place > 1 and prose[place - 2].isdecimal()
    goes_on = behind.isalnum() or (before.isdecimal() and _GROUP.match(prose, place) is not None)
    return before.isalnum() and goes_on


def free(place: TextPlace, taken: Sequence[TextPlace]) -> bool:
    """Whether no character of `place` is taken."""
    return all(place.end <= other.start or other.end <= place.start for other in taken)


def blanked(prose: str, apart: Sequence[TextPlace]) -> str:
    """The text with blanks for these places."""
    for one in apart:
        prose = prose[: one.start] + " " * (one.end - one.start) + prose[one.end :]
    return prose


def within(place: TextPlace, others: Sequence[TextPlace]) -> bool:
    """Whether one of the others holds all of `place`."""
    return any(one.start <= place.start and place.end <= one.end for one in others)


# ---- Where a text fills slots by patterns alone (`cues.toml`): closed lists by name, forms such as
# addresses, file names and dates, and the usual words around a slot of some name. No model; what no pattern
# finds is left out.

# ---- Which members of closed lists a goal names in so many words. Pure.

_SEPARATORS = re.compile(r"[\s_.-]+")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = re.compile(rf"(?<![\w.,:/$€£])(\d{{1,4}}|{'|'.join(_WORDS)})(?![\w:/%]|[.,]\d)", re.IGNORECASE)
_BEHIND = re.compile(r"[\s-]+([^\W\d_]+)(?:[\s-]+([^\W\d_]+))?")
_SHORTEST = 3  # letters of a word of a slot's name that the name of what is counted may begin with


def members(prose: str, slot: SlotForm, cues: Cues, taken: Sequence[TextPlace]) -> Iterator[Span]:
    """Members of a slot's list that the prose names, in its order, those at free places first.

    Where they are numbers, only those that stand before what the slot's name says is counted: "two" of "two
    bedrooms" for `number_of_beds`, not for `number_of_baths`.
    """
    named = _counted(prose, slot) if is_numeric(slot) else _mentioned(prose, slot)
    # Sorting is stable: those at free places first, each half in the order of the prose.
    for option, place in sorted(named, key=lambda one: not free(one[1], taken)):
        yield Span(f"slot.{slot.name}", option, place.start, place.end, cues.probability["mention"])


def places_of(prose: str, slot: SlotForm, option: str) -> list[TextPlace]:
    """Where the prose says a member; a number also as a word."""
    named = _numbers(prose, slot) if is_numeric(slot) else _mentioned(prose, slot)
    return [place for name, place in named if name == option]


def is_numeric(slot: SlotForm) -> bool:
    """Whether the members are whole numbers: which of several slots one counts for, only its noun tells."""
    return all(option.isdecimal() for option in slot.options)


def _mentioned(prose: str, slot: SlotForm) -> list[tuple[str, TextPlace]]:
    """Members and their places, in the order of the prose, the longer of two at one place first."""
    if slot.type == "bool":
        return _switched(prose, slot)
    named = []
    for option in slot.options:
        spelled = r"[\s_.-]+".join(map(re.escape, _SEPARATORS.split(option.removesuffix("s") or option)))
        if match := re.search(rf"(?<!\w){spelled}s?(?!\w)", prose, re.IGNORECASE):
            named.append((match.start(), -match.end(), option))
    return [(option, TextPlace(start, -end)) for start, end, option in sorted(named)]


_SWITCH_WORD = re.compile(r"[^\W\d_]+")
_OFF = re.compile(
    r"(?:\b(?:no|not|never|without|skip|nor|utan|inte|ingen|inget|inga|ej|aldrig)|n['’]t)(?:\s+[\w'’]+){0,2}\s+$",
    re.IGNORECASE,
)
_NO_SWITCH = frozenset(
    stem for word in ("with", "only", "include", "allowed", "must", "have") for stem in stems(word)
)


def _switched(prose: str, slot: SlotForm) -> list[tuple[str, TextPlace]]:
    """Yes or no where the goal says all words of the slot's name ("with breakfast", "no shed though")."""
    wanted = {
        stem for word in _SEPARATORS.split(slot.name) if len(word) > _SHORTEST for stem in stems(word)
    } - _NO_SWITCH
    said = {
        stem: match for match in _SWITCH_WORD.finditer(prose) for stem in stems(match[0]) if stem in wanted
    }
    if not wanted or set(said) != wanted:
        return []
    place = TextPlace(min(one.start() for one in said.values()), max(one.end() for one in said.values()))
    return [("false" if _OFF.search(prose[: place.start]) else "true", place)]


def _counted(prose: str, slot: SlotForm) -> list[tuple[str, TextPlace]]:
    """Numbers of the list that stand before one of the things that the slot's name counts."""
    things = [stem for stem in stems(slot.name) if len(stem) >= _SHORTEST and stem not in NO_THINGS]
    counted = []
    for option, place in _numbers(prose, slot):
        behind = _BEHIND.match(prose, place.end)
        words = [word.casefold() for word in behind.groups() if word] if behind else []
        if any(word.startswith(thing) for word in words for thing in things):
            counted.append((option, place))
    return counted


def _numbers(prose: str, slot: SlotForm) -> list[tuple[str, TextPlace]]:
    """Numbers of the list that the prose says, in its order."""
    said = [(match[1].casefold(), TextPlace.of(match)) for match in _NUMBER.finditer(prose)]
    plain = [(str(_WORDS.index(word)) if word in _WORDS else word, place) for word, place in said]
    return [(option, place) for option, place in plain if option in slot.options]


def pattern_spans(prose: str, slots: Sequence[SlotForm], cues: Cues, taken: list[TextPlace]) -> list[Span]:
    """What patterns find for slots and constraints, no character twice; `taken` gets the places.

    Some slots go before the constraints ("in two hours" is when to remind), the others after them ("at most
    20 euros" is no count).
    """
    first = [slot for slot in slots if not slot.options and any(cue.early for cue in _cues_for(slot, cues))]
    among = SlotClaims.of(prose, slots)
    spans = _slots(prose, first, cues, taken, among)
    for cue in cues.limits:
        probability = cues.probability["likely" if cue.likely else "pattern"]
        for place in cue.places(prose):
            if free(place, taken):
                taken.append(place)
                spans.append(span_at(cue.field, prose, place, probability))
    rest = [slot for slot in slots if slot not in first]
    return spans + _slots(prose, rest, cues, taken, among)


def _slots(
    prose: str, slots: Sequence[SlotForm], cues: Cues, taken: list[TextPlace], among: SlotClaims
) -> list[Span]:
    spans: list[Span] = []
    for slot in slots:
        moment = among.moments.get(slot.name, "")
        search = (
            members(prose, slot, cues, taken) if slot.options else _places(prose, slot, cues, taken, moment)
        )
        found = list(islice((one for one in search if among.is_free(one, slot)), slot.many))
        taken += [place_of(span) for span in found]
        spans += found
    return spans


def typed(slot: SlotForm, cues: Cues) -> bool:
    """Whether only a text of some form can fill the slot."""
    if element(slot.type) in cues.types or slot.type == "bool":
        return True
    return any(cue.only for cue in _cues_for(slot, cues))


def words_of(name: str) -> frozenset[str]:
    """An identifier, its parts and their stems."""
    plain = name.casefold()
    return frozenset([plain, plain.removesuffix("s"), *stems(name), *_SEPARATORS.split(plain)])


def span_at(field: str, prose: str, place: TextPlace, probability: float) -> Span:
    return Span(field, prose[place.start : place.end], place.start, place.end, probability)


def place_of(span: Span) -> TextPlace:
    return TextPlace(span.start or 0, span.end or 0)


def _places(
    prose: str, slot: SlotForm, cues: Cues, taken: Sequence[TextPlace], moment: str = ""
) -> Iterator[Span]:
    """Free places by the patterns for the slot's type and name, else for its type, else for its name.
    moment: "@day" or "@clock" where another slot takes the other."""
    seen: list[TextPlace] = list(taken)
    own = [cue for cue in cues.slots if moment in cue.names] if moment else _cues_for(slot, cues)
    for cue in own:
        for pattern in cue.patterns:
            for place in places(pattern, prose):
                if free(place, seen):
                    seen.append(place)
                    yield span_at(f"slot.{slot.name}", prose, place, cues.probability["pattern"])


def _cues_for(slot: SlotForm, cues: Cues) -> list[SlotCue]:
    names, type_ = words_of(slot.name), element(slot.type)
    by_type = [cue for cue in cues.slots if type_ in cue.types]
    both = [cue for cue in by_type if names & cue.names]
    if both or by_type:
        return both or [cue for cue in by_type if not cue.names]
    return [cue for cue in cues.slots if names & cue.names and not cue.types]
