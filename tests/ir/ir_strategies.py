"""Documents and bodies for property tests: anything the types allow, empty fields included."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import ir
from ir.scalars import FrozenMap

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

letters = st.characters(exclude_categories=["Cs"])
texts = st.one_of(st.just(""), st.text(letters, max_size=12))
names = st.text(letters, min_size=1, max_size=12)
digests = st.one_of(st.just(""), st.binary(min_size=32, max_size=32).map(bytes.hex))
counts = st.one_of(st.just(0), st.integers(0, 2**53 - 1))
numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.5, 1e-7, 5e-324, 1e16 / 2, 123456.789]),
    st.floats(-(2**53), 2**53),
)
moments = st.datetimes().map(lambda moment: moment.isoformat(timespec="milliseconds") + "Z")
instants = st.just("") | moments
flags = st.booleans()


def tuples_of(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=3).map(tuple)


free_maps = st.dictionaries(texts, texts, max_size=4)
extension_names = st.from_regex(r"x:[a-z][a-z0-9.-]{0,8}", fullmatch=True)
verbs = st.one_of(st.just(""), st.sampled_from(ir.VERBS), extension_names)
amounts = st.builds(
    ir.AssetAmount,
    asset=texts,
    amount=st.one_of(
        st.integers(0, 2**53 - 1),
        st.floats(0, 2**53),
        st.from_regex(r"[0-9]{1,20}(\.[0-9]{1,9})?", fullmatch=True),
    ),
)
maybe_amounts = st.none() | amounts
constraints = st.one_of(
    st.builds(ir.BudgetConstraint, hard=flags, max=maybe_amounts),
    st.builds(ir.DeadlineConstraint, hard=flags, by=instants),
    st.builds(ir.JurisdictionConstraint, hard=flags, allow=tuples_of(names), deny=tuples_of(names)),
    st.builds(ir.QualityConstraint, hard=flags, metric=texts, min=numbers, share=flags),
    st.builds(ir.RuleConstraint, hard=flags, rule=texts, keeps=texts),
    st.builds(ir.PolicyConstraint, hard=flags, policy=texts),
    st.builds(ir.ExtensionConstraint, type=extension_names, hard=flags, schema=texts, data=texts),
)
predicates = st.one_of(
    st.builds(ir.DeliveredPredicate, artifact=texts),
    st.builds(ir.SignedOffPredicate, by=texts, what=texts),
    st.builds(ir.ExternalPredicate, url=texts, check=texts),
    st.builds(ir.AttestationPredicate, source=texts, topic=texts),
    st.builds(ir.CommandPredicate, tool_ref=texts, args=free_maps.map(FrozenMap)),
    st.builds(ir.ExtensionPredicate, type=extension_names, schema=texts, data=texts),
)
frames = st.builds(
    ir.Frame,
    verb=verbs,
    objects=tuples_of(st.builds(ir.SlotEntry, name=texts, value=texts, uri=texts, type=texts)),
    constraints=tuples_of(constraints),
    success_criteria=tuples_of(predicates),
    preferences=tuples_of(st.builds(ir.Preference, rank=st.integers(-(2**53) + 1, 2**53 - 1), prefer=texts)),
)
budgets = st.builds(
    ir.Budget,
    max_cost=maybe_amounts,
    max_time=st.sampled_from(["", "PT30M", "P1DT2H3.5S", "P2W"]),
    max_calls=counts,
    max_agents=counts,
)
metadata = st.builds(
    ir.CompileMetadata,
    seed=digests,
    mtx_digest=digests,
    model_digest=digests,
    model_version=texts,
    temperature=numbers,
    grammar=texts,
    skill_id=texts,
    skill_version=texts,
    cortex_snapshot_hash=digests,
    spans=tuples_of(st.builds(ir.SpanMark, field=names, start=counts, end=counts)),
)
unknowns = st.builds(
    ir.Unknown,
    id=names,
    field=texts,
    type=texts,
    severity=st.sampled_from(ir.SEVERITIES),
    rationale=texts,
    default=texts,
    options=tuples_of(texts),
    source_hint=texts,
)
intents = st.builds(
    ir.Intent,
    id=st.just(ULID),
    parent=texts,
    actor=names,
    agent=names,
    prose=texts,
    frame=frames,
    unknowns=tuples_of(unknowns),
    references=tuples_of(st.builds(ir.Reference, uri=names, type=texts, role=texts, summary=texts)),
    state=st.sampled_from(ir.STATES),
    confidence=st.floats(0, 1),
    budget=st.none() | budgets,
    deadline=instants,
    created_at=moments,
    expires_at=instants,
    goal_id=texts,
    signed_by=texts,
    hash=digests,
    compile_metadata=st.none() | metadata,
)
terminals = st.builds(
    ir.PlanNode,
    id=texts,
    kind=texts,
    description=texts,
    step=st.none()
    | st.builds(ir.Step, prompt_name=texts, inputs=free_maps, expected_outputs=tuples_of(texts), kind=texts),
    tool_call=st.none()
    | st.builds(ir.ToolCall, tool_ref=texts, args=free_maps, timeout_ms=counts, side_effect_class=texts),
    sub_dispatch=st.none()
    | st.builds(
        ir.SubDispatch, skill_ref=texts, agent_ref=texts, sub_intent=st.none() | frames, scope_uri=texts
    ),
    gate=st.none()
    | st.builds(ir.Gate, rule_ref=texts, question=texts, options=tuples_of(texts), timeout_ms=counts),
)
plan_nodes = st.recursive(
    terminals,
    lambda below: st.builds(
        ir.PlanNode, id=texts, kind=st.sampled_from(ir.BRANCH_KINDS), children=tuples_of(below)
    ),
    max_leaves=5,
)
plans = st.builds(
    ir.PlanTree,
    id=texts,
    intent_id=texts,
    created_at=instants,
    created_by=texts,
    skill_ref=texts,
    model_digest=digests,
    root=plan_nodes,
    budget=st.none() | budgets,
    hash=digests,
)
documents = st.one_of(intents, plans, frames, unknowns, budgets, metadata)

hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
blobs = st.binary(min_size=1, max_size=20)
questions = st.builds(
    ir.ClarifyQuestion,
    unknown_id=names,
    field=texts,
    prompt=names,
    type=texts,
    required=flags,
    options=tuples_of(texts),
    default=texts,
)
bodies: dict[str, st.SearchStrategy[ir.Body]] = {
    "intent.draft": st.builds(ir.IntentDraftBody, prose=names, slot_values=free_maps, preferred_skill=texts),
    "intent.compiled": st.builds(ir.IntentCompiledBody, intent_json=blobs, compile_latency_ms=counts),
    "intent.clarify": st.builds(
        ir.IntentClarifyBody, questions=st.lists(questions, min_size=1, max_size=2).map(tuple)
    ),
    "intent.answer": st.builds(ir.IntentAnswerBody, patches=blobs, answer_of=names),
    "intent.accept": st.builds(
        ir.IntentAcceptBody,
        intent_hash=hashes,
        accepted_at=moments,
        anchor_requested=flags,
        plan_hash=digests,
    ),
    "plan.proposed": st.builds(ir.PlanProposedBody, plan_json=blobs),
    "plan.step": st.builds(
        ir.PlanStepBody,
        plan_id=names,
        node_id=names,
        status=st.sampled_from(ir.NODE_STATES),
        result=st.one_of(blobs, names),
        error=texts,
        latency_ms=counts,
    ),
    "plan.output": st.builds(
        ir.PlanOutputBody,
        plan_id=names,
        node_id=names,
        sequence=counts,
        chunk=st.one_of(blobs, texts),
        channel=texts,
        final=flags,
    ),
    "intent.correct": st.builds(
        ir.IntentCorrectBody, target=names, patches=blobs, reason=texts, retry_from=texts
    ),
    "intent.dispatch": st.builds(
        ir.IntentDispatchBody, sub_intent_json=blobs, scope_uri=texts, payment_channel=texts
    ),
    "intent.attest": st.builds(
        ir.IntentAttestBody,
        outcome=st.sampled_from(ir.OUTCOMES),
        completed_at=moments,
        cited_uris=tuples_of(texts),
        evidence_json=st.binary(max_size=9),
        anchor_tx=texts,
    ),
    "intent.fail": st.builds(
        ir.IntentFailBody,
        reason=names,
        failed_at=moments,
        message=texts,
        evidence_json=st.binary(max_size=9),
        partial_uris=tuples_of(texts),
    ),
    "intent.cancel": st.builds(ir.IntentCancelBody, cancelled_at=moments, reason=texts),
    "policy.gate": st.builds(
        ir.PolicyGateBody,
        rule_ref=texts,
        question=names,
        plan_id=texts,
        node_id=texts,
        options=tuples_of(texts),
        expires_at=instants,
    ),
    "policy.gate.resolve": st.builds(
        ir.PolicyGateResolveBody, gate_of=names, decision=names, resolved_at=moments, answer=texts
    ),
}
kinds_and_bodies = st.sampled_from(sorted(bodies)).flatmap(
    lambda kind: st.tuples(st.just(kind), bodies[kind])
)
