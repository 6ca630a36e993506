"""The review contracts: what a model may say in each mode, and what it is told to look for."""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias, cast, get_args

import grammars
import skills as shipped
from mcl.core.errors import ReviewError
from mcl.plugins.review.contracts.front import read_front
from mcl.plugins.review.findings import SEVERITIES, Severity

Mode: TypeAlias = Literal["comment", "architecture", "security", "risk"]
MODES: tuple[Mode, ...] = get_args(Mode)
FOLDER = Path(shipped.__file__).parent / "review"
SCHEMA = "review-contract.v1"
GRAMMAR = "review@1"
MOST_FINDINGS = 20  # that a contract may allow: more fit into no answer
_KEYS = ("mode", "max_findings", "labels", "scope", "uncertainty")


@dataclass(frozen=True)
class Contract:
    """What binds a review. The model is told `text` as its system prompt, and its grammar has these labels.

    labels: in the order of severity, the worst first. meanings: of each label. max_findings: of one review of
    one file. scope: what to report and what to leave out. uncertainty: what to do where the lines shown do
    not settle a matter. digest: sha256 (hex) of all that such a review tells a model: the contract's file,
    the guides, the texts of the passes, and the grammar.
    """

    mode: Mode
    labels: tuple[Severity, ...]
    meanings: Mapping[Severity, str]
    max_findings: int
    scope: str
    uncertainty: str
    text: str
    digest: str


def contract(mode: str) -> Contract:
    """The contract of a mode. Raises ReviewError UNKNOWN_MODE, CONTRACT_INVALID."""
    found = next((one for one in MODES if one == mode), None)
    if found is None:
        raise ReviewError(
            "UNKNOWN_MODE", f"no review mode {mode!r}", place="mode", fix=f"one of: {', '.join(MODES)}"
        )
    return _shipped(found)


def contracts() -> dict[Mode, Contract]:
    """All four, by mode. Raises ReviewError CONTRACT_INVALID."""
    return {mode: _shipped(mode) for mode in MODES}


@functools.cache
def _shipped(mode: Mode) -> Contract:
    path = FOLDER / "contracts" / f"{mode}.md"
    data = path.read_bytes()
    read = read_contract(data, place=f"review/contracts/{path.name}", mode=mode)
    beside = sorted((*(FOLDER / "guides").glob("*.md"), *(FOLDER / "passes").glob("*.md")))
    digests = [hashlib.sha256(one).hexdigest() for one in (data, *(file.read_bytes() for file in beside))]
    told = "".join([*digests, grammars.load(GRAMMAR).digest])
    return replace(read, digest=hashlib.sha256(told.encode()).hexdigest())


def read_contract(data: bytes, *, place: str, mode: Mode) -> Contract:
    """Read a contract's file; its digest is that of the file alone. place: its name for messages.

    Raises ReviewError CONTRACT_INVALID."""
    front = read_front(data, place=place, schema=SCHEMA, keys=_KEYS)
    front.one_of("mode", (mode,))
    meanings = front.table("labels", SEVERITIES)
    labels = tuple(label for label in SEVERITIES if label in meanings)
    scope, uncertainty = front.words("scope"), front.words("uncertainty")
    parts = [
        front.text,
        f"Scope: {scope}",
        f"When you are not sure: {uncertainty}",
        f"At most {(most := front.number('max_findings', MOST_FINDINGS))} findings. The labels:",
        *(f"[{label}] {meanings[label]}" for label in labels),
    ]
    named = cast("Mapping[Severity, str]", {label: meanings[label] for label in labels})
    return Contract(
        mode=mode,
        labels=labels,
        meanings=MappingProxyType(dict(named)),
        max_findings=most,
        scope=scope,
        uncertainty=uncertainty,
        text="\n".join(parts),
        digest=front.digest,
    )
