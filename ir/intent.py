"""The Intent: a goal in plain words with its typed Frame, as it is shown, signed and run."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from ir.document import Document
from ir.frame import AssetAmount, Frame
from ir.scalars import PROTOCOL, Count, Digest, Duration, Instant, Name, Number, Share, Text, Ulid

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
