"""The argument and the question that the verbs of `mcl tool` share."""

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

STYLES = {"new": "dim", "approved": "", "changed": "red", "quarantined": "red", "closed": "red"}


def complete_tool(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the tools by their short names."""
    from mcl.acts.tools import short_name
    from mcl.tools import registry

    for manifest in registry().manifests:
        name = short_name(manifest.uri)
        if name.startswith(incomplete):
            yield name, manifest.description.partition(".")[0]


ToolName = Annotated[
    str,
    typer.Argument(
        metavar="TOOL",
        help="fs/read, fs/read@1.0.0, or the whole address.",
        autocompletion=complete_tool,
    ),
]


def agreed(question: str) -> bool:
    """Whether the person says yes; end of input, nothing, or anything else is no."""
    sys.stderr.write(f"\n{question} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        sys.stderr.write("\n")
    return answer.strip().lower() in ("y", "yes")
