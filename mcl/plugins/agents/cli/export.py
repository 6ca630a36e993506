"""`mcl intents export`: the file, written from what was signed."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note, write_text
from mcl.plugins.agents.cli.arguments import Root


def register(intents: typer.Typer) -> None:
    """Add this verb."""
    intents.command("export", epilog=example("mcl intents export", "mcl intents export --write --overwrite"))(
        export
    )


def export(
    write: Annotated[
        bool, typer.Option("--write", help="Put it in its place, not on standard output.")
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="With --write: also where there is a file; its comments are lost."),
    ] = False,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Write .orchestration/active_intents.yaml as it was signed, with the status that each has now."""
    from mcl.cli.home import use_home
    from mcl.core.safe import safe
    from mcl.plugins.agents.usecases.export import export_work

    done = export_work(write=write, overwrite=overwrite, root=root, home=use_home())
    Output(as_json).document(
        {
            "root": str(done.root),
            "intents": list(done.labels),
            "file": str(done.path) if done.path else None,
            "text": done.data.decode(),
        }
    )
    if done.path:
        note(safe(f"written: {done.path}"))
    elif not as_json:
        write_text(done.data.decode())
