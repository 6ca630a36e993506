"""What is to be said of a model before its findings are believed, from the header of its file."""

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from mcl.model.files import GgufHeader

_FILE = Path(__file__).with_name("noise.toml")
_FORM = "mcl.form"  # of a model that only chooses, such as the bundled one
_MILLION = 1_000_000


@dataclass(frozen=True)
class NoiseBound:
    """What `noise.toml` says. below: weights. reason: what was measured."""

    below: int
    reason: str


@functools.cache
def bound() -> NoiseBound:
    """The bound, from its file."""
    said = tomllib.loads(_FILE.read_text("utf-8"))
    return NoiseBound(int(said["below"]), str(said["reason"]))


def noise_note(header: GgufHeader) -> str:
    """A sentence where a model only chooses, or is so small that its findings are likely noise; else "".

    A file without a tensor that has weights says nothing of its size, and so does this.
    """
    if _FORM in header.metadata:
        return "this model only chooses, and finds next to nothing"
    limit = bound()
    if not 0 < header.weights < limit.below:
        return ""
    many = f"{max(1, round(header.weights / _MILLION)):,} million weights"
    return f"this model has {many}, and what one so small finds is likely noise: {limit.reason}"
