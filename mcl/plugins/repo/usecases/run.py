"""`mcl repo run` and `mcl repo exec`: a contract is signed, judged by the gate, walked and kept."""

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.home import Home
from mcl.compiler.failures import as_told
from mcl.core.errors import RepoError
from mcl.core.home import open_home
from mcl.core.loops import outside_loop
from mcl.language.skills import load_skill
from mcl.plugins.repo.contract import RepoIntent
from mcl.plugins.repo.planning import REFUSED
from mcl.plugins.repo.usecases.draft import PACK, DraftedContract, draft_contract
from mcl.plugins.repo.usecases.refusing import denied, keeping_refusals
from mcl.usecases.accept import accept
from mcl.usecases.cancel import cancel
from mcl.usecases.proposing import proposal
from mcl.usecases.run import run

if TYPE_CHECKING:
    from executor.walker import Outcome
    from executor.walker.people import People

DONE, UNSET, FAILED, NOT_FOUND, DECLINED = 0, 1, 5, 127, 130
_DECLINED = ("GATE_DENIED", "GATE_TIMEOUT")
_NOT_SET_UP = ("BAD_CONFIGURATION", "NO_REPOSITORY", "REPOSITORY_GONE", "REPOSITORY_CLOSED")
# Failures of a tool that looks at the repositories itself: they end as they do before a plan is made.
_EXITS = {
    **dict.fromkeys(_NOT_SET_UP, UNSET),
    "UNKNOWN_REPOSITORY": REFUSED,
    "COMMAND_NOT_FOUND": NOT_FOUND,
}
_SIGNALLED = 128  # what a shell adds to the number of a signal
_NOTHING_FOUND = 1


@dataclass(frozen=True)
class ContractRun:
    """What became of a contract."""

    drafted: DraftedContract
    outcome: "Outcome"

    @property
    def output(self) -> dict[str, object]:
        """What the last step gave; {} where none completed."""
        outputs = self.outcome.outputs
        calls = [node.id for node, _ in self.drafted.plan.root.walk() if node.tool_call is not None]
        given = outputs.get(calls[-1]) if calls else None
        return dict(given) if isinstance(given, dict) else {}

    @property
    def declined(self) -> bool:
        """Did a person say no, or nobody yes?"""
        failure = self.outcome.failure
        return self.outcome.state == "cancelled" or (failure is not None and failure.code in _DECLINED)

    def problem(self) -> RepoError | None:
        """What went wrong, as it is told to a person; None where nothing did."""
        failure = self.outcome.failure
        if failure is None:
            return None
        message, fix = as_told(load_skill(PACK).file, failure)
        return RepoError(failure.code, message, place=str(self.drafted.workspace), fix=fix, exit=self.exit)

    @property
    def exit(self) -> int:
        """Of the command line: 0 done, 1 not set up, 2 refused, 127 no such command, 130 declined; else
        the command's own, 5 where it has none."""
        failure = self.outcome.failure
        if self.declined:
            return DECLINED
        if self.outcome.state == "denied":
            return REFUSED
        if failure is not None:
            return _EXITS.get(failure.code, FAILED)
        return _status(self.drafted.contract, self.output)

    def to_json(self) -> dict[str, object]:
        """All of it as a JSON object."""
        outcome, made = self.outcome, self.drafted
        return {
            "contract": made.contract.to_json(),
            "repository": repository_json(made),
            "intent": outcome.intent_id,
            "state": "declined" if self.declined else outcome.state,
            "exit": self.exit,
            "output": self.output,
            "failure": outcome.failure.to_json() if outcome.failure else None,
        }


def run_contract(
    contract: RepoIntent,
    *,
    prose: str = "",
    here: Path | None = None,
    people: "People | None" = None,
    began: Callable[[DraftedContract], None] = lambda made: None,
    strict: bool = False,
    every: bool = False,
    said: bytes = b"",
    home: Home | None = None,
) -> ContractRun:
    """Do what a contract says, in its repository.

    The arguments are those of `draft_contract`. people: who is asked; None: nobody, so what asks is
    declined. began: called before the first step. What is refused is a record in the journal: its code, and
    the hash of what was asked for (said, where it came as a document; else prose).

    Raises what `draft_contract` raises; RepoError of exit 2 with the gate's code; what accept and run raise.
    """
    outside_loop("run_contract", plugin=True)
    home = home or open_home()
    with keeping_refusals(home, said or prose.encode(errors="surrogatepass"), contract):
        made = draft_contract(contract, prose=prose, home=home, here=here, strict=strict, every=every)
        if made.denied is not None:
            raise denied(made.denied)
    id = made.intent.id
    home.journal.append_many(proposal(home, made.intent, made.plan, home.clock.now()))
    accept(id, intent_hash=made.intent.hash, plan_hash=made.plan.hash, home=home)
    began(made)
    try:
        outcome = run(id, workspace=made.workspace, people=people, home=home)
    except (KeyboardInterrupt, CancelledError):
        cancel(id, reason="interrupted", home=home)
        raise
    return ContractRun(made, outcome)


def repository_json(made: DraftedContract) -> dict[str, str] | None:
    """The repository of a draft, for programs."""
    found = made.repository
    if found is None:
        return None
    return {"key": found.key, "path": str(found.path), **({"note": found.note} if found.note else {})}


def _status(contract: RepoIntent, output: dict[str, object]) -> int:
    """The exit status of a command that ran to its end."""
    if contract.intent == "grep_repo":
        return DONE if output.get("count") else _NOTHING_FOUND
    status = output.get("status")
    if not isinstance(status, int):
        return DONE
    return status if status >= 0 else _SIGNALLED - status
