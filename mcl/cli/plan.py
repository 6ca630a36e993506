"""`mcl plan`: what would run, and what the gate says to it; `mcl correct`: change what a run is to do."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

import typer

from mcl.cli.arguments import (
    AsJson,
    IntentId,
    Reason,
    SkillDirectories,
    Verbs,
    Workspace,
    Yes,
    argument,
    complete_intent,
    noun,
    option,
    read_source,
    verb,
)
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_bytes
from mcl.cli.people import agreed
from mcl.cli.views.layout import commands, plain

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.usecases.plans import Planned

NEEDS_ACCEPT = 10  # the exit code

# ---- Groups of commands whose first word may also be what one of them is about.


class ShowsByDefault(Verbs):
    """`mcl log @last` is `mcl log show @last`: what names no command is shown."""

    does: ClassVar[str] = "show"

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # Typer's Context is its own
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = [self.does, *args]
        return super().parse_args(ctx, args)


plans = noun(
    "plan",
    "Plans: what would run. `mcl plan INTENT` is `mcl plan show INTENT`.",
    "mcl plan @last",
    "mcl plan @last --graph svg --out plan.svg",
    "mcl plan check plan.json",
    cls=ShowsByDefault,
    subcommand_metavar="INTENT | COMMAND [ARGS]...",
)


GraphForm = Literal["svg", "png", "mermaid", "dot"]  # how a plan is drawn


@verb(
    plans, "show", "mcl plan @last", "mcl plan @last --graph svg --out plan.svg", "mcl plan show 01K --json"
)
def plan_command(
    intent: IntentId,
    form: Annotated[
        GraphForm | None,
        option("--graph", "Draw the tree with its states: svg and png (by Graphviz), or text."),
    ] = None,
    place: Annotated[
        Path | None, option("--out FILE", "Where the picture goes (default: standard output).")
    ] = None,
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> None:
    """Show what would run, and what the gate says to it.

    The plan as a tree with side effects and verdicts; nothing runs.
    """
    from mcl.usecases.documents import of_planned
    from mcl.usecases.plans import show as plan

    if (place is not None and form is None) or (as_json and form is not None):
        raise typer.BadParameter("--out goes with --graph, and --json without it")
    home = use_home()
    seen = plan(intent, home=home, workspace=workspace or Path.cwd(), skills=skills or ())
    out = Output(as_json)
    if form is not None:
        _draw(seen, form, place, home)
        return
    out.document(of_planned(seen))
    if not as_json:
        from mcl.cli.views.plan import plan_view

        out.tell(plan_view(seen, out.people))


def _draw(seen: "Planned", form: GraphForm, place: Path | None, home: "Home") -> None:
    from mcl.usecases.plans import picture as drawn

    picture = drawn(seen, form, home)
    if place is None:
        if form == "png" and sys.stdout.isatty():
            raise typer.BadParameter("a png is nothing for a terminal: name a file with --out")
        write_bytes(picture)
    else:
        place.write_bytes(picture)
        note(f"{place}: {len(picture):,} bytes")


@verb(plans, "check", "mcl plan check @last", "mcl plan check plan.json --verb build --json")
def check_command(
    what: Annotated[
        str,
        argument(
            "FILE|INTENT",
            "A PlanTree (JSON), or an intent: its id, a unique beginning of it, or @last.",
            autocompletion=complete_intent,
        ),
    ],
    verb: Annotated[
        str, option("--verb VERB", "The verb of the goal; a file whose intent is not here has none else.")
    ] = "",
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Judge a plan by every guard, and run nothing.

    Exit codes: 0 allowed, 10 needs approval, 11 denied, 12 invalid.
    """
    from mcl.cli.views.plan import checked_view
    from mcl.usecases.plans import check as check_plan_of
    from mcl.usecases.plans import check_file as check_plan_file

    home, place, further = use_home(), workspace or Path.cwd(), skills or ()
    if _is_file(what):
        found = check_plan_file(Path(what), verb=verb, workspace=place, skills=further, home=home)
    else:
        found = check_plan_of(what, verb=verb, workspace=place, skills=further, home=home)
    out = Output(as_json)
    out.show(found, checked_view(found))
    return found.exit


def _is_file(text: str) -> bool:
    """Whether a word means a file: one that is there, or a name that no intent has."""
    return not text.startswith("@") and (Path(text).is_file() or "/" in text or "." in text)


@verb(plans, "compare", "mcl plan compare before.json after.json --json", "mcl plan compare 01K 01M")
def compare_command(
    before: Annotated[str, argument("A", "A file (Intent, plan or both) or an intent.")],
    after: Annotated[str, argument("B", "What it would become: a file or an intent.")],
    at: Annotated[str, option("--at TIME", "Judge deadlines from this moment (default: now).")] = "",
    as_json: AsJson = False,
) -> int:
    """Say whether the difference between two documents needs a new accept.

    Exit codes: 0 no, 10 yes, 2 they cannot be compared.
    """
    from mcl.cli.views.exact import changes_view, verdict_line
    from mcl.usecases.materiality import compare

    out = Output(as_json)
    found = compare(before, after, at=at or None)
    out.show(
        {"material": found.material, "at": found.at, "changes": found.changes},
        [*changes_view(found.changes), "", verdict_line(found.material)],
    )
    return NEEDS_ACCEPT if found.material else 0


# ---- `mcl correct`: change what a run is to do.


correcting = typer.Typer()


@verb(
    correcting,
    "correct",
    "mcl correct @last --set budget.max_calls=5",
    'mcl correct @last --set "plan.search.args.query=fox" --reason "typing error"',
    "mcl correct 01K --patch changes.json --retry-from search --yes --json",
)
def correct_command(
    intent: IntentId,
    patch: Annotated[
        str,
        option(
            "--patch FILE", "RFC 6902 operations on /intent/… and /plan/… as JSON; - reads standard input."
        ),
    ] = "",
    changes: Annotated[
        list[str] | None, option("--set PATH=VALUE", "Set a field; may be given several times.")
    ] = None,
    removed: Annotated[
        list[str] | None, option("--unset PATH", "Take a field or node away; may be given several times.")
    ] = None,
    reason: Reason = "",
    retry_from: Annotated[
        str, option("--retry-from NODE", "Run this node, and what waits for it, again.")
    ] = "",
    yes: Yes = False,
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Correct a run that has begun: its Intent, its plan, or both.

    Shows every difference and whether it is material, asks, and signs with your key. What is not material
    takes effect at the run's next node; what is stops the run until mcl accept and mcl run.

    Exit codes: 0 corrected, 10 corrected and needs a new accept, 4 refused.
    """
    from ir.errors import REFUSED
    from mcl.cli.views.exact import changes_view, refusals_view, verdict_line
    from mcl.usecases.corrections import propose_correction, refusals, sign_correction
    from mcl.usecases.documents import of_correction

    if not (patch or changes or removed or retry_from):
        raise typer.BadParameter("say what shall be different: --set, --unset, --patch or --retry-from")
    home, out = use_home(signs=True), Output(as_json)
    proposal = propose_correction(
        intent,
        patches=_read(patch) if patch else (),
        changes=changes or (),
        removed=removed or (),
        reason=reason,
        retry_from=retry_from,
        home=home,
    )
    refused = refusals(proposal, workspace=workspace, skills=skills or (), home=home)
    if not (as_json and yes):
        out.tell(changes_view(proposal.changes))
        if proposal.again:
            out.tell([plain(f"Runs again: {', '.join(proposal.again)}", "yellow")])
        out.tell(refusals_view(refused))
        out.tell(["", verdict_line(proposal.material)])
    what = "It will stop until it is accepted again. " if proposal.material else ""
    if not yes and not agreed(f"{what}Sign this correction?"):
        note("not corrected; nothing was signed")
        return REFUSED
    done = sign_correction(proposal, home=home, unseen=yes)
    out.document({**of_correction(done), "refused": refused})
    if not as_json:
        out.tell(["", plain(f"corrected, signed by {home.keyring.user.did}", "green")])
        if done.material:
            out.tell(
                [
                    commands(
                        [(f"mcl accept {done.intent_id}", "sign it"), (f"mcl run {done.intent_id}", "go on")]
                    )
                ]
            )
    return NEEDS_ACCEPT if done.material else 0


def _read(name: str) -> bytes:
    """The bytes of a file, or of standard input, as far as patches may be long."""
    from executor.store.lifecycle.patches import MAX_BYTES
    from mcl.core.errors import InputError

    try:
        return read_source(name, MAX_BYTES)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError("FILE_UNREADABLE", why, place=name, fix="name a file of RFC 6902 patches") from error


GROUPS: Final = (plans, correcting)
