"""The Intent: a goal in plain words with its typed Frame, as it is shown, signed and run."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from ir.document import Document
from ir.errors import IrError
from ir.frame import AssetAmount, Frame
from ir.scalars import (
    DIGEST_PATTERN,
    PROTOCOL,
    Count,
    Digest,
    Duration,
    Instant,
    Name,
    Number,
    Share,
    Text,
    Ulid,
)

SEVERITIES: Final = ("blocking", "preferred", "optional")
STATES: Final = (
    "draft",
    "proposed",
    "clarifying",
    "accepted",
    "executing",
    "completed",
    "failed",
    "cancelled",
)


class Unknown(Document):
    """A gap. `field` is a path such as `frame.constraints[0].max`; `blocking` stops execution."""

    id: Name
    field: Text = ""
    type: Text = ""
    severity: Literal["blocking", "preferred", "optional"]
    rationale: Text = ""
    default: Text = ""
    options: tuple[Text, ...] = ()
    source_hint: Text = ""


class Reference(Document):
    """Something the Intent rests on."""

    uri: Name
    type: Text = ""
    role: Text = ""
    summary: Text = ""


class Budget(Document):
    """Limits of a run. `max_time` is an ISO 8601 duration. A field that is left out sets no limit; zero is
    zero, and is written."""

    max_cost: AssetAmount | None = None
    max_time: Duration = ""
    max_calls: Count | None = None
    max_agents: Count | None = None


class SpanMark(Document):
    """Where a field came from: `field` (such as `frame.objects[1]`) is prose[start:end], in characters."""

    field: Name
    start: Count = 0
    end: Count = 0


class CompileMetadata(Document):
    """What a compile depended on, for replay. Digests are lowercase hex sha256."""

    seed: Digest = ""
    mtx_digest: Digest = ""
    model_digest: Digest = ""
    model_version: Text = ""
    temperature: Number = 0.0
    grammar: Text = ""
    skill_id: Text = ""
    skill_version: Text = ""
    cortex_snapshot_hash: Digest = ""
    spans: tuple[SpanMark, ...] = ()


class Intent(Document):
    """A goal, typed. `prose` is for people, `frame` is what is signed and run; with_hash() makes `hash`.

    signed_by: the actor's ed25519 public key, lowercase hex: whose signature makes the Intent run.
    """

    id: Ulid
    v: Literal["mcl/0.1"] = PROTOCOL
    parent: Text = ""
    actor: Name
    agent: Name
    prose: Text = ""
    frame: Frame = Field(default_factory=Frame)
    unknowns: tuple[Unknown, ...] = ()
    references: tuple[Reference, ...] = ()
    state: Literal[
        "draft", "proposed", "clarifying", "accepted", "executing", "completed", "failed", "cancelled"
    ]
    confidence: Share = 0.0
    budget: Budget | None = None
    deadline: Instant = ""
    created_at: Instant
    expires_at: Instant = ""
    goal_id: Text = ""
    signed_by: Text = ""
    hash: Digest = ""
    compile_metadata: CompileMetadata | None = None


# ---- The seed of a compile: everything its answer may depend on, in one digest.

NO_SNAPSHOT: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class Seed:
    """`hex`: the whole sha256, recorded. `sampler`: its first 8 bytes, big endian, masked to 31 bits."""

    hex: str
    sampler: int


def derive_seed(
    *, intent_id: str, actor: str, snapshot_hash: str, mtx_digest: str, model_digest: str
) -> Seed:
    """sha256 over the five texts joined by 0x1F.

    The digests are 64 lowercase hex digits; an empty snapshot_hash stands for 64 zeros (no memories).
    Raises IrError: SEED_SEPARATOR (a field holds 0x1F), SEED_DIGEST (a digest is none).
    """
    fields = {
        "intent_id": intent_id,
        "actor": actor,
        "snapshot_hash": snapshot_hash or NO_SNAPSHOT,
        "mtx_digest": mtx_digest,
        "model_digest": model_digest,
    }
    for name, text in fields.items():
        # Else two different sets of fields could be joined to the same text, and have one seed.
        if "\x1f" in text:
            raise IrError("SEED_SEPARATOR", "the separator 0x1F stands in a field of the seed", place=name)
        if name.endswith(("_hash", "_digest")) and not re.fullmatch(DIGEST_PATTERN, text):
            raise IrError("SEED_DIGEST", "not 64 lowercase hex digits", place=name)
    digest = hashlib.sha256("\x1f".join(fields.values()).encode()).digest()
    # Samplers take a positive 32-bit number.
    return Seed(digest.hex(), int.from_bytes(digest[:8], "big") & 0x7FFF_FFFF)


def seed_of(intent: Intent, model_digest: str | None = None) -> Seed | None:
    """The seed that follows from what an Intent says of its compile; None where it says nothing of it.

    model_digest: of another model than it was compiled with. Raises IrError as `derive_seed`.
    """
    made = intent.compile_metadata
    if made is None:
        return None
    return derive_seed(
        intent_id=intent.id,
        actor=intent.actor,
        snapshot_hash=made.cortex_snapshot_hash,
        mtx_digest=made.mtx_digest,
        model_digest=made.model_digest if model_digest is None else model_digest,
    )
