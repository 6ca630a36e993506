"""The argument and the question that the verbs of `mcl tool` share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from executor.store.home import Home

STYLES = {
    "new": "dim",
    "approved": "",
    "changed": "red",
    "quarantined": "red",
    "rejected": "red",
    "gone": "dim",
    "closed": "red",
}


def complete_tool(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the tools by their short names."""
    from executor.store.home import Home
    from executor.tools.names import short_name
    from mcl.catalog.tools import registry
    from mcl.core.home import locate
    from mcl.usecases.tools import foreign_tools

    known = [(short_name(one.uri), one.description) for one in registry().manifests]
    if (place := locate()) and (place / "mcl.db").exists():
        with Home.open(place) as home:
            known += [(one.name, one.manifest.description) for one in foreign_tools(home)]
    for name, description in known:
        if name.startswith(incomplete):
            yield name, description.partition(".")[0]


ToolName = Annotated[
    str,
    typer.Argument(
        metavar="TOOL",
        help="fs/read, fs/read@1.0.0, git:git_status, or the whole address.",
        autocompletion=complete_tool,
    ),
]
ToolNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TOOL]...",
        help="fs/read, git:git_status, or whole addresses.",
        autocompletion=complete_tool,
    ),
]


def nothing_known(server: str, home: "Home") -> str:
    """What to do where nothing is known of a server's tools, as nobody connected to it yet; else ""."""
    from mcl.usecases.tools import foreign_tools

    if any(one.manifest.outside and one.manifest.outside.server == server for one in foreign_tools(home)):
        return ""
    return f"nothing is known of its tools yet; mcl server check {server} connects to it and sees"
