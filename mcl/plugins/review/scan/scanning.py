"""One file searched: every finding has a place, a severity, a rule and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Final

from mcl.plugins.review.findings import Finding
from mcl.plugins.review.scan.hit import Hit
from mcl.plugins.review.scan.known import Known, Places
from mcl.plugins.review.scan.patterns import covering, interpreter, search
from mcl.plugins.review.scan.places import place_of
from mcl.plugins.review.scan.source import Source

MOST: Final = 20  # findings of one rule that are told of one file
_PYTHON: Final = (".py", ".pyw", ".pyi")


def scan_source(
    source: Source, *, lines: Container[int] | None = None, known: Known | None = None
) -> tuple[Finding, ...]:
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
    source = Source(source.path, text)
    place = place_of(source.path)
    hits, unparsed = _by_syntax(source)
    found = list(search(source, place, unparsed=unparsed, lines=lines))
    hits = [*_uncovered(hits, found), *found]
    if lines is not None:
        hits = list(_touching(hits, lines, text.count("\n") + 1))
    told = sorted(
        _few(hits, known or Known(), source), key=lambda one: (one[0].line, one[0].rule, one[0].body)
    )
    return tuple(Finding(hit.severity, source.path, hit.line, hit.body, hit.rule, mark) for hit, mark in told)


def _by_syntax(source: Source) -> tuple[list[Hit], bool]:
    """What bandit finds, and whether there was no syntax tree to find it in."""
    if not _is_python(source):
        return [], True
    from mcl.plugins.review.scan.python import judged
    from mcl.plugins.review.scan.weights import weighed

    place, rows = place_of(source.path), source.text.split("\n")
    seen = judged(source.text)
    hits = [hit for issue in seen.issues if (hit := weighed(issue, rows, place)) is not None]
    return [*dict.fromkeys(hits), *seen.remarks], not seen.parsed


def _is_python(source: Source) -> bool:
    name = source.path.lower().rpartition("/")[2]
    if "." in name:
        return name.endswith(_PYTHON)
    return interpreter(source.text[:200].partition("\n")[0]) == "python"


def _uncovered(hits: list[Hit], found: list[Hit]) -> Iterator[Hit]:
    """Without what a pattern says more exactly of the same line."""
    said = {(rule, hit.line) for hit in found for rule in covering().get(hit.rule, ())}
    return (hit for hit in hits if (hit.rule, hit.line) not in said)


def _touching(hits: list[Hit], lines: Container[int], total: int) -> Iterator[Hit]:
    """Those about one of the lines, told on it; remarks in any case, on the first of the lines."""
    for hit in hits:
        if hit.line in lines:
            yield hit
            continue
        span = range(1, total + 1) if hit.remark else range(hit.first, hit.last + 1)
        line = next((one for one in span if one in lines), None)
        if line is not None or hit.remark:
            yield replace(hit, line=line or hit.line)


def _few(hits: list[Hit], known: Known, source: Source) -> Iterator[tuple[Hit, str]]:
    """Of each rule the first, with their marks; of a rule that finds more, that it does. What was dismissed
    is given beside them."""
    counts: Counter[str] = Counter()
    places = Places(source.text)
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
