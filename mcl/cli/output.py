"""Where words go: views for people and documents for programs never share a stream."""

import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, AnyStr

from mcl.core.text import safe, safe_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from executor.store.home import Home
    from ir import MclError
    from mcl.compiler.outcome import Clarify, Compiled, Refused

_PAGERS = ("PATH", "TERM", "LANG", "LC_ALL", "LC_CTYPE")  # variables that a pager sees
_PLACE = 200  # characters of a place
MIN_WIDTH, MAX_WIDTH = 30, 110  # characters; in fewer, columns would vanish that a person is about to sign


def write_document(document: object) -> None:
    """Write one JSON document and a newline to standard output; what it holds becomes JSON as `ir.results`
    says."""
    _write(sys.stdout, _json(document, indent=2))


def write_event(event: object) -> None:
    """The same on one line."""
    _write(sys.stdout, _json(event))


def _json(document: object, *, indent: int | None = None) -> str:
    from ir.results import as_json  # pydantic, which --version need not wait for

    return safe_json(json.dumps(as_json(document), ensure_ascii=False, indent=indent)) + "\n"


def write_line(text: str) -> None:
    """Write one line for people and programs alike to standard output, as long as it is."""
    _write(sys.stdout, safe(text) + "\n")


def write_text(text: str) -> None:
    """Write a text that is a file's, as it is, to standard output."""
    _write(sys.stdout, text)


def write_bytes(data: bytes) -> None:
    """Write the bytes of a file, as they are, to standard output."""
    sys.stdout.flush()
    _write(sys.stdout.buffer, data)


def note_error(error: "MclError") -> None:
    """Say on standard error what was wrong, where, and what to do."""
    coloured = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    head = "\x1b[31merror:\x1b[0m" if coloured else "error:"
    lines = [f"{head} {safe(error.message)}"]
    place = _shortened(error.place).replace("\n", "\\n")  # a name of a file may look like lines of ours
    said = (("at", place), ("fix", error.fix))
    lines += [f"  {name:<6}{safe(text)}" for name, text in said if text]
    note("\n".join([*lines, f"  {'code':<6}{error.code}"]))


def _shortened(place: str) -> str:
    """A place with its two ends; that of something nested a hundred levels deep fills screens."""
    return place if len(place) <= _PLACE else f"{place[: _PLACE // 2]} … {place[-_PLACE // 2 :]}"


def _write(stream: IO[AnyStr], text: AnyStr) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        hush(stream)
    except OSError:  # a full disk: it is told on the other stream
        hush(stream)
        raise


def hush(stream: IO[Any]) -> None:
    """Let a stream that takes no more swallow the rest: what was begun is still finished."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _console(stream: IO[str]) -> "Console":
    from rich.console import Console

    class Quiet(Console):
        def on_broken_pipe(self) -> None:
            hush(stream)

    console = Quiet(file=stream, markup=False, highlight=False, emoji=False, soft_wrap=False)
    console.width = width_of(stream)
    return console


def width_of(stream: IO[str]) -> int:
    """Columns of what is written to a stream: those of its terminal or of COLUMNS, within limits."""
    said = os.environ.get("COLUMNS", "")
    width = int(said) if said.isascii() and said.isdigit() else 100
    if stream.isatty():
        with suppress(OSError):
            width = int(said) if said.isdigit() else os.get_terminal_size(stream.fileno()).columns
    return min(max(width, MIN_WIDTH), MAX_WIDTH)


@dataclass(frozen=True)
class Output:
    """One command's way of speaking.

    With `as_json` the view is replaced by a document on standard output; what a person must still read goes
    to standard error.
    """

    as_json: bool = False

    @cached_property
    def people(self) -> "Console":
        """The console for people: standard output, or standard error beside a document."""
        return _console(sys.stderr if self.as_json else sys.stdout)

    def view(self, parts: Iterable["RenderableType"]) -> None:
        """Print parts for people; nothing when a document is asked for."""
        if not self.as_json:
            self.tell(parts)

    def show(self, document: object, view: Iterable["RenderableType"]) -> None:
        """Write the document where one is asked for, else print the view."""
        self.document(document)
        self.view(view)

    def tell(self, parts: Iterable["RenderableType"]) -> None:
        """Print parts for people, whatever else is asked for; one that is a text as `plain`."""
        _write(self.people.file, self._drawn(parts))

    def page(self, parts: Iterable["RenderableType"]) -> None:
        """The same in a pager ($PAGER, or less), where it is longer than the terminal of a person."""
        text = self._drawn(parts)
        longer = (
            self.people.is_terminal and text.count("\n") >= self.people.size.height and sys.stdin.isatty()
        )
        if not (longer and _paged(text)):
            _write(self.people.file, text)

    def _drawn(self, parts: Iterable["RenderableType"]) -> str:
        from mcl.cli.views.layout import plain

        with self.people.capture() as held:
            for part in parts:
                self.people.print(plain(part) if isinstance(part, str) else part)
        return "\n".join(line.rstrip() for line in held.get().split("\n"))  # tables pad their last column

    def document(self, document: object) -> None:
        """Write the document; nothing when a view is asked for."""
        if self.as_json:
            write_document(document)


def _has_terminal() -> bool:
    """Whether this process belongs to a terminal, which a pager reads its keys from."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _paged(text: str) -> bool:
    """Show a text in a pager, to which no shell belongs; False where there is none, or nobody wants one."""
    from shlex import split
    from shutil import which

    words = split(os.environ.get("PAGER", "less")) if os.environ.get("TERM", "dumb") != "dumb" else []
    program = which(words[0]) if words and words[0] != "cat" else None
    if program is None or not _has_terminal():
        return False
    from functools import partial
    from tempfile import NamedTemporaryFile

    from executor.tools.process.terminal import run_foreground
    from mcl.core.event_loop import at_once

    kept = {name: os.environ[name] for name in _PAGERS if name in os.environ}
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".mcl") as file:
        file.write(text)
        file.flush()
        argv = [program, *words[1:], file.name]
        environment = {**kept, "LESS": "-FRX", "LESSSECURE": "1"}
        at_once(partial(run_foreground, argv, cwd="/", environment=environment))
    return True


def note(text: str) -> None:
    """Say something beside the result, on standard error."""
    _write(sys.stderr, text + "\n")


# ---- Telling what came of a compile: people get a view, programs a document, shells an exit code.


def tell_result(
    result: "Compiled | Clarify | Refused", out: Output, home: "Home", *, stored: bool, why: bool = False
) -> int:
    """Show a result, or write it as a document; the exit code that goes with it. why: also what it was
    decided by. Which steps of its plan no model of the home can answer is said before anybody signs."""
    from ir.errors import CLARIFY, REFUSED
    from mcl.usecases.documents import of_result, of_unanswerable

    unanswered = of_unanswerable(home, getattr(result, "plan", None))
    for one in unanswered:
        note("{node}: {message}; {fix}".format(**one))
    reasons = result.reasons if why else None
    if out.as_json:
        document = of_result(result, stored=stored, unanswerable=unanswered)
        out.document({**document, "why": reasons.document()} if reasons is not None else document)
    else:
        from mcl.cli.views.intent import result_view
        from mcl.cli.views.reasons import reasons_view

        out.tell(result_view(result, out.people, stored=stored))
        out.tell(reasons_view(reasons) if reasons is not None else ())
    return {"Compiled": 0, "Clarify": CLARIFY, "Refused": REFUSED}[type(result).__name__]
