"""The pages of a repository: which there are, the code in them, the links in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcl.plugins.review.drift.tree import RepositoryTree

MAX_PAGES: Final = 2000
_MAX_LINES: Final = 20_000  # of a page
_WIDE: Final = 2000  # characters of a line
_ENDINGS: Final = (".md", ".rst", ".markdown")
_TOP: Final = ("readme", "contributing", "development", "developing", "install", "installation", "hacking")
# These tell what once was.
_PAST: Final = ("changelog", "changes", "history", "news", "release", "upgrading", "migrat", "whatsnew")
_FOLDERS: Final = ("docs", "doc", "documentation")
_SHELLS: Final = ("sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "shellsession")
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
    if not name.endswith(_ENDINGS) and name not in _TOP:
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
    return [line[:_WIDE] for line in (tree.text(page) or "").splitlines()[:_MAX_LINES]]


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
        return prompt["said"] if language in (*_SHELLS, "") else ""
    if language in _SHELLS and language not in _TRANSCRIPTS:
        return "" if line.lstrip().startswith("#") else line.strip()
    return ""
