"""What a review looks at."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from executor.core.errors import ToolError
from executor.core.hashing import json_bytes
from executor.sandbox.redaction import Redactor
from executor.store.home import Home
from executor.tools.project.sources import language_of
from executor.tools.tool import Bench
from ir.inline_secrets import WHOLE_KEY
from mcl.core.text import counted
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.piece import FilePiece, ReviewTarget
from mcl.plugins.review.target import look_at

_ROOM: Final = 8192  # bytes of the answer beside its lists
_MOST_SKIPPED: Final = 1000  # files left out that are named
_KEY: Final = re.compile(WHOLE_KEY)
# Why a changed file that may hold anything was not looked at; of those that are too large or binary only what
# is code by its name: locks of packages and pictures are that every day.
_ANYTHING: Final = frozenset({"name", "too many", "unreadable"})
_CODE_UNSEEN: Final = frozenset({"binary", "too large"})
_NO_CODE: Final = frozenset(
    {"", "css", "csv", "html", "json", "latex", "markdown", "rst", "text", "toml", "xml", "yaml"}
)
_UNSEEN: Final = (
    "This file changed, and nobody looked at it: {why}.\nRead it, or make it one that can be looked at."
)
_CONFLICT: Final = (
    "This file has a conflict of a merge that is not resolved.\nResolve it, then review it again."
)


async def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Answer with the files, and with what of them is to be judged. Raises as `look_at`; ToolError TOO_LARGE
    where the texts are more than an answer holds."""
    target = await look_at(
        bench, path=args.get("path", ""), base=args.get("base", ""), staged=args.get("staged", False)
    )
    answer: dict[str, object] = {
        "kind": target.kind,
        "base": target.base,
        "paths": list(target.paths),
        "files": [_file(one, sealed=target.kind != "folder") for one in target.pieces],
        "findings": [one.to_json() for one in (*_conflicts(target), *_unseen(target))],
        "skipped": [asdict(one) for one in target.skipped[:_MOST_SKIPPED]],
        "truncated": target.truncated or len(target.skipped) > _MOST_SKIPPED,
        "seal": target.seal,
        "text": _told(target),
    }
    if args.get("text"):
        answer["pieces"] = [_piece(one) for one in target.pieces]
    if len(json_bytes(answer)) > bench.max_output - _ROOM:
        raise ToolError(
            "TOO_LARGE",
            f"{_told(target)}: that is more than one review takes",
            place=args.get("path", "") or args.get("base", ""),
            fix="review a part of it, or by the rules alone: --no-ai",
        )
    return answer


def _file(piece: FilePiece, *, sealed: bool) -> dict[str, object]:
    return {
        "path": piece.path,
        **({"sha256": piece.sha256} if sealed else {}),
        "state": piece.state,
        **({"was": piece.was} if piece.was else {}),
        "total": piece.total,
        "judged": sum(last - first + 1 for first, last in piece.lines),
    }


def _piece(piece: FilePiece) -> dict[str, object]:
    """A file as a model is shown it; secrets are taken out, and lines stay where they are."""
    return {
        "path": piece.path,
        "text": _clean(piece.text),
        "lines": [list(one) for one in piece.lines],
        "total": piece.total,
        "sha256": piece.sha256,
        "removed": [{"after": one.after, "text": [_clean(row) for row in one.text]} for one in piece.removed],
    }


def _clean(text: str) -> str:
    text = _KEY.sub(lambda found: "\n".join(["[redacted: private key]"] * (found[0].count("\n") + 1)), text)
    rows = text.split("\n")
    clean = Redactor().text(text).split("\n")
    return "\n".join(clean if len(clean) == len(rows) else map(Redactor().text, rows))


def _conflicts(target: ReviewTarget) -> Iterator[ReviewFinding]:
    for piece in target.pieces:
        if piece.state == "conflict":
            marks = (number for number, row in enumerate(piece.rows, 1) if row.startswith("<<<<<<< "))
            yield ReviewFinding("WARNING", piece.path, next(marks, 0), _CONFLICT, "conflict")
    for one in target.skipped:
        if one.why == "conflict":
            yield ReviewFinding("WARNING", one.path, 0, _CONFLICT, "conflict")


def _unseen(target: ReviewTarget) -> Iterator[ReviewFinding]:
    """What changed and could not be looked at blocks: else code would pass by being padded or oddly named."""
    if target.kind != "diff":
        return
    for one in target.skipped:
        code = one.why in _CODE_UNSEEN and language_of(one.path) not in _NO_CODE
        if code or one.why in _ANYTHING:
            yield ReviewFinding("WARNING", one.path, 0, _UNSEEN.format(why=one.why), "not-looked-at")


def _told(target: ReviewTarget) -> str:
    """3 files, 120 lines to be judged; left out: 1 deleted, 2 binary"""
    lines = sum(last - first + 1 for piece in target.pieces for first, last in piece.lines)
    told = f"{counted(len(target.pieces), 'file')}, {counted(lines, 'line')} to be judged"
    why = Counter(one.why for one in target.skipped)
    left = ", ".join(f"{count:,} {name}" for name, count in sorted(why.items()))
    return f"{told}; left out: {left}" if left else told
