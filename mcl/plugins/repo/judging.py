"""Whether a contract may be acted upon: what is rejected although its document keeps the rules. Pure."""

import re
from dataclasses import dataclass, replace

from executor.core.errors import ScopeError
from executor.sandbox.files import components
from mcl.plugins.repo.contract import COMMANDS, REFUSE, IntentType, RepoIntent, intent_types, shown

LONGEST_BRANCH = 120
LONGEST_QUERY = 1000

_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*\Z")
# Of what the allow-list leaves, `git check-ref-format --branch` refuses these.
_NO_BRANCH = re.compile(r"\.\.|//|/\.|[/.]\Z|\.lock(/|\Z)|\AHEAD\Z")


@dataclass(frozen=True)
class Rejection:
    """Why nothing is run, and the way out. exit: the exit status of the command line."""

    code: str
    message: str
    fix: str
    exit: int = 2


def judge(contract: RepoIntent) -> Rejection | None:
    """Why a contract must not be acted upon; None where it may be planned.

    Codes: REFUSED, UNKNOWN_COMMAND, WRONG_ARGUMENTS, EMPTY_QUERY, BAD_BRANCH_NAME, PATH_OUTSIDE. What only a
    look at the repository can tell (links, files that are not there) is judged where the tool runs.
    """
    if contract.intent == REFUSE:
        return Rejection(
            "REFUSED", contract.why or contract.message or "it was refused", "say it in other words"
        )
    kind = intent_types()[contract.intent]
    wrong = _command(contract, kind) or _counted(contract, kind)
    if wrong:
        return wrong
    for name, value in zip(kind.arguments, contract.args, strict=True):
        look = {"query": _query, "branch": _branch, "path": _path}[name]
        if wrong := look(value):
            is_said = bool(value) or contract.repo is None
            return wrong if is_said else replace(wrong, fix=_quotes(contract.repo))
    return None


def _quotes(repo: str | None) -> str:
    """The way out for whoever said one name, and nothing else: it was taken for that of the repository."""
    return f"if {shown(repo or '')} is no repository here, put it in quotes"


def _command(contract: RepoIntent, kind: IntentType) -> Rejection | None:
    if kind.takes_command and contract.command not in COMMANDS:
        return Rejection(
            "UNKNOWN_COMMAND",
            f"mqlaunch has no command {shown(contract.command or '')}",
            f"choose one of: {', '.join(COMMANDS)}",
        )
    if not kind.takes_command and contract.command is not None:
        return Rejection(
            "WRONG_ARGUMENTS",
            f"{kind.name} takes no command",
            "set command to null: only run_mqlaunch has one",
        )
    return None


def _counted(contract: RepoIntent, kind: IntentType) -> Rejection | None:
    wanted = len(kind.arguments)
    if len(contract.args) != wanted:
        names = f" ({', '.join(kind.arguments)})" if wanted else ""
        message = f"{kind.name} takes {wanted} arguments{names}, not {len(contract.args)}"
        return Rejection("WRONG_ARGUMENTS", message, f"say exactly {wanted} in args")
    if kind.repo == "required" and not (contract.repo or "").strip():
        return Rejection(
            "WRONG_ARGUMENTS",
            f"{kind.name} names no repository",
            "say which: mcl repo list shows those there are",
        )
    return None


def _query(query: str) -> Rejection | None:
    if len(query) > LONGEST_QUERY:
        return Rejection(
            "WRONG_ARGUMENTS",
            f"the text to search for has {len(query):,} characters, and {LONGEST_QUERY:,} are allowed",
            "search for a part of it",
        )
    if query.strip():
        return None
    return Rejection("EMPTY_QUERY", "there is no text to search for", "say what to search for")


def _branch(name: str) -> Rejection | None:
    if len(name) <= LONGEST_BRANCH and _BRANCH.match(name) and not _NO_BRANCH.search(name):
        return None
    return Rejection(
        "BAD_BRANCH_NAME",
        f"{shown(name)} is no name for a branch",
        f"use letters, digits, . _ - and / (not first: - / .), as git allows, at most {LONGEST_BRANCH}",
    )


def _path(path: str) -> Rejection | None:
    try:
        parts = components(path)
    except ScopeError as error:
        return Rejection("PATH_OUTSIDE", error.message, "name a file inside the repository, relative to it")
    if parts and parts[-1].strip() and not path.endswith("/"):
        return None
    return Rejection("WRONG_ARGUMENTS", f"{shown(path)} names no file", "name one file of the repository")
