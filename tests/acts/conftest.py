"""A home with intents written by hand, so that what is done with them is tested apart from how they are
compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from executor import Home
from ir import (
    CompileMetadata,
    Frame,
    Header,
    Intent,
    IntentCompiledBody,
    IntentDraftBody,
    PlanNode,
    PlanProposedBody,
    PlanTree,
    SlotEntry,
    ToolCall,
    Unknown,
    canonical_bytes,
    derive_seed,
    seal,
    with_hash,
)
from mcl.core.home import open_home

Write = Callable[..., Intent]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """An open home, just made."""
    with open_home(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def write(home: Home) -> Write:
    """Store a drafted, compiled and planned intent; gives the Intent."""

    def stored(prose: str = "list the notes", *, unknowns: tuple[Unknown, ...] = (), **fields: Any) -> Intent:
        intent = an_intent(home, prose, unknowns=unknowns, **fields)
        plan = a_plan(home, intent)
        say = lambda kind, body, key: seal(  # noqa: E731
            kind,
            body,
            Header(home.clock.new_id(), home.clock.now(), key.did, f"matrix://intent/{intent.id}"),
            key.signing_key,
        )
        user, agent = home.keyring.user, home.keyring.agent
        home.journal.append_many(
            [
                say("intent.draft", IntentDraftBody(prose=prose), user),
                say("intent.compiled", IntentCompiledBody(canonical_bytes(intent)), agent),
                say("plan.proposed", PlanProposedBody(canonical_bytes(plan)), agent),
            ]
        )
        return intent

    return stored


def an_intent(home: Home, prose: str, **fields: Any) -> Intent:
    """An Intent to list a folder, its hash and seed right."""
    id = fields.pop("id", home.clock.new_id())
    parts = {"mtx_digest": "1" * 64, "model_digest": "2" * 64}
    seed = derive_seed(intent_id=id, actor=home.keyring.user.did, snapshot_hash="", **parts)
    made = CompileMetadata(
        seed=seed.hex, model_version="hand/1", skill_id="files", skill_version="1.0.0", **parts
    )
    draft = Intent(
        id=id,
        actor=home.keyring.user.did,
        agent=home.keyring.agent.did,
        prose=prose,
        state="proposed",
        confidence=0.95,
        frame=Frame(verb="find", objects=(SlotEntry(name="folder", value="notes"),)),
        created_at=home.clock.now(),
        compile_metadata=made,
        **fields,
    )
    return with_hash(draft)


def a_plan(home: Home, intent: Intent) -> PlanTree:
    """One tool call that lists the folder."""
    call = ToolCall(tool_ref="matrix://tool/fs/list@1.0.0", args={"path": "notes"}, side_effect_class="read")
    return with_hash(
        PlanTree(
            id=home.clock.new_id(),
            intent_id=intent.id,
            created_at=home.clock.now(),
            created_by=f"matrix://agent/{home.keyring.agent.did}",
            skill_ref="matrix://skill/files@1.0.0",
            root=PlanNode(id="n0", kind="tool_call", description="List the folder", tool_call=call),
        )
    )
