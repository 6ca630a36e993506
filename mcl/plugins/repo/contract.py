"""The repository contract, read strictly: a document that breaks a rule is a refusal, never an error."""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from executor.core.errors import ScopeError
from executor.core.tables import table_beside
from executor.sandbox.files import components
from ir.canonical import parse_json
from ir.characters import LINE_ENDS, holds
from ir.errors import DocumentError
from ir.results import WHERE_SAID, JsonResult
from mcl.core.text import cut

# ---- The intents of the repository contract and the commands of mqlaunch, read from `intents.toml`.

COMMANDS = ("doctor", "release-check", "selftest", "perf", "system-check", "demo")
"""What mqlaunch may be run with."""
REFUSE = "refuse"
SEARCH = "grep_repo"

Effect: TypeAlias = Literal["read-only", "state-write", "executes", "repo-write", "safety"]
Naming: TypeAlias = Literal["optional", "required", "unused"]
Language: TypeAlias = Literal["sv", "en"]


@dataclass(frozen=True)
class IntentType:
    """One intent as data: `intents.toml` says what each field means.

    arguments: names of what `args` must hold. takes_command: `command` is one of COMMANDS, else null.
    repo: whether a repository is named. names: how words begin that name what it works on. asked: how people
    ask for it, with REPO, FILE, NAME and COMMAND for what is named.
    """

    name: str
    effect: Effect
    arguments: tuple[str, ...]
    takes_command: bool
    repo: Naming
    names: tuple[str, ...]
    description: Mapping[Language, str]
    message: Mapping[Language, str]
    asked: Mapping[Language, tuple[str, ...]]


@functools.cache
def intent_types() -> Mapping[str, IntentType]:
    """The fifteen intents by name, in the order of the file."""
    rows = table_beside(__file__, "intents")
    types = {
        name: IntentType(
            name=name,
            effect=row["effect"],
            arguments=tuple(row["arguments"]),
            takes_command=row["command"],
            repo=row["repo"],
            names=tuple(row["names"]),
            description=MappingProxyType({"sv": row["sv"], "en": row["en"]}),
            message=MappingProxyType({"sv": row["say_sv"], "en": row["say_en"]}),
            asked=MappingProxyType({"sv": tuple(row["asked_sv"]), "en": tuple(row["asked_en"])}),
        )
        for name, row in rows.items()
    }
    return MappingProxyType(types)


SCHEMA = "mq-hal.intent.v1"
MAX_BYTES = 64 << 10

_FIELDS = ("schema", "intent", "repo", "command", "args", "message")
_OPTIONAL = {"risk_level": str, "rollback_plan": str, "requires_confirmation": bool}
RISKS = ("low", "medium", "high", "critical")
"""What `risk_level` may say."""
_SHOWN = 60


@dataclass(frozen=True)
class RepoIntent(JsonResult):
    """What is asked of a repository. repo: a key, None where none is named. args: as its intent wants them.

    message: for people; nothing is decided by it. requires_confirmation: the one who asked wants to be asked
    again. why: of a refusal made here, what was wrong; no part of the document.
    """

    JSON: ClassVar = "schema intent repo command args message risk_level rollback_plan requires_confirmation"
    schema: ClassVar = SCHEMA
    intent: str
    repo: str | None
    command: str | None
    args: tuple[str, ...]
    message: str
    risk_level: str = field(default="", metadata=WHERE_SAID)
    rollback_plan: str = field(default="", metadata=WHERE_SAID)
    requires_confirmation: bool = field(default=False, metadata=WHERE_SAID)
    why: str = ""

    @property
    def text(self) -> str:
        """The document as one compact line, without a newline."""
        return json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":"))


def refusal(why: str) -> RepoIntent:
    """A refusal made here. why: what was wrong, as a clause for people."""
    return RepoIntent(REFUSE, None, None, (), f"Refused: {why}.", why=why)


def read_contract(data: bytes | str) -> RepoIntent:
    """What a document asks for; `refuse`, with the reason in `why`, where it breaks any rule. Never raises.

    data: exactly one JSON object (blanks around it are no part of it), at most 64 KiB of UTF-8. An optional
    field that is null is one that is not there.
    """
    size = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        return refusal(f"the document has {size:,} bytes, and {MAX_BYTES:,} are allowed")
    try:
        document = parse_json(data)
    except DocumentError as error:
        return refusal(f"it is not one JSON document ({error.code} at {error.place or '$'})")
    wrong = _wrong(document)
    if wrong:
        return refusal(wrong)
    given = {name: document[name] for name in _OPTIONAL if document.get(name) is not None}
    return RepoIntent(
        document["intent"],
        document["repo"],
        document["command"],
        tuple(document["args"]),
        document["message"],
        **given,
    )


def _wrong(document: Any) -> str:
    """The first rule that a parsed document breaks, as a clause; "" where it keeps all."""
    if not isinstance(document, dict):
        return "it is not a JSON object"
    missing = [name for name in _FIELDS if name not in document]
    if missing:
        return f"the field {missing[0]!r} is missing"
    extra = [name for name in document if name not in _FIELDS and name not in _OPTIONAL]
    if extra:
        return f"the contract has no field {shown(extra[0])}"
    return _wrong_type(document) or _wrong_value(document)


def _wrong_type(document: dict[str, Any]) -> str:
    for name in ("schema", "intent", "message"):
        if not isinstance(document[name], str):
            return f"{name!r} is no text"
    for name in ("repo", "command"):
        if not isinstance(document[name], str | None):
            return f"{name!r} is neither a text nor null"
    args = document["args"]
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        return "'args' is no list of texts"
    for name, kind in _OPTIONAL.items():
        if document.get(name) is not None and not isinstance(document[name], kind):
            return f"{name!r} is not of the type {kind.__name__}"
    return ""


def _wrong_value(document: dict[str, Any]) -> str:
    if document["schema"] != SCHEMA:
        return f"the schema is {shown(document['schema'])}, not {SCHEMA!r}"
    if document["intent"] not in intent_types():
        return f"there is no intent {shown(document['intent'])}"
    if (risk := document.get("risk_level")) and risk not in RISKS:
        return f"'risk_level' is {shown(risk)}, not one of {', '.join(RISKS)}"
    for name, value in (("repo", document["repo"]), ("command", document["command"])):
        if value is not None and _has_control(value):
            return f"{name!r} holds a control character"
    if any(map(_has_control, document["args"])):
        return "'args' holds a control character"
    return ""


def _has_control(text: str) -> bool:
    return holds(text, LINE_ENDS, keep="")


def shown(text: str) -> str:
    """A text of somebody else's in a message: quoted, and not too long."""
    return repr(cut(text, _SHOWN))


# ---- Whether a contract may be acted upon: what is rejected although its document keeps the rules. Pure.

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
