"""`mcl skill import`: the targets of a build file become commands that can be asked for in words."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, argument, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed
from mcl.cli.views.layout import DIM, WARN, listing
from mcl.core.text import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.derived.importing import Import
    from mcl.plugins.derived.targets import BuildFile


def register(skills: typer.Typer) -> None:
    verb(skills, "import")(import_targets)


def import_targets(
    file: Annotated[Path, argument("FILE", "A Makefile, justfile, package.json or pyproject.toml.")],
    targets: Annotated[list[str] | None, argument("TARGET...", "Only these (default: all of them).")] = None,
    yes: Annotated[bool, option("--yes", "Do not ask.")] = False,
    as_json: AsJson = False,
) -> int:
    """Make commands of the targets of a build file, each with a skill of its own.

    The file is read as text and nothing is run. Shows what each target would run, asks, and keeps your
    word in the journal. A command runs only as long as the file says what it says now. Exit code 4 when
    you do not agree.
    """
    from executor.gate.grants import Grants
    from ir.errors import REFUSED
    from mcl.plugins.derived import importing

    home, out = use_home(signs=True), Output(as_json)
    found, imports = importing.planned(file, targets or (), Path.cwd(), home)
    wanted = [one for one in imports if not one.same]
    document = {
        "file": found.path,
        "targets": [
            {"target": one.target.name, "command": one.name, "skill": one.skill, "argv": one.target.argv}
            for one in wanted
        ],
        "left": dict(found.left),
    }
    if not (as_json and yes):
        out.tell([_listed(imports, found)])
    if not wanted:
        out.document(document)
        note("nothing to import" if not imports else "all of these are imported as they are")
        return 0
    if not yes and not agreed(f"Let mcl run {counted(len(wanted), 'target')}, as this file says now?"):
        out.document({**document, "code": "NOT_AGREED"})
        note("not imported; nothing was changed")
        return REFUSED
    importing.declare(wanted, home, unseen=yes)
    out.document(document)
    note(f"imported: {counted(len(wanted), 'command')}; mcl skill list --derived shows them")
    if "shell" not in Grants(home).classes(home.keyring.agent.did):
        note("the agent may not start commands yet: mcl grant add shell")
    return 0


def _listed(imports: "Sequence[Import]", found: "BuildFile") -> "RenderableType":
    lines = []
    for one in imports:
        state = "" if one.same else "changed" if one.before is not None else "new"
        said = one.target.says or "says nothing of itself"
        lines.append(((one.target.name, ""), (state, WARN), (f"{' '.join(one.target.argv)}: {said}", "")))
        if one.target.runs:
            lines.append((("", ""), ("", ""), (f"runs  {one.target.runs}", DIM)))
    lines += [((name, DIM), ("left out", DIM), (why, DIM)) for name, why in found.left.items()]
    return listing(("target", "", "what it is"), lines)
