"""The verbs of `mcl repo`, with an example or two of each."""

import typer

from mcl.cli.arguments import example
from mcl.plugins.repo.cli import contracts, repositories


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    noun = typer.Typer(
        name="repo", help="Repositories: fifteen things to ask of one, in plain words.", rich_markup_mode=None
    )
    for name, command, examples in (  # in the order of the help
        (
            "route",
            contracts.route_command,
            (
                "mcl repo route git status --no-ai",
                'mcl repo route "sök TODO i shop"',
                "mcl repo route run tests --repo shop | mcl repo exec -",
            ),
        ),
        (
            "explain",
            contracts.explain_command,
            (
                'mcl repo explain "create branch fix/login" --no-ai',
                "mcl repo explain kör tester --json",
            ),
        ),
        (
            "run",
            contracts.run_command,
            (
                "mcl repo run git status",
                'mcl repo run "sök TODO i shop" --no-ai',
                'mcl repo run "create branch fix/login" --repo shop',
                'cd "$(mcl repo run cd shop)"',
            ),
        ),
        (
            "exec",
            contracts.exec_command,
            ("mcl repo route run tests | mcl repo exec -", "mcl repo exec contract.json --dry-run"),
        ),
        ("add", repositories.add_command, ("mcl repo add shop ~/code/shop", "mcl repo add shop")),
        ("list", repositories.list_command, ("mcl repo list", "mcl repo list --json")),
        ("switch", repositories.switch_command, ("mcl repo switch shop",)),
        ("remove", repositories.remove_command, ("mcl repo remove shop",)),
    ):
        noun.command(name, epilog=example(*examples))(command)
    app.add_typer(noun)
