"""The passes of a review as data: what a model is asked in each, and how many tokens its answer may have."""

import functools
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, TypeAlias, get_args

from mcl.plugins.review.contracts.contract import FOLDER
from mcl.plugins.review.contracts.front import read_front

PassName: TypeAlias = Literal["structure", "review", "consistency"]
PASSES: tuple[PassName, ...] = get_args(PassName)
SCHEMA = "review-pass.v1"
MOST_TOKENS = 2048  # that a pass may give to an answer


@dataclass(frozen=True)
class Pass:
    """What is asked of a model. max_tokens: of the answer about the lines that fit into one question."""

    name: PassName
    max_tokens: int
    text: str
    digest: str


@functools.cache
def the_pass(name: PassName) -> Pass:
    """The pass of this name. Raises ReviewError CONTRACT_INVALID."""
    path = FOLDER / "passes" / f"{name}.md"
    return read_pass(path.read_bytes(), place=f"review/passes/{path.name}")


def read_pass(data: bytes, *, place: str) -> Pass:
    """Read a pass's file. place: its name for messages. Raises ReviewError CONTRACT_INVALID."""
    front = read_front(data, place=place, schema=SCHEMA, keys=("pass", "max_tokens"))
    named = front.one_of("pass", (PurePosixPath(place).stem,))
    name = next((one for one in PASSES if one == named), None)
    if name is None:
        front.refuse("pass", f"pass must be one of {', '.join(PASSES)}")
    return Pass(name, front.number("max_tokens", MOST_TOKENS), front.text, front.digest)
