"""`mcl repo explain`: what a prompt would do, where, and what the gate says."""

import typer

from mcl.cli.arguments import AsJson, ModelPath, NoAi, example
from mcl.plugins.repo.cli.arguments import Compat, Confirm, InRepo, Prompt, Strict, prompt_of


def register(repo: typer.Typer) -> None:
    """Add this verb."""
    repo.command(
        "explain",
        epilog=example(
            'mcl repo explain "create branch fix/login" --no-ai', "mcl repo explain kör tester --json"
        ),
    )(explain_command)


def explain_command(
    prompt: Prompt,
    no_ai: NoAi = False,
    strict: Strict = False,
    compat: Compat = False,
    confirm: Confirm = False,
    repo: InRepo = "",
    model: ModelPath = None,
    as_json: AsJson = False,
) -> int:
    """Show the contract, the repository, the plan, and what the gate says of each step. Nothing runs.

    Exit codes: 0 it may be run, 1 no route or bad configuration, 2 refused.
    """
    from mcl.cli.home import use_home
    from mcl.plugins.repo.cli.doing import Asked, explained
    from mcl.plugins.repo.cli.route import Way

    home, words = use_home(), prompt_of(prompt)
    routed = Way(repo, model, not no_ai, strict, compat).route(words, home)
    asked = Asked(routed.contract, words, by=routed.by, note=routed.note, strict=strict, every=confirm)
    return explained(asked, home, as_json=as_json)
