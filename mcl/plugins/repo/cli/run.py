"""`mcl repo run`: what a prompt says is done in a repository."""

import typer

from mcl.cli.arguments import AsJson, ModelPath, NoAi, example
from mcl.plugins.repo.cli.arguments import (
    Compat,
    Confirm,
    DryRun,
    InRepo,
    Prompt,
    Strict,
    YesGates,
    prompt_of,
)


def register(repo: typer.Typer) -> None:
    """Add this verb."""
    repo.command(
        "run",
        epilog=example(
            "mcl repo run git status",
            'mcl repo run "sök TODO i shop" --no-ai',
            'mcl repo run "create branch fix/login" --repo shop',
            'cd "$(mcl repo run cd shop)"',
        ),
    )(run_command)


def run_command(
    prompt: Prompt,
    no_ai: NoAi = False,
    strict: Strict = False,
    compat: Compat = False,
    confirm: Confirm = False,
    dry_run: DryRun = False,
    yes_gates: YesGates = False,
    repo: InRepo = "",
    model: ModelPath = None,
    as_json: AsJson = False,
) -> int:
    """Do what a prompt says, in a repository.

    It is signed with your key, judged by the gate, and kept in the journal. What the command says is on
    standard output, everything else on standard error. Making a branch is always asked about, at the
    terminal; without one it is declined.

    Exit codes: 0 done, 1 no route or bad configuration, 2 refused, 5 failed without a command's status, 127
    command not found, 130 declined; else the command's own (1 where a search found nothing).
    """
    from mcl.cli.home import use_home
    from mcl.plugins.repo.cli.doing import ContractRequest, done, explained
    from mcl.plugins.repo.cli.route import Way
    from mcl.plugins.repo.usecases import keeping_refusals

    home, words = use_home(signs=not dry_run), prompt_of(prompt)
    way = Way(repo, model, not no_ai, strict, compat)
    if dry_run:
        routed = way.route(words, home)
        asked = ContractRequest(
            routed.contract, words, by=routed.by, note=routed.note, strict=strict, every=confirm
        )
        return explained(asked, home, as_json=as_json)
    with keeping_refusals(home, words.encode(errors="surrogatepass")):
        routed = way.route(words, home)
    asked = ContractRequest(
        routed.contract, words, by=routed.by, note=routed.note, strict=strict, every=confirm
    )
    return done(asked, home, unseen=yes_gates, as_json=as_json)
