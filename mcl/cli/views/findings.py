"""What is wrong with a file of a skill, as a person and as a program read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, one_line, plain
from mcl.language.mtx.source import MtxFinding, show

if TYPE_CHECKING:
    from mcl.usecases.skills.checks import CheckedFile

_STYLE = {"error": BAD, "warning": WARN}


def findings_view(findings: Iterable[MtxFinding], path: str, source: str) -> Iterator[RenderableType]:
    """Each finding: place and message, then the source line with a caret, then the hint."""
    path, lines = path.replace("\n", "\\n"), source.split("\n")
    for finding in findings:
        style = _STYLE[finding.severity]
        line = "".join(lines[finding.line - 1 : finding.line]) if finding.line else ""
        # only this line of the source, at its place: a file may be long, and its findings many
        head, *rest = show(finding, path, "\n" * (finding.line - 1) + line).split("\n")
        place = finding.place(path)
        told = head.removeprefix(f"{place}: {finding.severity}: ")
        yield Text.assemble(
            plain(place, STRONG), ": ", (finding.severity, style), ": ", plain(told), overflow="fold"
        )
        hint = rest.pop() if finding.hint and rest else ""
        for number, line in enumerate(rest):
            yield one_line(plain(line, style if number else ""))
        if hint:
            yield plain(hint, DIM)


def summary(checked: Iterable[CheckedFile]) -> RenderableType:
    """How many files, errors and warnings."""
    files = list(checked)
    errors = sum(len(file.errors) for file in files)
    warnings = sum(len(file.warnings) for file in files)
    return joined(
        (
            (_count(len(files), "file"), ""),
            (_count(errors, "error"), BAD if errors else DIM),
            (_count(warnings, "warning"), WARN if warnings else DIM),
            ("ok" if not errors else "not ok", BAD if errors else GOOD),
        )
    )


def finding_document(finding: MtxFinding) -> dict[str, object]:
    """A finding for a program: exactly code, line, column and message, with the hint behind the message."""
    message = "; ".join(part for part in (finding.message, finding.hint) if part)
    return {"code": finding.code, "line": finding.line, "column": finding.column, "message": message}


def checked_document(file: CheckedFile) -> dict[str, object]:
    """A checked file for a program: exactly path, ok, errors and warnings."""
    return {
        "path": file.path,
        "ok": file.ok,
        "errors": [finding_document(finding) for finding in file.errors],
        "warnings": [finding_document(finding) for finding in file.warnings],
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
