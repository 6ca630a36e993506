"""The filters that the verbs of `mcl activity` share, as options."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, Final

import typer

_OPERATIONS = ("read", "write", "destructive", "none")
_SENSITIVITIES = ("public", "internal", "private", "unknown")
_VERDICTS = ("allowed", "asked", "denied", "failed")


def _completes(words: Sequence[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


Server = Annotated[
    list[str] | None,
    typer.Option(
        "--server", metavar="NAME", help="Of this server (mcl: our own tools); may be given several times."
    ),
]
Tool = Annotated[
    list[str] | None,
    typer.Option("--tool", metavar="TOOL", help="Of this tool: its name, or server:tool; several times."),
]
Operation = Annotated[
    list[str] | None,
    typer.Option(
        "--operation",
        metavar="WORD",
        help=f"Declared as {', '.join(_OPERATIONS)}; several times.",
        autocompletion=_completes(_OPERATIONS),
    ),
]
Sensitivity = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitivity",
        metavar="WORD",
        help=f"Declared as {', '.join(_SENSITIVITIES)}; several times.",
        autocompletion=_completes(_SENSITIVITIES),
    ),
]
Status = Annotated[
    list[str] | None,
    typer.Option(
        "--status",
        metavar="WORD",
        help=f"What was said to it: {', '.join(_VERDICTS)}; several times.",
        autocompletion=_completes(_VERDICTS),
    ),
]
Code = Annotated[
    list[str] | None,
    typer.Option("--code", metavar="CODE", help="Refused or failed with this code; several times."),
]
OfIntent = Annotated[
    list[str] | None,
    typer.Option(
        "--intent", metavar="INTENT", help="Of this intent: its id or how it begins; several times."
    ),
]
Agent = Annotated[
    list[str] | None,
    typer.Option("--agent", metavar="DID", help="By this agent: its DID or how it begins; several times."),
]
Client = Annotated[
    list[str] | None,
    typer.Option("--client", metavar="NAME", help="From a client that calls itself so; several times."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="From then on: 2026-11-21, 2026-11-21T10:00Z, 2h, 3d."),
]
Until = Annotated[str | None, typer.Option("--until", metavar="WHEN", help="Before then; as --since.")]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="WORDS", help="With these words in it, whatever their case."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Check every record again first, and make the index anew.")
]
_FILTERS: Final[dict[str, Any]] = {
    "server": Server,
    "tool": Tool,
    "operation": Operation,
    "sensitivity": Sensitivity,
    "status": Status,
    "code": Code,
    "intent": OfIntent,
    "agent": Agent,
    "client": Client,
    "since": Since,
    "until": Until,
    "text": Text,
}


def filtered(command: Callable[..., int]) -> Callable[..., int]:
    """A command with the filters as its first options, handed to it as its first argument: what was given of
    them, by name. An empty one was given too, and is refused where it is read."""

    @wraps(command)
    def run(**values: Any) -> int:
        given = {name: values.pop(name) for name in _FILTERS}
        return command({name: value for name, value in given.items() if value not in (None, [])}, **values)

    said = inspect.signature(command)
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _FILTERS.items()
    ]
    own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in list(said.parameters.values())[1:]]
    run.__signature__ = said.replace(parameters=[*options, *own])  # type: ignore[attr-defined]  # what Typer reads
    run.__annotations__ = {one.name: one.annotation for one in (*options, *own)}
    return run
