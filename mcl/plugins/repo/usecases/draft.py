"""`mcl repo explain`: what a contract would do, where, and what the gate says of it; nothing is run."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import skills as shipped
from executor.gate.grants import Grants
from executor.gate.verdict import Deny
from executor.store.home import Home
from executor.walker import Verdict, Walker
from ir import Intent, PlanTree
from mcl.catalog.tools.foreign import all_tools
from mcl.core.home import open_home
from mcl.core.repositories import Repositories, Resolved
from mcl.language.mtx.cache import Cache
from mcl.language.skills import load_skill
from mcl.plugins.repo.contract import RepoIntent
from mcl.plugins.repo.intents import intent_types
from mcl.plugins.repo.planning import Origin, plan_contract
from mcl.plugins.repo.usecases.refusing import rejected

PACK = Path(shipped.__file__).parent / "repo" / "repo-contract"
_RUNS = "shell"  # the class of what runs a program
_TELLS_WHICH = "pwd"  # it names no repository, and tells which one is meant


@dataclass(frozen=True)
class DraftedContract:
    """A contract as it would be done. Nothing of it is signed or stored.

    repository: None where the intent is about none. workspace: the folder that tools may work in.
    """

    contract: RepoIntent
    repository: Resolved | None
    workspace: Path
    intent: Intent
    plan: PlanTree
    verdicts: tuple[Verdict, ...]

    @property
    def denied(self) -> Deny | None:
        """Why the gate refuses it; None where it does not."""
        return next((one.reply for one in self.verdicts if isinstance(one.reply, Deny)), None)


def draft_contract(
    contract: RepoIntent,
    *,
    prose: str = "",
    here: Path | None = None,
    strict: bool = False,
    every: bool = False,
    home: Home | None = None,
) -> DraftedContract:
    """Judge a contract, find its repository, plan it, and ask the gate.

    prose: what was asked for, in the asker's words. here: where the asker stands (default: the current
    folder): the repository that is meant where none is named, and the workspace of what is about none.
    strict: the active repository never stands in for another. every: a person is asked before every step.

    Raises RepoError: of exit 2 what is refused (the codes of `judge` and of `plan_contract`,
    UNKNOWN_REPOSITORY), of exit 1 what is not set up (NO_REPOSITORY, REPOSITORY_GONE,
    REPOSITORY_CLOSED, BAD_CONFIGURATION).
    """
    if (wrong := rejected(contract)) is not None:
        raise wrong
    home, here = home or open_home(), here or Path.cwd()
    repository = _repository(contract, home, here, strict=strict)
    workspace = repository.path if repository else here
    keyring, clock, tools = home.keyring, home.clock, all_tools(home)
    intent, plan = plan_contract(
        contract,
        repository,
        prose=prose,
        origin=Origin(keyring.user.did, keyring.agent.did, clock.now(), clock.new_id(), clock.new_id()),
        skill=load_skill(PACK, Cache(home.path / "cache")),
        tools=tools,
        ripgrep=_has_ripgrep(home),
        every=every,
    )
    walker = Walker(home, tools, workspace=workspace)  # its plans have no steps, and dispatch nothing
    try:
        verdicts = walker.preflight_plan(intent, plan)
    finally:
        walker.close()
    return DraftedContract(contract, repository, workspace, intent, plan, tuple(verdicts))


def _repository(contract: RepoIntent, home: Home, here: Path, *, strict: bool) -> Resolved | None:
    known = Repositories(home.path)
    if intent_types()[contract.intent].repo == "unused":
        found = known.standing(here) if contract.intent == _TELLS_WHICH else None
        return Resolved(found.key, found.path) if found else None
    return known.resolve(contract.repo, kind=contract.intent, strict=strict, here=here)


def _has_ripgrep(home: Home) -> bool:
    """Is there one, and may the agent run commands?"""
    held = Grants(home).held(home.keyring.agent.did)
    return _RUNS in held and shutil.which("rg") is not None
