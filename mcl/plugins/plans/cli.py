"""`mcl plan`: what would run, and what the gate says to it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mcl.cli.arguments import (
    AsJson,
    IntentId,
    ShowsByDefault,
    SkillDirectories,
    Workspace,
    argument,
    complete_intent,
    noun,
    option,
    verb,
)
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_bytes

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.usecases.plans import Planned

NEEDS_ACCEPT = 10  # the exit code

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
    from mcl.plugins.plans.plans import picture as drawn

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
    from mcl.plugins.plans.plans import check as check_plan_of
    from mcl.plugins.plans.plans import check_file as check_plan_file
    from mcl.plugins.plans.views import checked_view

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
    from mcl.plugins.plans.comparison import compare

    out = Output(as_json)
    found = compare(before, after, at=at or None)
    out.show(
        {"material": found.material, "at": found.at, "changes": found.changes},
        [*changes_view(found.changes), "", verdict_line(found.material)],
    )
    return NEEDS_ACCEPT if found.material else 0
