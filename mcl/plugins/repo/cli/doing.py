"""What `mcl repo run`, `exec` and `explain` share: a contract shown, or done and its answer told."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcl.cli.output import Output, note, note_error, write_document, write_line

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.plugins.repo.contract import RepoIntent
    from mcl.plugins.repo.usecases import ContractRun, DraftedContract


@dataclass(frozen=True)
class ContractRequest:
    """A contract as it came to the command line.

    prose: what was asked for, in words. by, note: who made the contract, and what is to be known of that; ""
    where it came as one, and said is its bytes. strict, every: as of `draft`.
    """

    contract: "RepoIntent"
    prose: str
    by: str = ""
    note: str = ""
    said: bytes = b""
    strict: bool = False
    every: bool = False


def explained(asked: ContractRequest, home: "Home", *, as_json: bool) -> int:
    """Show what it would do; the exit code."""
    from mcl.plugins.repo.cli.views import draft_json, draft_view
    from mcl.plugins.repo.planning import REFUSED
    from mcl.plugins.repo.usecases import draft_contract

    out = Output(as_json)
    made = draft_contract(
        asked.contract,
        prose=asked.prose,
        home=home,
        here=Path.cwd(),
        strict=asked.strict,
        every=asked.every,
    )
    out.document(draft_json(made, by=asked.by, note=asked.note))
    out.view(draft_view(made, out.people, by=asked.by, note=asked.note))
    return REFUSED if made.denied else 0


def done(asked: ContractRequest, home: "Home", *, unseen: bool, as_json: bool) -> int:
    """Do it and tell what came of it; the exit code. unseen: every question is agreed to."""
    from executor.walker.questions import AlwaysApprove, AlwaysDeny
    from mcl.cli.people import AtTerminal
    from mcl.plugins.repo.usecases import run_contract
    from mcl.usecases.authority.door import may_answer

    try:
        result = run_contract(
            asked.contract,
            prose=asked.prose,
            home=home,
            here=Path.cwd(),
            people=AlwaysApprove() if unseen else AtTerminal(own=True) if may_answer(home) else AlwaysDeny(),
            began=_say_where,
            strict=asked.strict,
            every=asked.every,
            said=asked.said,
        )
    except KeyboardInterrupt:
        note("interrupted")
        raise
    if as_json:
        write_document({**result.to_json(), **({"by": asked.by} if asked.by else {}), **home.marks})
    else:
        _tell(result)
    return result.exit


def _say_where(made: "DraftedContract") -> None:
    """Say what is done in which repository, where it does more than look, or the person is somewhere else."""
    from mcl.core.text import one_line
    from mcl.plugins.repo.contract import intent_types

    found = made.repository
    if found is None or (made.intent.frame.verb == "find" and Path.cwd().is_relative_to(found.path)):
        return
    asks = any(node.gate is not None for node, _ in made.plan.root.walk())  # the question says it
    if not asks and made.contract.intent not in ("print_cd", "switch_repo"):
        swedish = any(one.name == "language" and one.value == "sv" for one in made.intent.frame.objects)
        said = intent_types()[made.contract.intent].message["sv" if swedish else "en"]
        said = said.replace("{command}", made.contract.command or "")
        note(f"{found.key} ({one_line(str(found.path))}): {said}")


def _tell(result: "ContractRun") -> None:
    from mcl.core.text import safe

    found = result.drafted.repository
    if found is not None and found.note:
        note(safe(found.note))
    if result.declined:
        note("declined: nothing was run")
        return
    if (problem := result.problem()) is not None:
        note_error(problem)
        return
    if result.drafted.contract.intent == "repo_status_json":
        write_document({name: value for name, value in result.output.items() if name != "text"})
        return
    text = str(result.output.get("text", ""))
    if text:
        write_line(text)
    else:
        note("there is nothing to show")
    if result.output.get("truncated"):
        note("there is more; this is the beginning")
