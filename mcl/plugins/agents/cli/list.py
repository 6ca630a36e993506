"""`mcl intents list` and `show`: the signed work of a folder, and who holds it."""

from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.plugins.agents.cli.arguments import Label, Root

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.agents.usecases.list import ListedWork


def register(intents: typer.Typer) -> None:
    """Add these verbs."""
    intents.command(
        "list", epilog=example("mcl intents list", "mcl intents list --status IN_PROGRESS --json")
    )(list_all)
    intents.command("show", epilog=example("mcl intents show INT-001"))(show)


def list_all(
    status: Annotated[
        str, typer.Option("--status", metavar="STATUS", help="Only what has this status.")
    ] = "",
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """List the work that was signed for this folder, and who holds it now."""
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import DIM, listing
    from mcl.core.safe import one_line
    from mcl.plugins.agents.usecases.list import list_work

    found, out = list_work(root=root, status=status, home=use_home()), Output(as_json)
    out.document(found.to_json())
    if not found.governed:
        note("no work was signed for this folder; a person signs what its file says: mcl intents import")
    lines = [
        (
            (one.item.label, ""),
            (one.item.status, _style(one.item.status)),
            (one.lease.agent if one.lease else "", DIM),
            (one_line(one.item.name), ""),
        )
        for one in found.items
    ]
    if lines:
        out.view([listing(("intent", "status", "held by", "name"), lines)])


def show(label: Label, root: Root = None, as_json: AsJson = False) -> None:
    """Show one piece of work as it was signed."""
    from mcl.cli.home import use_home
    from mcl.plugins.agents.usecases.list import show_work

    found, out = show_work(label, root=root, home=use_home()), Output(as_json)
    out.document(found.to_json())
    out.view(work_view(found))


def work_view(found: "ListedWork") -> "list[RenderableType]":
    """One piece of work for people: all that was signed, line by line."""
    from mcl.cli.views.layout import moment, plain, rows

    item, lease = found.item, found.lease
    held = f"{lease.agent} until {moment(lease.expires_at)}" if lease else ""
    facts = [
        ("intent", item.label),
        ("name", item.name),
        *((("what", item.description),) if item.description else ()),
        ("status", item.status),
        *((("because", item.blocked_reason),) if item.blocked_reason else ()),
        *((("held by", held),) if held else ()),
        *((("owner", item.owner),) if item.owner else ()),
        *(("may change", pattern) for pattern in item.scope),
        *(("constraint", text) for text in item.constraints),
        *(("criterion", text) for text in item.criteria),
        *(("after", label) for label in item.dependencies),
        *(("see", text) for text in item.references),
        ("signed", f"{moment(item.accepted_at)} by {item.signed_by}"),
        ("documents", f"mcl show {item.intent_id}"),
    ]
    return [rows([(name, plain(text)) for name, text in facts])]


def _style(status: str) -> str:
    from mcl.cli.views.layout import BAD, DIM, GOOD

    return {"DONE": GOOD, "BLOCKED": BAD, "DRAFT": DIM}.get(status, "")
