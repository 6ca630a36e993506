"""The verbs of `mcl review` and `mcl release`, with an example or two of each."""

from pathlib import Path
from typing import Any, Final

import typer

from mcl.cli.arguments import ShowsByDefault, noun, verb
from mcl.cli.output import note
from mcl.plugins.review.cli import maps, memory, review
from mcl.plugins.review.cli.release import check_command, drift_command

_REVIEW: Final = (  # in the order of the help
    (
        ("file", review.file_command),
        "mcl review file app.py",
        "mcl review app.py --mode security --deep",
        "mcl review --diff",
        "mcl review --diff main --sarif found.sarif",
        "mcl review src --no-ai --json",
    ),
    (("next", maps.next_command), "mcl review next", "mcl review next --limit 3 --json"),
    (
        ("parse", review.parse_command),
        "mcl review parse answer.txt",
        "mcl review parse answer.txt --mode security --json",
        "cat answer.txt | mcl review parse -",
    ),
    (
        ("history", memory.history_command),
        "mcl review history",
        "mcl review history src/app.py --limit 3 --json",
    ),
    (
        ("dismiss", memory.dismiss_command),
        'mcl review dismiss src/app.py:12 --why "the text is a constant"',
        'mcl review dismiss src/app.py:30 --rule B608 --why "only names of our own tables"',
        "mcl review dismiss src/app.py:12 --forget",
    ),
    (
        ("dismissals", memory.dismissals_command),
        "mcl review dismissals",
        "mcl review dismissals src/app.py --json",
    ),
    (("bootstrap", memory.bootstrap_command), "mcl review bootstrap", "mcl review bootstrap --json"),
    (
        ("decide", memory.decide_command),
        'mcl review decide "One SQLite file" --decision "All is kept in one file." --about "store/**"',
        'mcl review decide "No ORM" --kind rejected --decision - --context "We tried one." < why.md',
    ),
    (
        ("decisions", memory.decisions_command),
        "mcl review decisions",
        "mcl review decisions ADR-0001",
        "mcl review decisions --about src/app.py",
        "mcl review decisions --check",
        "mcl review decisions --read",
    ),
    (
        ("recall", memory.recall_command),
        'mcl review recall "who talks to SQLite" --limit 2',
        "mcl review recall",
    ),
    (
        ("remember", memory.remember_command),
        'mcl review remember "Only store/ talks to SQLite" --kind convention --tag store',
        "mcl review remember - --kind summary --source docs/design.md < summary.txt",
    ),
    (("drift", drift_command), "mcl review drift", "mcl review drift --workspace ../shop --json"),
)
_CONTEXT: Final = (
    (("build", maps.build_command), "mcl review context build", "mcl review context build --yes --json"),
    (
        ("show", maps.show_command),
        "mcl review context show src/app.py",
        "mcl review context show src/app.py --told",
    ),
    (("status", maps.status_command), "mcl review context status"),
)
_RELEASE: Final = (
    "mcl release check",
    "mcl release check --no-tests --workspace ../shop",
    "mcl release check --strict --json",
)


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
    verb(release, "check", *_RELEASE)(check_command)
    app.add_typer(release)


def _add(group: typer.Typer, verbs: tuple[Any, ...]) -> None:
    for (name, command), *examples in verbs:
        verb(group, name, *examples)(command)
