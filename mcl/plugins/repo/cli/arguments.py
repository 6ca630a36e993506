"""The arguments and options that the verbs of `mcl repo` share."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer


def complete_key(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the repositories by their keys; nothing where none can be read."""
    from ir.errors import MclError
    from mcl.core.home import locate
    from mcl.core.repositories import Repositories

    try:
        known = Repositories(locate()).all()
    except MclError:
        return
    for one in known:
        if one.key.startswith(incomplete):
            yield one.key, str(one.path)


def prompt_of(arguments: Sequence[str]) -> str:
    """A prompt of the arguments of a command line: the shell took the quotes off one of several words, and
    they are put back where it does not stand first."""
    parts = [*arguments[:1], *map(_quoted, arguments[1:])]
    return " ".join(parts)


def _quoted(argument: str) -> str:
    several = len(argument.split()) > 1 and argument.isprintable()
    return f'"{argument}"' if several and '"' not in argument else argument


Prompt = Annotated[
    list[str], typer.Argument(metavar="PROMPT", help="What you want, in Swedish or English; quotes or not.")
]
Key = Annotated[
    str,
    typer.Argument(metavar="KEY", help="The short name of a repository.", autocompletion=complete_key),
]
InRepo = Annotated[
    str,
    typer.Option(
        "--repo",
        metavar="KEY",
        help="The repository that is meant where the prompt names none.",
        autocompletion=complete_key,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Nothing stands in: not the matcher for an unsure model, not the active repository."
    ),
]
Compat = Annotated[
    bool, typer.Option("--compat", help="The matcher looks for plain pieces of text, not for words.")
]
Confirm = Annotated[bool, typer.Option("--confirm", help="Ask before every step.")]
YesGates = Annotated[
    bool,
    typer.Option(
        "--yes-gates", help="Agree to every question unseen; for scripts whose author read the plan."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Judge it, plan it and ask the gate; sign and run nothing.")
]
