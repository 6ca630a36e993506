"""Stage 6: how sure the compiler is, what follows from it, and the Intent that is signed."""

from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from ir import Budget, BudgetConstraint, CompileMetadata, Intent, derive_seed, with_hash
from mcl.stages.classify import Classified
from mcl.stages.extract import Extraction, deadline_of
from mcl.stages.gaps import Gap, one_a_field, unknowns_of
from mcl.stages.request import Request
from mcl.stages.resolve import Resolution
from mcl.stages.rules import Rules

_DIGITS = 4  # of a confidence; the last bits of a model's logits change with its batch size


@dataclass(frozen=True)
class Verdict:
    """What follows: "compiled" as it is, "review" (compiled, to be read with care) or "clarify"; `gaps` in
    order."""

    outcome: Literal["compiled", "review", "clarify"]
    confidence: float
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class Provenance:
    """What a compile depended on: digests are lowercase hex sha256, `snapshot` the memories' Merkle root."""

    mtx_digest: str
    model_digest: str
    model_version: str
    grammar: str
    snapshot: str


def score(request: Request, classified: Classified, resolution: Resolution, rules: Rules) -> Verdict:
    """Weigh the parts of a compile as the confidence module says and compare with its thresholds.

    An answer closes its gap unless it left something open that blocks.
    """
    extraction = resolution.extraction
    gaps = one_a_field((*classified.gaps, *extraction.gaps))
    gaps = tuple(gap for gap in gaps if request.answers.get(gap.field) is None or gap.severity == "blocking")
    confidence = _confidence(classified, extraction, gaps, rules)
    if any(gap.severity == "blocking" for gap in gaps):
        return Verdict("clarify", confidence, gaps)
    if confidence >= rules.review:
        return Verdict("compiled" if confidence >= rules.compiled else "review", confidence, gaps)
    return Verdict("clarify", confidence, one_a_field((*gaps, *_doubts(classified, extraction, rules))))


def build(
    request: Request, classified: Classified, resolution: Resolution, verdict: Verdict, provenance: Provenance
) -> Intent:
    """The Intent, with its hash. Raises IrError where a field cannot be what it is."""
    extraction = resolution.extraction
    costs = [
        one.max
        for one in extraction.frame.constraints
        if isinstance(one, BudgetConstraint) and one.hard and one.max
    ]
    budget = extraction.budget
    if len({cost.asset for cost in costs}) == 1:
        budget = (budget or Budget()).model_copy(update={"max_cost": min(costs, key=lambda cost: cost.value)})
    seed = derive_seed(
        intent_id=request.id,
        actor=request.actor,
        snapshot_hash=provenance.snapshot,
        mtx_digest=provenance.mtx_digest,
        model_digest=provenance.model_digest,
    )
    metadata = CompileMetadata(
        seed=seed.hex,
        mtx_digest=provenance.mtx_digest,
        model_digest=provenance.model_digest,
        model_version=provenance.model_version,
        grammar=provenance.grammar,
        skill_id=classified.skill.id,
        skill_version=classified.skill.version,
        cortex_snapshot_hash=provenance.snapshot,
        spans=extraction.spans,
    )
    return with_hash(
        Intent(
            id=request.id,
            actor=request.actor,
            agent=request.agent,
            prose=request.prose,
            frame=extraction.frame,
            unknowns=unknowns_of(verdict.gaps),
            references=resolution.references,
            state="clarifying" if verdict.outcome == "clarify" else "proposed",
            confidence=verdict.confidence,
            budget=budget,
            deadline=deadline_of(extraction.frame.constraints),
            created_at=request.at,
            signed_by=request.agent,
            compile_metadata=metadata,
        )
    )


def _confidence(classified: Classified, extraction: Extraction, gaps: tuple[Gap, ...], rules: Rules) -> float:
    """The product of the parts that there are, each to the power of its weight, and of a factor for each
    gap."""
    slots = [p for path, p in extraction.certainty.items() if path.startswith("frame.objects")]
    limits = [p for path, p in extraction.certainty.items() if not path.startswith("frame.objects")]
    parts = {"skill": classified.skill_probability, "verb": classified.verb_probability}
    parts |= {"slots": sum(slots) / len(slots)} if slots else {}
    parts |= {"constraints": sum(limits) / len(limits)} if limits else {}
    confidence = prod(p ** rules.weights[name] for name, p in parts.items())
    confidence *= prod(rules.factors[gap.severity] for gap in gaps)
    return round(min(1.0, max(0.0, confidence)), _DIGITS)


def _doubts(classified: Classified, extraction: Extraction, rules: Rules) -> list[Gap]:
    """A question for each part that is not certain; for the least certain one where all seem to be."""
    doubts = []
    if classified.skill_probability < rules.review:
        skill = classified.skill
        doubts.append(
            Gap(
                "skill",
                "SkillRef",
                "preferred",
                f"it is not certain that “{skill.display or skill.id}” is meant",
                f"Which skill is meant? {skill.display or skill.id}: {skill.description}",
                (skill.id, *classified.others),
                skill.id,
            )
        )
    for place, entry in enumerate(extraction.frame.objects):
        certainty = extraction.certainty.get(f"frame.objects[{place}]", 1.0)
        if certainty < rules.review:
            why = f"it is not certain that {entry.name} is “{entry.value}”"
            doubts.append(Gap(f"slot.{entry.name}", entry.type, "preferred", why, default=entry.value))
    return doubts or _doubts(replace(classified, skill_probability=0.0), extraction, rules)
