"""The form in which the bundled model is asked and answers ("tags@1"): pure text work, no model, no files.

Everything is read in ONE pass, nothing is generated. A prompt is a header (what may be answered: candidates,
or a skill's slots) and a body (the prose, then the questions). The model attends in both directions
(`llama_set_causal_attn(ctx, False)`; GGUF key `llama.attention.causal` = false), in two batches:

1. the header alone, positions 0..H-1; its KV cells depend on nothing else and can be kept per skill;
2. the body, positions H.., which sees the header and all of itself. Logits are read at the FIRST token of the
   pieces named in `Prompt.reads`. Each allowed answer has a label: a special token, mostly followed by the
   very text that stands behind it in the header. Its score is the special token's logit plus the sum of the
   text's logits over the square root of their number; the answer is a softmax over the scores.

So an answer is within the request's grammar by construction, a value is a run of words of the prose or a
declared option, and a whole extraction costs one batch. Body cells are dropped afterwards, header cells stay.
Labels of words (not of indexes alone) are what lets a small model learn it: with the index alone, binding
names to words was not learned within 60,000 examples.

choose   header `<choose> <c0> display: description <eg> example <c1> ...`;
         body `<prose> units <pick> <verb>`;
         reads: pick -> `none` | candidates; verb -> one of the ten verbs (independent of the pick).
extract  header `<extract> description <s0> name: hint <s1> name: hint <e0> option <e1> option ...`;
         body `<prose> units <ask> <s1> ...` (an ask for each slot with options);
         reads: each unit -> `none`, `in` (goes on with the span of the unit before), a slot (its span begins)
         or a constraint field (`budget`, `deadline`, ...: always allowed);
         each asked slot -> `none` | options.

Pieces are tokenised one by one with special parsing off; special pieces are looked up as `token_text(name)`
in the vocabulary (token type CONTROL, private-use characters: prose can never produce them).
Long prose: `windows(units)` cuts it; one prompt each; choose looks at the first window.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mcl.model.protocol import REST

if TYPE_CHECKING:
    from mcl.model.protocol import Candidate, ExtractForm, SlotForm

FORM = "tags@1"
"""Value of the GGUF key `mcl.form` of a model that speaks this form."""

VERBS = (
    "find", "acquire", "build", "modify", "deliver",
    "analyze", "negotiate", "schedule", "monitor", "delegate",
)  # fmt: skip
FIELDS = (
    "budget", "deadline", "jurisdiction_allow", "jurisdiction_deny", "quality", "rule",
    "delivered", "signed_off", "external", "attestation", "preference",
)  # fmt: skip
MAX_CANDIDATES, MAX_SLOTS, MAX_OPTIONS = 16, 32, 64
WINDOW_UNITS = 128
UNIT_CHARS = 40  # what the model sees of one unit; its span is the whole unit
HINT_WORDS = 20
EXAMPLE_WORDS = 14

SPECIALS = (
    "pad", "end", "choose", "extract", "prose", "pick", "verb", "ask", "eg", "none", "in",
    *VERBS,
    *FIELDS,
    *(f"c{i}" for i in range(MAX_CANDIDATES)),
    *(f"s{i}" for i in range(MAX_SLOTS)),
    *(f"e{i}" for i in range(MAX_OPTIONS)),
)  # fmt: skip
"""Names of all special tokens, in the order of the vocabulary's end."""


class Unit(NamedTuple):
    """A word of the prose: its text and character offsets (end exclusive)."""

    text: str
    start: int
    end: int


class Piece(NamedTuple):
    """A part of a prompt: a special token's name, or text to be tokenised by itself."""

    text: str
    special: bool


Label = tuple[Piece, ...]
"""What an answer is scored by: its special piece, then the text that stands for it, if any."""


class Read(NamedTuple):
    """Where to read: index into `Prompt.body`; the labels of the answers that are allowed."""

    piece: int
    allowed: tuple[Label, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The allowed answers by the name of their first, special piece."""
        return tuple(label[0].text for label in self.allowed)


UNDOUBTED = 0.98
"""How certain it is of a word that is part of nothing that nothing more is said of it."""
KINDS = ("pick", "verb", "tag", "option")
"""Kinds of reads. A GGUF may say how far a model is too sure of each: the key `mcl.temperature.<kind>`."""


def kind_of(read: Read) -> str:
    """Which of KINDS a read is."""
    first, second = read.allowed[0][0].text, read.allowed[1][0].text
    if first in VERBS:
        return "verb"
    return "tag" if second == "in" else "pick" if second[0] == "c" else "option"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Header and body pieces and the places to read, in order."""

    header: tuple[Piece, ...]
    body: tuple[Piece, ...]
    reads: tuple[Read, ...]


class Found(NamedTuple):
    """One value: field is `slot.<name>` or one of FIELDS; start/end are offsets, None for an option."""

    field: str
    value: str
    start: int | None
    end: int | None
    probability: float


def token_text(name: str) -> str:
    """The vocabulary's text of the special token `name`."""
    return f"\ue000{name}\ue001"


_OPENING = "\"'“”‘’«([{<`¿¡"
_CLOSING = "\"'“”‘’»)]}>`.,;:!?…"
_POSSESSIVE = re.compile(r"(?<=\w)['’]s$", re.IGNORECASE)
_DOTTED = re.compile(r"^(?:[A-Za-z]\.){2,}$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-./\s]+")


def words(prose: str) -> list[Unit]:
    """Split at white space, then make punctuation at the edges and a possessive 's units of their own.

    Inner punctuation stays (paths, URLs, e-mails, 1,000, 2026-01-01). Of the labelled slot values in SNIPS,
    HWU64, RESTAURANT8k and SGD 99.7 to 100 % begin and end with a unit.
    """
    return [unit for match in re.finditer(r"\S+", prose) for unit in _peel(prose, match.start(), match.end())]


def _peel(prose: str, start: int, end: int) -> Iterator[Unit]:
    while start < end and prose[start] in _OPENING:
        yield Unit(prose[start], start, start + 1)
        start += 1
    tail: list[Unit] = []
    while start < end and not _DOTTED.match(prose[start:end]):
        if prose[end - 1] in _CLOSING:
            tail.append(Unit(prose[end - 1], end - 1, end))
            end -= 1
        elif found := _POSSESSIVE.search(prose[start:end]):
            tail.append(Unit(found.group(), end - 2, end))
            end -= 2
        else:
            break
    if start < end:
        yield Unit(prose[start:end], start, end)
    yield from reversed(tail)


def windows(units: Sequence[Unit], size: int = WINDOW_UNITS) -> list[Sequence[Unit]]:
    """Cut units into runs of at most `size`, behind the end of a sentence where the second half has one."""
    runs: list[Sequence[Unit]] = []
    start = 0
    while len(units) - start > size:
        cut = next(
            (i + 1 for i in range(start + size - 1, start + size // 2, -1) if units[i].text in ".!?;"),
            start + size,
        )
        runs.append(units[start:cut])
        start = cut
    runs.append(units[start:])
    return runs


def plain(name: str) -> str:
    """An identifier as words: `Banks_1.TransferMoney` -> `banks transfer money`."""
    parts = [part for part in _CAMEL.split(name) if part and not part.isdigit()]
    return " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts)


def _clip(text: str, limit: int) -> str:
    return " ".join(text.split()[:limit])


def _text(text: str) -> Piece:
    # With a blank, as a word stands in running text: its tokens are then those that it has there.
    return Piece(f" {text}", special=False)


def _named(name: str, explanation: str) -> str:
    """`name: explanation`, or the one of them that says something."""
    explanation = _clip(explanation, HINT_WORDS)
    if not explanation or explanation.lower().rstrip(".") == name.lower():
        return name
    return f"{name}: {explanation}" if name else explanation


def _special(name: str) -> Label:
    return (Piece(name, special=True),)


_NONE, _IN = _special("none"), _special("in")
_VERBS = tuple(_special(verb) for verb in VERBS)
_FIELDS = tuple(_special(field) for field in FIELDS)


def _candidate_label(i: int, candidate: Candidate) -> Label:
    name = plain(candidate.display or candidate.skill_id.rsplit("/", 1)[-1].split("@", 1)[0])
    return Piece(f"c{i}", special=True), _text(_named(name, candidate.description))


def _slot_label(i: int, slot: SlotForm) -> Label:
    return Piece(f"s{i}", special=True), _text(_named(plain(slot.name), slot.hint))


def _option_label(i: int, option: str) -> Label:
    return Piece(f"e{i}", special=True), _text(_clip(option, HINT_WORDS))


def choose_header(candidates: Sequence[Candidate]) -> tuple[Piece, ...]:
    """Header of a choice among 1 to MAX_CANDIDATES skills. Raises ValueError for another number."""
    if not 0 < len(candidates) <= MAX_CANDIDATES:
        raise ValueError(f"1 to {MAX_CANDIDATES} candidates, not {len(candidates)}")
    pieces = [Piece("choose", special=True)]
    for i, candidate in enumerate(candidates):
        pieces += _candidate_label(i, candidate)
        for example in candidate.examples[:2]:
            pieces += [Piece("eg", special=True), _text(_clip(example, EXAMPLE_WORDS))]
    return tuple(pieces)


def extract_header(form: ExtractForm) -> tuple[Piece, ...]:
    """Header of an extraction. Raises ValueError for more than MAX_SLOTS slots or MAX_OPTIONS options."""
    options = sum(len(slot.options) for slot in form.slots)
    if len(form.slots) > MAX_SLOTS or options > MAX_OPTIONS:
        raise ValueError(
            f"at most {MAX_SLOTS} slots and {MAX_OPTIONS} options, not {len(form.slots)}, {options}"
        )
    pieces = [
        Piece("extract", special=True),
        _text(_clip(form.description, HINT_WORDS) or plain(form.skill_id)),
    ]
    option = 0
    for i, slot in enumerate(form.slots):
        pieces += _slot_label(i, slot)
        for value in slot.options:
            pieces += _option_label(option, value)
            option += 1
    return tuple(pieces)


def _prose(prose: str, units: Sequence[Unit]) -> list[Piece]:
    """The units as pieces; a blank is kept where the prose has white space, the first unit always has one."""
    pieces = [Piece("prose", special=True)]
    for i, unit in enumerate(units):
        glued = i > 0 and unit.start > 0 and not prose[unit.start - 1].isspace()
        pieces.append(Piece(unit.text[:UNIT_CHARS] if glued else f" {unit.text[:UNIT_CHARS]}", special=False))
    return pieces


def choose_prompt(prose: str, candidates: Sequence[Candidate]) -> Prompt:
    """Ask which candidate the prose is for, and its verb. The reads answer: [pick, verb]."""
    body = _prose(prose, windows(words(prose))[0])
    body += [Piece("pick", special=True), Piece("verb", special=True)]
    picks = (_NONE, *(_candidate_label(i, candidate) for i, candidate in enumerate(candidates)))
    reads = (Read(len(body) - 2, picks), Read(len(body) - 1, _VERBS))
    return Prompt(choose_header(candidates), tuple(body), reads)


def extract_prompt(prose: str, units: Sequence[Unit], form: ExtractForm) -> Prompt:
    """Ask for the values in one window of units. Reads: one a unit, then one a slot with options."""
    body = _prose(prose, units)
    open_slots = (_slot_label(i, slot) for i, slot in enumerate(form.slots) if not slot.options)
    tags = (_NONE, _IN, *open_slots, *_FIELDS)
    reads = [Read(1 + i, tags) for i in range(len(units))]
    option = 0
    for i, slot in enumerate(form.slots):
        if slot.options:
            body += [Piece("ask", special=True), Piece(f"s{i}", special=True)]
            choices = (_option_label(option + j, value) for j, value in enumerate(slot.options))
            reads.append(Read(len(body) - 1, (_NONE, *choices)))
            option += len(slot.options)
    return Prompt(extract_header(form), tuple(body), tuple(reads))


def found(
    prose: str, units: Sequence[Unit], form: ExtractForm, answers: Sequence[Sequence[float]]
) -> list[Found]:
    """Values out of the probabilities at the reads of `extract_prompt`: a row a read, ordered as `allowed`.

    All spans are given, in the order of the prose, then the options; a slot that takes one value may have
    several here: the caller keeps the most probable. Raises ValueError when rows are missing.
    """
    asked = [slot for slot in form.slots if slot.options]
    if len(answers) != len(units) + len(asked):
        raise ValueError(f"{len(units) + len(asked)} rows of probabilities are needed, not {len(answers)}")
    names = [f"slot.{slot.name}" for slot in form.slots if not slot.options] + list(FIELDS)
    values: list[Found] = []
    for first, last, tag, probability in _spans(answers[: len(units)]):
        start, end = units[first].start, units[last].end
        values.append(Found(names[tag - 2], prose[start:end], start, end, probability))
    for slot, row in zip(asked, answers[len(units) :], strict=True):
        best = max(range(len(row)), key=row.__getitem__)
        if best > 0:
            values.append(Found(f"slot.{slot.name}", slot.options[best - 1], None, None, row[best]))
    return values


def doubts(prose: str, units: Sequence[Unit], answers: Sequence[Sequence[float]]) -> list[Found]:
    """Words in no span that may yet be part of a value: of the field REST, with the probability that they are
    of none. Nothing is said of words for which that is UNDOUBTED or more. answers: as for `found`."""
    within = [range(first, last + 1) for first, last, _, _ in _spans(answers[: len(units)])]
    return [
        Found(REST, prose[unit.start : unit.end], unit.start, unit.end, answers[i][0])
        for i, unit in enumerate(units)
        if answers[i][0] < UNDOUBTED and not any(i in span for span in within)
    ]


def _spans(rows: Sequence[Sequence[float]]) -> Iterator[tuple[int, int, int, float]]:
    """(first unit, last unit, tag, probability) of each span on the best path; tag indexes the row."""
    path = _best_path(rows)
    i = 0
    while i < len(path):
        tag = path[i]
        if tag < 2:
            i += 1
            continue
        last = i
        probability = rows[i][tag]
        # A slot that begins again at once goes on: two values have a word or a comma between them.
        while last + 1 < len(path) and path[last + 1] in (1, tag):
            last += 1
            probability *= rows[last][1] + rows[last][tag]
        if last + 1 < len(path):
            probability *= 1.0 - rows[last + 1][1]
        yield i, last, tag, probability
        i = last + 1


def _best_path(rows: Sequence[Sequence[float]]) -> list[int]:
    """Most probable tag a unit, where `in` never follows `none`.

    The greedy path when it is legal, else Viterbi over two states (outside, within a span), which is exact
    because `in` is one tag for all slots.
    """
    greedy = [max(range(len(row)), key=row.__getitem__) for row in rows]
    if all(tag != 1 or (i > 0 and greedy[i - 1] != 0) for i, tag in enumerate(greedy)):
        return greedy
    # No tag is impossible: a zero would have no logarithm, and would forbid all that follows.
    floor = 1e-9
    outside, within = 0.0, -math.inf
    back: list[tuple[bool, bool, int]] = []  # (outside came from within, within came from within, its tag)
    for row in rows:
        begin = max(range(2, len(row)), key=row.__getitem__)
        before, came = max((outside, False), (within, True))
        opened, continued = before + math.log(row[begin] + floor), within + math.log(row[1] + floor)
        back.append((came, continued > opened or came, 1 if continued > opened else begin))
        outside, within = before + math.log(row[0] + floor), max(opened, continued)
    path: list[int] = []
    inside = within > outside
    for from_outside, from_within, tag in reversed(back):
        path.append(tag if inside else 0)
        inside = from_within if inside else from_outside
    return path[::-1]
