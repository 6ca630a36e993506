"""`mcl skill fmt`, `hash`, `parse` and `check`: the files of skills."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import (
    AsJson,
    AsJsonLines,
    Paths,
    SkillDirectories,
    argument,
    complete_skill,
    option,
    verb,
)
from mcl.cli.output import Output, note, note_error, write_event, write_line, write_text
from mcl.cli.views.layout import DIM, GOOD, joined

if TYPE_CHECKING:
    from mcl.core.errors import SkillError
    from mcl.plugins.authoring.files import FormattedFile, SkillFile

verbs = typer.Typer()


Files = Annotated[
    list[str],
    argument("PATH", "A .mtx file, the folder of a skill, a folder of such folders; - reads standard input."),
]
Check = Annotated[bool, option("--check", "Write nothing; say which files would change.")]
Diff = Annotated[bool, option("--diff", "Write nothing; show what would change.")]


@verb(verbs, "fmt")
def format_skills(
    paths: Files, check: Check = False, diff: Diff = False, as_json: AsJsonLines = False
) -> int:
    """Give .mtx files their canonical layout, in place; comments and meaning stay.

    A file with errors is left as it is, the others are still laid out. With --json one line a file.
    Exit code 6 when a file has errors, or with --check or --diff when one would change.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.authoring.cli.views import finding_document

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
    from mcl.plugins.authoring.files import format_bytes, format_file_at, skill_files

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
    from mcl.language.mtx.source import MtxFinding
    from mcl.plugins.authoring.files import FormattedFile

    return FormattedFile(path, "", "", False, (MtxFinding(0, 0, error.code, error.message, "", error.fix),))


def _tell(file: "FormattedFile", given: str, *, dry: bool, diff: bool) -> None:
    """What came of one file: its text for standard input, else a line where there is something to say."""
    if not file.ok:
        from mcl.plugins.authoring.cli.views import findings_view

        Output(as_json=True).tell(findings_view(file.errors, file.path, file.before))  # standard error
    elif diff:
        write_text(file.diff())
    elif given == "-" and not dry:
        write_text(file.after)
    elif file.changed:
        write_line(f"{'would change' if dry else 'changed'}  {file.path}")


# ---- `mcl skill hash`: what a skill means, in 64 digits.

Hashed = Annotated[
    list[str],
    argument(
        "PATH",
        "A .mtx file, the folder of a skill, a folder of such folders, or the id of a skill.",
        autocompletion=complete_skill,
    ),
]


@verb(verbs, "hash")
def hash_skills(paths: Hashed, skills: SkillDirectories = None, as_json: AsJsonLines = False) -> int:
    """Print `<digest>  <path>` for each file: sha256 over what it means, not how it is laid out.

    It is what §HASH records. With --json one line a file. Exit code 6 when a file cannot be read.
    """
    from ir import MclError
    from ir.errors import UNVERIFIED
    from mcl.plugins.authoring.files import hash_file

    bad = False
    for given in paths:
        try:
            for file in _files(given, skills):
                digest = hash_file(file)
                if as_json:
                    write_event({"path": file.shown, "digest": digest})
                else:
                    write_line(f"{digest}  {file.shown}")
        except MclError as error:
            bad = True
            if as_json:
                write_event({"path": given, "error": error})
            note_error(error)
    return UNVERIFIED if bad else 0


def _files(given: str, extra: list[Path] | None) -> Iterator["SkillFile"]:
    """The files of a path, or that of an installed skill where there is no such path."""
    from mcl.plugins.authoring.files import SKILL_FILE, SkillFile, skill_files
    from mcl.usecases import installed

    if not Path(given).exists() and (skill := installed.list_skills(extra or ()).get(given)) is not None:
        yield SkillFile(str(skill.path / SKILL_FILE))
    else:
        yield from skill_files(given)


# ---- `mcl skill parse`: the tree of a .mtx file.


@verb(verbs, "parse")
def parse_skill(
    path: Annotated[str, argument("PATH", "A .mtx file, or a folder with a SKILL.mtx.")],
    as_json: AsJson = False,
) -> int:
    """Show the tree of a file, with the place of every part.

    A file with errors has the tree of what could be read. Exit code 6 then.
    """
    from ir.errors import UNVERIFIED
    from mcl.language.mtx.codec import tree_text
    from mcl.plugins.authoring.cli.views import findings_view, tree_lines
    from mcl.plugins.authoring.files import read_skill_file, skill_files

    read, out = read_skill_file(skill_files(path)[0]), Output(as_json)
    if as_json:
        write_text(tree_text(read.parsed.file) + "\n")
    else:
        out.tell(tree_lines(read.parsed.file))
    out.tell(findings_view(read.parsed.findings, read.file.shown, read.parsed.text))
    return 0 if read.parsed.ok else UNVERIFIED


# ---- `mcl skill check`: everything that is wrong with skills.

Strict = Annotated[bool, option("--strict", "Findings of V13, V14 and V15 are errors, not warnings.")]


@verb(verbs, "check")
def validate_skills(paths: Paths, strict: Strict = False, as_json: AsJsonLines = False) -> int:
    """Check skills: every error of every file, with line, column and what was probably meant.

    A plan.yaml is checked too, against its skill and the tools of this build. With --json one line a file.
    Exit code 6 when any file has errors.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.authoring.checks import validate_skill
    from mcl.plugins.authoring.cli.views import checked_document, findings_view, summary

    out, checked = Output(as_json), []
    for path in paths:
        for file in validate_skill(path, strict=strict):
            checked.append(file)
            if as_json:
                write_event(checked_document(file))
                continue
            out.tell(findings_view(file.findings, file.path, file.source))
            if not file.findings:
                out.tell([joined((("ok", GOOD), (file.path, DIM)))])
    if not as_json:
        out.tell([summary(checked)])
    return 0 if all(file.ok for file in checked) else UNVERIFIED
