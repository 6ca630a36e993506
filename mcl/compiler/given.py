"""What a person gave with a goal or an answer: read, checked, and named as a compile needs it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from executor.store.home import Home
from executor.store.lifecycle.transitions import NEW, way_on
from executor.store.lifecycle.view import View
from ir.scalars import ULID_PATTERN
from mcl.compiler.pipeline import Pipeline
from mcl.compiler.stages.classify import check_choice
from mcl.compiler.stages.extract import read_answer
from mcl.compiler.stages.normalise import normalise, without_secret
from mcl.compiler.stages.request import Request
from mcl.core.errors import InputError

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
) -> tuple[Request, dict[str, str]]:
    """The request with these answers beside the earlier ones, and the texts by field; each was found to be
    what its field must be. chosen: the skill of the compile that asked."""
    said = {name: slot_text(name, text, pipeline) for name, text in _by_field(view, id, answers).items()}
    before = _request_of(home, id, view)
    request = before.answered({**before.answers, **said})
    check_choice(request, pipeline.skills)
    skill = pipeline.skills.get(request.skill or chosen)
    for field, text in said.items():
        if skill is not None:
            read_answer(request, skill, field, text, pipeline.rules)
    return request, said


def _request_of(home: Home, id: str, view: View) -> Request:
    if view.draft is None:
        raise InputError(
            "NOT_CLARIFYING", "this intent has no draft", place=id, fix="mcl list shows what is there"
        )
    drafted = home.journal.rows(id, kind="intent.draft")[0]
    return Request.of_draft(
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
