"""`mcl skill parse`: the tree of a .mtx file."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, write_text


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    lines = ("mcl skill parse skills/read-file", "mcl skill parse skills/read-file/SKILL.mtx --json")
    skills.command("parse", epilog=example(*lines))(parse_skill)


def parse_skill(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A .mtx file, or a folder with a SKILL.mtx.")],
    as_json: AsJson = False,
) -> int:
    """Show the tree of a file, with the place of every part.

    A file with errors has the tree of what could be read. Exit code 6 then.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.views.findings import findings_view
    from mcl.cli.views.tree import tree_lines
    from mcl.language.mtx.codec import tree_text
    from mcl.usecases.skill.files import skill_files
    from mcl.usecases.skill.read import read_skill_file

    read, out = read_skill_file(skill_files(path)[0]), Output(as_json)
    if as_json:
        write_text(tree_text(read.parsed.file) + "\n")
    else:
        out.tell(tree_lines(read.parsed.file))
    out.tell(findings_view(read.parsed.findings, read.file.shown, read.parsed.text))
    return 0 if read.parsed.ok else UNVERIFIED
