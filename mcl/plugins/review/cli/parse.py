"""`mcl review parse`: the findings in any text, read so that none is passed over."""

import errno
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import note, write_document, write_line

if TYPE_CHECKING:
    from mcl.core.errors import ReviewError
    from mcl.plugins.review.findings import Reading

MAX_BYTES: Final = 4 * 1024 * 1024


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "parse",
        epilog=example(
            "mcl review parse answer.txt",
            "mcl review parse answer.txt --mode security --json",
            "cat answer.txt | mcl review parse -",
        ),
    )(parse_command)


def parse_command(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="A text with findings; - is standard input.")
    ] = "-",
    mode: Annotated[
        str,
        typer.Option("--mode", metavar="MODE", help="Say which labels are not of comment, architecture, …"),
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Read the findings of a text: once each, the worst first. What looks like one and cannot be read blocks.

    Exit codes: 0 nothing that blocks, 1 blocking findings or lines that cannot be read, 4 refused: also a
    text that says nothing.
    """
    from mcl.plugins.review.findings import read_findings, says_nothing
    from mcl.plugins.review.findings.reading import settled

    labels = None
    if mode:
        from mcl.plugins.review.contracts import contract

        labels = contract(mode).labels
    text = _read(file).decode("utf-8-sig", errors="replace")
    if says_nothing(text):
        raise _refused("REVIEW_EMPTY", "it says nothing, and that is no review without findings", file)
    found = settled(read_findings(text, labels=labels))
    if as_json:
        write_document(found.to_json())
    else:
        _tell(found)
    for finding in found.outside:
        note(f"{finding.severity} at {finding.location}: no label of mode {mode}")
    return 1 if found.blocking else 0


def _tell(found: "Reading") -> None:
    from mcl.plugins.review.findings import write_findings

    for line in write_findings(found.findings).split("\n") if found.findings or not found.unreadable else ():
        write_line(line)
    for unread in found.unreadable:
        write_line(f"line {unread.line} cannot be read: {unread.text}")


def _read(source: str) -> bytes:
    """The bytes of a file or of standard input, where they are not too many."""
    try:
        if source != "-":
            with Path(source).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        elif sys.stdin is None:  # a process may be started without one
            raise OSError(errno.EBADF, "standard input is closed")
        else:
            if sys.stdin.isatty():
                note("a text is read from the terminal; Ctrl-D ends it")
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        why = getattr(problem, "strerror", "") or str(problem)
        raise _refused("FILE_UNREADABLE", f"it cannot be read: {why}", source) from problem
    if len(data) > MAX_BYTES:
        raise _refused("REVIEW_TOO_LONG", f"it has more than {MAX_BYTES} bytes", source)
    return data


def _refused(code: str, message: str, place: str) -> "ReviewError":
    from mcl.core.errors import ReviewError

    return ReviewError(code, message, place=place, fix="name a file with the text of one review")
