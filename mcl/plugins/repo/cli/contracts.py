"""`mcl repo route`, `explain`, `run` and `exec`: a contract is made of a prompt, shown, and done."""

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcl.cli.arguments import AsJson, ModelPath, NoAi, argument, noun, option, read_source, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, note_error, write_document, write_line, write_text
from mcl.cli.people import AtTerminal
from mcl.cli.views.layout import DIM, STRONG, WARN, joined, plain, rows
from mcl.core.text import one_line, safe, safe_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from executor.store.home import Home
    from mcl.plugins.repo.contract import RepoIntent
    from mcl.plugins.repo.routing import Routed
    from mcl.plugins.repo.usecases import ContractRun, DraftedContract

# ---- What the commands are given.


def complete_key(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the repositories by their keys; nothing where none can be read."""
    from ir.errors import MclError
    from mcl.core.home import locate
    from mcl.core.repositories import Repositories

    try:
        known = Repositories(locate()).all()
    except MclError:
        return
    for one in known:
        if one.key.startswith(incomplete):
            yield one.key, str(one.path)


def prompt_of(arguments: Sequence[str]) -> str:
    """A prompt of the arguments of a command line: the shell took the quotes off one of several words, and
    they are put back where it does not stand first."""
    parts = [*arguments[:1], *map(_quoted, arguments[1:])]
    return " ".join(parts)


def _quoted(argument: str) -> str:
    several = len(argument.split()) > 1 and argument.isprintable()
    return f'"{argument}"' if several and '"' not in argument else argument


Prompt = Annotated[list[str], argument("PROMPT", "What you want, in Swedish or English; quotes or not.")]
InRepo = Annotated[
    str,
    option(
        "--repo KEY", "The repository that is meant where the prompt names none.", autocompletion=complete_key
    ),
]
Strict = Annotated[
    bool,
    option("--strict", "Nothing stands in: not the matcher for an unsure model, not the active repository."),
]
Compat = Annotated[bool, option("--compat", "The matcher looks for plain pieces of text, not for words.")]
Confirm = Annotated[bool, option("--confirm", "Ask before every step.")]
YesGates = Annotated[
    bool,
    option("--yes-gates", "Agree to every question unseen; for scripts whose author read the plan."),
]
DryRun = Annotated[bool, option("--dry-run", "Judge it, plan it and ask the gate; sign and run nothing.")]

repo_verbs = noun(
    "repo", "Repositories: fifteen things to ask of one, in plain words.", "mcl repo run sök TODO"
)


@dataclass(frozen=True)
class PromptOptions:
    """How a prompt becomes a contract."""

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


@dataclass(frozen=True)
class ContractRequest:
    """A contract as it came to the command line.

    prose: what was asked for, in words. by, note: who made the contract, and what is to be known of that; ""
    where it came as one, and said is its bytes. strict, every: as of `draft_contract`.
    """

    contract: "RepoIntent"
    prose: str
    by: str = ""
    note: str = ""
    said: bytes = b""
    strict: bool = False
    every: bool = False


# ---- The commands.


@verb(repo_verbs, "route")
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
    from mcl.plugins.repo.usecases import rejected

    routed = PromptOptions(repo, model, not no_ai, strict, compat).route(prompt_of(prompt))
    write_text(safe_json(routed.contract.text) + "\n")
    if routed.note:
        note(safe(routed.note))
    wrong = rejected(routed.contract)
    if wrong is None:
        return 0
    note_error(wrong)
    return wrong.exit


@verb(repo_verbs, "explain")
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
    home, words = use_home(), prompt_of(prompt)
    options = PromptOptions(repo, model, not no_ai, strict, compat)
    return _explained(_request(options, words, home, every=confirm), home, as_json=as_json)


@verb(repo_verbs, "run")
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
    from mcl.plugins.repo.usecases import keeping_refusals

    home, words = use_home(signs=not dry_run), prompt_of(prompt)
    options = PromptOptions(repo, model, not no_ai, strict, compat)
    if dry_run:
        return _explained(_request(options, words, home, every=confirm), home, as_json=as_json)
    with keeping_refusals(home, words.encode(errors="surrogatepass")):
        asked = _request(options, words, home, every=confirm)
    return _done(asked, home, unseen=yes_gates, as_json=as_json)


@verb(repo_verbs, "exec")
def exec_command(
    source: Annotated[str, argument("FILE", "A contract as JSON; - is standard input.")] = "-",
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
    from mcl.core.errors import RepoError
    from mcl.plugins.repo.contract import read_contract
    from mcl.plugins.repo.plan import REFUSED
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
        return _explained(asked, home, as_json=as_json)
    return _done(asked, home, unseen=yes_gates, as_json=as_json)


def _request(options: PromptOptions, words: str, home: "Home", *, every: bool) -> ContractRequest:
    routed = options.route(words, home)
    return ContractRequest(
        routed.contract, words, by=routed.by, note=routed.note, strict=options.strict, every=every
    )


def _read(source: str) -> bytes:
    """A contract, and of what is too long for one a byte more than it may have."""
    from mcl.core.errors import RepoError
    from mcl.plugins.repo.contract import MAX_BYTES

    try:
        return read_source(source, MAX_BYTES, what="a contract")
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        raise RepoError(
            "FILE_UNREADABLE",
            f"it cannot be read: {getattr(problem, 'strerror', '') or problem}",
            place=source,
            fix="name a file with a contract",
            exit=1,
        ) from problem


# ---- A contract shown.


def _explained(asked: ContractRequest, home: "Home", *, as_json: bool) -> int:
    """Show what it would do; the exit code."""
    from mcl.plugins.repo.plan import REFUSED
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
    out.show(
        draft_json(made, by=asked.by, note=asked.note),
        draft_view(made, out.people, by=asked.by, note=asked.note),
    )
    return REFUSED if made.denied else 0


def draft_view(
    made: "DraftedContract", console: "Console", *, by: str = "", note: str = ""
) -> "Iterator[RenderableType]":
    """What is asked, where, what would run, and what the gate says. by, note: who made the
    contract, and what is to be known of that."""
    from mcl.cli.views.plan import plan_view
    from mcl.usecases.plans import Planned

    contract, found = made.contract, made.repository
    where = f"in {found.key}" if found else ""
    yield joined(((contract.intent, STRONG), (where, ""), (f"by the {by}" if by else "", DIM)))
    said = [
        ("message", plain(contract.message)),
        ("folder", plain(str(made.workspace))),
        *([("note", plain(note))] if note else []),
        *([("note", plain(found.note, WARN))] if found and found.note else []),
        ("contract", plain(contract.text, DIM)),
    ]
    yield rows(said)
    planned = Planned(made.intent, made.plan, "proposed", False, made.verdicts)
    yield from plan_view(planned, console)


def draft_json(made: "DraftedContract", *, by: str = "", note: str = "") -> dict[str, object]:
    """The same for programs."""
    from ir import canonical_bytes

    denied = made.denied
    return {
        "contract": made.contract,
        **({"by": by} if by else {}),
        **({"note": note} if note else {}),
        "repository": made.repository,
        "workspace": str(made.workspace),
        "decision": "deny" if denied else "ask" if any(one.reply for one in made.verdicts) else "allow",
        "verdicts": made.verdicts,
        "plan": json.loads(canonical_bytes(made.plan)),
    }


# ---- A contract done.


def _done(asked: ContractRequest, home: "Home", *, unseen: bool, as_json: bool) -> int:
    """Do it and tell what came of it; the exit code. unseen: every question is agreed to."""
    from executor.walker.questions import AlwaysApprove, AlwaysDeny
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
