"""`mcl intents import`: a person reads what the file says, and signs it."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.plugins.agents.cli.arguments import Root

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.agents.work.importing import Change, ImportPlan


def register(intents: typer.Typer) -> None:
    """Add this verb."""
    intents.command("import", epilog=example("mcl intents import", "mcl intents import --yes --json"))(
        import_
    )


def import_(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; for scripts.")] = False,
    root: Root = None,
    as_json: AsJson = False,
) -> int:
    """Read what .orchestration/active_intents.yaml says, and sign it with your key.

    From then on agents need a checkout to change anything in its folder, and what you signed decides,
    whatever becomes of the file. Shows all that is new or different, and asks. Exit code 4 when you do not
    agree, when the file is not valid, or when an agent works on what would change.
    """
    from ir.errors import REFUSED
    from mcl.cli.home import tell_unattended, use_home
    from mcl.cli.tool.arguments import agreed
    from mcl.core.safe import safe
    from mcl.plugins.agents.usecases.import_ import import_work

    home, out = use_home(signs=True), Output(as_json)

    def agree(plan: "ImportPlan") -> bool:
        if not (as_json and yes):
            out.tell(_shown(plan))
        return yes or agreed("Sign this work?")

    done = import_work(agree=agree, root=root, home=home, unseen=yes)
    out.document({**done.to_json(), **home.marks})
    tell_unattended(home)
    for finding in done.plan.report.warnings:
        note(safe(f"warning: {finding.intent_id or 'file'}: {finding.message}"))
    if done.plan.nothing:
        note(safe(f"all of it is signed already, for {done.plan.root}"))
    elif not done.agreed:
        note("nothing was signed")
        return REFUSED
    else:
        note(safe(f"signed for {done.plan.root}; agents choose: mcl intents select INTENT"))
    return 0


def _shown(plan: "ImportPlan") -> "Iterator[RenderableType]":
    from ir.shown import quoted
    from mcl.cli.views.exact import exact
    from mcl.cli.views.layout import STRONG, plain

    yield exact((f"for the folder {quoted(str(plan.root))}", STRONG))
    for change in plan.changes:
        if change.kind != "same":
            yield from _change(change)
    if same := sum(change.kind == "same" for change in plan.changes):
        yield plain(f"\n{same} as signed before", "dim")


def _change(change: "Change") -> "Iterator[RenderableType]":
    from ir.shown import clear
    from mcl.cli.views.exact import exact, field
    from mcl.cli.views.layout import STRONG, plain, rows

    said = {"new": "new", "changed": "is signed anew", "status": "is somewhere else now", "gone": "ends"}
    yield ""
    yield exact((clear(change.label), STRONG), (said[change.kind], ""))
    entry, status = change.entry, change.after
    if change.before and change.before != change.after:
        status = f"{change.before} → {change.after or 'no longer there'}"
    facts = [("status", status)] if status else []
    if change.fields and change.kind == "changed":
        facts.append(("differs in", ", ".join(change.fields)))
    if entry is not None and change.kind != "status":
        facts += [
            ("name", entry.name),
            *((("what", entry.description),) if entry.description else ()),
            *((("owner", entry.owner),) if entry.owner else ()),
            *(("may change", pattern) for pattern in entry.owned_scope),
            *(("constraint", text) for text in entry.constraints),
            *(
                ("criterion", one if isinstance(one, str) else _typed(one.to_json()))
                for one in entry.acceptance_criteria
            ),
            *(("after", label) for label in entry.dependencies),
            *(("see", text) for text in entry.references),
        ]
    if entry is not None and entry.blocked_reason:
        facts.append(("because", entry.blocked_reason))
    yield rows([(name, field(text)) for name, text in facts])
    if change.kind == "changed" and change.item is not None:
        before = change.item.to_json()
        was = [(name, line) for name in change.fields for line in _lines(before.get(name))]
        yield plain("  was signed as", "dim")
        yield rows([(name.partition("_")[2] or name, field(line, "dim")) for name, line in was])


def _lines(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value or "none")]


def _typed(said: dict[str, str]) -> str:
    return " ".join(f"{name}={json.dumps(text, ensure_ascii=False)}" for name, text in said.items())
