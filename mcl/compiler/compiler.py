"""From a goal in plain words to a signed Intent, and what is kept of it.

    compile_goal(prose, home=…, skills=…, model=…)                            → Compiled | Clarify | Refused
    recompile_with_answers(id, {"u1": "…"}, home=…, skills=…, load_model=…)   the same, after questions
    recompile(intent, draft, answers=…, home=…, skills=…, model=…)            → Intent; stores nothing

Stored in one commit: intent.draft (user), then intent.compiled and plan.proposed, or intent.clarify, or
intent.fail (agent). The draft says all that the compile was told: the prose, the slots and skill that were
fixed, and in slot_values "@verb" and "@zone". Beside an intent.clarify lies a record.compile with what the
model answered (see trace), so that answers are compiled without the model where it is asked nothing new;
where a model wrote the plan, a record.plan with all that it wrote and what was wrong with it.
An intent.answer carries RFC 6902 patches of {"answers": {field of the Unknown: text}}; an empty text drops
the field from the goal.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from executor.store.home import Home
from executor.store.journal.record import Record, seal_record
from ir import (
    Body,
    Envelope,
    Intent,
    IntentAnswerBody,
    IntentClarifyBody,
    IntentCompiledBody,
    IntentDraftBody,
    IntentFailBody,
    PlanProposedBody,
    canonical_bytes,
)
from mcl.compiler.given import answered, fresh_id, moment_of, slot_text
from mcl.compiler.outcome import Clarify, Compiled, Outcome, Refused
from mcl.compiler.pipeline import Pipeline
from mcl.compiler.stages.normalise import normalise, without_secret
from mcl.compiler.stages.request import Request, patches_for
from mcl.compiler.tapes import About, Tapes, Unloaded, with_tapes
from mcl.compiler.trace import Recorder, with_tape
from mcl.core.errors import CortexError, InputError
from mcl.core.seal import sealed
from mcl.core.zone import zone_of
from mcl.language.mtx.core import Core, core_of
from mcl.language.plans.planner import Tools
from mcl.language.skills import Skills
from mcl.model.protocol import Model

if TYPE_CHECKING:
    from executor.tools.registry import Registry

__all__ = [
    "Clarify",
    "Compiled",
    "Outcome",
    "Refused",
    "check_answer",
    "compile_goal",
    "recompile",
    "recompile_with_answers",
]

_TAPE: Final = "record.compile"
_TRIED: Final = "record.plan"


def compile_goal(
    prose: str | bytes,
    *,
    home: Home,
    skills: Skills,
    model: Model | Unloaded,
    tapes: Tapes | None = None,
    skill: str | None = None,
    verb: str | None = None,
    slots: Mapping[str, str] | None = None,
    at: str | None = None,
    id: str | None = None,
    zone: str = "UTC",
    truncate: bool = False,
    store: bool = True,
    dry_run: bool = False,
    core: Core | None = None,
    registry: Tools | None = None,
    tools: "Callable[[], Registry] | None" = None,
    timer: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Compile a goal; with `store` and without `dry_run` it is signed and in the journal when this returns.

    prose: UTF-8 text. tapes: answers of earlier compiles, which a model whose digest says all of it need not
    give again (None: none are used or kept). skill, verb, slots: what the model shall not choose (a list
    slot: values between commas). at: when it was said (ISO 8601; default now). id: a ULID (default: fresh).
    zone: IANA name that days and times of day are meant in; the draft says it. core: the core modules
    (default: those that the home uses). registry: the installed tools (default: not compared with the plan).
    tools: makes those that a model may put into a plan that it writes (default: it writes none). timer:
    seconds that only grow.

    Raises InputError: GOAL_EMPTY, GOAL_TOO_LONG, GOAL_BINARY, SECRET_INLINE, TIME_INVALID, ID_INVALID,
    ID_USED, ZONE_UNKNOWN, SKILL_UNKNOWN, SKILL_NONE, VERB_UNKNOWN, VERB_NOT_OFFERED, SLOT_UNKNOWN,
    SLOT_VALUE; SkillError, ModelError, HomeError. Nothing is stored then.
    """
    core = core or core_of(home.path)
    pipeline = Pipeline(home, skills, core, registry, timer, tools)
    request = Request(
        id=fresh_id(home, id),
        at=moment_of(at) if at else home.clock.now(),
        zone=zone_of(zone),
        actor=home.keyring.user.did,
        agent=home.keyring.agent.did,
        prose=without_secret(normalise(prose, longest=pipeline.rules.longest_prose, truncate=truncate)),
        skill=skill or "",
        verb=verb or "",
        slots={name: slot_text(name, text, pipeline) for name, text in (slots or {}).items()},
    )
    snapshot = pipeline.cortex.snapshot()
    about = About(request, core, skills, snapshot.root)
    outcome, recorder, cached = with_tapes(
        tapes, about, model, lambda asked: pipeline.run(request, asked, snapshot), apart=pipeline.apart
    )
    outcome = replace(outcome, cached=cached)
    if isinstance(outcome, Clarify) and not pipeline.rules.rounds:
        outcome = pipeline.too_many_rounds(request.id, 0)
    if store and not dry_run:
        draft = sealed(home, "intent.draft", request.draft(), intent=request.id, at=request.at)
        _store(home, draft, outcome, request.at, recorder)
    return outcome


def recompile_with_answers(
    id: str,
    answers: Mapping[str, str],
    *,
    home: Home,
    skills: Skills,
    load_model: Callable[[], Model],
    at: str | None = None,
    core: Core | None = None,
    registry: Tools | None = None,
    tools: "Callable[[], Registry] | None" = None,
    timer: Callable[[], float] = time.monotonic,
    unseen: bool = False,
) -> Outcome:
    """Answer open questions of an intent and compile it again; stores intent.answer and what follows from it.

    id: its ULID. answers: texts by the id of the Unknown ("u1") or by its field ("slot.target"); "" drops
    the field.
    What stays open is asked again, at most as often as the pipeline module allows; then the intent fails as
    ambiguous_request. load_model is called only where the recorded answers of the model do not suffice.
    unseen: nobody knows whether a person gave these answers.

    Raises InputError NOT_CLARIFYING, ANSWER_UNKNOWN, ANSWER_MISSING, ANSWER_TWICE, ANSWER_UNREADABLE and what
    compile_goal raises.
    """
    pipeline = Pipeline(home, skills, core or core_of(home.path), registry, timer, tools)
    view = home.journal.view(id)
    tape, chosen = _tape(home, id)
    request, said = answered(pipeline, home, id, view, answers, chosen)

    def run(model: Model) -> tuple[Outcome, Recorder]:
        recorder = Recorder(model)
        return pipeline.run(request, recorder), recorder

    outcome, recorder = with_tape(tape, load_model, run)
    if isinstance(outcome, Clarify) and view.rounds >= pipeline.rules.rounds:
        outcome = pipeline.too_many_rounds(id, view.rounds)
    moment = moment_of(at) if at else home.clock.now()
    body = IntentAnswerBody(patches_for(said), view.clarify_id, home.unseen(unseen))
    answer = sealed(home, "intent.answer", body, intent=id, at=moment, causation=view.clarify_id)
    _store(home, answer, outcome, moment, recorder)
    return outcome


def check_answer(
    id: str, name: str, text: str, *, home: Home, skills: Skills, core: Core | None = None
) -> None:
    """Raise the InputError with which `recompile_with_answers` would refuse this answer to an open question;
    stores nothing and asks no model."""
    pipeline = Pipeline(home, skills, core or core_of(home.path), None, time.monotonic)
    answered(pipeline, home, id, home.journal.view(id), {name: text}, _tape(home, id)[1])


def recompile(
    intent: Intent,
    draft: IntentDraftBody,
    *,
    answers: Sequence[IntentAnswerBody] = (),
    home: Home,
    skills: Skills,
    model: Model,
    core: Core | None = None,
) -> Intent:
    """Compile again what led to `intent`: same id, time and memories; equal inputs give equal bytes.

    Stores nothing, and has no time limit. Raises CortexError SNAPSHOT_UNKNOWN where this home never had the
    memories of then; InputError OUT_OF_SCOPE where it is refused now; and what compile_goal raises.
    """
    core = core or core_of(home.path)
    pipeline = Pipeline(home, skills, core, None, lambda: 0.0)
    request = Request.of_draft(
        draft, answers, id=intent.id, at=intent.created_at, actor=intent.actor, agent=intent.agent
    )
    root = intent.compile_metadata.cortex_snapshot_hash if intent.compile_metadata else ""
    snapshot = pipeline.cortex.snapshot_of(root)
    if snapshot is None:
        raise CortexError(
            "SNAPSHOT_UNKNOWN",
            "this home never had the memories that the intent was compiled with",
            place=root,
            fix="replay it in the home that compiled it",
        )
    outcome = pipeline.run(request, model, snapshot)
    if isinstance(outcome, Refused):
        fix = "install the skill that it was compiled with"
        raise InputError("OUT_OF_SCOPE", outcome.message, place="goal", fix=fix)
    return outcome.intent


# ---- storing ---------------------------------------------------------------------------------------------


def _store(home: Home, said: Envelope, outcome: Outcome, at: str, recorder: Recorder) -> None:
    """What a person said and what came of it: one durable commit."""
    messages: list[Envelope | Record] = [said]

    def add(kind: str, body: Body) -> None:
        cause = next(one.id for one in reversed(messages) if isinstance(one, Envelope))
        intent = said.intent.rpartition("/")[2]
        messages.append(sealed(home, kind, body, intent=intent, at=at, causation=cause))

    if not isinstance(outcome, Clarify) and outcome.attempts:
        attempts = [{"said": one.said, "flaws": list(one.flaws)} for one in outcome.attempts]
        tried = {"grammar": recorder.plan_grammar, "model": recorder.digest, "attempts": attempts}
        messages.append(_record(home, _TRIED, tried, said.intent, at))
    if isinstance(outcome, Compiled):
        latency = round(outcome.ms)
        add("intent.compiled", IntentCompiledBody(canonical_bytes(outcome.intent), latency))
        if outcome.plan is not None:
            add("plan.proposed", PlanProposedBody(canonical_bytes(outcome.plan)))
    elif isinstance(outcome, Clarify):
        add("intent.clarify", IntentClarifyBody(outcome.questions))
        metadata = outcome.intent.compile_metadata
        tape: dict[str, Any] = {"tape": recorder.tape(), "skill": metadata.skill_id if metadata else ""}
        if words := _asked_words(outcome):
            tape["asked"] = words  # what is learned from an answer is learned for these words
        messages.append(_record(home, _TAPE, tape, said.intent, at))
    else:
        add("intent.fail", IntentFailBody(outcome.reason, at, outcome.message))
    home.journal.append_many(messages)


def _asked_words(outcome: Clarify) -> dict[str, str]:
    """What the goal says for each slot that is asked about and has one value without an address, by field."""
    objects = outcome.intent.frame.objects
    said = {
        question.field: [one for one in objects if f"slot.{one.name}" == question.field]
        for question in outcome.questions
    }
    return {field: one[0].value for field, one in said.items() if len(one) == 1 and not one[0].uri}


def _record(home: Home, kind: str, body: Mapping[str, Any], intent: str, at: str) -> Record:
    """A record about an intent, signed by the agent."""
    return seal_record(kind, body, id=home.clock.new_id(), at=at, intent=intent, signer=home.keyring.agent)


def _tape(home: Home, id: str) -> tuple[bytes | None, str]:
    """What the model last answered about an intent, and the skill that it chose."""
    rows = home.journal.rows(id, kind=_TAPE)
    record = home.journal.open(rows[-1].wire) if rows else None
    if not isinstance(record, Record):
        return None, ""
    return bytes(record.body["tape"]), str(record.body["skill"])
