"""`mcl tool approve`, `reject` and `quarantine`: a person's word on a tool."""

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, Reason, ToolName, ToolNames, Yes, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed
from mcl.cli.tool import nothing_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from executor.store.home import Home
    from mcl.usecases.tools import KnownTool

verbs = typer.Typer()


Server = Annotated[str, option("--server NAME", "All of this server that wait for it.")]
Pin = Annotated[str, option("--pin HASH", "Only if this is what its manifest hashes to.")]


@verb(verbs, "approve")
def approve_tool(
    names: ToolNames = None,
    server: Server = "",
    every: Annotated[bool, option("--all", "All that wait for it.")] = False,
    yes: Yes = False,
    despite_warnings: Annotated[
        bool, option("--despite-warnings", "Also tools that say something suspicious of themselves.")
    ] = False,
    pin: Pin = "",
    as_json: AsJson = False,
) -> int:
    """Approve tools as they are now.

    Tools of other servers need it before their first call, any tool after it changed or was in quarantine.
    Shows what each says of itself, what changed and what is suspicious, asks, and keeps the approval in the
    journal. It holds for just what was shown. What was closed by hand is opened when it is named, or when you
    say so to the question. Exit code 4 when one was not approved.
    """
    from ir.errors import REFUSED, MclError
    from mcl.usecases import tools as acts

    home, out = use_home(signs=True), Output(as_json)
    chosen = _chosen(home, names or [], server, every, pin)
    approved: list[KnownTool] = []
    refused: list[dict[str, object]] = []
    for found in chosen:
        if found.standing == "quarantined" and yes and not names:  # nobody has looked since it was closed
            note(f"left closed: {found.name}; name it to open it again")
            refused.append({"name": found.name, "code": "TOOL_QUARANTINED"})
            continue
        if found.standing != "approved" and not (as_json and yes):
            out.tell(_shown(found))
        if not yes and not agreed(f"Approve {found.name} as it is now?"):
            note(f"not approved: {found.name}")
            refused.append({"name": found.name, "code": "NOT_AGREED"})
            continue
        try:
            seen = pin or found.manifest.pin
            after = acts.approve(
                found.manifest.uri, pin=seen, despite_warnings=despite_warnings, home=home, unseen=yes
            )
        except MclError as problem:
            if len(chosen) == 1:
                raise
            note(f"not approved: {found.name}: {problem.message}\n  {problem.fix}")
            refused.append({"name": found.name, **problem.to_json()})
            continue
        approved.append(after)
        note(f"approved {after.name if after.outside else after.manifest.uri}")
    if len(chosen) == 1 and approved and names:
        out.document(_document(approved[0]))
    else:
        out.document({"approved": [_document(one) for one in approved], "refused": refused})
    if not chosen:
        note((server and nothing_known(server, home)) or "no tool waits for an approval")
    return REFUSED if refused else 0


@verb(verbs, "reject")
def reject_tool(tool: ToolName, reason: Reason = "", pin: Pin = "", as_json: AsJson = False) -> None:
    """Refuse a tool of another server as it is now.

    Every call of it is refused. When its server says something else of it, you are asked again.
    """
    from mcl.usecases import tools as acts

    after = acts.reject(tool, pin=pin, reason=reason, home=use_home(signs=True))
    Output(as_json).document(_document(after))
    note(f"rejected {after.name}")


@verb(verbs, "quarantine")
def quarantine_tool(tool: ToolName, reason: Reason = "", as_json: AsJson = False) -> None:
    """Close a tool until it is approved again.

    Every call of it is refused (TOOL_QUARANTINED).
    """
    from mcl.usecases import tools as acts

    after = acts.quarantine(tool, reason=reason, home=use_home(signs=True))
    Output(as_json).document(_document(after))
    name = after.name if after.outside else after.manifest.uri
    note(f"{after.standing} {name}; mcl tool approve {quote(after.name)} opens it again")


def _chosen(home: "Home", names: Sequence[str], server: str, every: bool, pin: str) -> "list[KnownTool]":
    """The tools that are meant, each once."""
    from mcl.core.errors import InputError
    from mcl.usecases import tools as acts

    if bool(names) + bool(server) + every != 1:
        raise InputError(
            "TOOL_MISSING",
            "name tools, or --server NAME, or --all: one of these",
            place="tool",
            fix="such as mcl tool approve git:git_status",
        )
    if pin and len(names) != 1:
        raise InputError("PIN_OF_ONE", "a hash is that of one tool", place="--pin", fix="name just that tool")
    if names:
        return list(
            {one.manifest.uri: one for one in (acts.show(name, home=home) for name in names)}.values()
        )
    if server:
        from mcl.catalog.servers import Servers

        Servers(home).require(server)
    waiting = [one for one in acts.list(home=home) if one.waits]
    return [one for one in waiting if not server or (one.outside and one.outside.server == server)]


def _shown(found: "KnownTool") -> "Iterator[RenderableType]":
    """All that a person needs to see of a tool before approving it."""
    from ir.display import clear
    from mcl.cli.views.definition import change_view, definition_view, findings_view
    from mcl.cli.views.exact import exact

    name = clear(found.name if found.outside else found.manifest.uri)
    yield exact((name, "bold"), (found.standing, ""), ("" if found.outside else found.manifest.pin, "dim"))
    yield from definition_view(found)
    if found.changes:
        yield from change_view(found.changes)
    elif found.standing == "changed":
        yield from change_view(())
    yield from findings_view(found.suspicions)


def _document(tool: "KnownTool") -> dict[str, object]:
    said: dict[str, object] = {
        "uri": tool.manifest.uri,
        "name": tool.name,
        "pin": tool.manifest.pin,
        "standing": tool.standing,
    }
    if tool.outside is not None:
        said["suspicions"] = tool.suspicions
    return said
