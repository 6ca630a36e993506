"""The first words of an intent that was not compiled: draft, Intent and plan, appended together."""

from executor.store.home import Home
from ir import (
    Envelope,
    Intent,
    IntentCompiledBody,
    IntentDraftBody,
    PlanProposedBody,
    PlanTree,
    canonical_bytes,
)
from mcl.core.seal import sealed


def proposal(home: Home, intent: Intent, plan: PlanTree, at: str) -> list[Envelope]:
    """Draft, Intent and plan, not stored yet; the first is signed by the user's key, the others by the
    agent's. at: ISO 8601 UTC. Raises KeyringError where a key is sealed."""
    id = intent.id
    draft = sealed(home, "intent.draft", IntentDraftBody(intent.prose), intent=id, at=at)
    compiled = IntentCompiledBody(canonical_bytes(intent))
    second = sealed(home, "intent.compiled", compiled, intent=id, at=at, causation=draft.id)
    proposed = PlanProposedBody(canonical_bytes(plan))
    third = sealed(home, "plan.proposed", proposed, intent=id, at=at, causation=second.id)
    return [draft, second, third]
