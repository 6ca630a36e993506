"""`mcl compile` and `mcl answer`: a goal in plain words becomes an Intent."""

import codecs
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mcl.cli.arguments import (
    VERBS,
    AsJson,
    IntentId,
    ModelPath,
    NoAi,
    SkillDirectories,
    Workspace,
    argument,
    as_typed,
    option,
    verb,
)
from mcl.cli.home import given_passphrase, use_home
from mcl.cli.output import Output, note, tell_result, write_document
from mcl.cli.progress import progress_bar

if TYPE_CHECKING:
    from mcl.usecases.batch import BatchSummary

verbs = typer.Typer()


MAX_GOAL_BYTES = 4 * 8192  # no goal of the longest allowed length is larger, whatever its alphabet
NoAsk = Annotated[bool, option("--no-ask", "Do not ask on the terminal; leave the questions for mcl answer.")]

Batch = Annotated[
    Path | None, option("--batch IN", "Compile each line of this file (JSON lines); - is standard input.")
]
BatchOut = Annotated[
    Path | None, option("--out OUT", "With --batch: where results go; - is standard output.")
]
Jobs = Annotated[int | None, option("--jobs N", "With --batch: so many processes.")]
NoCache = Annotated[
    bool, option("--no-cache", "Ask the model, whatever it answered to the same goal before.")
]
Why = Annotated[bool, option("--why", "Also show what was chosen and read, how surely, and why it asks.")]
NoStore = Annotated[bool, option("--no-store", "With --batch: keep nothing in the journal.")]


@verb(verbs, "compile")
def compile_command(
    goal: Annotated[
        str | None,
        argument(
            "GOAL",
            "What you want, in plain words; - reads standard input. Left out with --batch.",
            show_default=False,
        ),
    ] = None,
    skill: Annotated[str, option("--skill SKILL", "Use this skill; do not choose one.")] = "",
    verb: Annotated[str, option("--verb VERB", f"Use this verb; do not choose one: {VERBS}.")] = "",
    slot: Annotated[
        list[str] | None, option("--slot NAME=VALUE", "Fill a slot yourself; may be given several times.")
    ] = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    dry_run: Annotated[bool, option("--dry-run", "Show the result; sign and store nothing.")] = False,
    at: Annotated[str, option("--at TIME", "The moment of the compile, ISO 8601.")] = "",
    id: Annotated[str, option("--id ULID", "The id of the intent.")] = "",
    zone: Annotated[
        str, option("--zone ZONE", "Time zone that dates in the goal are read in (default: mcl config zone).")
    ] = "",
    truncate: Annotated[bool, option("--truncate", "Cut a goal that is too long.")] = False,
    goal_id: Annotated[
        str, option("--goal ID", "What it is one of several intents for: a name, an intent for it, or @last.")
    ] = "",
    expires: Annotated[
        str, option("--expires WHEN", "Until when it may be accepted and run: 2h, or a moment.")
    ] = "",
    constraint: Annotated[
        list[str] | None,
        option("--constraint KIND=JSON", "A constraint of a plug-in (x:…); may be given several times."),
    ] = None,
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    batch: Batch = None,
    out_path: BatchOut = None,
    jobs: Jobs = None,
    no_store: NoStore = False,
    no_cache: NoCache = False,
    no_ask: NoAsk = False,
    why: Why = False,
    as_json: AsJson = False,
) -> int:
    """Compile a goal in plain words into a signed Intent.

    On a terminal its questions are asked at once.

    Exit codes: 0 compiled, 3 there are questions (mcl answer), 4 refused. With --batch 0, or 5 where every
    line is an error.
    """
    check_options(
        batch,
        {"--out": out_path, "--jobs": jobs is not None, "--no-store": no_store},
        {
            "GOAL": goal,
            "--skill": skill,
            "--verb": verb,
            "--slot": slot,
            "--id": id,
            "--dry-run": dry_run,
            "--why": why,
            "--goal": goal_id,
            "--expires": expires,
            "--constraint": constraint,
            "--workspace": workspace,
        },
    )
    if batch is not None:
        return compile_lines(
            batch,
            out_path,
            as_json=as_json,
            jobs=1 if jobs is None else jobs,
            store=not no_store,
            cache=not no_cache,
            model=model,
            ai=not no_ai,
            at=at,
            zone=zone,
            truncate=truncate,
            skills=skills or (),
        )
    if goal is None:
        raise typer.BadParameter("a GOAL is needed, or --batch")
    from mcl.usecases.compile import compile_goal

    home, out = use_home(signs=not dry_run), Output(as_json)
    result = compile_goal(
        read_goal(goal, truncate=truncate),
        home=home,
        skill=skill or None,
        verb=verb or None,
        slots=assignments(slot or [], "slot"),
        model=model,
        ai=not no_ai,
        dry_run=dry_run,
        at=at or None,
        id=id or None,
        zone=zone or None,
        truncate=truncate,
        skills=skills or (),
        cache=not no_cache,
        goal_id=goal_id,
        expires=expires,
        constraints=assignments(constraint or [], "constraint"),
        workspace=workspace,
    )
    if not dry_run and may_ask(out, no_ask=no_ask):
        from mcl.cli.asking import Asking

        asking = Asking(home, out, model, not no_ai, tuple(skills or ()))
        return asking.settle(result, why=why)
    return tell_result(result, out, home, stored=not dry_run, why=why)


@verb(verbs, "answer")
def answer_command(
    intent: IntentId,
    answers: Annotated[
        list[str] | None,
        argument(
            "[UNKNOWN=VALUE]...",
            "An answer to each question, such as u1=notes; none: be asked on the terminal.",
            show_default=False,
        ),
    ] = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
    no_ask: NoAsk = False,
    as_json: AsJson = False,
) -> int:
    """Answer the questions of an intent, and compile it again.

    Exit codes: as of compile.
    """
    from mcl.usecases.compile import answer
    from mcl.usecases.intents import show

    home, out = use_home(signs=True), Output(as_json)
    asking = None
    if may_ask(out, no_ask=no_ask):
        from mcl.cli.asking import Asking

        asking = Asking(home, out, model, not no_ai, tuple(skills or ()))
        if not answers and (waiting := show(intent, home=home)).questions:
            return asking.resume(waiting)
    result = answer(
        intent,
        assignments(answers or [], "answer"),
        home=home,
        model=model,
        ai=not no_ai,
        skills=skills or (),
    )
    return asking.settle(result) if asking else tell_result(result, out, home, stored=True)


def may_ask(out: Output, *, no_ask: bool) -> bool:
    """Whether a person sits at both ends: not in a script, a pipe or with --json."""
    return not (no_ask or out.as_json) and sys.stdin.isatty() and sys.stdout.isatty()


def read_goal(goal: str, *, truncate: bool = False) -> str:
    """The goal of the command line, or standard input for `-`, where what lies behind MAX_GOAL_BYTES is an
    error or, to be truncated, left unread. Raises InputError for what is not text."""
    if goal != "-":
        return as_typed(goal)
    from mcl.core.errors import InputError

    data = sys.stdin.buffer.read(MAX_GOAL_BYTES + 1)
    whole = len(data) <= MAX_GOAL_BYTES
    if not whole and not truncate:
        raise InputError(
            "GOAL_TOO_LONG",
            f"more than {MAX_GOAL_BYTES} bytes on standard input",
            place="goal",
            fix="say it in at most 8,192 characters, name files instead of quoting them, or cut it with"
            " --truncate",
        )
    try:  # a character that is cut in two at the end is left out
        text = codecs.getincrementaldecoder("utf-8")().decode(data[:MAX_GOAL_BYTES], final=whole)
    except UnicodeDecodeError as error:
        raise InputError(
            "GOAL_NOT_TEXT",
            f"byte {error.start} of standard input is not UTF-8",
            place="goal",
            fix="give text",
        ) from error
    if "\0" in text:
        raise InputError(
            "GOAL_NOT_TEXT", "standard input holds a NUL character", place="goal", fix="give text"
        )
    return text


def assignments(pairs: list[str], what: str) -> dict[str, str]:
    """NAME=VALUE words as a dict. Raises InputError for a word without `=` and a name given twice."""
    from mcl.core.errors import InputError

    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise InputError(
                "NOT_AN_ASSIGNMENT", f"{pair!r} is not NAME=VALUE", place=what, fix="write name=value"
            )
        if name.strip() in found:
            raise InputError("GIVEN_TWICE", f"{name.strip()} is given twice", place=what, fix="give it once")
        found[name.strip()] = as_typed(value)
    return found


# ---- `mcl compile --batch`: many goals from a file of JSON lines into another.


_STANDARD = Path("-")


def check_options(batch: Path | None, with_batch: dict[str, object], without: dict[str, object]) -> None:
    """Raise a usage error for an option (by its name) that goes only with --batch, or not with it."""
    wrong = without if batch is not None else with_batch
    for name, value in wrong.items():
        if value:
            raise typer.BadParameter(
                f"{name} does not go with --batch" if batch is not None else f"{name} goes only with --batch"
            )


def compile_lines(source: Path, out: Path | None, *, as_json: bool, **settings: Any) -> int:
    """Compile all of `source`, with a progress bar on a terminal, and say what came of it. settings: those of
    `compile_batch`. The exit code is 0 whatever the goals were, as each line says its own; 5 where none of
    them could be tried, as each is an error."""
    from ir.errors import FAILED
    from mcl.usecases.batch import compile_batch

    if out is None:
        raise typer.BadParameter("--batch needs --out, a file or - for standard output")
    with (
        use_home(signs=bool(settings["store"])) as home,
        progress_bar("compiling", quiet=as_json) as progress,
    ):
        passphrase = given_passphrase().decode()
        summary = compile_batch(source, out, home=home, passphrase=passphrase, progress=progress, **settings)
    if as_json and out != _STANDARD:
        write_document(summary)
    else:
        note(_sentence(summary, out))
    return FAILED if summary.lines and summary.outcomes["error"] == summary.lines else 0


def _sentence(summary: "BatchSummary", out: Path) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in summary.outcomes.items())
    where = "" if out == _STANDARD else f" in {out}"
    kept = f"; {summary.kept} were there already" if summary.kept else ""
    speed = f"; {summary.seconds:.1f} s, {summary.per_second:.0f} a second"
    return f"{summary.lines} lines{where}: {counts}{kept}{speed}"


GROUPS: Final = (verbs,)
