"""`mcl skill validate`: everything that is wrong with skills."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJsonLines, example
from mcl.cli.output import Output, write_event
from mcl.cli.skill.arguments import Paths

Strict = Annotated[
    bool, typer.Option("--strict", help="Findings of V13, V14 and V15 are errors, not warnings.")
]


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    lines = ("mcl skill validate skills/read-file", "mcl skill validate skills --strict --json")
    skills.command("validate", epilog=example(*lines))(validate_skills)


def validate_skills(paths: Paths, strict: Strict = False, as_json: AsJsonLines = False) -> int:
    """Check skills: every error of every file, with line, column and what was probably meant.

    A plan.yaml is checked too, against its skill and the tools of this build. With --json one line a file.
    Exit code 6 when any file has errors.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.views.findings import checked_document, findings_view, summary
    from mcl.cli.views.layout import DIM, GOOD, joined
    from mcl.usecases.skill.validate import validate_skill

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
