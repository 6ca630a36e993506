"""From a goal in plain words to a signed Intent, and what is kept of it.

    compile_goal(prose, home=…, skills=…, model=…)                            → Compiled | Clarify | Refused
    recompile_with_answers(id, {"u1": "…"}, home=…, skills=…, load_model=…)   the same, after questions

Stored in one commit: intent.draft (user), then intent.compiled and plan.proposed, or intent.clarify, or
intent.fail (agent). The draft says all that the compile was told: the prose, the slots and skill that were
fixed, and in slot_values "@verb" and "@zone". Beside an intent.clarify lies a record.compile with what the
model answered (see trace), so that answers are compiled without the model where it is asked nothing new;
where a model wrote the plan, a record.plan with all that it wrote and what was wrong with it.
An intent.answer carries RFC 6902 patches of {"answers": {field of the Unknown: text}}; an empty text drops
the field from the goal.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from executor.store.home import Home
from executor.store.journal.record import Record, seal_record
from executor.store.lifecycle.view import NEW, View, way_on
from ir import (
    Body,
    Envelope,
    IntentAnswerBody,
    IntentClarifyBody,
    IntentCompiledBody,
    IntentFailBody,
    PlanProposedBody,
    canonical_bytes,
)
from ir.scalars import ULID_PATTERN
from mcl.compiler.outcome import Clarify as Clarify
from mcl.compiler.outcome import Compiled as Compiled
from mcl.compiler.outcome import CompileReasons
from mcl.compiler.outcome import Outcome as Outcome
from mcl.compiler.outcome import Refused as Refused
from mcl.compiler.pipeline import Pipeline
from mcl.compiler.recompilation import recompile as recompile
from mcl.compiler.stages.classify import offered_skills
from mcl.compiler.stages.expiry import expiry_of
from mcl.compiler.stages.extensions import extensions_of
from mcl.compiler.stages.extract import read_answer
from mcl.compiler.stages.file_names import FileNames, FileReading
from mcl.compiler.stages.request import GoalOptions as GoalOptions
from mcl.compiler.stages.request import GoalRequest, normalise, patches_for, without_secret
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.compiler.stages.signoff import require_person
from mcl.compiler.tape import (
    About,
    NotRecordedError,
    Player,
    Recorder,
    Tapes,
    Unloaded,
    with_tape,
    with_tapes,
)
from mcl.core.environment import zone_of
from mcl.core.errors import InputError, SkillError
from mcl.core.home import sealed
from mcl.language.mtx.core import Core, core_of
from mcl.language.plans.planner import KnownTools
from mcl.language.skills import Skills
from mcl.model.protocol import Model

if TYPE_CHECKING:
    from executor.tools.registry import Registry


_TAPE: Final = "record.compile"
_TRIED: Final = "record.plan"


def compile_goal(
    prose: str | bytes,
    *,
    home: Home,
    skills: Skills,
    model: Model | Unloaded,
    options: GoalOptions | None = None,
    tapes: Tapes | None = None,
    store: bool = True,
    core: Core | None = None,
    registry: KnownTools | None = None,
    tools: "Callable[[], Registry] | None" = None,
    timer: Callable[[], float] = time.monotonic,
    names: Callable[[], FileNames | None] | None = None,
) -> Outcome:
    """Compile a goal; with `store` it is signed and in the journal when this returns.

    prose: UTF-8 text. options: what was said beside it. tapes: answers of earlier compiles, which a model
    whose digest says all of it need not give again (None: none are used or kept). core: the core modules
    (default: those that the home uses). registry: the installed tools (default: not compared with the plan).
    tools: makes those that may check a promise, or that a model may put into a plan (default: none does).
    timer: seconds that only grow. names: what is in the workspace, where words for files are to be taken for
    what they mean there (None: they are taken as they are).

    Raises InputError: GOAL_EMPTY, GOAL_TOO_LONG, GOAL_BINARY, SECRET_INLINE, TIME_INVALID, ID_INVALID,
    ID_USED, GOAL_NAME, CONSTRAINT_KIND, CONSTRAINT_DATA, ZONE_UNKNOWN, SKILL_UNKNOWN, SKILL_NONE,
    VERB_UNKNOWN, VERB_NOT_OFFERED, SLOT_UNKNOWN, SLOT_VALUE; SkillError, ModelError, HomeError. Nothing is
    stored then.
    """
    core, given = core or core_of(home.path), options or GoalOptions()
    pipeline = Pipeline(home, skills, core, registry, timer, tools)
    request = GoalRequest(
        id=fresh_id(home, given.id),
        at=moment_of(given.at) if given.at else home.clock.now(),
        zone=zone_of(given.zone),
        actor=home.keyring.user.did,
        agent=home.keyring.agent.did,
        prose=without_secret(normalise(prose, longest=pipeline.rules.longest_prose, truncate=given.truncate)),
        skill=given.skill,
        verb=given.verb,
        slots={name: slot_text(name, text, pipeline) for name, text in given.slots.items()},
        goal_id=goal_name(given.goal_id),
        extensions=extensions_of(given.extensions, lambda: _addresses(tools)),
        when=given.when,
    )
    if names is not None and tools is not None:
        request = replace(request, files=FileReading(names, lambda: tools().find, at=request.at))
    if given.expires:
        request = replace(request, expires=expiry_of(given.expires, request.at, request.zone))
    snapshot = pipeline.memory.snapshot()
    about = About(request, core, skills, snapshot.root)
    outcome, recorder, cached = with_tapes(
        tapes, about, model, lambda asked: pipeline.run(request, asked, snapshot), apart=pipeline.apart
    )
    outcome = replace(outcome, cached=cached)
    # A home whose pipeline module allows no rounds refuses what is unclear at once.
    if isinstance(outcome, Clarify) and not pipeline.rules.rounds:
        outcome = pipeline.too_many_rounds(request.id, 0)
    if store:
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
    core: Core | None = None,
    tools: "Callable[[], Registry] | None" = None,
    unseen: bool = False,
) -> Outcome:
    """Answer open questions of an intent and compile it again; stores intent.answer and what follows from it.

    id: its ULID. answers: texts by the id of the Unknown ("u1") or by its field ("slot.target"); "" drops
    the field.
    What stays open is asked again, at most as often as the pipeline module allows; then the intent fails as
    ambiguous_request. load_model is called only where the recorded answers of the model do not suffice.
    unseen: nobody knows whether a person gave these answers.

    Raises InputError NOT_CLARIFYING, ANSWER_UNKNOWN, ANSWER_MISSING, ANSWER_TWICE, ANSWER_UNREADABLE,
    PERSON_ONLY (unseen, to what becomes of a promise that nobody can check) and what compile_goal raises.
    """
    pipeline = Pipeline(home, skills, core or core_of(home.path), None, time.monotonic, tools)
    view = home.journal.view(id)
    tape, chosen = _tape(home, id)
    request, said = answered(pipeline, home, id, view, answers, chosen)
    if unseen:
        require_person(said, fix=f"have the person answer: mcl answer {id}")

    def run(model: Model) -> tuple[Outcome, Recorder]:
        recorder = Recorder(model, pipeline.apart)
        return pipeline.run(request, recorder), recorder

    outcome, recorder = with_tape(tape, lambda: pipeline.apart(load_model), run)
    if isinstance(outcome, Clarify) and view.rounds >= pipeline.rules.rounds:
        outcome = pipeline.too_many_rounds(id, view.rounds)
    moment = home.clock.now()
    body = IntentAnswerBody(patches_for(said), view.clarify_id, home.unseen(unseen))
    answer = sealed(home, "intent.answer", body, intent=id, at=moment, causation=view.clarify_id)
    _store(home, answer, outcome, moment, recorder)
    return outcome


def check_answer(id: str, name: str, text: str, *, home: Home, skills: Skills) -> None:
    """Raise the InputError with which `recompile_with_answers` would refuse this answer to an open question;
    stores nothing and asks no model."""
    pipeline = Pipeline(home, skills, core_of(home.path), None, time.monotonic)
    answered(pipeline, home, id, home.journal.view(id), {name: text}, _tape(home, id)[1])


def why_asked(id: str, *, home: Home, skills: Skills) -> CompileReasons | None:
    """What the open questions of an intent were decided by. None where it has none, or where skills or
    memories have changed since, so that the recorded answers of the model no longer suffice.

    Asks no model and stores nothing.
    """
    view, (tape, _) = home.journal.view(id), _tape(home, id)
    if tape is None or not view.questions:
        return None
    pipeline = Pipeline(home, skills, core_of(home.path), None, lambda: 0.0)
    try:
        return pipeline.run(_request_of(home, id, view), Player(tape)).reasons
    except (NotRecordedError, InputError, SkillError):  # its skill is gone, say
        return None


# ---- storing ---------------------------------------------------------------------------------------------


def _store(home: Home, said: Envelope, outcome: Outcome, at: str, recorder: Recorder) -> None:
    """What a person said and what came of it: one durable commit."""
    messages: list[Envelope | Record] = [said]

    def add(kind: str, body: Body) -> None:
        # Records lie between the envelopes and are no cause of them.
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


# ---- What a person gave with a goal or an answer: read, checked, and named as a compile needs it.

_YEARS: Final = range(2000, 9000)  # ULIDs and time zones make no sense long before; calendars end at 9999


def fresh_id(home: Home, id: str | None) -> str:
    """The id that was given, or a new one. Raises InputError ID_INVALID, ID_USED."""
    if id is None:
        return home.clock.new_id()
    if not re.fullmatch(ULID_PATTERN, id):
        raise InputError(
            "ID_INVALID", f"{id!r} is not a ULID", place="id", fix="leave it out to get a fresh one"
        )
    if home.journal.view(id).state != NEW:
        raise InputError(
            "ID_USED", f"there is an intent {id} already", place="id", fix="leave it out to get a fresh one"
        )
    return id


_GOAL_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}", re.ASCII)


def goal_name(text: str) -> str:
    """The name of what an intent is to reach; "" stays "". Raises InputError GOAL_NAME."""
    if text and not _GOAL_NAME.fullmatch(text):
        message = f"{text[:100]!r} is no name of a goal"
        fix = "letters, digits and . _ : / -, at most 128, such as release-2.4; or the id of an intent"
        raise InputError("GOAL_NAME", message, place="goal", fix=fix)
    return text


def _addresses(tools: "Callable[[], Registry] | None") -> list[str]:
    """Of the tools of this build and of plug-ins."""
    return [one.uri for one in tools().own] if tools is not None else []


def moment_of(text: str) -> str:
    """A moment in UTC, as documents have it. Raises InputError TIME_INVALID."""
    try:
        moment = datetime.fromisoformat(text)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        fix = "write it as 2026-11-21T10:00:00Z"
        raise InputError("TIME_INVALID", f"{text!r} is not a moment: {error}", place="at", fix=fix) from error
    if moment.year not in _YEARS:
        raise InputError(
            "TIME_INVALID", f"{text!r} is too far away", place="at", fix="write it as 2026-11-21T10:00:00Z"
        )
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def slot_text(name: str, text: str, pipeline: Pipeline) -> str:
    """What a person gave for a slot or a question, as clean as a goal; "" stays "". Raises
    InputError SLOT_UNKNOWN, SLOT_VALUE, SECRET_INLINE."""
    if name.startswith("@"):  # such keys of a draft are ours
        raise InputError(
            "SLOT_UNKNOWN", f"no slot is called {name}", place=f"slot.{name}", fix="mcl skill show"
        )
    if not text.strip():
        return ""
    try:
        return without_secret(normalise(text, longest=pipeline.rules.longest_prose))
    except InputError as error:
        message = error.message.replace("the goal", "the value")
        place = f"slot.{name.removeprefix('slot.')}"  # an answer is named by its field
        if error.code == "SECRET_INLINE":
            raise InputError(error.code, message, place=place, fix=error.fix) from error
        raise InputError("SLOT_VALUE", message, place=place, fix="give it as plain text") from error


def answered(
    pipeline: Pipeline, home: Home, id: str, view: View, answers: Mapping[str, str], chosen: str
) -> tuple[GoalRequest, dict[str, str]]:
    """The request with these answers beside the earlier ones, and the texts by field; each was found to be
    what its field must be. chosen: the skill of the compile that asked."""
    said = {name: slot_text(name, text, pipeline) for name, text in _by_field(view, id, answers).items()}
    offered = {question.field: question.options for question in view.questions}
    for field, text in said.items():
        if field.startswith(PROMISE) and text and text not in offered.get(field, ()):
            fix = f"answer with one of {', '.join(offered.get(field, ()))}"
            raise InputError("ANSWER_UNREADABLE", f"{text!r} is none of the answers", place=field, fix=fix)
    before = _request_of(home, id, view)
    request = before.answered({**before.answers, **said})
    offered_skills(request, pipeline.skills)
    skill = pipeline.skills.get(request.skill or chosen)
    for field, text in said.items():
        if skill is not None:
            read_answer(request, skill, field, text, pipeline.rules)
    return request, said


def _request_of(home: Home, id: str, view: View) -> GoalRequest:
    if view.draft is None:
        raise InputError(
            "NOT_CLARIFYING", "this intent has no draft", place=id, fix="mcl list shows what is there"
        )
    drafted = home.journal.rows(id, kind="intent.draft")[0]
    return GoalRequest.of_draft(
        view.draft,
        view.answers,
        id=id,
        at=drafted.at,
        actor=home.keyring.user.did,
        agent=home.keyring.agent.did,
    )


def _by_field(view: View, id: str, answers: Mapping[str, str]) -> dict[str, str]:
    """The answers by the fields of the open questions."""
    if not view.questions:
        state = f"it is {view.state}" if view.state != NEW else "there is no such intent"
        why = f"this intent has no open question: {state}"
        raise InputError("NOT_CLARIFYING", why, place=id, fix=way_on(view.state, id))
    fields = {
        name: question.field for question in view.questions for name in (question.unknown_id, question.field)
    }
    named = ", ".join(f"{question.unknown_id} ({question.field})" for question in view.questions)
    for name in answers:
        if name not in fields:
            raise InputError(
                "ANSWER_UNKNOWN", f"no question is called {name}", place=name, fix=f"the questions: {named}"
            )
    if not answers:
        raise InputError(
            "ANSWER_MISSING", "no answer was given", place="answer", fix=f"the questions: {named}"
        )
    said: dict[str, str] = {}
    for name, text in answers.items():
        if said.setdefault(fields[name], text) != text:
            fix = "give it once"
            raise InputError("ANSWER_TWICE", f"{fields[name]} is answered twice", place=name, fix=fix)
    return said
