"""`mcl review next`: what to review first."""

import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output, note, write_document, write_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from mcl.core.errors import ReviewError
    from mcl.plugins.review.findings import FindingsRead
    from mcl.plugins.review.maps.order import DueFile


def _add_next(review: typer.Typer) -> None:
    """Add this verb."""
    review.command("next", epilog=example("mcl review next", "mcl review next --limit 3 --json"))(
        next_command
    )


def next_command(
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="At most so many.")
    ] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show what to review first: what much depends on, and what changed much since its last review.

    Files of code alone; one that nobody changed since its last review is not shown. The score is (hub score
    + 0.1) × changes.
    """
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import DIM, listing
    from mcl.plugins.review.usecases.next_ import next_reviews

    home = use_home()
    with waiting(quiet=as_json) as progress:
        found = next_reviews(workspace=workspace, progress=progress, home=home)
    out = Output(as_json)
    out.document({"files": [one.to_json() for one in found[:limit]], "count": len(found)})
    if not found:
        note("nothing changed since its last review")
        return
    lines = [
        [
            (f"{one.score:.2f}", ""),
            (one.file.path, ""),
            (one.file.role, DIM),
            (_why(one), DIM),
        ]
        for one in found[:limit]
    ]
    out.view([listing(("score", "file", "role", "why"), lines)])
    if len(found) > limit:
        out.view([f"… and {len(found) - limit:,} more"])


def _why(one: "DueFile") -> str:
    since = f"since {one.reviewed[:10]}" if one.reviewed else "never reviewed"
    changes = "1 change" if one.changes == 1 else f"{one.changes:,} changes"
    count = one.file.importers
    imported = f", {count:,} import{'s' * (count == 1)} it" if count else ""
    return f"{changes} {since}{imported}" if one.reviewed else f"{since}, {changes}{imported}"


# ---- `mcl review parse`: the findings in any text, read so that none is passed over.

MAX_BYTES: Final = 4 * 1024 * 1024


def _add_parse(review: typer.Typer) -> None:
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


def _tell(found: "FindingsRead") -> None:
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


# ---- What a person sees while files are read: a bar on a terminal, after a second; nothing elsewhere.

_QUIET: Final = 1.0  # seconds before anything is shown


@contextmanager
def waiting(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A function that is told what is being done, how much is done, and of how much."""
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    bar = _Bar()
    try:
        yield bar.tell
    finally:
        bar.end()


class _Bar:
    def __init__(self) -> None:
        self._begun = monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def tell(self, what: str, done: int, total: int) -> None:
        if self._shown is None:
            if monotonic() - self._begun < _QUIET:
                return
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            shown = Progress(*columns, console=Console(file=sys.stderr), transient=True)
            shown.start()
            self._shown = shown, shown.add_task(what, total=total)
        self._shown[0].update(self._shown[1], completed=done, total=total, description=what)
        if done >= total:
            self.end()

    def end(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
            self._shown = None


def register(noun: typer.Typer) -> None:
    """Add these verbs."""
    for add in (_add_next, _add_parse):
        add(noun)
