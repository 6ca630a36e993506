"""Arguments and options that several commands share, and the example under every help."""

import errno
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from ir.errors import MclError

_Command = TypeVar("_Command", bound=Callable[..., Any])
VERBS = "find, acquire, build, modify, deliver, analyze, negotiate, schedule, monitor, delegate"
_SENTENCE = 300  # characters of the first sentence of a command's help


def example(*lines: str) -> str:
    """An epilog with commands to copy, kept as they are written."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


class Verbs(TyperGroup):
    """The commands of a noun: the noun alone shows its help, which tells of each its whole first sentence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of the noun."""
        return super().parse_args(ctx, args or ["--help"])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line or more of each."""
        with formatter.section("Commands"):
            told = [(name, one.get_short_help_str(_SENTENCE)) for name, one in self.commands.items()]
            formatter.write_dl(told)


class ShowsByDefault(Verbs):
    """`mcl log @last` is `mcl log show @last`: what names no command is shown."""

    does: ClassVar[str] = "show"

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # Typer's Context is its own
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = [self.does, *args]
        return super().parse_args(ctx, args)


def noun(name: str, help: str, *lines: str, **more: Any) -> typer.Typer:
    """The group of a noun's commands. lines: the example under its help; more: as of typer.Typer."""
    return typer.Typer(
        name=name, help=help, epilog=example(*lines), rich_markup_mode=None, **{"cls": Verbs, **more}
    )


@cache
def read_table(place: Path) -> dict[str, Any]:
    """A table of the command line: as `executor.core.tables`, which help does not load."""
    return tomllib.loads(place.read_text("utf-8"))


def verb(group: typer.Typer, name: str) -> Callable[[_Command], _Command]:
    """What makes a function a command of a group. The example under its help stands in `examples.toml` beside
    its module."""

    def added(command: _Command) -> _Command:
        module = command.__module__
        place = Path(str(sys.modules[module].__file__)).with_name("examples.toml")
        examples = read_table(place)[module.rpartition(".")[2]]
        noun = f"{group.info.name} " if isinstance(group.info.name, str) else ""
        return group.command(name, epilog=example(*examples[noun + name]))(command)

    return added


def option(name: str, help: str, **more: Any) -> Any:
    """An option by its name as the help shows it: "--yes", "--limit N". more: as of typer.Option."""
    name, _, value = name.partition(" ")
    return typer.Option(name, metavar=value or None, help=help, **more)


def argument(name: str, help: str, **more: Any) -> Any:
    """An argument by its name as the help shows it. more: as of typer.Argument."""
    return typer.Argument(metavar=name, help=help, **more)


def complete_intent(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the intents of the home, newest first; nothing where there is no home yet."""
    from ir.errors import MclError
    from mcl.core.home import locate
    from mcl.usecases.intents import list_intents

    if not locate().exists():
        return
    try:
        intents = list_intents()
    except MclError:
        return
    if "@last".startswith(incomplete):
        yield "@last", "the newest"
    for intent in intents:
        if intent.id.startswith(incomplete.upper()):
            yield intent.id, intent.prose


def complete_setting(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the settings."""
    from mcl.core.settings import SETTINGS

    yield from ((one.name, one.says) for one in SETTINGS.values() if one.name.startswith(incomplete))


IntentId = Annotated[
    str,
    argument(
        "INTENT",
        "Id of an intent, a unique beginning or end of it, @last, @last-1, or @2 as mcl list counts.",
        autocompletion=complete_intent,
    ),
]
LastIntent = Annotated[
    str, argument("[INTENT]", "As everywhere; without it the last one.", autocompletion=complete_intent)
]
AsJson = Annotated[bool, option("--json", "One JSON document on standard output.")]
AsJsonLines = Annotated[
    bool, option("--json", "JSON on standard output, one object a line for each of them.")
]
Yes = Annotated[bool, option("--yes", "Do not ask; for scripts.")]
Reason = Annotated[str, option("--reason TEXT", "Why; it is kept in the journal.")]
SkillDirectories = Annotated[
    list[Path] | None, option("--skills DIR", "Further folder of skills; may be given several times.")
]
ModelPath = Annotated[Path | None, option("--model PATH", "A GGUF file to compile with.")]
NoAi = Annotated[bool, option("--no-ai", "Use the deterministic matcher in place of a model.")]


def folder(text: str) -> Path:
    """A folder that is there. An empty name, as of an unset variable, is not the folder one is in."""
    if not text:
        raise typer.BadParameter("an empty name is no folder; this one is called .")
    if not Path(text).is_dir():
        raise typer.BadParameter(f"there is no folder {text!r}")
    return Path(text)


def read_source(source: str, most: int, *, what: str = "") -> bytes:
    """The bytes of a file, or of standard input for `-`; of what is longer than `most`, one byte more.

    what: is said where somebody would have to type it. Raises OSError; ValueError for a NUL in the name.
    """
    if source != "-":
        with Path(source).open("rb") as file:
            return file.read(most + 1)
    if sys.stdin is None:  # a process may be started without one
        raise OSError(errno.EBADF, "standard input is closed")
    if what and sys.stdin.isatty():
        from mcl.cli.output import note

        note(f"{what} is read from the terminal; Ctrl-D ends it")
    return sys.stdin.buffer.read(most + 1)


def typed_text(text: str, most: int, refusal: "Callable[..., MclError]", *, shorten: str) -> str:
    """A text as typed, or for `-` what standard input says, without the blanks around it.

    Raises what `refusal` makes of a message and a fix: of what is longer (fix: shorten), or no UTF-8.
    """
    if text != "-":
        return as_typed(text)
    try:
        data = read_source(text, most, what="the text")
    except OSError as error:
        raise refusal(error.strerror or str(error), fix="give the text itself") from error
    if len(data) > most:
        raise refusal(f"more than {most:,} bytes on standard input", fix=shorten)
    try:
        return data.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise refusal(f"byte {error.start} of standard input is not UTF-8", fix="give text") from error


Workspace = Annotated[
    Path | None,
    option("--workspace DIR", "The folder that tools may work in (default: this folder).", parser=folder),
]


def complete_tool(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the tools by their short names."""
    from executor.store.home import Home
    from executor.tools.names import short_name
    from mcl.catalog.tools import registry
    from mcl.catalog.tools.foreign import outside_tools
    from mcl.core.home import locate

    known = [(short_name(one.uri), one.description) for one in registry().manifests]
    if (place := locate()) and (place / "mcl.db").exists():
        with Home.open(place) as home:
            known += [(one.name, one.manifest.description) for one in outside_tools(home)]
    for name, description in known:
        if name.startswith(incomplete):
            yield name, description.partition(".")[0]


ToolName = Annotated[
    str,
    argument(
        "TOOL", "fs/read, fs/read@1.0.0, git:git_status, or the whole address.", autocompletion=complete_tool
    ),
]
ToolNames = Annotated[
    list[str] | None,
    argument("[TOOL]...", "fs/read, git:git_status, or whole addresses.", autocompletion=complete_tool),
]


def complete_skill(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the skills that are found here, and what they do."""
    from ir.errors import MclError
    from mcl.usecases.installed import list_skills

    try:
        found = list_skills()
    except (MclError, OSError):
        return
    for skill in found:
        if skill.id.startswith(incomplete):
            yield skill.id, skill.description


Paths = Annotated[
    list[str], argument("PATH", "A .mtx file, the folder of a skill, or a folder of such folders.")
]


def as_typed(word: str) -> str:
    """A word of the command line as UTF-8, whatever the locale took it for; unchanged where it is not."""
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word
