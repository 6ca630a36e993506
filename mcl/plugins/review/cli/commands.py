"""The verbs of `mcl review` and `mcl release`, with an example or two of each."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import typer

from mcl.cli.arguments import ShowsByDefault, noun, verb
from mcl.cli.output import note
from mcl.plugins.review.cli import maps, memory, review
from mcl.plugins.review.cli.release import check_command, drift_command

_REVIEW: Final[Mapping[str, Callable[..., Any]]] = {  # in the order of the help
    "file": review.file_command,
    "next": maps.next_command,
    "parse": review.parse_command,
    "history": memory.history_command,
    "dismiss": memory.dismiss_command,
    "dismissals": memory.dismissals_command,
    "bootstrap": memory.bootstrap_command,
    "decide": memory.decide_command,
    "decisions": memory.decisions_command,
    "recall": memory.recall_command,
    "remember": memory.remember_command,
    "drift": drift_command,
}
_CONTEXT: Final[Mapping[str, Callable[..., Any]]] = {
    "build": maps.build_command,
    "show": maps.show_command,
    "status": maps.status_command,
}


class ReviewsByDefault(ShowsByDefault):
    """`mcl review app.py` is `mcl review file app.py`, and `--diff=main` is `--diff main`."""

    does = "file"

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        end = args.index("--") if "--" in args else len(args)
        given: list[str] = []
        for word in args[:end]:
            given += word.split("=", 1) if word.startswith("--diff=") else [word]
        # What a word means may not depend on what lies in the folder: the command is meant, and that is told.
        if given and given[0] in self.commands and Path(given[0]).exists():
            note(f"{given[0]} is a command here; the file of that name: mcl review {self.does} {given[0]}")
        return super().parse_args(ctx, given + args[end:])


def register_review(app: typer.Typer) -> None:
    reviews = noun(
        "review",
        "Reviews of code. `mcl review FILE` is `mcl review file FILE`.",
        *("mcl review app.py", "mcl review --diff", "mcl review src --no-ai"),
        cls=ReviewsByDefault,
        subcommand_metavar="[FILE] | COMMAND [ARGS]...",
    )
    context = noun(
        "context",
        "Maps of a repository: what its files are, what they offer, who owns them.",
        *("mcl review context build", "mcl review context show src/app.py"),
    )
    _add(reviews, _REVIEW)
    _add(context, _CONTEXT)
    reviews.add_typer(context)
    app.add_typer(reviews)


def register_release(app: typer.Typer) -> None:
    release = noun("release", "May this repository be released?", "mcl release check")
    verb(release, "check")(check_command)
    app.add_typer(release)


def _add(group: typer.Typer, verbs: Mapping[str, Callable[..., Any]]) -> None:
    for name, command in verbs.items():
        verb(group, name)(command)
