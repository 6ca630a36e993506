"""The commands of `mcl` by name. Nothing heavy is imported before a command runs, and of the commands
themselves only what the first word asks for."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperGroup

from mcl.cli.arguments import example, option, read_table
from mcl.plugins.hooks import plugins

# Each module with commands of the kernel (its GROUPS), and their names.
NOUNS: Final = {
    "home": ("init", "config"),
    "do": ("do",),
    "compile": ("compile", "answer"),
    "intent": ("show", "why", "list", "accept", "cancel"),
    "correct": ("correct",),
    "run": ("run", "undo"),
    "tool": ("tool",),
    "skill": ("skill",),
}
# The panels of the help, in their order; what a plug-in of somebody else's adds stands under "More".
_TABLE: Final = read_table(Path(__file__).with_suffix(".toml"))
PANELS: Final[Mapping[str, Sequence[str]]] = _TABLE["panels"]
# What commands were called before, or are looked for by, and are called now.
RENAMED: Final[Mapping[str, str]] = _TABLE["renamed"]

_FEW, _EDITS = 2, 2  # so many words may be a typo of a command, so many edits away


class Panels(TyperGroup):
    """All commands, in the panels of the help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        known = {name for names in PANELS.values() for name in names}
        others = tuple(name for name in self.commands if name not in known)
        for panel, names in (*PANELS.items(), ("More", others)):
            shown = [
                (name, self.commands[name].get_short_help_str(300)) for name in names if name in self.commands
            ]
            if shown:
                with formatter.section(panel):
                    formatter.write_dl(shown)


def require_name_of_today(given: Sequence[str]) -> None:
    """Raise InputError COMMAND_RENAMED for a command by the name that it had before."""
    words = [word for word in given if not word.startswith("-")]
    old = next((old for old in RENAMED if words[: len(old.split())] == old.split()), None)
    if old is None:
        return
    from mcl.core.errors import InputError

    message = f"mcl {old} is called mcl {RENAMED[old]} now"
    raise InputError("COMMAND_RENAMED", message, place=f"mcl {old}", fix=f"mcl {RENAMED[old]} --help")


def with_command(given: Sequence[str]) -> list[str]:
    """The command line, with `do` before what begins with no command: it is a goal, in plain words.

    Raises InputError COMMAND_UNKNOWN for one or two words within two edits of a command: that is a typo.
    """
    known = {name for names in NOUNS.values() for name in names}
    known |= {words.partition(" ")[0] for plugin in plugins() for words in plugin.commands}
    first = given[0]
    if first.startswith("-") or first in known:
        return [*given]
    words = " ".join(word for word in given if not word.startswith("-")).split()
    if len(words) <= _FEW and (near := _nearest(words, known)):
        from mcl.core.errors import InputError

        raise InputError(
            "COMMAND_UNKNOWN",
            f"there is no command {first!r}; did you mean mcl {near}?",
            place=f"mcl {first}",
            fix=f"mcl --help lists them; where it is a goal: mcl do {shlex.quote(' '.join(words))}",
        )
    return ["do", *given]


def _nearest(words: Sequence[str], known: Iterable[str]) -> str:
    """The command that one or two words were to be; of two words the first alone is one edit away at most."""
    from mcl.core.text import edits

    def far(name: str) -> int:
        whole = edits(" ".join(words).casefold(), name, _EDITS)
        return whole if len(words) == 1 else min(whole, edits(words[0].casefold(), name, 1) + _EDITS - 1)

    best = min(sorted(known), key=far)
    return best if far(best) <= _EDITS else ""


def app_for(word: str = "") -> typer.Typer:
    """The command line, with the commands of one module where `word` is one of them, else with all.

    All of them together take 20 ms to import and to build, which a compile need not wait for.
    """
    app = typer.Typer(
        name="mcl",
        cls=Panels,
        help="Say what you want in plain words; read it, sign it, run it, replay it.",
        epilog=example(
            'mcl compile "which files in notes mention invoice"', "mcl accept @last", "mcl run @last"
        ),
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(all_commands)
    # By what adds it, a noun before its verbs: one may add several.
    added = {named: (words, plugin) for plugin in plugins() for words, named in plugin.commands.items()}
    ours = [noun for noun, names in NOUNS.items() if word in names]
    theirs = [one for one in added.items() if one[1][0].partition(" ")[0] == word]
    if not (ours or theirs):
        ours, theirs = [*NOUNS], [*added.items()]
    for noun in ours:
        for group in import_module(f"mcl.cli.{noun}").GROUPS:
            app.add_typer(group)
    for named, (words, plugin) in sorted(theirs, key=lambda one: " " in one[1][0]):
        noun, _, verb = words.partition(" ")
        commands, group = plugin.load_named(named), _below(app, noun) if verb else app
        group.add_typer(commands) if isinstance(commands, typer.Typer) else commands(group)
    return app


def _below(app: typer.Typer, noun: str) -> typer.Typer:
    """Where a plug-in's verbs of a noun of somebody else go: behind those that it has, of this command line
    alone."""
    groups = ((one, one.typer_instance) for one in app.registered_groups)
    place, group = next((one, group) for one, group in groups if group and group.info.name == noun)
    place.typer_instance, below = copy(group), typer.Typer()
    place.typer_instance.registered_groups = [*group.registered_groups]
    place.typer_instance.add_typer(below)
    return below


def command_for(word: str = "") -> Any:
    """The same with its doors: each command that is a person's asks for one before it does anything."""
    command = typer.main.get_command(app_for(word))
    _with_doors(command, ())
    return command


def _with_doors(command: Any, path: tuple[str, ...]) -> None:
    for name, below in getattr(command, "commands", {}).items():
        _with_doors(below, (*path, name))
    if path and command.callback is not None and not hasattr(command, "commands"):
        command.callback = _guarded(command, " ".join(path))


def _guarded(command: Any, path: str) -> Callable[..., Any]:
    run = command.callback

    @wraps(run)
    def guarded(**given: Any) -> Any:
        from mcl.catalog.extras import require_extra
        from mcl.cli.home import a_persons
        from mcl.usecases.authority.commands import commands

        options = [option for one in command.params if given.get(one.name) for option in one.opts]
        for plugin in plugins():
            if any(f"{path} ".startswith(f"{words} ") for words in plugin.commands):
                require_extra(plugin, f"mcl {path}")
        row = commands().get(path)
        if row is not None and not row.is_persons(options):
            return run(**given)
        from mcl.usecases.authority.door import require_person

        require_person(f"mcl {path}")
        with a_persons():
            return run(**given)

    return guarded


def show_version(asked: bool) -> None:
    """Print the version and end, where it is asked for."""
    if asked:
        from mcl.core.distribution import VERSION

        typer.echo(f"mcl {VERSION}")
        raise typer.Exit


def all_commands(
    version: Annotated[
        bool, option("--version", "Show the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """The options that stand before any command."""
