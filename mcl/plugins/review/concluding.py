"""What the last step of a review tells: its conclusion, cut to what an answer holds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from executor.core.hashing import json_bytes
from mcl.core.errors import ReviewError
from mcl.plugins.review.conclusion import concluded, finding_of
from mcl.plugins.review.contracts import contract
from mcl.plugins.review.findings import Finding, write_finding
from mcl.plugins.review.memory import Memories
from mcl.plugins.review.memory.dismissals import dismissed_json
from mcl.plugins.review.memory.meanings import plain_line, plain_lines

_ROOM: Final = 16_384  # bytes of the answer beside its findings
_MOST_UNREADABLE: Final = 200
_MOST_DISMISSED: Final = 200  # that are told again
_FOUND: Final = ("looked", "scanned", "dismissed")
_LONGEST_LINE: Final = 300  # characters of a line that could not be read


def conclude(args: Mapping[str, Any], memories: Memories, room: int) -> dict[str, object]:
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


def _fitting(findings: tuple[Finding, ...], room: int) -> tuple[tuple[Finding, ...], bool]:
    """As many as an answer holds, where each stands twice, and whether there are more."""
    for count, one in enumerate(findings):
        room -= 2 * len(json_bytes(one.to_json())) + 2 * len(json_bytes(write_finding(one)))
        if room < 0:
            return findings[:count], True
    return findings, False


def _short(line: str) -> str:
    return plain_line(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…")
