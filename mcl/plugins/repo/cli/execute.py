"""`mcl repo exec`: what a contract says is done in a repository."""

import errno
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import note
from mcl.plugins.repo.cli.arguments import Confirm, DryRun, InRepo, Strict, YesGates


def register(repo: typer.Typer) -> None:
    """Add this verb."""
    repo.command(
        "exec",
        epilog=example("mcl repo route run tests | mcl repo exec -", "mcl repo exec contract.json --dry-run"),
    )(exec_command)


def exec_command(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A contract as JSON; - is standard input.")
    ] = "-",
    strict: Strict = False,
    confirm: Confirm = False,
    dry_run: DryRun = False,
    yes_gates: YesGates = False,
    repo: InRepo = "",
    as_json: AsJson = False,
) -> int:
    """Do what a contract says, in a repository. A document that breaks a rule of the contract is refused.

    Exit codes: those of mcl repo run.
    """
    from mcl.cli.home import use_home
    from mcl.core.errors import RepoError
    from mcl.plugins.repo.cli.doing import ContractRequest, done, explained
    from mcl.plugins.repo.contract import read_contract
    from mcl.plugins.repo.planning import REFUSED
    from mcl.plugins.repo.usecases import keeping_refusals, named

    said = _read(source)
    home, contract = use_home(signs=not dry_run), read_contract(said)
    with nullcontext() if dry_run else keeping_refusals(home, said, contract):
        if contract.why:
            fix = "write one JSON object of the form mq-hal.intent.v1, and nothing around it"
            raise RepoError("REFUSED", contract.why, place=source, fix=fix, exit=REFUSED)
        contract = named(contract, repo, home.path)
    prose = " ".join((contract.intent, contract.command or "", *contract.args)).strip()
    asked = ContractRequest(contract, prose, said=said, strict=strict, every=confirm)
    if dry_run:
        return explained(asked, home, as_json=as_json)
    return done(asked, home, unseen=yes_gates, as_json=as_json)


def _read(source: str) -> bytes:
    """A contract, and of what is too long for one a byte more than it may have."""
    from mcl.core.errors import RepoError
    from mcl.plugins.repo.contract import MAX_BYTES

    try:
        if source != "-":
            with Path(source).open("rb") as file:
                return file.read(MAX_BYTES + 1)
        if sys.stdin is None:  # a process may be started without one
            raise OSError(errno.EBADF, "standard input is closed")
        if sys.stdin.isatty():
            note("a contract is read from the terminal; Ctrl-D ends it")
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        raise RepoError(
            "FILE_UNREADABLE",
            f"it cannot be read: {getattr(problem, 'strerror', '') or problem}",
            place=source,
            fix="name a file with a contract",
            exit=1,
        ) from problem
