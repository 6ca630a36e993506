"""Skills as they are shown: the tree of a file, what is wrong with it, and its examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, columns, joined, one_line, plain
from mcl.core.text import counted, cut, safe
from mcl.language.mtx.ast import File, Node
from mcl.language.mtx.source import MtxFinding, show
from mcl.plugins.authoring.examples import TriedExample, TriedSkill

if TYPE_CHECKING:
    from mcl.plugins.authoring.checks import CheckedFile

_SAID_BY_ABSENCE = (None, False, ())
_DEEPEST = 24  # levels that are still indented
_LONG = 80  # characters of a text that are shown


def tree_lines(file: File) -> Iterator[RenderableType]:
    """One line a node: its place, its kind, its plain fields; what it holds is indented below it.

    A generator without recursion: blocks may nest as deep as a file allows.
    """
    waiting: list[tuple[Node, int, str]] = [(section, 0, "") for section in reversed(file.sections)]
    while waiting:
        node, depth, name = waiting.pop()
        fields = {
            key: value for key, value in vars(node).items() if key != "at" and value not in _SAID_BY_ABSENCE
        }
        below = {key: value for key, value in fields.items() if _holds(value)}
        own = "  ".join(f"{key}={_short(value)}" for key, value in fields.items() if key not in below)
        yield one_line(
            Text.assemble(
                (f"{node.at.line:>5}:{node.at.column:<4}", DIM),
                "  " * min(depth, _DEEPEST) + (f"{name} " if name else ""),
                (type(node).__name__, STRONG),
                f" {own}" if own else "",
            )
        )
        for key, value in reversed(below.items()):
            items = value if isinstance(value, tuple) else (value,)
            label = "" if isinstance(value, tuple) else key
            waiting.extend((item, depth + 1, label) for item in reversed(items))


def _holds(value: object) -> bool:
    return isinstance(value, Node) or (
        isinstance(value, tuple) and any(isinstance(one, Node) for one in value)
    )


def _short(value: object) -> str:
    if isinstance(value, tuple):
        text = " ".join(map(str, value))
    elif isinstance(value, str):
        text = f'"{value}"' if not value or " " in value or "\n" in value else value
    else:
        text = str(value).lower()
    text = safe(text.replace("\n", "\\n"))
    return cut(text, _LONG)


# ---- What is wrong with a file of a skill, as a person and as a program read it.


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
            (counted(len(files), "file"), ""),
            (counted(errors, "error"), BAD if errors else DIM),
            (counted(warnings, "warning"), WARN if warnings else DIM),
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


# ---- What came of a skill's examples.


def tried_view(tried: TriedSkill) -> Iterator[RenderableType]:
    """A skill, then a line for each example: how it went, the goal, and what was understood. Of the goals
    that are not for it, those for which it was chosen all the same."""
    if tried.error is not None:
        yield joined((("BAD", BAD), (tried.id, STRONG), (str(tried.error), "")))
        return
    told = _counted([tried]) if tried.examples else "has no examples"
    style = BAD if not tried.ok else GOOD if tried.examples else DIM
    yield joined(((tried.id, STRONG), (told, style)))
    for example in (*tried.examples, *(one for one in tried.not_for if not one.ok)):
        word, mark = _mark(tried, example)
        yield columns([(("  " + word, mark), (example.text, ""))])
        yield columns([((" " * (2 + len(word)), ""), (line, DIM)) for line in _lines(tried, example)])


def tried_summary(tried: Sequence[TriedSkill]) -> RenderableType:
    ok = all(one.ok for one in tried)
    passed, _, asked = _counted(tried).partition(",")
    return plain(f"{passed} examples are understood{',' if asked else ''}{asked}", GOOD if ok else BAD)


def _counted(tried: Sequence[TriedSkill]) -> str:
    examples = [example for one in tried for example in one.examples]
    asked = sum(example.asked for example in examples)
    also = f", {asked} {'asks' if asked == 1 else 'ask'} something" if asked else ""
    others = [other for one in tried for other in one.not_for]
    left = f", {sum(other.ok for other in others)} of {len(others)} left to others" if others else ""
    return f"{sum(example.understood for example in examples)} of {len(examples)}{also}{left}"


def tried_document(tried: TriedSkill) -> dict[str, object]:
    """A tried skill for a program."""
    return {
        "skill": tried.id,
        "path": tried.path,
        "ok": tried.ok,
        "error": tried.error,
        "examples": [_example_document(example) for example in tried.examples],
        "not_for": [
            {"text": other.text, "ok": other.ok, "outcome": other.outcome, "chosen": other.chosen}
            for other in tried.not_for
        ],
    }


def _example_document(example: TriedExample) -> dict[str, object]:
    return {
        "text": example.text,
        "ok": example.ok,
        "understood": example.understood,
        "outcome": example.outcome,
        "chosen": example.chosen,
        "verb": example.verb,
        "slots": example.slots or {},
        "questions": [{"field": one.field, "prompt": one.prompt} for one in example.questions],
        "plan": example.plan is not None,
        "message": example.message,
    }


def _mark(tried: TriedSkill, example: TriedExample) -> tuple[str, str]:
    if example.ok:
        return ("asks    ", WARN) if example.asked else ("ok      ", GOOD)
    return {"refused": "refused ", "failed": "failed  "}.get(example.outcome, "BAD     "), BAD


def _lines(tried: TriedSkill, example: TriedExample) -> Iterator[str]:
    if example in tried.not_for:
        yield "is not for this skill"
    elif example.chosen and example.chosen != tried.id:
        yield f"chosen was {example.chosen}"
    said = "  ".join(f"{name}={', '.join(values)}" for name, values in (example.slots or {}).items())
    if example.verb:
        yield f"{example.verb}  {said}".rstrip()
    for question in example.questions:
        yield f"asks {question.field}: {question.prompt}"
    if example.message:
        yield example.message
