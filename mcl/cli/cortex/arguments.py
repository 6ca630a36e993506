"""Arguments and options that several verbs of `mcl cortex` share."""

from typing import Annotated

import typer


def complete_type(incomplete: str) -> list[str]:
    """Shell completion: the types of memories."""
    from mcl.core.words import MEMORY_TYPES

    return [name for name in MEMORY_TYPES if name.lower().startswith(incomplete.lower())]


Address = Annotated[
    str,
    typer.Argument(metavar="URI", help="matrix://cortex/Type/id, with @v2 for one version; or Type/id."),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Only of this type; may be given several times.",
        autocompletion=complete_type,
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Only with this tag; may be given several times."),
]
At = Annotated[
    str,
    typer.Option("--at", metavar="SNAPSHOT", help="As it was then: the size or the root of a snapshot."),
]


def full(address: str) -> str:
    """An address as typed, with its scheme."""
    return address if "://" in address else f"matrix://cortex/{address}"
