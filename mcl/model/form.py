"""What a model answers with: verbs, fields, words of a goal, and how values follow from scores of words. Pure
text work, no model, no files.

A value is a run of words of the goal or a declared option, whatever the scores: each word gets a tag (`none`,
`in`: it goes on with what the word before began, or the slot or field that begins with it), each slot with
options one of them or none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mcl.model.protocol import REST

if TYPE_CHECKING:
    from mcl.model.protocol import ExtractForm

VERBS = (
    "find", "acquire", "build", "modify", "deliver",
    "analyze", "negotiate", "schedule", "monitor", "delegate",
)  # fmt: skip
FORM = "enc@1"
"""Value of the GGUF key `mcl.form` of a model that encodes."""
FIELDS = (
    "budget", "deadline", "jurisdiction_allow", "jurisdiction_deny", "quality", "rule",
    "delivered", "signed_off", "external", "attestation", "preference", "recurrence",
)  # fmt: skip
WINDOW_UNITS = 128
UNIT_CHARS, UNIT_PIECES = 40, 64  # what the model sees of one unit; its span is the whole unit


class Unit(NamedTuple):
    """A word of the prose: its text and character offsets (end exclusive)."""

    text: str
    start: int
    end: int


UNDOUBTED = 0.98
"""How certain it is of a word that is part of nothing that nothing more is said of it."""


class Found(NamedTuple):
    """One value: field is `slot.<name>` or one of FIELDS; start/end are offsets, None for an option."""

    field: str
    value: str
    start: int | None
    end: int | None
    probability: float


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


def spaced(units: Iterable[Unit]) -> list[str]:
    """What the model sees of each unit: a blank before it where one stands in the prose (and at its start),
    so that a mark that stands right behind a word is read as such."""
    texts, last = [], -1
    for text, start, end in units:
        texts.append(text[:UNIT_CHARS] if start == last else f" {text[:UNIT_CHARS]}")
        last = end
    return texts


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


def found(
    prose: str, units: Sequence[Unit], form: ExtractForm, answers: Sequence[Sequence[float]]
) -> list[Found]:
    """Values out of probabilities: a row a unit over `none`, `in`, the slots without options and FIELDS, then
    a row a slot with options over `none` and these.

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
    """(first unit, last unit, tag, probability) of each span on the best path; tag indexes the row.

    A span is as certain as its least certain word: its words are right or wrong together, so their product
    says 0.4 of what is right in seven of ten cases (measured on goals by hand).
    """
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
            probability = min(probability, rows[last][1] + rows[last][tag])
        if last + 1 < len(path):
            probability = min(probability, 1.0 - rows[last + 1][1])
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
