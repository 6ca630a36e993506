"""A goal that goes on from the last one: "also in the archive", "only markdown", "no, by month", "undo that".

It is a correction of the last Intent where that has not ended. Else the last goal is compiled anew, as a new
Intent with what was said before, and that is corrected. What is kept is an `intent.correct` in either case,
shown as a difference and signed like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.store.home import Home
from executor.store.lifecycle.view import View
from ir import Intent, SpanMark
from mcl.compiler.outcome import Clarify, Compiled, Refused
from mcl.core.errors import InputError
from mcl.core.home import open_home
from mcl.usecases.compile import compile_goal
from mcl.usecases.corrections import Proposal, propose_correction
from mcl.usecases.do_proposal import DoProposal
from mcl.usecases.follow_up_words import begins, follow_up_in, words_of
from mcl.usecases.goal_corrections import CorrectedGoal, corrected_goal, goal_change, model_of
from mcl.usecases.installed import installed
from mcl.usecases.intents import read_view
from mcl.usecases.plans import Planned, preflight

if TYPE_CHECKING:
    from mcl.model import Model

_WENT_ON: Final = ("proposed", "clarifying", "failed", "accepted")  # states that a correction is of
_BACK: Final = 20  # intents that are looked at
_UNREAD: Final = ("CORRECTION_UNCLEAR",)
_NOT_OF_IT: Final = ("CORRECTION_CONFLICT", "NOT_COMPILED", "GOAL_REFUSED", "UNDONE", "SKILL_CHANGED")
_LAST_RESORT: Final = "general"  # a skill that takes any goal says nothing of whether it is one
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_FILE: Final = re.compile(r"\S*\.\w{1,5}")


def follow_up(
    goal: str,
    *,
    answers: Mapping[str, str] | None = None,
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    model: Path | Model | None = None,
    ai: bool = True,
    home: Home | None = None,
) -> DoProposal | None:
    """What a goal comes to that goes on from the last one; None where it is one of its own: by its words,
    because a skill does surely just that, or because the last goal says nothing of it.

    Raises InputError UNDO_APART for what is to be undone, QUESTIONS_OPEN, and what `propose_follow_up`
    raises.
    """
    found = follow_up_in(goal)
    if found is None:
        return None
    home = home or open_home()
    if found.undo:
        last = last_with_files(home)
        fix = f"mcl.undo({last!r}), or mcl undo {last}" if last else "mcl list tells what was done"
        raise InputError("UNDO_APART", "what a run changed is put back by itself", place="goal", fix=fix)
    last = last_compiled(home)
    if not last or is_sure(compile_goal(goal, dry_run=True, skills=skills, model=model, ai=ai, home=home)):
        return None
    try:
        return propose_follow_up(
            found.words,
            last,
            answers=answers,
            workspace=workspace,
            skills=skills,
            model=model,
            ai=ai,
            home=home,
        )
    except InputError as error:
        if error.code not in (*_UNREAD, *_NOT_OF_IT):
            raise
        return None


def last_with_files(home: Home) -> str:
    """The ULID of the last intent whose run kept files to be put back; "" where there is none."""
    intents = home.journal.intents()[:_BACK]
    return next((id for id in intents if home.journal.rows(id, kind="record.undo.kept", limit=1)), "")


def propose_follow_up(
    words: str,
    last: str,
    *,
    answers: Mapping[str, str] | None = None,
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    model: Path | Model | None = None,
    ai: bool = True,
    home: Home | None = None,
) -> DoProposal:
    """What an intent comes to with these words: what `carry_out` would sign and run.

    last: its ULID. answers: texts by the field of a question that the words leave open. The rest: as of `do`.
    Where it has ended, the new Intent is in the journal when this returns, and nothing of it is signed by the
    person. Raises what `propose_correction` raises; QUESTIONS_OPEN with the questions.
    """
    home = home or open_home()
    view = read_view(home, last)
    opened = model_of(home, view.intent, model, ai=ai)
    known = installed(home.path, skills)

    def read(text: str, fields: Mapping[str, str]) -> CorrectedGoal | None:
        """What the last goal comes to; None where that leaves a question open."""
        change = goal_change(text, {**fields, **(answers or {})})
        try:
            return corrected_goal(home, view, change, skills=known, model=opened, ai=ai)
        except InputError as error:
            if error.code != "QUESTIONS_OPEN":
                raise
            return None

    said, fields, meant = _first(read, _readings(words, view.intent))
    id = last if view.state in _WENT_ON else _again(view, opened, skills, home)
    if meant is not None:
        fields = _differing(read_view(home, id).intent, meant.intent)
    proposal = propose_correction(
        id,
        words=said,
        answers={**fields, **(answers or {})},
        reason="" if said else words,
        model=opened,
        ai=ai,
        skills=skills,
        home=home,
    )
    care = proposal.review if meant is None else meant.review if _is_unsure(meant) else ""
    before = "" if id == last else last
    return _judged(proposal, care, before, workspace, skills, model, ai=ai, home=home)


def _is_unsure(meant: CorrectedGoal) -> bool:
    """Whether the words themselves were read unsurely; those that only lead to them may belong to nothing."""
    plain = words_of("leads") | words_of("plain")
    return meant.unsure or bool(meant.left_over and meant.left_over.casefold() not in plain)


def _differing(has: Intent | None, wanted: Intent) -> dict[str, str]:
    """The slots of which an Intent says something else than another, by their fields, with what that says."""
    before, after = _slots(has), _slots(wanted)
    names = [*after, *(name for name in before if name not in after)]
    return {f"slot.{one}": after.get(one, "") for one in names if before.get(one) != after.get(one, "")}


def _slots(intent: Intent | None) -> dict[str, str]:
    """What fills each slot; of several things in one, all between commas."""
    found: dict[str, str] = {}
    for one in intent.frame.objects if intent is not None else ():
        found[one.name] = f"{found[one.name]}, {one.value}" if one.name in found else one.value
    return found


def last_compiled(home: Home) -> str:
    """The ULID of the last intent that was compiled from words, whatever became of it; "" where there is
    none."""
    for id in home.journal.intents()[:_BACK]:
        view = read_view(home, id)
        if view.intent is not None and view.plan is not None and view.intent.compile_metadata is not None:
            return id
    return ""


def is_sure(result: object) -> bool:
    """Whether words that may go on from the last goal are surely one of their own: a skill does just that."""
    if not isinstance(result, Compiled) or result.review or result.plan is None:
        return False
    made = result.intent.compile_metadata
    return made is not None and made.skill_id != _LAST_RESORT


def _first(
    read: Callable[[str, Mapping[str, str]], CorrectedGoal | None],
    readings: Iterable[tuple[str, Mapping[str, str]]],
) -> tuple[str, Mapping[str, str], CorrectedGoal | None]:
    """The first reading that the goal takes. Raises what it says of the first of all."""
    refused: InputError | None = None
    for text, fields in readings:
        try:
            return text, fields, read(text, fields)
        except InputError as error:
            if error.code not in _UNREAD:
                raise
            refused = refused or error
    assert refused is not None, "there is a reading at least"
    raise refused


def _readings(words: str, intent: Intent | None) -> Iterable[tuple[str, Mapping[str, str]]]:
    """Ways to take the words, the surest first: what stands in the place of a value of the goal; as they are;
    as a kind of files."""
    if intent is not None and (field := _place_of(words, intent)):
        yield "", field
    yield words, {}
    if len(words.split()) == 2 and begins(words, words_of("leads")):
        yield f"{words} files", {}


def _place_of(words: str, intent: Intent) -> dict[str, str]:
    """The slot whose value these words take the place of: the one value of the goal behind the same word,
    else the one of the same kind (a month, a number, a file). {} where there is not exactly one."""
    made = intent.compile_metadata
    marks = [one for one in made.spans if one.field.startswith("frame.objects[")] if made is not None else []
    first, _, rest = words.partition(" ")
    behind = rest.strip() if first.casefold() in words_of("before") and rest.strip() else ""
    value = behind or words
    found = [one for one in marks if behind and _before(intent.prose, one) == first.casefold()]
    if len(found) != 1:
        kind = _kind(value)
        found = [one for one in marks if kind and _kind(intent.prose[one.start : one.end]) == kind]
    if len(found) != 1:
        return {}
    place = int(found[0].field.removeprefix("frame.objects[").partition("]")[0])
    objects = intent.frame.objects
    if place >= len(objects) or sum(one.name == objects[place].name for one in objects) > 1:
        return {}
    return {f"slot.{objects[place].name}": value.strip(" \"'")}


def _before(prose: str, mark: SpanMark) -> str:
    words = prose[: mark.start].rstrip(" \"'").rsplit(None, 1)
    return words[-1].casefold() if words else ""


def _kind(text: str) -> str:
    said = text.strip(" \"'").casefold()
    if said in words_of("months"):
        return "month"
    if _NUMBER.fullmatch(said):
        return "number"
    return said.rpartition(".")[2] if _FILE.fullmatch(said) else ""


def _again(view: View, model: Model, skills: Sequence[Path], home: Home) -> str:
    """The last goal as a new Intent, as it was said; its id."""
    intent, draft = view.intent, view.draft
    assert intent is not None, "asked before"
    assert draft is not None, "asked before"
    made = intent.compile_metadata
    given = {name: text for name, text in draft.slot_values.items() if not name.startswith("@")}

    def compiled(slots: Mapping[str, str]) -> Compiled | Clarify | Refused:
        return compile_goal(
            draft.prose,
            skill=made.skill_id if made is not None else None,
            verb=intent.frame.verb,
            slots=slots,
            zone=draft.slot_values.get("@zone") or None,
            model=model,
            skills=skills,
            home=home,
        )

    # What was asked about then is known now: it is given, where it would be asked about again.
    result = compiled(given if not view.answers else {**_slots(intent), **given})
    return result.require().intent.id


def _judged(
    proposal: Proposal,
    care: str,
    before: str,
    workspace: Path | None,
    skills: Sequence[Path],
    model: Path | Model | None,
    *,
    ai: bool,
    home: Home,
) -> DoProposal:
    with preflight(home, workspace, skills, model=model, ai=ai) as walker:
        verdicts = tuple(walker.preflight_plan(proposal.intent, proposal.plan))
    planned = Planned(proposal.intent, proposal.plan, "proposed", False, verdicts)
    made = Compiled(proposal.intent, proposal.plan, bool(care), "", 0.0, care)
    return DoProposal(made, planned, care, proposal, before)
