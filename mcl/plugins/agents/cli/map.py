"""`mcl intents map`: the files of this folder, each with the intents under which it was changed."""

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.plugins.agents.cli.arguments import Root


def register(intents: typer.Typer) -> None:
    """Add this verb."""
    intents.command("map", epilog=example("mcl intents map", "mcl intents map --json"))(map_files)


def map_files(root: Root = None, as_json: AsJson = False) -> None:
    """List the files that were changed here, each with the intents under which that was."""
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import listing
    from mcl.plugins.agents.usecases.map_ import map_work

    found, out = map_work(root=root, home=use_home()), Output(as_json)
    out.document(found.to_json())
    if not found.files:
        note(f"nothing was changed under an intent in {found.root}")
        return
    lines = [((path, ""), (", ".join(labels), "")) for path, labels in found.files.items()]
    out.view([listing(("file", "intents"), lines)])
