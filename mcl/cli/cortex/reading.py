"""`mcl cortex find`, `list` and `show`: what is remembered."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.cortex.arguments import Address, At, Tags, Types, full
from mcl.cli.output import Output


def register(cortex: typer.Typer) -> None:
    """Add these verbs."""
    cortex.command("find", epilog=example('mcl cortex find "who sells paper" --type Fact --limit 3'))(find)
    cortex.command("list", epilog=example("mcl cortex list --type Goal", "mcl cortex list --at 12"))(
        list_memories
    )
    cortex.command(
        "show", epilog=example("mcl cortex show Fact/office", "mcl cortex show Fact/office@v1 --history")
    )(show)


def find(
    near: Annotated[str, typer.Argument(metavar="WORDS", help="What it should be about.")],
    types: Types = None,
    tag: Tags = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 10,
    at: At = "",
    as_json: AsJson = False,
) -> None:
    """Find memories that share words with WORDS, the best first."""
    from mcl.cli.cortex.views import tell_list
    from mcl.cli.home import use_home
    from mcl.usecases.cortex import cortex_find

    found = cortex_find(near, types=types or (), tags=tag or (), limit=limit, at=at or None, home=use_home())
    tell_list(found, Output(as_json))


def list_memories(
    types: Types = None,
    tag: Tags = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="At most so many; 0: all.")] = 50,
    at: At = "",
    as_json: AsJson = False,
) -> None:
    """List memories, the most important and newest first."""
    from mcl.cli.cortex.views import tell_list
    from mcl.cli.home import use_home
    from mcl.usecases.cortex import cortex_list

    found = cortex_list(types=types or (), tags=tag or (), limit=limit, at=at or None, home=use_home())
    tell_list(found, Output(as_json))


def show(
    uri: Address,
    history: Annotated[bool, typer.Option("--history", help="All its versions, oldest first.")] = False,
    at: At = "",
    as_json: AsJson = False,
) -> None:
    """Show one memory."""
    from mcl.cli.cortex.views import document, history_view, memory_view
    from mcl.cli.home import use_home
    from mcl.usecases.cortex import cortex_history, cortex_show

    home, out = use_home(), Output(as_json)
    if history:
        versions = cortex_history(full(uri), at=at or None, home=home)
        out.document({"uri": versions[-1].address, "versions": [document(one) for one in versions]})
        out.view([history_view(versions)])
        return
    memory = cortex_show(full(uri), at=at or None, home=home)
    out.document(document(memory))
    out.view(memory_view(memory))
