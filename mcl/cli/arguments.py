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


def complete_skill(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the skills that are found here, and what they do."""
    from ir.errors import MclError
    from mcl.usecases.installed import list_skills

    try:
        found = list_skills()
    except (MclError, OSError):
        return
    for skill in found:
        if skill.id.startswith(incomplete):
            yield skill.id, skill.description


Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="A .mtx file, the folder of a skill, or a folder of such folders."),
]
