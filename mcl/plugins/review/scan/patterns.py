"""One file searched: every finding has a place, a severity, a rule and what to do about it."""

from __future__ import annotations

import time
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.globs import fits_name
from ir import KEY_SHAPES
from ir.inline_secrets import entropy, is_placeholder
from mcl.plugins.review.finding import ReviewFinding, Severity
from mcl.plugins.review.scan.weights import KnownMarks, LinePlaces, Place, ScanHit, place_of, remark

if TYPE_CHECKING:
    from regex import Pattern


# ---- What is scanned.


@dataclass(frozen=True, slots=True)
class ScanSource:
    """A file that was already opened.

    path: as it is told in findings, relative to the workspace; it says which language this is, and no file is
    opened by it. text: the whole content, decoded.
    """

    path: str
    text: str


# ---- Rules as data: patterns/*.toml, one file a language, and one of secrets for all of them.

MAX_TEXT: Final = 4 << 20  # characters of a file that are searched
_PIECE: Final = 2_000  # characters of a line that a rule is tried on at once …
_OVERLAP: Final = 400  # … with so many of what is before and after
_MADE: Final = 5_000  # characters of a line that no person wrote: what fits in it is a NOTE, but for keys
_BEYOND: Final = 200  # characters after the line, for a rule that looks there
_SECONDS: Final = 0.5  # of one try; a thousand times what any takes …
MAX_SECONDS: Final = 60.0  # … and of all tries in one file; of the processor, so that no busy machine cuts it
_FOLDER: Final = Path(__file__).with_name("patterns")


@dataclass(frozen=True, slots=True)
class PatternRule:
    """One pattern and what is said of it.

    near: a line holds one of these, else it is not looked at. also: the file holds it somewhere. comments:
    are comments searched too? beyond: may it go on in the next lines, which it is about too? everywhere: is
    it as bad in examples?
    entropy: bits that a character of the group `value` has at least; mixed: it has letters and digits.
    covers: rules of bandit that say the same.
    """

    id: str
    severity: Severity
    near: tuple[str, ...]
    pattern: Pattern[str]
    says: str
    fix: str
    also: str = ""
    ignore_case: bool = False
    comments: bool = False
    beyond: bool = False
    everywhere: bool = False
    entropy: float = 0.0
    mixed: bool = False
    covers: tuple[str, ...] = ()
    hits: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()

    def in_place(self, place: Place) -> Severity:
        """How bad it is there: in tests and examples it is to be looked at, but for what is bad everywhere;
        tests are full of keys that open nothing."""
        same = place == "product" or (self.everywhere and place == "examples")
        return self.severity if same else "NOTE"

    @property
    def body(self) -> str:
        return f"{self.says}\nFix: {self.fix}."


@dataclass(frozen=True, slots=True)
class PatternBook:
    """The rules of one file. only: `unparsed` for those that stand in where a syntax tree is missing."""

    name: str
    files: tuple[str, ...]
    rules: tuple[PatternRule, ...]
    not_files: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    only: str = ""

    def fits(self, name: str, first_line: str) -> bool:
        """Are these rules for a file of this name?"""
        if fits_name(self.not_files, name):
            return False
        if fits_name(self.files, name):
            return True
        return "." not in name and interpreter(first_line) in self.shebangs


@cache
def books() -> tuple[PatternBook, ...]:
    return tuple(map(_book_of, sorted(_FOLDER.glob("*.toml"))))


@cache
def covering() -> Mapping[str, tuple[str, ...]]:
    """The rules of bandit that a pattern stands for where both fit a line, by the pattern's id."""
    return {rule.id: rule.covers for book in books() for rule in book.rules if rule.covers}


def search(
    source: ScanSource, place: Place, *, unparsed: bool, lines: Container[int] | None = None
) -> Iterator[ScanHit]:
    """What the patterns find in a text, rule by rule.

    unparsed: it has no syntax tree, though its language is one that is judged by it. lines: only those in
    one of them, and those that may go on into one.
    """
    text = source.text
    if len(text) > MAX_TEXT:
        yield remark("scan-long", 1, f"Only the first {MAX_TEXT:,} characters were searched by patterns.")
        text = text[:MAX_TEXT]
    name = source.path.rpartition("/")[2]
    first_line = text[:200].partition("\n")[0]
    searched = _Text(text, lines)
    until = time.thread_time() + MAX_SECONDS
    for book in books():
        if (unparsed or not book.only) and book.fits(name, first_line):
            for rule in book.rules:
                yield from searched.by(rule, rule.in_place(place), book, until)


class _Text:
    """A text with the places of its lines."""

    def __init__(self, text: str, lines: Container[int] | None) -> None:
        self.text = text
        self.lines = lines
        self._folded = ""
        self._starts = [0]
        place = text.find("\n")
        while place >= 0:
            self._starts.append(place + 1)
            place = text.find("\n", place + 1)
        self._starts.append(len(text) + 1)

    def by(
        self, rule: PatternRule, severity: Severity, book: PatternBook, deadline: float
    ) -> Iterator[ScanHit]:
        """Each line that a rule fits, once. deadline: of this thread's processor time."""
        if rule.also and rule.also not in self.text:
            return
        done = 0
        for number, column in self._near(rule):
            asked = rule.beyond or self.lines is None or number in self.lines
            if number <= done or not asked:
                continue
            start, end = self._starts[number - 1], self._starts[number] - 1
            if not rule.comments and self.text[start : start + 200].lstrip().startswith(book.marks or "\n"):
                done = number
                continue
            piece = (column // _PIECE) * _PIECE
            until = min(end + _BEYOND * rule.beyond, start + piece + _PIECE + _OVERLAP)
            first = max(start, start + piece - _OVERLAP)
            try:
                if time.thread_time() > deadline:
                    raise TimeoutError
                fits = _fits(rule, self.text[first:until], end - first)
            except TimeoutError:
                slow = f"The rule {rule.id} took too long, and was given up from here on."
                yield remark("scan-slow", number, slow)
                return
            if fits:
                made = end - start > _MADE and not rule.everywhere
                label: Severity = "NOTE" if made else severity
                last = bisect_right(self._starts, first + fits - 1) if rule.beyond else number
                yield ScanHit(rule.id, label, number, number, last, rule.body)
            if fits or end - start <= _PIECE:
                done = number

    def _near(self, rule: PatternRule) -> Iterator[tuple[int, int]]:
        """Lines and columns (from 0) where a word of the rule is, in order; a piece of a line is told
        once."""
        text = self.text
        if rule.ignore_case:
            if not self._folded:
                self._folded = _folded(text)
            text = self._folded
        found: set[tuple[int, int]] = set()
        for word in rule.near:
            place = text.find(word)
            while place >= 0:
                number = bisect_right(self._starts, place)
                start, end = self._starts[number - 1], self._starts[number] - 1
                piece = (place - start) // _PIECE
                found.add((number, piece * _PIECE))
                place = text.find(word, min(end, start + (piece + 1) * _PIECE))
        return iter(sorted(found))


def _fits(rule: PatternRule, piece: str, end: int) -> int:
    """Where what it fits before the end of the line is over; 0 where it fits nothing."""
    for found in rule.pattern.finditer(piece, timeout=_SECONDS):
        if found.start() > end:
            return 0
        value = found.groupdict().get("value")
        if value is None or _real(value, rule):
            return int(found.end())
    return 0


def _real(value: str, rule: PatternRule) -> bool:
    """Is it a secret, and no placeholder of one?"""
    if is_placeholder(value):
        return False
    if rule.mixed and not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    return entropy(value) >= rule.entropy


def _folded(text: str) -> str:
    """The text in lower case, each character in its place."""
    lower = text.lower()
    return (
        lower if len(lower) == len(text) else "".join(one.lower() if one.isascii() else one for one in text)
    )


def interpreter(line: str) -> str:
    """The program that a first line names: `#!/usr/bin/env -S bash -e` → bash."""
    if not line.startswith("#!"):
        return ""
    words = [one.rpartition("/")[2] for one in line[2:].split()]
    for word in words:
        if word != "env" and not word.startswith("-"):
            return word.rstrip("0123456789.")
    return ""


@cache
def _book_of(place: Path) -> PatternBook:
    return _book(place.stem, tomllib.loads(place.read_text(encoding="utf-8")))


def _book(name: str, table: Mapping[str, Any]) -> PatternBook:
    return PatternBook(
        name,
        tuple(table["files"]),
        tuple(_rule(one) for one in table["rule"]),
        tuple(table.get("not_files", ())),
        tuple(table.get("shebangs", ())),
        tuple(table.get("comments", ())),
        table.get("only", ""),
    )


def _rule(table: Mapping[str, Any]) -> PatternRule:
    import regex

    table = dict(table)
    if shape := table.pop("shape", ""):
        known = next(one for one in KEY_SHAPES if one.id == shape)
        whole = known.pattern if "(?P<value>" in known.pattern else f"(?P<value>{known.pattern})"
        table = {"near": known.near, "pattern": whole, **table}
    lists = {name: tuple(table.get(name, ())) for name in ("near", "covers", "hits", "passes")}
    lists["hits"] = tuple(one.replace("¦", "") for one in lists["hits"])
    return PatternRule(**{**table, **lists, "pattern": regex.compile(table["pattern"])})


MOST: Final = 20  # findings of one rule that are told of one file
_PYTHON: Final = (".py", ".pyw", ".pyi")


def scan_source(
    source: ScanSource, *, lines: Container[int] | None = None, known: KnownMarks | None = None
) -> tuple[ReviewFinding, ...]:
    """What is found in one file, in the order of lines; severities are RISK, WARNING and NOTE.

    Never raises for what the text holds. What could not be searched as it should be (Python that does not
    parse, a file out of bounds, a rule that failed) is said as a NOTE, and never passes in silence.

    Args:
        source: path and text.
        lines: only findings that touch one of these lines (from 1), as those of a diff; all where None. What
            could not be searched is told on the first of them.
        known: gives findings their marks. What was dismissed is given too, beside as many others.
    """
    text = source.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    source = ScanSource(source.path, text)
    place = place_of(source.path)
    hits, unparsed = _by_syntax(source)
    found = list(search(source, place, unparsed=unparsed, lines=lines))
    hits = [*_uncovered(hits, found), *found]
    if lines is not None:
        hits = list(_touching(hits, lines, text.count("\n") + 1))
    told = sorted(
        _few(hits, known or KnownMarks(), source), key=lambda one: (one[0].line, one[0].rule, one[0].body)
    )
    return tuple(
        ReviewFinding(hit.severity, source.path, hit.line, hit.body, hit.rule, mark) for hit, mark in told
    )


def _by_syntax(source: ScanSource) -> tuple[list[ScanHit], bool]:
    """What bandit finds, and whether there was no syntax tree to find it in."""
    if not _is_python(source):
        return [], True
    from mcl.plugins.review.scan.bandit_rules import judged
    from mcl.plugins.review.scan.weights import weighed

    place, rows = place_of(source.path), source.text.split("\n")
    seen = judged(source.text)
    hits = [hit for issue in seen.issues if (hit := weighed(issue, rows, place)) is not None]
    return [*dict.fromkeys(hits), *seen.remarks], not seen.parsed


def _is_python(source: ScanSource) -> bool:
    name = source.path.lower().rpartition("/")[2]
    if "." in name:
        return name.endswith(_PYTHON)
    return interpreter(source.text[:200].partition("\n")[0]) == "python"


def _uncovered(hits: list[ScanHit], found: list[ScanHit]) -> Iterator[ScanHit]:
    """Without what a pattern says more exactly of the same line."""
    said = {(rule, hit.line) for hit in found for rule in covering().get(hit.rule, ())}
    return (hit for hit in hits if (hit.rule, hit.line) not in said)


def _touching(hits: list[ScanHit], lines: Container[int], total: int) -> Iterator[ScanHit]:
    """Those about one of the lines, told on it; remarks in any case, on the first of the lines."""
    for hit in hits:
        if hit.line in lines:
            yield hit
            continue
        span = range(1, total + 1) if hit.remark else range(hit.first, hit.last + 1)
        line = next((one for one in span if one in lines), None)
        if line is not None or hit.remark:
            yield replace(hit, line=line or hit.line)


def _few(hits: list[ScanHit], known: KnownMarks, source: ScanSource) -> Iterator[tuple[ScanHit, str]]:
    """Of each rule the first, with their marks; of a rule that finds more, that it does. What was dismissed
    is given beside them."""
    counts: Counter[str] = Counter()
    places = LinePlaces(source.text)
    for hit in sorted(hits, key=lambda hit: hit.line):
        if counts[hit.rule] > MOST:
            continue
        mark = known.of(hit, source.path, places)
        gone = known.is_gone(mark)
        counts[hit.rule] += not gone
        if gone or counts[hit.rule] <= MOST:
            yield hit, mark
        else:
            more = f"The rule {hit.rule} finds more from here on: only its first {MOST} are told."
            yield replace(hit, body=more, rule="scan-more"), ""
