"""Pages that name what is not there: files, modules, targets and scripts in commands; links; imports."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from posixpath import join, normpath
from typing import Final, Literal

from mcl.plugins.review.drift.project import Modules
from mcl.plugins.review.drift.rules import RepositoryFlaw, drift_rules
from mcl.plugins.review.drift.tree import RepositoryTree

# ---- The pages of a repository: which there are, the code in them, the links in them.

MAX_PAGES: Final = 2000
_MAX_LINES: Final = 20_000  # of a page
_WIDEST: Final = 2000  # characters of a line
_PAGE_ENDINGS: Final = (".md", ".rst", ".markdown")
_TOP: Final = ("readme", "contributing", "development", "developing", "install", "installation", "hacking")
# These tell what once was.
_PAST: Final = ("changelog", "changes", "history", "news", "release", "upgrading", "migrat", "whatsnew")
_FOLDERS: Final = ("docs", "doc", "documentation")
_SHELL_LANGUAGES: Final = (
    "sh",
    "bash",
    "shell",
    "zsh",
    "console",
    "shell-session",
    "terminal",
    "shellsession",
)
_TRANSCRIPTS: Final = ("console", "shell-session", "shellsession", "terminal", "")
_PYTHONS: Final = ("python", "py", "python3", "pycon", "pycon3")
_FENCE = re.compile(r"\s{0,12}(?P<fence>`{3,}|~{3,})\s*\{?\.?(?P<language>[\w+-]*)")
_PROMPT = re.compile(r"\s*(?:\$|%|❯)\s+(?P<said>\S.*)")
_DIRECTIVE = re.compile(
    r"(?P<indent>\s*)\.\. (?:code-block|code|sourcecode|prompt)::\s*(?P<language>[\w+-]*)"
)
_LINK = re.compile(r"(?<!\\)\]\(\s*<?(?P<target>[^)\s<>]{1,500})>?(?:\s+[\"'][^)]{0,200})?\)")


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of code on a page, counted from 1. block: of which piece of code it is a part."""

    page: str
    number: int
    text: str
    block: int
    language: str  # "shell" or "python"


@dataclass(frozen=True, slots=True)
class PageLink:
    """Where a page leads, as it is written there."""

    page: str
    number: int
    target: str


def pages(tree: RepositoryTree) -> tuple[str, ...]:
    """The pages that say how things are now: those at the top, and those in docs."""
    found = [path for path in tree.files if _is_page(path)]
    return tuple(found[:MAX_PAGES])


def is_top(page: str) -> bool:
    """Is a page about this repository, rather than for those who use what it makes?"""
    return "/" not in page or page.startswith(".github/")


def _is_page(path: str) -> bool:
    folded = path.casefold()
    folder, _, name = folded.rpartition("/")
    stem = name.partition(".")[0]
    if not name.endswith(_PAGE_ENDINGS) and name not in _TOP:
        return False
    if any(part.startswith(_PAST) for part in (*folder.split("/"), stem)):
        return False
    return not folder or folder.split("/")[0] in _FOLDERS or folder == ".github"


def code_lines(tree: RepositoryTree, page: str) -> Iterator[CodeLine]:
    """The lines of shell and Python on a page."""
    lines = _lines(tree, page)
    yield from _markdown(page, lines) if not page.endswith(".rst") else _restructured(page, lines)


def links(tree: RepositoryTree, page: str) -> Iterator[PageLink]:
    """The links of a Markdown page, those in code aside."""
    if page.endswith(".rst"):
        return
    fence = ""
    for number, line in enumerate(_lines(tree, page), 1):
        if found := _FENCE.match(line):
            fence = "" if fence and found["fence"].startswith(fence) else fence or found["fence"]
            continue
        if fence or line.startswith(("    ", "\t")):
            continue
        plain = re.sub(r"`[^`]*`", lambda code: " " * len(code[0]), line)
        for found in _LINK.finditer(plain):
            yield PageLink(page, number, found["target"])


def _lines(tree: RepositoryTree, page: str) -> list[str]:
    return [line[:_WIDEST] for line in (tree.text(page) or "").splitlines()[:_MAX_LINES]]


def _markdown(page: str, lines: list[str]) -> Iterator[CodeLine]:
    fence = language = ""
    block = 0
    for number, line in enumerate(lines, 1):
        found = _FENCE.match(line)
        if found and not fence:
            fence, language, block = found["fence"], found["language"].casefold(), block + 1
        elif found and found["fence"].startswith(fence) and line.strip() == found["fence"]:
            fence = ""
        elif fence and (said := _said(line, language)):
            yield CodeLine(page, number, said, block, "python" if language in _PYTHONS else "shell")


def _restructured(page: str, lines: list[str]) -> Iterator[CodeLine]:
    language, indent, block = "", -1, 0
    for number, line in enumerate(lines, 1):
        if found := _DIRECTIVE.match(line):
            language, indent, block = found["language"].casefold() or "text", len(found["indent"]), block + 1
            continue
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            language, indent = "", -1
        if indent >= 0 and (said := _said(line, language)):
            yield CodeLine(page, number, said, block, "python" if language in _PYTHONS else "shell")
        elif (
            indent < 0 and line.startswith(" ") and (prompt := _PROMPT.match(line)) and line.strip()[0] == "$"
        ):
            yield CodeLine(page, number, prompt["said"], block, "shell")
        elif indent < 0 and not line.strip():
            block += 1


def _said(line: str, language: str) -> str:
    """The code of a line; "" where it is none: output, a comment, another language."""
    if language in _PYTHONS:
        return line.strip().removeprefix(">>> ")
    if prompt := _PROMPT.fullmatch(line):
        return prompt["said"] if language in (*_SHELL_LANGUAGES, "") else ""
    if language in _SHELL_LANGUAGES and language not in _TRANSCRIPTS:
        return "" if line.lstrip().startswith("#") else line.strip()
    return ""


# ---- What they name that is not there.

# ---- What a line of shell names: files, modules, targets of make, scripts of npm. Nothing of it is run.

Kind = Literal["file", "module", "target", "script", "folder"]

_NEXT = re.compile(r"\s(?:&&|\|\||[|;&])\s|;\s*$|(?<!\\)\s#\s")
_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?(?:\.exe)?")
_RUNNERS: Final = (("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"))
_SHELLS: Final = ("bash", "sh", "zsh", "source", ".")
_NODES: Final = ("npm", "pnpm", "yarn")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_PLACEHOLDER = re.compile(
    r"[<>${}*?\[\]~|\"'`()…]|\.\.\.|path/to|^/|^[a-z]+://|^\.\./|\byour|\bmy[_-]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """One thing that a command names."""

    kind: Kind
    what: str


def named(line: str) -> Iterator[CommandTarget]:
    """What the commands of a line name; nothing that looks like a placeholder."""
    for command in _NEXT.split(line):
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            continue
        for one in _of(_bare(words)):
            if not _PLACEHOLDER.search(one.what):
                yield one


def _bare(words: Sequence[str]) -> list[str]:
    """The words of a command behind variables, sudo and runners."""
    words = list(words)
    while words and (re.match(r"[A-Za-z_]\w*=", words[0]) or words[0] in ("sudo", "env", "time")):
        words = words[1:]
    for runner in _RUNNERS:
        if tuple(words[:2]) == runner:
            return words[2:]
    return words


def _of(words: list[str]) -> Iterator[CommandTarget]:
    if not words:
        return
    program, rest = words[0], words[1:]
    if program == "cd":
        yield CommandTarget("folder", rest[0] if rest else "/")
    elif _PYTHON.fullmatch(program):
        yield from _python(rest)
    elif program in _SHELLS and rest and not rest[0].startswith("-"):
        yield CommandTarget("file", rest[0])
    elif program.startswith("./"):
        yield CommandTarget("file", program)
    elif program in ("pip", "pip3"):
        yield from (CommandTarget("file", file) for flag, file in pairwise(rest) if flag in ("-r", "-c"))
    elif program == "pytest":
        yield from (
            CommandTarget("file", one.partition("::")[0]) for one in rest if "/" in one and one[0] != "-"
        )
    elif program == "make" and not any(word.startswith("-") for word in rest):
        yield from (CommandTarget("target", word) for word in rest if _WORD.fullmatch(word))
    elif program in _NODES and rest[:1] == ["run"] and len(rest) > 1:
        yield CommandTarget("script", rest[1])


def _python(rest: list[str]) -> Iterator[CommandTarget]:
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest = rest[1:]
    if rest[:1] == ["-m"] and len(rest) > 1:
        yield CommandTarget("module", rest[1])
    elif rest and rest[0].endswith(".py"):
        yield CommandTarget("file", rest[0])


_IMPORT = re.compile(r"(?:from\s+(?P<from>[A-Za-z_][\w.]*)\s+import\b|import\s+(?P<whole>[A-Za-z_][\w.]*))")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/|\{|%7B", re.IGNORECASE)
_BUILT: Final = (".html", ".htm")  # made of the pages
_ENDINGS: Final = (
    *(
        ".md",
        ".rst",
        ".txt",
        ".py",
        ".toml",
        ".yaml",
        ".yml",
        ".json",
        ".ini",
        ".cfg",
        ".sh",
        ".ipynb",
        ".pdf",
    ),
    *(".png", ".svg", ".jpg", ".jpeg", ".gif", ".js", ".ts", ".go", ".rs", ".c", ".h", ".java"),
)
_RULE = re.compile(r"(?P<names>[A-Za-z0-9_./][A-Za-z0-9_./ -]*):(?!=)")
# At the top these are of this repository, whoever reads the page.
_FILES: Final = re.compile(r"setup\.py|(?:[\w-]+-)?requirements(?:[-_.][\w-]+)*\.txt|[\w-]+\.sh")
_MADE_FOLDERS: Final = ("build", "dist", "target", "out", "bin", "node_modules", "venv", ".venv", "env")
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
_MADE = re.compile(r"-?include\b|[^#]*%[^#]*:|.*\$\(eval|\S*\$[({].*:")  # targets that nobody wrote down
_MAX_RULES, _WIDE = 5000, 500  # lines of a Makefile, and their characters


def document_flaws(tree: RepositoryTree, modules: Modules) -> Iterator[RepositoryFlaw]:
    """What the pages of the repository name that is not there."""
    for page in pages(tree):
        yield from _gone_links(tree, page)
        yield from _Commands(tree, modules).flaws(page)


def _gone_links(tree: RepositoryTree, page: str) -> Iterator[RepositoryFlaw]:
    folder = page.rpartition("/")[0]
    for link in links(tree, page):
        path = link.target.partition("#")[0].partition("?")[0]
        if not path or _ELSEWHERE.match(link.target) or path.endswith(_BUILT):
            continue
        there = normpath(join(folder, path.replace("%20", " ")))
        # In docs, what has not the ending of a file is a reference for the program that makes a site of them.
        if there.startswith("..") or (not is_top(page) and not there.endswith(_ENDINGS)):
            continue
        if not tree.has(there):
            yield drift_rules().flaw(
                "LINK_GONE", f"{page}:{link.number}", f"the link leads to {path}, which is not there"
            )


class _Commands:
    """The commands and imports of one page."""

    def __init__(self, tree: RepositoryTree, modules: Modules) -> None:
        self._tree = tree
        self._modules = modules

    def flaws(self, page: str) -> Iterator[RepositoryFlaw]:
        """What they name that is not there."""
        block, base = 0, ""  # the folder that a block's commands are in; None when it left the repository
        away = False
        for line in code_lines(self._tree, page):
            if line.block != block:
                block, base, away = line.block, "", False
            if line.language == "python":
                yield from self._import(line)
                continue
            for one in named(line.text):
                if one.kind == "folder":
                    base, away = self._entered(base, one.what, away)
                elif not away:
                    yield from self._named(line, base, one)

    def _entered(self, base: str, folder: str, away: bool) -> tuple[str, bool]:
        there = normpath(join(base, folder))
        if there in self._tree.known:
            return there, away
        return "", away or folder.strip("./") not in self._modules.names

    def _import(self, line: CodeLine) -> Iterator[RepositoryFlaw]:
        found = _IMPORT.match(line.text)
        module = (found["from"] or found["whole"]) if found else ""
        if module and self._modules.gone(module):
            yield self._flaw("IMPORT_GONE", line, f"it imports {module}, which is not there")

    def _named(self, line: CodeLine, base: str, one: CommandTarget) -> Iterator[RepositoryFlaw]:
        what = one.what
        if one.kind == "module" and self._modules.gone(what):
            yield self._flaw("COMMAND_MODULE_GONE", line, f"the command runs {what}, which is not there")
        elif one.kind == "file" and self._file_gone(line.page, base, what):
            yield self._flaw("COMMAND_FILE_GONE", line, f"the command names {what}, which is not there")
        elif one.kind == "target" and is_top(line.page) and self._target_gone(base, what):
            yield self._flaw("COMMAND_TARGET_GONE", line, f"the Makefile has no target {what}")
        elif one.kind == "script" and is_top(line.page) and self._script_gone(base, what):
            yield self._flaw("COMMAND_TARGET_GONE", line, f"package.json has no script {what}")

    def _file_gone(self, page: str, base: str, path: str) -> bool:
        there = normpath(join(base, path))
        if there.startswith("..") or self._tree.has(there):
            return False
        folder, slash, _ = there.partition("/")
        if (
            slash
        ):  # elsewhere than on our first pages, a file in a folder that is not ours is the reader's own
            return folder not in _MADE_FOLDERS and (is_top(page) or folder in self._tree.known)
        return is_top(page) and _FILES.fullmatch(there) is not None

    def _target_gone(self, base: str, target: str) -> bool:
        places = (normpath(join(base, name)) for name in _MAKEFILES)
        text = next((found for place in places if (found := self._tree.text(place))), "")
        lines = [line[:_WIDE] for line in text.splitlines()[:_MAX_RULES] if not line.startswith("\t")]
        if not lines or any(_MADE.match(line) for line in lines):
            return False
        known = {name for line in lines if (rule := _RULE.match(line)) for name in rule["names"].split()}
        return target not in known and not self._tree.has(normpath(join(base, target)))

    def _script_gone(self, base: str, script: str) -> bool:
        try:
            scripts = json.loads(self._tree.text(normpath(join(base, "package.json"))) or "")["scripts"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return False
        return isinstance(scripts, dict) and script not in scripts

    @staticmethod
    def _flaw(code: str, line: CodeLine, message: str) -> RepositoryFlaw:
        return drift_rules().flaw(code, f"{line.page}:{line.number}", message)
