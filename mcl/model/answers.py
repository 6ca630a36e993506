"""The JSON answer of a chat model: the grammar rules of one request, and reading what was answered."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcl.model.form import Unit, words
from mcl.model.limits import frame_limits, is_such
from mcl.model.llama.decoder import DecodedAnswer
from mcl.model.llama.vocabulary import Vocabulary
from mcl.model.protocol import ExtractForm, SlotForm, Span, literal
from mcl.values.slots import read_slot

# ---- Which runs of words of a goal are of a slot's type, where code can tell: a number, an amount, an
# address.

# Types that are read from their words alone; what a time means depends on when it is said.
_TYPES = frozenset(["uint", "float", "bool", "ulid", "sha256", "did", "AssetAmount"])
_MOST_WORDS = 5
_LONGEST = 80
_MOST_UNITS = 512


def readable(prose: str, units: Sequence[Unit], type_: str, name: str) -> tuple[str, ...] | None:
    """The different runs of at most five words that read as a slot's type, in the order of the prose.

    units: those of `prose`. type_, name: the slot's; a list's is that of its entries. None where code cannot
    tell, and for a prose of more than 512 words.
    """
    if type_ not in _TYPES or len(units) > _MOST_UNITS:
        return None
    found: dict[str, None] = {}
    for first in range(len(units)):
        for last in units[first : first + _MOST_WORDS]:
            text = prose[units[first].start : last.end]
            if len(text) > _LONGEST:
                break
            if text not in found and read_slot(text, type_, (), "", "UTC", name) is not None:
                found[text] = None
    return tuple(found)


LONGEST_LIST = 8
_CONSTRAINT_MARKS = 340  # bytes of the keys and marks of all constraints
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|null|[{}\[\]:,]')
# A value stands between quotes: what JSON would escape is shown to the model as its twin, one character for
# one, so that offsets stay those of the goal.
_TWINS = {ord('"'): "”", ord("\\"): "＼"} | dict.fromkeys([*range(0x20), 0x7F], " ")
_TWINS |= dict.fromkeys(range(0xD800, 0xE000), "?")  # halves of surrogate pairs are no text


def shown(prose: str) -> str:
    """The prose as the model sees it: as long, and with nothing in it that JSON escapes."""
    return prose.translate(_TWINS)


def separators(spaced: bool) -> str:
    """The rules for `,` and `:`, with or without a blank behind."""
    blank = " " if spaced else ""
    return f'COMMA: ",{blank}"\nCOLON: ":{blank}"\n'


def frame_rules(prose: str, slots: Sequence[SlotForm], fields: tuple[str, ...], longest: int) -> str:
    """What a request adds to intent_frame@1. prose: as shown; fields: the constraints that may be answered;
    longest: characters of a span."""
    closed: dict[str, str] = {}  # names of rules, by what they allow
    pairs: list[str] = []
    units = words(prose)
    for slot in slots:
        texts, one = _texts(prose, units, slot, longest), "span"
        if texts is not None:
            said = " | ".join(literal(json.dumps(text, ensure_ascii=False)) for text in texts)
            one = closed.setdefault(said, f"one_{len(closed)}") if said else ""
        pairs.append(f"{literal(json.dumps(slot.name, ensure_ascii=False))} COLON {_value(slot, one)}")
    rules = "".join(f"{name}: {said}\n" for said, name in closed.items())
    rules += frame_limits(fields)
    return f'slots: "{{" {" COMMA ".join(pairs)} "}}"\n{rules}{span_rules(prose, longest)}'


def _texts(prose: str, units: Sequence[Unit], slot: SlotForm, longest: int) -> Sequence[str] | None:
    """All that may fill a slot, where code can tell: its options, or what reads as its type."""
    if slot.options:
        return slot.options
    found = readable(prose, units, slot.type.removesuffix("[]"), slot.name)
    return None if found is None else [text for text in found if len(text) <= longest]


def span_rules(prose: str, longest: int) -> str:
    """The terminal SPAN: runs of whole words of the prose, at most `longest` characters, every one of half as
    many among them. prose: as shown.

    The length follows from what the runs are taken of, windows of the prose: an intersection with a bounded
    repetition makes llguidance's lexer fail on long words of one letter.
    """
    # Each window once: a prose that repeats itself has many alike.
    windows = dict.fromkeys(_windows(list(_chunks(prose, longest)), longest))
    parts = [
        f"PART_{number}: %regex {json.dumps({'substring_chunks': window}, ensure_ascii=False)}\n"
        for number, window in enumerate(windows)
    ]
    union = " | ".join(f"PART_{number}" for number in range(len(parts)))
    return f"SPAN: WORDS & /[^ ](.*[^ ])?/\nWORDS: {union}\n{''.join(parts)}"


def _windows(chunks: Sequence[str], longest: int) -> Iterator[tuple[str, ...]]:
    """Runs of chunks of at most `longest` characters, each beginning within the first half of the one
    before."""
    first = last = size = 0
    while last < len(chunks):
        while last < len(chunks) and size + len(chunks[last]) <= longest:
            size += len(chunks[last])
            last += 1
        yield tuple(chunks[first:last])
        left = size - longest // 2
        while first < last and size > left:
            size -= len(chunks[first])
            first += 1


def _chunks(prose: str, longest: int) -> Iterator[str]:
    """What a span is made of: words, the blanks between them, and parts of words that no span could hold."""
    at = 0
    for unit in words(prose):
        if unit.start > at:
            yield prose[at : unit.start]
        for start in range(unit.start, unit.end, longest):
            yield prose[start : min(start + longest, unit.end)]
        at = unit.end


def marks(slots: Sequence[SlotForm]) -> int:
    """The most bytes of an answer to `frame_rules` that are not values of spans."""
    listed = sum(len(json.dumps(slot.name)) + 8 + 4 * most(slot) for slot in slots)
    options = sum(
        max((len(json.dumps(option)) for option in slot.options), default=0) * most(slot) for slot in slots
    )
    return listed + options + _CONSTRAINT_MARKS


def most(slot: SlotForm) -> int:
    """How many values a slot may be answered with."""
    return max(1, min(slot.many, LONGEST_LIST))


def _value(slot: SlotForm, one: str) -> str:
    """The rule of a slot's values. one: that of a single one, "" where nothing can be."""
    if slot.many == 1:
        return f'({one} | "null")' if one else '"null"'
    return f'"[" ({one} (COMMA {one}){{0,{most(slot) - 1}}})? "]"' if one else '"[]"'


@dataclass(frozen=True, slots=True)
class _Said:
    """One value of the answer; start and end are byte offsets in it, quotes included."""

    section: str
    name: str
    value: str
    start: int
    end: int


def _said(data: bytes) -> Iterator[_Said]:
    section = name = ""
    depth = 0
    listing = key = False
    for token in _TOKEN.finditer(data):
        text = token[0]
        if text == b"{":
            depth, key = depth + 1, True
        elif text == b"}":
            depth -= 1
        elif text in b"[]":
            listing = text == b"["
        elif text == b",":
            key = not listing
        elif text == b":":
            key = False
        elif text == b"null":
            continue
        elif not key:
            yield _Said(section, name, json.loads(text), *token.span())
        elif depth == 1:
            section = json.loads(text)
        else:
            name = json.loads(text)


def read_frame(
    answer: DecodedAnswer, vocabulary: Vocabulary, prose: str, form: ExtractForm
) -> Iterator[Span]:
    """The values of an answer to `frame_rules`, in its order, as spans of the prose itself.

    Left out is what cannot be a limit of its field: no figure for a budget, no region for a jurisdiction.
    """
    pieces = [vocabulary.pieces[token] for token in answer.tokens]
    ends: list[int] = []
    for piece in pieces:
        ends.append(len(piece) + (ends[-1] if ends else 0))
    options = {slot.name for slot in form.slots if slot.options}
    text = shown(prose)
    seen: set[tuple[str, str]] = set()  # a list may name one thing twice
    for said in _said(b"".join(pieces)):
        probability = 1.0
        for end, piece, chance in zip(ends, pieces, answer.probabilities, strict=True):
            # A token may hold the end of one value and the beginning of the next mark: all that share a byte
            # with the value count.
            if end > said.start and end - len(piece) < said.end:
                probability *= chance
        field = said.name if said.section == "constraints" else f"slot.{said.name}"
        if (field, said.value) in seen:
            continue
        seen.add((field, said.value))
        if said.section == "constraints" and not is_such(field, said.value):
            continue
        if said.section != "constraints" and said.name in options:
            yield Span(field, said.value, None, None, probability)
            continue
        value, start, end = _cut(prose, place_of(text, said.value), said.value)
        if value.strip():  # a control character that counts as a word for the grammar is no value
            yield Span(field, value, start, end, probability)


def _cut(prose: str, start: int, value: str) -> tuple[str, int, int]:
    return prose[start : start + len(value)], start, start + len(value)


def place_of(text: str, value: str) -> int:
    """Where `value` stands in `text`: the first place where it is not a part of words."""
    start = text.index(value)
    first = start
    while start >= 0:
        end = start + len(value)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before.isalnum() and value[0].isalnum()) and not (after.isalnum() and value[-1].isalnum()):
            return start
        start = text.find(value, start + 1)
    return first
