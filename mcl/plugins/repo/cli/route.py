"""`mcl repo route`: the contract that a prompt means."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mcl.cli.arguments import AsJson, ModelPath, NoAi, example
from mcl.cli.output import note, note_error, write_text
from mcl.plugins.repo.cli.arguments import Compat, Confirm, InRepo, Prompt, Strict, prompt_of

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.plugins.repo.routing import Routed


def _add_route(repo: typer.Typer) -> None:
    """Add this verb."""
    repo.command(
        "route",
        epilog=example(
            "mcl repo route git status --no-ai",
            'mcl repo route "sök TODO i shop"',
            "mcl repo route run tests --repo shop | mcl repo exec -",
        ),
    )(route_command)


@dataclass(frozen=True)
class Way:
    """How a prompt becomes a contract: the options of the command line."""

    repo: str
    model: Path | None
    ai: bool
    strict: bool
    compat: bool

    def route(self, words: str, home: "Home | None" = None) -> "Routed":
        """Route a prompt. home: where it is open already."""
        from mcl.plugins.repo.usecases import route_prompt

        return route_prompt(
            words,
            repo=self.repo,
            model=self.model,
            ai=self.ai,
            strict=self.strict,
            compat=self.compat,
            home=home,
        )


def route_command(
    prompt: Prompt,
    no_ai: NoAi = False,
    strict: Strict = False,
    compat: Compat = False,
    repo: InRepo = "",
    model: ModelPath = None,
    as_json: AsJson = False,
) -> int:
    """Print the contract that a prompt means, as one line of JSON. Nothing runs.

    Exit codes: 0 it may be run, 1 no route or bad configuration, 2 refused.
    """
    from mcl.core.text import safe, safe_json
    from mcl.plugins.repo.usecases import rejected

    routed = Way(repo, model, not no_ai, strict, compat).route(prompt_of(prompt))
    write_text(safe_json(routed.contract.text) + "\n")
    if routed.note:
        note(safe(routed.note))
    wrong = rejected(routed.contract)
    if wrong is None:
        return 0
    note_error(wrong)
    return wrong.exit


# ---- `mcl repo explain`: what a prompt would do, where, and what the gate says.


def _add_explain(repo: typer.Typer) -> None:
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
    from mcl.plugins.repo.cli.doing import ContractRequest, explained

    home, words = use_home(), prompt_of(prompt)
    routed = Way(repo, model, not no_ai, strict, compat).route(words, home)
    asked = ContractRequest(
        routed.contract, words, by=routed.by, note=routed.note, strict=strict, every=confirm
    )
    return explained(asked, home, as_json=as_json)


def register(noun: typer.Typer) -> None:
    """Add these verbs."""
    for add in (_add_route, _add_explain):
        add(noun)
