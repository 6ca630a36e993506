"""What a step of a review asks: read from the texts that the plan hands to it."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Literal, TypeAlias, get_args

from mcl.core.errors import ReviewError, SkillError
from mcl.plugins.review.contract import FOLDER, ReviewContract, contract, read_front
from mcl.plugins.review.piece import FilePiece, RemovedLines

# ---- The passes of a review as data: what a model is asked in each, and how many tokens its answer may
# have.

PassName: TypeAlias = Literal["structure", "review", "consistency"]
PASSES: tuple[PassName, ...] = get_args(PassName)
SCHEMA = "review-pass.v1"
MOST_TOKENS = 2048  # that a pass may give to an answer


@dataclass(frozen=True)
class ReviewPass:
    """What is asked of a model. max_tokens: of the answer about the lines that fit into one question."""

    name: PassName
    max_tokens: int
    text: str
    digest: str


@functools.cache
def the_pass(name: PassName) -> ReviewPass:
    """The pass of this name. Raises ReviewError CONTRACT_INVALID."""
    path = FOLDER / "passes" / f"{name}.md"
    return read_pass(path.read_bytes(), place=f"review/passes/{path.name}")


def read_pass(data: bytes, *, place: str) -> ReviewPass:
    """Read a pass's file. place: its name for messages. Raises ReviewError CONTRACT_INVALID."""
    front = read_front(data, place=place, schema=SCHEMA, keys=("pass", "max_tokens"))
    named = front.one_of("pass", (PurePosixPath(place).stem,))
    name = next((one for one in PASSES if one == named), None)
    if name is None:
        front.refuse("pass", f"pass must be one of {', '.join(PASSES)}")
    return ReviewPass(name, front.number("max_tokens", MOST_TOKENS), front.text, front.digest)


INPUTS = ("mode", "contract", "pieces", "context", "scan", "structure", "review")
"""Names of a step's texts. mode, contract (its digest) and pieces must be there, the others may."""


@dataclass(frozen=True)
class ReviewQuestion:
    """One pass over some pieces. The texts beside them are what was found or known before; "" for none."""

    contract: ReviewContract
    asked: ReviewPass
    pieces: tuple[FilePiece, ...]
    context: str = ""
    scan: str = ""
    structure: str = ""
    review: str = ""


def read_question(name: str, inputs: Mapping[str, str]) -> ReviewQuestion:
    """The question of a step. name: that of its prompt, with or without `x:`. inputs: its texts, see INPUTS.

    pieces: JSON, a list of `{"path", "text", "lines": [[first, last]…], "total", "sha256"}`, with `removed`
    (`[{"after", "text": […]}]`) where a change took lines away.

    Raises SkillError NO_PROMPT, SKILL_CHANGED (the contract is not the one that the plan was made with);
    ReviewError UNKNOWN_MODE, BAD_STEP, CONTRACT_INVALID.
    """
    found = next((one for one in PASSES if one == name.removeprefix("x:")), None)
    if found is None:
        fix = f"name one of a review's: {', '.join(PASSES)}"
        raise SkillError("NO_PROMPT", f"no prompt {name!r}", place="prompt", fix=fix)
    for key in inputs:
        if key not in INPUTS:
            raise _bad(key, f"a step of a review reads {', '.join(INPUTS)}")
    for key in INPUTS[:3]:
        if key not in inputs:
            raise _bad(key, "it is missing")
    bound = contract(inputs["mode"])
    if inputs["contract"] != bound.digest:
        raise SkillError(
            "SKILL_CHANGED",
            "the review's contract is not what this plan was made with",
            place=f"contract {bound.mode}",
            fix="review again",
        )
    texts = {key: inputs.get(key, "") for key in INPUTS[3:]}
    return ReviewQuestion(bound, the_pass(found), _pieces(inputs["pieces"]), **texts)


def _pieces(text: str) -> tuple[FilePiece, ...]:
    try:
        said = json.loads(text)
        if not isinstance(said, list):
            raise TypeError("it is another document")
        return tuple(_piece(one) for one in said)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _bad("pieces", f"it is no list of pieces: {error}") from error


def _piece(said: Mapping[str, object]) -> FilePiece:
    """One piece. Raises ValueError, TypeError, KeyError for anything else."""
    path, text, total, sha256 = (said[key] for key in ("path", "text", "total", "sha256"))
    if not (isinstance(path, str) and path and isinstance(text, str) and isinstance(sha256, str)):
        raise TypeError("path, text and sha256 are texts")
    lines = tuple((first, last) for first, last in said["lines"])  # type: ignore[attr-defined]
    removed = tuple(
        RemovedLines(one["after"], tuple(one["text"]))
        for one in said.get("removed", ())  # type: ignore[attr-defined]
    )
    numbers = [total, *(number for pair in lines for number in pair), *(one.after for one in removed)]
    if not all(type(number) is int for number in numbers):
        raise TypeError("lines and total are whole numbers")
    if not all(isinstance(row, str) for one in removed for row in one.text):
        raise TypeError("lines that were taken away are texts")
    piece = FilePiece(path, text, lines, len(text.split("\n")), sha256, removed=removed)
    piece = FilePiece(path, text, lines, len(piece.rows), sha256, removed=removed)
    flat = [0, *(number for pair in lines for number in pair)]
    if piece.total != total or flat != sorted(flat) or flat[-1] > piece.total:
        raise ValueError(f"{path} has {piece.total} lines")
    if any(second[0] <= first[1] for first, second in pairwise(lines)) or (lines and lines[0][0] < 1):
        raise ValueError("ranges of lines are in order and apart")
    return piece


def _bad(key: str, why: str) -> ReviewError:
    return ReviewError(
        "BAD_STEP", why, place=key, fix="this is a fault of the review's plan: please report it"
    )
