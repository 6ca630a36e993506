"""`mcl correct`: change a goal, or what a run of it is to do."""

from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast

import typer

from mcl.cli.arguments import (
    AsJson,
    IntentId,
    ModelPath,
    NoAi,
    Reason,
    SkillDirectories,
    Workspace,
    Yes,
    argument,
    option,
    read_source,
    verb,
)
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed
from mcl.cli.views.layout import commands, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from executor.store.home import Home
    from mcl.usecases.corrections import Proposal

_Made = TypeVar("_Made")
NEEDS_ACCEPT = 10  # the exit code
verbs = typer.Typer()


@verb(verbs, "correct")
def correct_command(
    intent: IntentId,
    words: Annotated[str, argument("WORDS", "What is to be otherwise, in plain words.")] = "",
    changes: Annotated[
        list[str] | None,
        option("--set NAME=VALUE", "Set a slot of the goal, or a field; may be given several times."),
    ] = None,
    removed: Annotated[
        list[str] | None,
        option("--unset NAME", "Take a slot, field or node away; may be given several times."),
    ] = None,
    answers: Annotated[
        list[str] | None, option("--answer FIELD=TEXT", "Answer a question that the correction leaves open.")
    ] = None,
    patch: Annotated[
        str,
        option(
            "--patch FILE", "RFC 6902 operations on /intent/… and /plan/… as JSON; - reads standard input."
        ),
    ] = "",
    reason: Reason = "",
    retry_from: Annotated[
        str, option("--retry-from NODE", "Run this node, and what waits for it, again.")
    ] = "",
    yes: Yes = False,
    model: ModelPath = None,
    no_ai: NoAi = False,
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Correct a goal in words or by slot, or a field of its Intent or plan.

    Before it is accepted, while it runs, or after it failed. Shows every difference and whether it is
    material, asks, and signs with your key. What is not material takes effect at the run's next node; what is
    waits for mcl accept and mcl run.

    Exit codes: 0 corrected, 10 corrected and needs an accept, 3 it leaves questions open, 4 refused.
    """
    from mcl.cli.compile import assignments

    if not (words.strip() or patch or changes or removed or retry_from):
        raise typer.BadParameter(
            "say what shall be different: in words, or by --set, --unset, --patch or --retry-from"
        )
    from functools import partial

    from mcl.usecases.corrections import propose_correction

    home, out = use_home(signs=True), Output(as_json)
    propose = partial(
        propose_correction,
        intent,
        words=words,
        patches=_read(patch) if patch else (),
        changes=changes or (),
        removed=removed or (),
        reason=reason,
        retry_from=retry_from,
        model=model,
        ai=not no_ai,
        skills=skills or (),
        home=home,
    )
    return sign_shown(
        out, home, propose, assignments(answers or [], "answer"), yes=yes, workspace=workspace, skills=skills
    )


def sign_shown(
    out: Output,
    home: "Home",
    propose: "Callable[..., Proposal]",
    answers: "Mapping[str, str]",
    *,
    yes: bool,
    workspace: "Path | None" = None,
    skills: "Sequence[Path] | None" = None,
) -> int:
    """Show what a correction would come to, ask, and sign it. propose: gives it, with the answers to what it
    leaves open. The exit code."""
    from ir.errors import REFUSED
    from mcl.usecases.corrections import refusals, sign_correction
    from mcl.usecases.documents import of_correction

    proposal = asked_until_clear(out, propose, answers, ask=not yes)
    refused = refusals(proposal, workspace=workspace, skills=skills or (), home=home)
    if not (out.as_json and yes):
        from mcl.cli.views.exact import correction_view, refusals_view, verdict_line

        out.tell([*correction_view(proposal), *refusals_view(refused), "", verdict_line(proposal.material)])
    waits = proposal.material and not proposal.proposed
    what = "It will stop until it is accepted again. " if waits else ""
    if not yes and not agreed(f"{what}Sign this correction?"):
        note("not corrected; nothing was signed")
        return REFUSED
    done = sign_correction(proposal, home=home, unseen=yes)
    out.document({**of_correction(done), "refused": refused})
    if not out.as_json:
        out.tell(["", plain(f"corrected, signed by {home.keyring.user.did}", "green")])
        if done.material:
            accept, run = f"mcl accept {done.intent_id}", f"mcl run {done.intent_id}"
            out.tell([commands([(accept, "sign it"), (run, "go on")])])
    return NEEDS_ACCEPT if done.material else 0


def asked_until_clear(
    out: Output, propose: "Callable[..., _Made]", answers: "Mapping[str, str]", *, ask: bool
) -> "_Made":
    """What would be signed; on a terminal what it leaves open is asked first, until nothing is."""
    from ir import ClarifyQuestion
    from mcl.cli.compile import may_ask
    from mcl.core.errors import InputError

    said = dict(answers)
    while True:
        try:
            return propose(answers=said)
        except InputError as error:
            if error.code != "QUESTIONS_OPEN" or not (ask and may_ask(out, no_ask=False)):
                raise
            questions = cast("list[dict[str, Any]]", error.data["questions"])  # as corrected_goal makes them
            asked = [ClarifyQuestion(**one) for one in questions]
            said |= _asked(out, asked, error)


def _asked(out: Output, questions: "Sequence[Any]", error: Exception) -> dict[str, str]:
    """An answer to each question, by its field; the end of input leaves the correction as it was refused."""
    from mcl.cli.asking import question_view, typed_answer

    given: dict[str, str] = {}
    for place, question in enumerate(questions, 1):
        out.tell(["", *question_view(question, f"{place}/{len(questions)}")])
        while True:
            try:
                text, why = typed_answer(question)
            except EOFError:
                raise error from None
            if not why:
                break
            out.tell([plain(f"  {why}", "yellow")])
        given[question.field] = text
    return given


def _read(name: str) -> bytes:
    """The bytes of a file, or of standard input, as far as patches may be long."""
    from executor.store.lifecycle.patches import MAX_BYTES
    from mcl.core.errors import InputError

    try:
        return read_source(name, MAX_BYTES)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError("FILE_UNREADABLE", why, place=name, fix="name a file of RFC 6902 patches") from error


GROUPS: Final = (verbs,)
