"""What a review comes to: the findings of rules and of a model, each once, the worst first."""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from executor.core.hashing import json_bytes
from executor.sandbox.redaction import visible
from mcl.core.errors import ReviewError
from mcl.plugins.review.contract import contract
from mcl.plugins.review.finding import SEVERITIES, ReviewFinding, Severity, in_order, without_repeats
from mcl.plugins.review.finding_text import (
    NO_FINDINGS,
    FindingsRead,
    UnreadableLine,
    read_findings,
    write_finding,
    write_findings,
)
from mcl.plugins.review.memory.dismissals import dismissed_json
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.memory.meanings import plain_lines


@dataclass(frozen=True)
class Conclusion:
    """findings: each once, in the order of severity. unreadable: lines of a model's text that look like a
    finding and are none that can be read. raw: texts that are no review at all, as they were said. dismissed:
    findings that a person dismissed; they count for nothing."""

    findings: tuple[ReviewFinding, ...]
    unreadable: tuple[UnreadableLine, ...] = ()
    raw: tuple[str, ...] = ()
    dismissed: tuple[ReviewFinding, ...] = ()

    @property
    def blocking(self) -> bool:
        """Does anything of it stop what is reviewed? What could not be read does."""
        return bool(self.unreadable) or any(one.blocking for one in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each severity that occurs, the worst first."""
        counted = Counter(one.severity for one in self.findings)
        return {severity: counted[severity] for severity in SEVERITIES if counted[severity]}

    @property
    def text(self) -> str:
        """The findings in the form of a review, then what could not be read, as it was said; where there is
        neither, what else was said, or `No findings.`"""
        parts = [write_findings(self.findings)] if self.findings else []
        parts += ["\n".join(one.text for one in self.unreadable)] if self.unreadable else []
        return "\n\n".join(parts or self.raw) or NO_FINDINGS


def concluded(
    found: Iterable[ReviewFinding],
    texts: Sequence[str] = (),
    *,
    labels: Collection[Severity] | None = None,
    most: int | None = None,
    mark: Callable[[ReviewFinding], str] = lambda finding: "",
    dismissed: Container[str] = (),
) -> Conclusion:
    """Put together what rules found, and what can be read in a model's texts.

    labels: of the contract. most: findings of the model about one file, in all its texts; the least severe
    are left out. mark: gives what a finding of the model is known by. dismissed: marks of findings that a
    person dismissed, of rules and of the model.
    """
    readings: list[FindingsRead] = [read_findings(text, labels=labels) for text in texts]
    told = without_repeats([one for reading in readings for one in reading.findings])
    said = in_order(replace(one, mark=mark(one)) for one in told)
    gone = [one for one in said if one.marked_in(dismissed)]
    said = tuple(one for one in said if not one.marked_in(dismissed))
    if most is not None:
        said = _worst(said, most)
    findings = in_order(without_repeats([*found, *gone, *said]))
    unreadable = tuple(one for reading in readings for one in reading.unreadable)
    raw = tuple(
        text.strip()
        for text, reading in zip(texts, readings, strict=True)
        if not reading.findings and not reading.unreadable and text.strip() not in ("", NO_FINDINGS)
    )
    gone = [one for one in findings if one.marked_in(dismissed)]
    return Conclusion(
        tuple(one for one in findings if not one.marked_in(dismissed)), unreadable, raw, tuple(gone)
    )


def _worst(ordered: Iterable[ReviewFinding], most: int) -> tuple[ReviewFinding, ...]:
    """Of each file as many as are allowed."""
    counted: Counter[str] = Counter()
    kept = []
    for one in ordered:
        counted[one.file] += 1
        if counted[one.file] <= most:
            kept.append(one)
    return tuple(kept)


def finding_of(said: Mapping[str, Any]) -> ReviewFinding:
    """A finding from its JSON object. Raises ReviewError FINDING_NOT_VALID."""
    try:
        location, line = str(said["location"]), said["line"]
        severity = next(one for one in SEVERITIES if one == said["severity"])
        file = location.removesuffix(f":{line}")
        more = (str(said.get(name, "")) for name in ("rule", "mark"))
        return ReviewFinding(severity, file, line, str(said["body"]), *more)
    except (KeyError, StopIteration, TypeError) as problem:
        raise ReviewError(
            "FINDING_NOT_VALID",
            f"this is no finding: {problem!r}",
            fix="give severity, location, line and body",
        ) from problem


# ---- What the last step of a review tells: its conclusion, cut to what an answer holds.

_ROOM: Final = 16_384  # bytes of the answer beside its findings
_MOST_UNREADABLE: Final = 200
_MOST_DISMISSED: Final = 200  # that are told again
_FOUND: Final = ("looked", "scanned", "dismissed")
_LONGEST_LINE: Final = 300  # characters of a line that could not be read


def conclude(args: Mapping[str, Any], memories: ReviewMemories, room: int) -> dict[str, object]:
    """The findings, and apart from them those that a person had dismissed by then.

    args: what the steps before it gave, as the tool review/conclude takes them. room: bytes of the answer.

    Raises:
        ReviewError: FINDING_NOT_VALID, CHANGED_MEANWHILE.
    """
    if args.get("seal", "") != args.get("scan_seal", ""):
        raise ReviewError(
            "CHANGED_MEANWHILE",
            "a file changed while it was reviewed: what was looked at is not what was searched",
            fix="review it again",
        )
    found = [finding_of(one) for name in _FOUND for one in args.get(name, ())]
    texts = [text for name in ("review", "consistency") if (text := args.get(name, ""))]
    bound = contract(args["mode"])
    dismissals = memories.dismissals
    dismissed = dismissals.at(args.get("memories", ""))
    ended = concluded(
        found,
        texts,
        labels=bound.labels,
        most=bound.max_findings,
        mark=lambda one: dismissals.maker.of_said(one),
        dismissed=dismissed,
    )
    gone = [dismissed_json(one, dismissed[one.mark]) for one in ended.dismissed[:_MOST_DISMISSED]]
    shown, cut = _fitting(ended.findings, room - _ROOM - len(json_bytes(gone)))
    told = replace(ended, findings=shown, unreadable=ended.unreadable[:_MOST_UNREADABLE])
    return {
        "findings": [one.to_json() for one in shown],
        "count": len(ended.findings),
        "counts": ended.counts,
        "blocking": ended.blocking or args.get("blocked", False),
        "unreadable": [{"line": one.line, "text": _short(one.text)} for one in told.unreadable],
        "files": len(args["files"]),
        "truncated": cut or len(gone) < len(ended.dismissed) or args.get("cut", False),
        "text": plain_lines(told.text),
        "dismissed": gone,
    }


def _fitting(findings: tuple[ReviewFinding, ...], room: int) -> tuple[tuple[ReviewFinding, ...], bool]:
    """As many as an answer holds, where each stands twice, and whether there are more."""
    for count, one in enumerate(findings):
        room -= 2 * len(json_bytes(one.to_json())) + 2 * len(json_bytes(write_finding(one)))
        if room < 0:
            return findings[:count], True
    return findings, False


def _short(line: str) -> str:
    return visible(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…")
