"""Arguments that several verbs of `mcl work` share."""

from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import folder

Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="The folder that the work is in, or one below it (default: this folder).",
        parser=folder,
    ),
]
Agent = Annotated[
    str,
    typer.Option("--agent", metavar="NAME", help='Which agent this is (default: $MCL_AGENT, else "local").'),
]
Label = Annotated[str, typer.Argument(metavar="INTENT", help="Its id in the file, such as INT-001.")]
