"""Arguments and options that several commands share, and the example under every help."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer


def example(*lines: str) -> str:
    """An epilog with commands to copy, kept as they are written."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def complete_intent(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the intents of the home, newest first; nothing where there is no home yet."""
    from ir.errors import MclError
    from mcl.core.home import locate
    from mcl.usecases.intents import list_intents

    if not locate().exists():
        return
    try:
        intents = list_intents()
    except MclError:
        return
    if "@last".startswith(incomplete):
        yield "@last", "the newest"
    for intent in intents:
        if intent.id.startswith(incomplete.upper()):
            yield intent.id, intent.prose


IntentId = Annotated[
    str,
    typer.Argument(
        metavar="INTENT",
        help="Id of an intent, a unique beginning of it, or @last.",
        autocompletion=complete_intent,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
AsJsonLines = Annotated[
    bool, typer.Option("--json", help="JSON on standard output, one object a line for each of them.")
]
SkillDirectories = Annotated[
    list[Path] | None,
    typer.Option("--skills", metavar="DIR", help="Further folder of skills; may be given several times."),
]
ModelPath = Annotated[
    Path | None, typer.Option("--model", metavar="PATH", help="A GGUF file to compile with.")
]
NoAi = Annotated[bool, typer.Option("--no-ai", help="Use the deterministic matcher in place of a model.")]


def folder(text: str) -> Path:
    """A folder that is there. An empty name, as of an unset variable, is not the folder one is in."""
    if not text:
        raise typer.BadParameter("an empty name is no folder; this one is called .")
    if not Path(text).is_dir():
        raise typer.BadParameter(f"there is no folder {text!r}")
    return Path(text)


Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        help="The folder that tools may work in (default: this folder).",
        parser=folder,
    ),
]
