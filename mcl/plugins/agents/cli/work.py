"""`mcl work list`, `show`, `select`, `release`, `complete` and `map`: what agents may work on, and who
does."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

from mcl.cli.arguments import AsJson, argument, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_line
from mcl.cli.people import AtTerminal
from mcl.cli.views.layout import BAD, DIM, GOOD, WARN, columns, listing, moment, plain, rows
from mcl.core.environment import AGENT
from mcl.core.text import one_line, safe
from mcl.plugins.agents.cli.file import Root, facts_of, work

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.agents.usecases import ListedWork
    from mcl.plugins.agents.work.completion import CompleteResult

Agent = Annotated[
    str,
    option("--agent NAME", 'Which agent this is (default: $MCL_AGENT, else "local").'),
]
Label = Annotated[str, argument("INTENT", "Its id in the file, such as INT-001.")]


@verb(work, "list")
def list_all(
    status: Annotated[str, option("--status STATUS", "Only what has this status.")] = "",
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """List the work that was signed for this folder, and who holds it now."""
    from mcl.plugins.agents.usecases import list_work

    found, out = list_work(root=root, status=status, home=use_home()), Output(as_json)
    out.document(found)
    if not found.governed:
        note("no work was signed for this folder; a person signs what its file says: mcl work import")
    lines = [
        (
            (one.item.label, ""),
            ("expired", BAD) if one.expired else (one.item.status, _style(one.item.status)),
            (one.lease.agent if one.lease else "", DIM),
            (one_line(one.item.name), ""),
        )
        for one in found.items
    ]
    if lines:
        out.view([listing(("intent", "status", "held by", "name"), lines)])


@verb(work, "show")
def show(label: Label, root: Root = None, as_json: AsJson = False) -> None:
    """Show one piece of work as it was signed."""
    from mcl.plugins.agents.usecases import show_work

    found, out = show_work(label, root=root, home=use_home()), Output(as_json)
    out.show(found, work_view(found))


def work_view(found: "ListedWork") -> "list[RenderableType]":
    """One piece of work for people: all that was signed, line by line."""
    item, lease = found.item, found.lease
    held = f"{lease.agent} until {moment(lease.expires_at)}" if lease else ""
    facts = [
        ("intent", item.label),
        ("name", item.name),
        *((("what", item.description),) if item.description else ()),
        ("status", item.status),
        *((("counts until", moment(item.expires_at)),) if item.expires_at else ()),
        *((("because", item.blocked_reason),) if item.blocked_reason else ()),
        *((("held by", held),) if held else ()),
        *facts_of(item, item.criteria),
        ("signed", f"{moment(item.accepted_at)} by {item.signed_by}"),
        ("documents", f"mcl show {item.intent_id}"),
    ]
    return [rows([(name, plain(text)) for name, text in facts])]


def _style(status: str) -> str:
    return {"DONE": GOOD, "BLOCKED": BAD, "DRAFT": DIM}.get(status, "")


# ---- `mcl work select` and `release`: an agent takes a piece of work, and gives it up.


@verb(work, "select")
def select(label: Label, agent: Agent = "", root: Root = None, as_json: AsJson = False) -> int:
    """Check out a piece of signed work, so that its files may be changed.

    Prints what an agent must know as <intent_context>. It is held until it is completed, released, or nothing
    was done for 15 minutes. Exit code 4 where it cannot be had.
    """
    from ir.errors import REFUSED
    from mcl.plugins.agents.usecases import select_work

    found = select_work(label, agent=agent, root=root, home=use_home(signs=True))
    Output(as_json).document(found)
    if not found.success:
        note(safe(f"error: {found.error}\n  code  {found.code}"))
        return REFUSED
    if not as_json:
        for line in found.context.split("\n"):
            write_line(line)
    for warning in found.warnings:
        note(safe(f"warning: {warning}"))
    note(f"held until {found.expires_at}; each call renews it")
    return 0


@verb(work, "release")
def release(agent: Agent = "", root: Root = None, as_json: AsJson = False) -> None:
    """Give up what an agent has checked out; another may have it then."""
    from mcl.plugins.agents.usecases import release_work

    lease = release_work(agent=agent, root=root, home=use_home(signs=True))
    Output(as_json).document(lease)
    note(f"released: {lease.label}, held by {lease.agent}")


# ---- `mcl work complete`: an agent proposes that work is done; at a terminal a person signs off the
# rest.


@verb(work, "complete")
def complete(
    label: Annotated[str, argument("[INTENT]", "Its id (default: what the agent has checked out).")] = "",
    notes: Annotated[str, option("--notes TEXT", "How the criteria were seen to; it is kept.")] = "",
    agent: Agent = "",
    root: Root = None,
    as_json: AsJson = False,
) -> int:
    """Complete a piece of work: its typed criteria are looked at, and a person signs off the others.

    At a terminal, with no agent named, you are asked about each, and your answers are signed with your key.
    Otherwise it is an agent's proposal: what only people can say waits for one (mcl gate list). Exit code 4
    while something is left.
    """
    from ir.errors import REFUSED
    from mcl.plugins.agents.usecases import complete_work
    from mcl.usecases.authority.door import may_answer

    out, home = Output(as_json), use_home(signs=True)
    person = not agent and not os.environ.get(AGENT) and sys.stdin.isatty() and may_answer(home)
    people = AtTerminal(later=True) if person else None
    found = complete_work(label, notes=notes, agent=agent, people=people, root=root, home=home)
    out.show(found, _view(found))
    for warning in found.warnings:
        note(safe(f"warning: {warning}"))
    if not found.success:
        note(safe(f"error: {found.error}\n  code  {found.code}"))
        return REFUSED
    note(f"done: {found.label}")
    return 0


def _view(found: "CompleteResult") -> "list[RenderableType]":
    styles = {True: GOOD, False: BAD}
    lines = [
        (
            (
                "met" if one.holds else "waits" if one.person else "not met",
                WARN if one.person and not one.holds else styles[one.holds],
            ),
            (one.criterion + (f": {one.why}" if one.why and not one.person else ""), ""),
        )
        for one in found.criteria
    ]
    return [columns(lines)] if lines else []


# ---- `mcl work map`: the files of this folder, each with the intents under which it was changed.


@verb(work, "map")
def map_files(root: Root = None, as_json: AsJson = False) -> None:
    """List the files that were changed here, each with the intents under which that was."""
    from mcl.plugins.agents.usecases import map_work

    found, out = map_work(root=root, home=use_home()), Output(as_json)
    out.document(found)
    if not found.files:
        note(f"nothing was changed under an intent in {found.root}")
        return
    lines = [((path, ""), (", ".join(labels), "")) for path, labels in found.files.items()]
    out.view([listing(("file", "intents"), lines)])
