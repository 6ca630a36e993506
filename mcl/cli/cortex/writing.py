"""`mcl cortex put`, `forget` and `learning`: what changes memories."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.cortex.arguments import Address, complete_type, full
from mcl.cli.output import Output, note

MAX_TEXT_BYTES = 4 * 16_384  # no text of the longest allowed length is larger


class Switch(StrEnum):
    """On or off."""

    on = "on"
    off = "off"


def register(cortex: typer.Typer) -> None:
    """Add these verbs."""
    cortex.command(
        "put",
        epilog=example(
            'mcl cortex put Fact "The office is in Oslo" --id office --tag place',
            "mcl cortex put Belief - --confidence 0.6 < note.txt",
            "mcl cortex put --file memories.jsonl",
        ),
    )(put)
    cortex.command("forget", epilog=example("mcl cortex forget Fact/office"))(forget)
    cortex.command("learning", epilog=example("mcl cortex learning", "mcl cortex learning off"))(learning)


def put(
    type: Annotated[
        str,
        typer.Argument(
            metavar="[TYPE]",
            help="Identity, Fact, Preference, Belief, Event, Goal, Constraint, Capability, Pattern.",
            autocompletion=complete_type,
        ),
    ] = "",
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="What to remember; - reads standard input.")
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="JSONL",
            help="Remember every line of a file, all or nothing; - reads standard input.",
        ),
    ] = None,
    id: Annotated[
        str, typer.Option("--id", metavar="ID", help="The same id again makes the next version.")
    ] = "",
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="May be given several times.")
    ] = None,
    edge: Annotated[
        list[str] | None,
        typer.Option(
            "--edge", metavar="REL=URI", help="What it is linked to, and how; may be given several times."
        ),
    ] = None,
    importance: Annotated[
        float, typer.Option("--importance", metavar="SHARE", min=0, max=1, help="From 0 to 1.")
    ] = 0.5,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="SHARE", min=0, max=1, help="From 0 to 1.")
    ] = 1.0,
    source: Annotated[str, typer.Option("--source", metavar="TEXT", help="Where it comes from.")] = "",
    as_json: AsJson = False,
) -> None:
    """Remember something: a text, or every line of a file.

    A line of the file is a JSON object with type and text, and where wanted id, tags, edges, importance,
    confidence, source, data, at. What is remembered already is left as it is.
    """
    if file is not None:
        if type or text or id or tag or edge:
            raise typer.BadParameter("--file goes without TYPE, TEXT, --id, --tag and --edge")
        _put_file(file, Output(as_json))
        return
    if not type or not text:
        raise typer.BadParameter("give TYPE and TEXT, or --file")
    from mcl.cli.cortex.views import document, memory_view
    from mcl.cli.home import use_home
    from mcl.usecases.cortex import cortex_put

    said = cortex_put(
        type,
        _text(text),
        id=id,
        tags=tag or (),
        edges=[_edge(one) for one in edge or ()],
        importance=importance,
        confidence=confidence,
        source=source,
        home=use_home(signs=True),
    )
    out = Output(as_json)
    out.document(document(said))
    if "[redacted: " in said.text and "[redacted: " not in text:
        note("a secret was taken out of it")
    if not as_json:
        out.tell(memory_view(said))


def forget(
    uri: Address,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> int:
    """Forget a memory.

    It is found no more from now on. What it said stays in earlier snapshots and in the journal, which are
    never changed. On a terminal it asks first.
    """
    from ir.errors import REFUSED
    from mcl.cli.cortex.views import document, memory_view
    from mcl.cli.home import use_home
    from mcl.usecases.cortex import cortex_forget, cortex_show

    home, out = use_home(signs=True), Output(as_json)
    found = cortex_show(full(uri).partition("@")[0], home=home)
    if not yes and sys.stdin.isatty():
        out.tell(memory_view(found))
        if not typer.confirm("Forget it?", err=True):
            note("nothing was forgotten")
            return REFUSED
    gone = cortex_forget(found.address, home=home)
    out.document(document(gone))
    note(f"forgotten: {gone.address}")
    return 0


def learning(
    switch: Annotated[Switch | None, typer.Argument(metavar="[on|off]", help="Turn it on or off.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell whether accepted answers are learned from, or turn that on or off.

    Off, nothing new is learned and what was learned is not made use of; it is not forgotten.
    """
    from mcl.cli.home import use_home
    from mcl.usecases.cortex import cortex_learning

    wanted = None if switch is None else switch is Switch.on
    on = cortex_learning(wanted, home=use_home(signs=switch is not None))
    Output(as_json).document({"learning": "on" if on else "off"})
    if not as_json:
        from mcl.cli.views.layout import plain

        Output().tell([plain(f"learning from accepted answers is {'on' if on else 'off'}")])


def _put_file(file: Path, out: Output) -> None:
    from dataclasses import asdict

    from mcl.cli.home import use_home
    from mcl.cli.views.layout import GOOD, plain
    from mcl.usecases.cortex import cortex_import

    home = use_home(signs=True)
    with _lines(file) as lines, bar("remembering") as progress:
        done = cortex_import(lines, name=str(file), progress=progress, home=home)
    out.document(asdict(done))
    if not out.as_json:
        told = f"{done.lines} lines: {done.written} remembered, {done.unchanged} were known"
        out.tell([plain(told, GOOD), plain(f"snapshot {done.size}  {done.root}", "dim")])


@contextmanager
def _lines(file: Path) -> Iterator[IO[bytes]]:
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    with file.open("rb") as stream:
        yield stream


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on standard error, where that is a terminal; None elsewhere. It is told how many are
    done, and of how many."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def _text(text: str) -> str:
    from mcl.cli.compile import as_typed

    if text != "-":
        return as_typed(text)
    from mcl.core.errors import CortexError

    data = sys.stdin.buffer.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        message = f"more than {MAX_TEXT_BYTES} bytes on standard input"
        raise CortexError("MEMORY_SHAPE", message, fix="remember where it is, not all of it")
    try:
        return data.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        message = f"byte {error.start} of standard input is not UTF-8"
        raise CortexError("MEMORY_SHAPE", message, fix="give text") from error


def _edge(text: str) -> tuple[str, str]:
    relation, equals, uri = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not REL=URI")
    return relation, uri
