"""Goals that are one command in one of several repositories: routed, drafted, signed and run."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import skills as shipped
from executor.core.errors import KeyringError, ToolError
from executor.gate.grants import Grants, workspace_of
from executor.sandbox.history import history, main_folder
from executor.store.home import Home
from ir.results import JsonResult
from mcl.catalog.tools.foreign import all_tools
from mcl.compiler.execution import as_told
from mcl.core.errors import RepoError
from mcl.core.event_loop import outside_loop
from mcl.core.home import locate, open_home
from mcl.core.repositories import Repositories, Repository, Resolved
from mcl.language.mtx.files import Cache
from mcl.language.skills import load_skill
from mcl.plugins.repo.contract import REFUSE, RepoIntent, intent_types, judge, shown
from mcl.plugins.repo.plan import REFUSED, plan_contract, refused, short
from mcl.plugins.repo.routing import Routed, route
from mcl.usecases.intents import cancel
from mcl.usecases.packs import JudgedPack, PackOrigin, asked_of_gate
from mcl.usecases.run import run

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.questions import People
    from mcl.model import Model


# ---- What was refused, kept in the journal without its words.

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


PACK = Path(shipped.__file__).parent / "repo" / "repo-contract"
_RUNS = "shell"  # the class of what runs a program
_TELLS_WHICH = "pwd"  # it names no repository, and tells which one is meant


@dataclass(frozen=True, kw_only=True)
class DraftedContract(JudgedPack):
    """A contract as it would be done. repository: None where the intent is about none."""

    contract: RepoIntent
    repository: Resolved | None


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
    tools = all_tools(home)
    intent, plan = plan_contract(
        contract,
        repository,
        prose=prose,
        origin=PackOrigin.of(home),
        skill=load_skill(PACK, Cache(home.path / "cache")),
        tools=tools,
        ripgrep=_has_ripgrep(home),
        every=every,
    )
    verdicts = asked_of_gate(home, tools, workspace, intent, plan)  # its plans have no steps
    return DraftedContract(
        workspace=workspace,
        intent=intent,
        plan=plan,
        verdicts=verdicts,
        contract=contract,
        repository=repository,
    )


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


# ---- `mcl repo add`, `switch`, `remove`: which repositories there are is a person's word, and is
# journalled.


@dataclass(frozen=True)
class ChangedRepository:
    """A repository that was added, switched to or removed, and the one that is active now; None: none is.

    history: of one that was added and is a linked work tree or a submodule, the repository it belongs to.
    problem: of one that was added, why git can tell nothing of it.
    """

    repository: Repository
    active: Repository | None
    history: Path | None = None
    problem: ToolError | None = None


def add_repository(key: str, path: Path, *, home: Home | None = None) -> ChangedRepository:
    """Name a folder; the first one becomes the active one. Raises what Repositories.add does."""
    known = _changeable(home := home or open_home())
    changed = _kept(home, "added", known.add(key, path))
    try:
        return replace(changed, history=_history_of(changed.repository.path, home))
    except ToolError as problem:
        return replace(changed, problem=problem)


def switch_repository(key: str, *, home: Home | None = None) -> ChangedRepository:
    """Make one the active one. Raises what Repositories.switch does."""
    known = _changeable(home := home or open_home())
    return _kept(home, "switched", known.switch(key))


def remove_repository(key: str, *, home: Home | None = None) -> ChangedRepository:
    """Forget one; its folder stays as it is. Raises what Repositories.remove does."""
    known = _changeable(home := home or open_home())
    return _kept(home, "removed", known.remove(key))


def _history_of(folder: Path, home: Home) -> Path | None:
    """The repository elsewhere that a folder belongs to; None where it holds its own. Raises ToolError."""
    with (
        closing(workspace_of(home, folder)) as workspace,
        workspace.open_folder(".") as opened,
        history(workspace, ".", opened) as found,
    ):
        return main_folder(found.place) if found.linked else None


def _changeable(home: Home) -> Repositories:
    """The repositories of a home whose agent can sign that they changed. Raises KeyringError."""
    home.keyring.agent.signing_key  # noqa: B018  # where it is sealed, nothing is changed either
    return Repositories(home.path)


def _kept(home: Home, what: str, repository: Repository) -> ChangedRepository:
    by = home.keyring.user.did
    said = {"key": repository.key, "path": str(repository.path), "by": by}
    home.journal.record(f"record.repo.{what}", said)
    return ChangedRepository(repository, Repositories(home.path).active())


# ---- `mcl repo route`: which contract a prompt means; nothing is planned or run.


def route_prompt(
    prompt: str,
    *,
    repo: str = "",
    model: "Path | Model | None" = None,
    ai: bool = True,
    strict: bool = False,
    compat: bool = False,
    home: "Home | None" = None,
) -> Routed:
    """The contract of a prompt.

    repo: key of the repository that is meant where the prompt names none. ai: False for the matcher alone,
    which needs no home. strict: a model that is unsure refuses. compat: the matcher takes substrings for
    words.

    Raises RepoError: NO_ROUTE, BAD_CONFIGURATION (exit 1), UNKNOWN_REPOSITORY, REPOSITORY_AMBIGUOUS,
    NOT_TEXT (exit 2);
    ModelError; HomeError.
    """
    if ai:
        home = home or open_home()
    try:
        prompt.encode()
    except UnicodeEncodeError as problem:
        raise RepoError("NOT_TEXT", "the prompt is not UTF-8 text", place="prompt", exit=REFUSED) from problem
    folder = home.path if home else locate()
    keys = Repositories(folder).keys()
    asked = _model(home, model) if ai and home else None
    routed = route(prompt, keys, model=asked, strict=strict, compat=compat)
    return replace(routed, contract=named(routed.contract, repo, folder))


def named(contract: RepoIntent, key: str, folder: Path) -> RepoIntent:
    """A contract with the repository that a person named beside it, "" for none. folder: that of the home.

    Raises RepoError, exit 2: UNKNOWN_REPOSITORY; REPOSITORY_AMBIGUOUS (the contract names another one).
    """
    if not key:
        return contract
    Repositories(folder).resolve(key, kind=contract.intent, strict=True)
    if intent_types()[contract.intent].repo == "unused":
        return contract
    if contract.repo not in (None, key):
        raise RepoError(
            "REPOSITORY_AMBIGUOUS",
            f"two repositories are named: {shown(contract.repo)} and {shown(key)}",
            place=key,
            fix="name one of them",
            exit=REFUSED,
        )
    return replace(contract, repo=key)


def _model(home: "Home", model: "Path | Model | None") -> "Model":
    from mcl.usecases.compile import open_model  # what the matcher alone does without

    return open_model(home, model, ai=True)


# ---- `mcl repo run` and `mcl repo exec`: a contract is signed, judged by the gate, walked and kept.

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
class ContractRun(JsonResult):
    """What became of a contract."""

    JSON: ClassVar = (
        "contract=drafted.contract repository=drafted.repository intent=outcome.intent_id state "
        "exit output failure=outcome.failure"
    )
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

    @property
    def state(self) -> str:
        """How the run ended, a no of a person too."""
        return "declined" if self.declined else self.outcome.state

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
        made.passed(refused)
    id = made.sign(home)
    began(made)
    try:
        outcome = run(id, workspace=made.workspace, people=people, home=home)
    except (KeyboardInterrupt, CancelledError):
        cancel(id, reason="interrupted", home=home)
        raise
    return ContractRun(made, outcome)


def _status(contract: RepoIntent, output: dict[str, object]) -> int:
    """The exit status of a command that ran to its end."""
    if contract.intent == "grep_repo":
        return DONE if output.get("count") else _NOTHING_FOUND
    status = output.get("status")
    if not isinstance(status, int):
        return DONE
    return status if status >= 0 else _SIGNALLED - status
