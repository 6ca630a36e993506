"""What was refused, kept in the journal without its words."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from executor.core.errors import KeyringError
from executor.gate.verdict import Deny
from executor.store.home import Home
from mcl.core.errors import RepoError
from mcl.plugins.repo.confirming import short
from mcl.plugins.repo.contract import RepoIntent
from mcl.plugins.repo.intents import REFUSE, intent_types
from mcl.plugins.repo.judging import judge
from mcl.plugins.repo.planning import REFUSED

KIND = "record.repo.refused"


def rejected(contract: RepoIntent) -> RepoError | None:
    """Why a contract must not be acted upon, as it is told to a person; None where it may be planned."""
    wrong = judge(contract)
    if wrong is None:
        return None
    message, fix = wrong.message, wrong.fix
    if contract.intent == REFUSE and not contract.why:  # whoever wrote the contract refused
        unsaid = contract.message in ("", *intent_types()[REFUSE].message.values())
        message = (
            "it was taken for nothing that can be asked for"
            if unsaid
            else f"refused: {short(contract.message)}"
        )
        fix = "say it in other words; mcl repo run help tells what can be asked for"
    return RepoError(wrong.code, message, fix=fix, exit=wrong.exit)


def denied(refusal: Deny) -> RepoError:
    """What the gate refuses, as it is told to the person whose agent it is."""
    wanted = f"if you want that: {refusal.example}" if refusal.code == "CAPABILITY_DENIED" else refusal.fix
    return RepoError(refusal.code, refusal.reason, fix=wanted, exit=REFUSED)


@contextmanager
def keeping_refusals(home: Home, said: bytes, contract: RepoIntent | None = None) -> Iterator[None]:
    """Whatever is refused within is a record: its code, its intent, and the sha256 of what was said."""
    try:
        yield
    except RepoError as problem:
        if problem.exit == REFUSED:
            digest = sha256(said).hexdigest()
            intent = contract.intent if contract else ""
            with suppress(KeyringError):  # sealed: it is refused all the same
                home.journal.record(KIND, {"code": problem.code, "intent": intent, "said_sha256": digest})
        raise
