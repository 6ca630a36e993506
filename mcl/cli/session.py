"""`mcl` alone on a terminal: a prompt at which goals and commands are typed, with history and completion."""

from __future__ import annotations

import gc
import glob
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcl.cli.output import note

if TYPE_CHECKING:
    from collections.abc import Sequence

HISTORY: Final = "history"  # in a home: what was typed, newest last
_KEPT: Final = 1000  # lines
_PROMPT: Final = "mcl> "
_ENDS: Final = frozenset({"exit", "quit", "q"})
_HELP: Final = frozenset({"help", "?"})
_WELCOME: Final = (
    "Say what you want, or type a command (/list, /why, /undo @last). Tab completes; /help, /quit, or Ctrl-D."
)


class PromptSession:
    """What is typed, line by line. run: gives a command line to mcl, and its exit code."""

    def __init__(self, run: Callable[[list[str]], int]) -> None:
        self._run = run
        from mcl.cli.agreement import line_editor

        self._lines = line_editor()

    def serve(self) -> int:
        """Read lines until the end of input. The exit code."""
        note(_WELCOME)
        if self._lines is not None:
            self._prepare(self._lines)
        while True:
            try:
                line = input(_PROMPT).encode(errors="surrogateescape").decode(errors="replace").strip()
            except EOFError:
                sys.stdout.write("\n")
                return 0
            except KeyboardInterrupt:
                sys.stdout.write("\n")
                continue
            if not line:
                continue
            if line.lstrip("/:").casefold() in _ENDS:
                return 0
            self._keep(line)
            self._run(command_line(line))
            gc.collect()  # the home of the command before is closed

    # ---- History and completion.

    def _prepare(self, lines: Any) -> None:
        lines.set_auto_history(False)  # what is answered to questions is no line of ours
        lines.set_completer_delims(" \t\n\"'")
        lines.parse_and_bind("tab: complete")
        lines.set_completer(_Completer(lines))
        for line in _history(_place()):
            lines.add_history(line)

    def _keep(self, line: str) -> None:
        if self._lines is None or _is_secret(line):
            return
        self._lines.add_history(line)
        place = _place()
        if place.parent.is_dir():
            with suppress(OSError):
                _write_history(place, [*_history(place), line][-_KEPT:])


def command_line(line: str) -> list[str]:
    """What a line is: a command where it begins with a slash, or says nothing but a command and which intent;
    else a goal."""
    try:
        words = shlex.split(line.lstrip("/:") if line[0] in "/:" else line)
    except ValueError:  # an apostrophe, say
        return ["do", "--", line]
    if not words or words[0].casefold() in _HELP:
        return ["--help"]
    if line[0] in "/:" or _is_command(words):
        return words
    return ["do", "--", line] if len(words) > 2 else _few(words, line)


def _is_command(words: Sequence[str]) -> bool:
    """Whether words are a whole command, and could be no goal: `list`, `undo @last`, `config list`."""
    from mcl.usecases.authority.commands import commands

    known = commands()
    if " ".join(words[:2]) in known and len(words) > 1:
        return True
    return words[0] in {path.partition(" ")[0] for path in known} and all(
        word.startswith(("@", "-")) or (len(word) > 5 and word.isupper()) for word in words[1:]
    )


def _few(words: list[str], line: str) -> list[str]:
    """One or two words: a slip of a command is told as one, as in a shell."""
    from mcl.cli.app import with_command
    from mcl.core.errors import InputError

    try:
        with_command(words)
    except InputError:
        return words
    return ["do", "--", line]


class _Completer:
    """Completes commands behind a slash, intents behind an @, else names of files."""

    def __init__(self, lines: Any) -> None:
        self._lines = lines
        self._found: list[str] = []

    def __call__(self, word: str, state: int) -> str | None:
        if state == 0:
            try:
                self._found = sorted(set(self._all(word)))
            except Exception:  # noqa: BLE001 - no key that is pressed ends the session
                self._found = []
        return self._found[state] if state < len(self._found) else None

    def _all(self, word: str) -> Iterator[str]:
        first = self._lines.get_begidx() == 0
        if first and word.startswith("/"):
            from mcl.usecases.authority.commands import commands

            names = {path.partition(" ")[0] for path in commands()} | _ENDS | {"help"}
            yield from (f"/{name} " for name in names if name.startswith(word[1:]))
        elif word.startswith("@"):
            from mcl.usecases.intents import list_intents

            places = ("@last", *(f"@{one.number}" for one in list_intents(limit=20)))
            yield from (place for place in places if place.startswith(word))
        elif word and not first:
            for found in glob.iglob(f"{glob.escape(word)}*"):  # noqa: PTH207 - as it is typed
                yield f"{found}/" if os.path.isdir(found) else found  # noqa: PTH112


def _place() -> Path:
    from mcl.core.home import locate

    return locate() / HISTORY


def _history(place: Path) -> list[str]:
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return []
    with os.fdopen(handle, encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n") for line in file.readlines()[-_KEPT:]]


def _write_history(place: Path, lines: Iterable[str]) -> None:
    from executor.core.files import whole_file

    with whole_file(place, durable=False) as file:
        file.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))


def _is_secret(line: str) -> bool:
    """Whether a key or token seems to stand in a line: such a one is not kept."""
    from ir.inline_secrets import find_secret

    return bool(find_secret("", line, goal=True))
