"""The places of a plan.yaml, `${slot.x}` and the like: what may stand in one, and whose it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

PLACE = re.compile(r"\$\$\{|\$\{(?P<name>[^{}\n]*)\}|\$\{")
_SLOT = re.compile(r"slot\.(?P<slot>[A-Za-z_][\w-]*)(?P<uri>\.uri)?")
_RUNTIME = re.compile(r"[^\s{}$]+\.output(?:[.\[].*)?")
PLAIN_PLACES = ("prose", "verb", "intent.id", "intent.deadline", "output_cardinality")


class SlotLike(Protocol):
    """What is asked of an input: name, an enum's options, and how many entries it takes."""

    @property
    def name(self) -> str: ...
    @property
    def options(self) -> tuple[str, ...]: ...


class Scope(Protocol):
    """What a template may speak of."""

    @property
    def slots(self) -> Sequence[SlotLike]: ...
    @property
    def verbs(self) -> tuple[str, ...]: ...


def slot_place(name: str) -> tuple[str, bool] | None:
    """`slot.x` as ("x", False), `slot.x.uri` as ("x", True), else None."""
    match = _SLOT.fullmatch(name)
    return (match["slot"], bool(match["uri"])) if match else None


def is_runtime(name: str) -> bool:
    """Whether a place is the walker's: `node.output…`."""
    return _RUNTIME.fullmatch(name) is not None
