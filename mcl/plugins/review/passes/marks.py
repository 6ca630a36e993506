"""Marks of a model that only chooses, such as the bundled one: weak, and never more than a note."""

import functools
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcl.model.protocol import Candidate, Choice, Model
from mcl.plugins.review.contracts import ReviewContract
from mcl.plugins.review.findings import SEVERITIES, ReviewFinding, Severity, in_order, write_findings
from mcl.plugins.review.passes.prompts import readable, windows
from mcl.plugins.review.passes.question import ReviewQuestion
from mcl.plugins.review.target import FilePiece

_FILE = Path(__file__).with_name("marks.toml")


@dataclass(frozen=True)
class Marking:
    """What `marks.toml` says. threshold: the probability from which a label is told, as `label`."""

    threshold: float
    label: Severity
    most_lines: int


@functools.cache
def marking() -> Marking:
    """The rules of marks, from their file."""
    said = tomllib.loads(_FILE.read_text("utf-8"))
    label = next(one for one in SEVERITIES if one == said["label"])
    return Marking(float(said["threshold"]), label, int(said["most_lines"]))


def marked(model: Model, question: ReviewQuestion, goes_on: Callable[[], bool] = lambda: True) -> str:
    """The places that a model would put a label on, as notes of the form; at most as many a file as the
    contract allows, the surest.

    In the other passes such a model has nothing to say: no structure, no findings. Raises ModelError.
    """
    if question.asked.name == "structure":
        return ""
    pieces = question.pieces if question.asked.name == "review" else ()
    return write_findings(
        in_order(one for piece in pieces for one in _marks(model, question.contract, piece, goes_on))
    )


def _marks(
    model: Model, contract: ReviewContract, piece: FilePiece, goes_on: Callable[[], bool]
) -> Iterator[ReviewFinding]:
    rules, asked, shown = marking(), candidates(contract), readable(piece)
    sure: list[tuple[float, int, str]] = []
    for lines in chunks(piece, rules.most_lines):
        if not goes_on():
            return
        chosen = model.choose("\n".join(shown.rows[line - 1] for line in lines), asked)
        if is_marked(chosen, rules.threshold):
            sure.append((-chosen.skill_probability, lines[0], chosen.skill_id or ""))
    for share, line, label in sorted(sure)[: contract.max_findings]:
        body = (
            f"A small model that cannot explain itself would say {label} of the lines from here "
            f"({-share:.0%}). Look at them; it is often wrong."
        )
        yield ReviewFinding(rules.label, piece.path, line, body)


def is_marked(chosen: Choice, threshold: float) -> bool:
    """Is a label chosen, and surely enough?"""
    return chosen.skill_id is not None and chosen.skill_probability >= threshold


def candidates(contract: ReviewContract) -> list[Candidate]:
    """A contract's labels as they are shown to a model that chooses."""
    return [
        Candidate(label, label.casefold(), meaning, ("analyze",))
        for label, meaning in contract.meanings.items()
    ]


def chunks(piece: FilePiece, most: int) -> Iterator[Sequence[int]]:
    """The judged lines of a piece in runs of at most `most`, parted where a block begins at the left edge
    behind an empty line; runs of empty lines are left out."""
    for window in windows(piece):
        run: list[int] = []
        for line in window.judged:
            row = piece.rows[line - 1]
            begins = bool(row[:1].strip()) and line > 1 and not piece.rows[line - 2].strip()
            if run and (line != run[-1] + 1 or len(run) >= most or begins):
                yield from _said(piece, run)
                run = []
            run.append(line)
        yield from _said(piece, run)


def _said(piece: FilePiece, run: Sequence[int]) -> Iterator[Sequence[int]]:
    said = [line for line in run if piece.rows[line - 1].strip()]
    if said:
        yield range(said[0], said[-1] + 1)
