"""`mcl skill fmt`: the canonical layout."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJsonLines, example
from mcl.cli.output import Output, note, write_event, write_line, write_text

if TYPE_CHECKING:
    from mcl.core.errors import SkillError
    from mcl.usecases.skill.format import FormattedFile

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="A .mtx file, the folder of a skill, a folder of such folders; - reads standard input.",
    ),
]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; say which files would change.")]
Diff = Annotated[bool, typer.Option("--diff", help="Write nothing; show what would change.")]


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    lines = ("mcl skill fmt skills", "mcl skill fmt --check skills/*", "mcl skill fmt - < SKILL.mtx")
    skills.command("fmt", epilog=example(*lines))(format_skills)


def format_skills(
    paths: Paths, check: Check = False, diff: Diff = False, as_json: AsJsonLines = False
) -> int:
    """Give .mtx files their canonical layout, in place; comments and meaning stay.

    A file with errors is left as it is, the others are still laid out. With --json one line a file.
    Exit code 6 when a file has errors, or with --check or --diff when one would change.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.views.findings import finding_document

    dry = check or diff
    counts = {"changed": 0, "unchanged": 0, "bad": 0}
    for given in paths:
        for file in _each(given, write=not dry):
            counts["bad" if not file.ok else "changed" if file.changed else "unchanged"] += 1
            if as_json:
                errors = [finding_document(error) for error in file.errors]
                event = {"path": file.path, "ok": file.ok, "changed": file.changed, "errors": errors}
                write_event(event | ({"diff": file.diff()} if diff else {}))
            else:
                _tell(file, given, dry=dry, diff=diff)
    if not as_json and paths != ["-"]:
        changed = "would change" if dry else "changed"
        bad = f", {counts['bad']} with errors" if counts["bad"] else ""
        note(f"{counts['changed']} {changed}, {counts['unchanged']} unchanged{bad}")
    return UNVERIFIED if counts["bad"] or (dry and counts["changed"]) else 0


def _each(given: str, *, write: bool) -> Iterator["FormattedFile"]:
    """The files of a path; one that cannot be read or written has that as its error."""
    from mcl.core.errors import SkillError
    from mcl.language.mtx.source import MAX_BYTES
    from mcl.usecases.skill.files import skill_files
    from mcl.usecases.skill.format import format_bytes, format_file_at

    if given == "-":
        yield format_bytes(sys.stdin.buffer.read(MAX_BYTES + 1), "<stdin>")
        return
    try:
        files = skill_files(given)
    except SkillError as error:
        yield _failed(given, error)
        return
    for file in files:
        try:
            yield format_file_at(file, write=write)
        except SkillError as error:
            yield _failed(file.shown, error)


def _failed(path: str, error: "SkillError") -> "FormattedFile":
    from mcl.language.mtx.finding import Finding
    from mcl.usecases.skill.format import FormattedFile

    return FormattedFile(path, "", "", False, (Finding(0, 0, error.code, error.message, "", error.fix),))


def _tell(file: "FormattedFile", given: str, *, dry: bool, diff: bool) -> None:
    """What came of one file: its text for standard input, else a line where there is something to say."""
    if not file.ok:
        from mcl.cli.views.findings import findings_view

        Output(as_json=True).tell(findings_view(file.errors, file.path, file.before))  # standard error
    elif diff:
        write_text(file.diff())
    elif given == "-" and not dry:
        write_text(file.after)
    elif file.changed:
        write_line(f"{'would change' if dry else 'changed'}  {file.path}")
