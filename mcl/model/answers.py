"""The JSON answer of a chat model: the grammar rules of one request, and reading what was answered."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcl.model.decode import Answer
from mcl.model.form import words
from mcl.model.protocol import ExtractForm, SlotForm, Span
from mcl.model.vocabulary import Vocabulary

LONGEST_LIST = 8
CONSTRAINT_VALUES = 14
"""Values of intent_frame@1's constraints where every field is there and every list full."""
_CONSTRAINT_MARKS = 320  # bytes of their keys and marks
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|null|[{}\[\]:,]')
# A value stands between quotes: what JSON would escape is shown to the model as its twin, one character for
# one, so that offsets stay those of the goal.
_TWINS = {ord('"'): "”", ord("\\"): "＼"} | dict.fromkeys([*range(0x20), 0x7F], " ")


def shown(prose: str) -> str:
    """The prose as the model sees it: as long, and with nothing in it that JSON escapes."""
    return prose.translate(_TWINS)


def literal(text: str) -> str:
    """`text` as a literal of llguidance's Lark: as in JSON, and with DEL escaped too."""
    return json.dumps(text).replace("\x7f", "\\u007f")


def separators(spaced: bool) -> str:
    """The rules for `,` and `:`, with or without a blank behind."""
    blank = " " if spaced else ""
    return f'COMMA: ",{blank}"\nCOLON: ":{blank}"\n'


def frame_rules(prose: str, slots: Sequence[SlotForm], longest: int) -> str:
    """What a request adds to intent_frame@1. prose: as shown; longest: characters of a span."""
    pairs = " COMMA ".join(
        f"{literal(json.dumps(slot.name, ensure_ascii=False))} COLON {_value(slot)}" for slot in slots
    )
    return f'slots: "{{" {pairs} "}}"\n{span_rules(prose, longest)}'


def span_rules(prose: str, longest: int) -> str:
    """The terminal SPAN: runs of whole words of the prose. prose: as shown; longest: characters of a span."""
    pieces = json.dumps({"substring_chunks": list(_chunks(prose, longest))}, ensure_ascii=False)
    return f"SPAN: WORDS & /[^ ](.{{0,{longest - 2}}}[^ ])?/\nWORDS: %regex {pieces}\n"


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


def _value(slot: SlotForm) -> str:
    one = "span"
    if slot.options:
        one = (
            "(" + " | ".join(literal(json.dumps(option, ensure_ascii=False)) for option in slot.options) + ")"
        )
    if slot.many == 1:
        return f'({one} | "null")'
    return f'"[" ({one} (COMMA {one}){{0,{most(slot) - 1}}})? "]"'


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


def read_frame(answer: Answer, vocabulary: Vocabulary, prose: str, form: ExtractForm) -> Iterator[Span]:
    """The values of an answer to `frame_rules`, in its order, as spans of the prose itself."""
    pieces = [vocabulary.pieces[token] for token in answer.tokens]
    ends: list[int] = []
    for piece in pieces:
        ends.append(len(piece) + (ends[-1] if ends else 0))
    options = {slot.name for slot in form.slots if slot.options}
    text = shown(prose)
    for said in _said(b"".join(pieces)):
        probability = 1.0
        for end, piece, chance in zip(ends, pieces, answer.probabilities, strict=True):
            if end > said.start and end - len(piece) < said.end:
                probability *= chance
        if said.section != "constraints" and said.name in options:
            yield Span(f"slot.{said.name}", said.value, None, None, probability)
            continue
        value, start, end = _cut(prose, place_of(text, said.value), said.value)
        if value.strip():  # a control character that counts as a word for the grammar is no value
            field = said.name if said.section == "constraints" else f"slot.{said.name}"
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
