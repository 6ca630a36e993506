"""A small reader of shell lines: plain commands of literal words, and nothing that a shell would work out.

Whatever it does not know for certain is no plain line. That is no verdict on the command: somebody else, who
sees it whole, decides.

It is written by hand on purpose. A grammar tells what a line is made of, not what a shell will do with a
word: of the 254 lines of tests/agents/test_hook_shell.py that must not pass for reading, tree-sitter-bash
finds plain commands in 23 (`cat .e*`, `~/bin/ls`, a word that goes on in the next line). So every check below
would stay; and loading it would cost a hook without a resident process 30 ms.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from executor.core.tables import table_beside
from mcl.plugins.agents.guard.places import PathReach, lexical, reach_of
from mcl.usecases.authority.commands import command_in, plain_options

LONGEST: Final = 8192  # characters of a line that is read
MOST: Final = 32  # commands in it

# What a shell acts on; between quotes it does not. `#`, `~`, `=` and `!` count only where a word begins.
_ACTIVE: Final = frozenset("$`(){}<>&*?[]\\\"'|;")
_AT_START: Final = frozenset("#~=!")
_QUIET: Final = re.compile(r"(?:2>&1|(?:[12]?>|&>)[ \t]*/dev/null)(?=[ \t\n|;&]|\Z)")
_BETWEEN: Final = re.compile(r"&&|\|\||[|;\n](?![|&;])")


class NotPlainError(ValueError):
    """The line is more than plain commands; the text says what was met."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One command. words: the program and its arguments, as the program gets them. after: what stands
    between it and the one before: "", "|", "&&", "||" or ";"."""

    words: tuple[str, ...]
    after: str = ""


def read_line(text: str) -> tuple[ShellCommand, ...]:
    """The commands of a line. Raises NotPlainError."""
    if len(text) > LONGEST:
        raise NotPlainError("it is too long")
    if any((ord(char) < 32 and char not in "\t\n") or ord(char) == 127 for char in text):
        raise NotPlainError("it holds control characters")
    return _Reader(text.strip(" \t\n")).commands()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def commands(self) -> tuple[ShellCommand, ...]:
        found: list[ShellCommand] = []
        words: list[str] = []
        after = ""
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in " \t":
                self._at += 1
            elif quiet := _QUIET.match(self._text, self._at):
                self._at = quiet.end()
            elif between := _BETWEEN.match(self._text, self._at):
                found.append(_command(words, after))
                words, after = [], ";" if between[0] == "\n" else between[0]
                self._at = between.end()
                self._skip_lines(after)
            elif char in "|;&\n":
                raise NotPlainError(f"a shell would act on {char}")
            else:
                words.append(self._word(first=not words))
        found.append(_command(words, after))
        if len(found) > MOST:
            raise NotPlainError("it has too many commands")
        return tuple(found)

    def _skip_lines(self, after: str) -> None:
        """Line ends that follow another one, or an operator, mean nothing more."""
        while self._at < len(self._text) and self._text[self._at] in " \t\n":
            self._at += 1

    def _word(self, *, first: bool) -> str:
        made, start = "", self._at
        while self._at < len(self._text) and self._text[self._at] not in " \t\n|;&":
            char = self._text[self._at]
            if char == "'":
                made += self._until("'")
            elif char == '"':
                piece = self._until('"')
                if any(mark in piece for mark in "$`\\!"):
                    raise NotPlainError("a shell would work out what stands between quotes")
                made += piece
            elif char == "\\":
                made += self._escaped()
            elif char in _ACTIVE or (char in _AT_START and self._at == start and not self._alone(char)):
                raise NotPlainError(f"a shell would act on {char}")
            elif first and char == "=":
                raise NotPlainError("it sets a variable")
            else:
                made += char
                self._at += 1
        return made

    def _alone(self, char: str) -> bool:
        """`!` by itself among the arguments, as `find` knows it."""
        return char == "!" and self._at > 0 and self._text[self._at + 1 : self._at + 2] in (" ", "\t")

    def _until(self, quote: str) -> str:
        end = self._text.find(quote, self._at + 1)
        if end < 0:
            raise NotPlainError("a quotation does not end")
        piece = self._text[self._at + 1 : end]
        self._at = end + 1
        return piece

    def _escaped(self) -> str:
        char = self._text[self._at + 1 : self._at + 2]
        if not char or char == "\n":
            raise NotPlainError("a line goes on in the next")
        self._at += 2
        return char


def _command(words: list[str], after: str) -> ShellCommand:
    if not words or words[0] == "!":
        raise NotPlainError("a command is missing")
    return ShellCommand(tuple(words), after)


# ---- Which commands only read: by the table `reading.toml`, option by option.
# What is not in the table is not said to be harmful; it is only not known to be harmless.

# ---- Whether git shows what is in files that a command does not name: any tracked one, secret or not.

_OF_A_VERSION: Final = re.compile(r"(?:[^:{}*?\[\]\\]+|:[0-3]):(?![/!^(])[^*?\[\]\\]+\Z")  # HEAD:a, :0:a
_MAGIC: Final = frozenset(":*?[\\")  # with which one name stands for several files


def shows_unnamed(
    row: Mapping[str, Any], used: Collection[str], operands: Sequence[str], marked: int | None, cwd: str
) -> bool:
    """Whether git shows what is in files that were not named one by one.

    row: of the command: shows, whether it shows contents anyway, but for the options of `hiding`; showing,
    options with which it does. marked: how many operands stand before `--`, None where that is not there.
    """
    options = set(used)
    if not (options & set(row.get("showing", ())) or (row.get("shows") and not options & set(row["hiding"]))):
        return False
    if row.get("versions") and operands and all(map(_OF_A_VERSION.match, operands)):
        return False
    # Without `--` git refuses what may be a version and a file, and files that are not there.
    named = operands[marked:] if marked is not None else [one for one in operands if _is_there(one, cwd)]
    return (
        not named or not all(_is_one_file(one, cwd) for one in named) or (marked is None and _mixed(operands))
    )


def _mixed(operands: Sequence[str]) -> bool:
    """Whether an operand may stand for several files. Of versions, `HEAD^{/x}` and `HEAD@{1}` do not."""
    return any(_MAGIC & set(one) for one in operands)


def _is_there(path: str, cwd: str) -> bool:
    return os.path.lexists(os.path.join(cwd, path))  # noqa: PTH118


def _is_one_file(path: str, cwd: str) -> bool:
    if _MAGIC & set(path):
        return False
    try:
        return stat.S_ISREG(os.lstat(os.path.join(cwd, path)).st_mode)  # noqa: PTH118
    except (OSError, ValueError):
        return False


# reads: of this folder, and nothing secret. leave: it may read elsewhere, or whole folders. secret: it names
# what is protected. person: only a person does that. named: it speaks for another agent than its own.
Finding = Literal["reads", "leave", "secret", "person", "named"]

_ORDER: Final[tuple[Finding, ...]] = ("reads", "leave", "secret", "named", "person")
_SYSTEM: Final = ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
_BUILT_IN: Final = frozenset({"cd", "echo", "pwd", "true", "false", "test", "type"})
_GROUPING: Final = frozenset("()!,")
_NUMBER: Final = re.compile(r"-U?[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Shell:
    """Where a line is run. root: the governed folder; cwd: absolute; search: folders that programs are found
    in, as PATH; agent: who runs it; in_environment: its programs know that without an option; closed: as of
    `reach_of`."""

    root: Path
    cwd: str
    search: str
    agent: str
    in_environment: bool = False
    closed: Path | None = None


def look_at(line: str, shell: Shell) -> Finding:
    """What a line does. Raises NotPlainError where that is not known to be reading, or mcl's own."""
    commands = read_line(line)
    cwd, found = shell.cwd, list[Finding]()
    for place, command in enumerate(commands):
        if command.words[0] == "cd":
            alone = any(one.after == "|" for one in commands[1:2])  # in a pipe it changes nothing behind it
            if place or alone or any(one.after not in ("", "&&", "|") for one in commands):
                raise NotPlainError("it may run in another folder")
            cwd = _entered(command, cwd, shell)
            continue
        found.append(_one(command.words, cwd, shell))
    return max(found, key=_ORDER.index, default="reads")


def _entered(command: ShellCommand, cwd: str, shell: Shell) -> str:
    """The folder that `cd` goes to, which must be one of the root. CDPATH says nothing of such names."""
    words = [word for word in command.words[1:] if word != "--"]
    if len(words) != 1 or words[0].startswith("-"):
        raise NotPlainError("it may run in another folder")
    if not words[0].startswith(("/", "./", "../")) and words[0] not in (".", ".."):
        words[0] = f"./{words[0]}"
    reach, real = reach_of(words[0], cwd, shell.root, shell.closed)
    # A shell takes `..` back by the name of the path, programs by where its links lead.
    if reach is not PathReach.INSIDE or lexical(words[0], cwd) is None:
        raise NotPlainError("it runs in another folder")
    return real


def _one(words: Sequence[str], cwd: str, shell: Shell) -> Finding:
    name = _program(words[0], cwd, shell)
    if name == "mcl":
        return _mcl(words[1:], cwd, shell)
    if name == "git":
        return _git(words[1:], cwd, shell)
    row = _table().get(name)
    if row is None:
        raise NotPlainError(f"{name} is not known to read only")
    return _operands(row, words[1:], cwd, shell)


def _program(word: str, cwd: str, shell: Shell) -> str:
    """The name of a program that is surely the one of that name, and none that the agent may have made."""
    folder, _, name = word.rpartition("/")
    if folder:
        if folder not in _SYSTEM and word != _own():
            raise NotPlainError(f"{word} may be any program")
        return name
    if word in _BUILT_IN:
        return word
    for place in shell.search.split(os.pathsep) if shell.search else _SYSTEM:
        found = os.path.join(place, word)  # noqa: PTH118
        if not place.startswith("/") or not os.access(found, os.X_OK):
            if not place.startswith("/") and os.access(os.path.join(cwd, found), os.X_OK):  # noqa: PTH118
                raise NotPlainError(f"{word} may be a program of this folder")
            continue
        inside = reach_of(found, cwd, shell.root)[0] is not PathReach.OUTSIDE
        if inside and os.path.realpath(found) != os.path.realpath(_own()):
            raise NotPlainError(f"{word} is a program of this folder")
        break
    return word


@cache
def _own() -> str:
    """The command of this installation."""
    return str(Path(sys.executable).absolute().parent / "mcl")


def _git(words: Sequence[str], cwd: str, shell: Shell) -> Finding:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("--no-pager", "-P"):
            continue
        if option == "-C" and rest:
            reach, cwd = reach_of(rest.pop(0), cwd, shell.root, shell.closed)
            if reach is PathReach.INSIDE:
                continue
        raise NotPlainError(f"git {option} is not known to read only")
    row = _table()["git"].get(rest[0]) if rest else None
    if row is None:
        raise NotPlainError("this command of git is not known to read only")
    if _is_bare(cwd):
        raise NotPlainError("git may take a folder here for a repository, whose settings name what it runs")
    return _operands(row, rest[1:], cwd, shell)


def _is_bare(cwd: str) -> bool:
    """Whether git may take a folder on its way up from here for a repository although it holds no `.git`.

    Such a folder is made of plain files, which an agent may write: its `config` can name programs.
    """
    place = Path(os.path.realpath(cwd))
    for one in (place, *place.parents):
        if os.path.lexists(one / "HEAD"):
            return True
        if os.path.lexists(one / ".git"):
            return False
    return False


def _mcl(words: Sequence[str], cwd: str, shell: Shell) -> Finding:
    if words and words[0] in ("--version", "--help", "-h"):
        return "reads"
    row = command_in(words)
    options = [word.partition("=")[0] for word in words if word.startswith("-")]
    if row is None:
        raise NotPlainError("this command of mcl is not known")
    if list(words[len(row.path.split()) :]) in (
        ["--help"],
        ["-h"],
    ):  # alone: it is no value of another option
        return "reads"
    if row.as_ == "host" or row.is_persons(options):
        return "person"
    if row.who == "agent" and not row.as_:
        raise NotPlainError("this command of mcl is not known to be harmless")
    if row.as_ and _for_another(words, shell, must_say=row.as_ == "named"):
        return "named"
    for option in options:
        if option not in plain_options():
            raise NotPlainError(f"mcl {option} is not known to write nothing")
    files = (word.partition("=")[2] or word for word in words)  # any word may be one that it shows
    return max((_reached(one, cwd, shell) for one in files), key=_ORDER.index, default="reads")


def _for_another(words: Sequence[str], shell: Shell, *, must_say: bool) -> bool:
    """Whether a command names another agent than the one that runs it, or none where it must."""
    given = [list(words[at + 1 : at + 2]) for at, word in enumerate(words) if word == "--agent"]
    given += [[word.partition("=")[2]] for word in words if word.startswith("--agent=")]
    # An option may be cut short where nothing else begins so.
    cut = any(word.startswith("--a") and word.partition("=")[0] != "--agent" for word in words)
    if cut or any(one != [shell.agent] for one in given):
        return True
    return must_say and not given and not shell.in_environment


def _operands(row: Mapping[str, Any], words: Sequence[str], cwd: str, shell: Shell) -> Finding:
    operands, used, marked = _options(row, words)
    kind = row.get("operands", "paths")
    if "most" in row and len(operands) > row["most"]:
        raise NotPlainError("it may write to what it names last")
    if "starts" in row and not all(one.startswith(row["starts"]) for one in operands):
        raise NotPlainError("it may set what it names")
    if kind == "text":
        return "reads"
    if kind == "pattern" and not used & set(row.get("pattern_option", ())) and operands:
        if "pattern" in row and not re.fullmatch(row["pattern"], operands[0]):
            raise NotPlainError("it may do more than show lines")
        operands = operands[1:]
    deep = row.get("always_deep") or used & set(row.get("deep", ()))
    if row.get("deep_folders"):
        deep = deep or any(os.path.isdir(os.path.join(cwd, one)) for one in operands)  # noqa: PTH112, PTH118
    found: list[Finding] = ["leave"] if deep or shows_unnamed(row, used, operands, marked, cwd) else []
    for one in operands:
        # A version and a path in it, as git writes them: HEAD:a, :0:a.
        parts = one.split(":")
        paths = (":".join(parts[start:]) for start in range(len(parts)))
        found += [_reached(path, cwd, shell) for path in paths if path]
    return max(found, key=_ORDER.index, default="reads")


def _reached(path: str, cwd: str, shell: Shell) -> Finding:
    """What it is to read a path."""
    reach, _ = reach_of(path, cwd, shell.root, shell.closed)
    if reach is PathReach.INSIDE:
        return "reads"
    return "secret" if reach is PathReach.PROTECTED else "leave"


def _options(row: Mapping[str, Any], words: Sequence[str]) -> tuple[list[str], set[str], int | None]:
    """The operands; the options, without their dashes; how many operands stand before `--`, None: it is not
    there."""
    if row.get("loose"):
        return list(words), set(), None
    operands: list[str] = []
    used: set[str] = set()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--" and "single" not in row:
            return operands + rest, used, len(operands)
        if word == "-" or not word.startswith("-"):
            if not ("single" in row and word in _GROUPING):
                operands.append(word)
        elif "single" in row:
            used.add(_single(row["single"], word[1:], rest))
        elif word.startswith("--"):
            used.add(_long(row.get("long", ()), word[2:]))
        elif row.get("numbers") and _NUMBER.match(word):
            used.add("U" if word.startswith("-U") else "number")
        else:
            used |= _short(row, word[1:], rest)
    return operands, used, None


def _long(known: Sequence[str], option: str) -> str:
    """A long option. A value stands behind `=`: of one that stands by itself it is not certain that the
    program takes it for the value, and not for an option of its own."""
    name, given, _ = option.partition("=")
    if f"{name}{given}" not in known:
        raise NotPlainError(f"--{name}{given} is not known to be harmless")
    return name


def _single(known: Sequence[str], option: str, rest: list[str]) -> str:
    """A word of `find` and its like: its value, where it takes one, is the next word, always."""
    if f"{option}=" in known:
        if not rest:
            raise NotPlainError(f"-{option} takes a value")
        rest.pop(0)
    elif option not in known:
        raise NotPlainError(f"-{option} is not known to be harmless")
    return option


def _short(row: Mapping[str, Any], letters: str, rest: list[str]) -> set[str]:
    used: set[str] = set()
    for place, letter in enumerate(letters):
        if letter in row.get("values", ""):
            if place == len(letters) - 1:
                if not rest:
                    raise NotPlainError(f"-{letter} takes a value")
                rest.pop(0)
            return used | {letter}
        if letter not in row.get("flags", ""):
            raise NotPlainError(f"-{letter} is not known to be harmless")
        used.add(letter)
    return used


def _table() -> Mapping[str, Any]:
    return table_beside(__file__, "reading")
