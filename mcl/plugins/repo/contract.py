"""The repository contract, read strictly: a document that breaks a rule is a refusal, never an error."""

import functools
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from ir.canonical import parse_json
from ir.characters import LINE_ENDS, holds
from ir.errors import DocumentError

# ---- The intents of the repository contract and the commands of mqlaunch, read from `intents.toml`.

COMMANDS = ("doctor", "release-check", "selftest", "perf", "system-check", "demo")
"""What mqlaunch may be run with."""
REFUSE = "refuse"
SEARCH = "grep_repo"

Effect: TypeAlias = Literal["read-only", "state-write", "executes", "repo-write", "safety"]
Naming: TypeAlias = Literal["optional", "required", "unused"]
Language: TypeAlias = Literal["sv", "en"]

_FILE = Path(__file__).with_name("intents.toml")


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
    rows = tomllib.loads(_FILE.read_text("utf-8"))
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
class RepoIntent:
    """What is asked of a repository. repo: a key, None where none is named. args: as its intent wants them.

    message: for people; nothing is decided by it. requires_confirmation: the one who asked wants to be asked
    again. why: of a refusal made here, what was wrong; no part of the document.
    """

    intent: str
    repo: str | None
    command: str | None
    args: tuple[str, ...]
    message: str
    risk_level: str = ""
    rollback_plan: str = ""
    requires_confirmation: bool = False
    why: str = ""

    def to_json(self) -> dict[str, object]:
        """The document: six fields in the contract's order, then the optional ones that say something."""
        fields: dict[str, object] = {
            "schema": SCHEMA,
            "intent": self.intent,
            "repo": self.repo,
            "command": self.command,
            "args": list(self.args),
            "message": self.message,
        }
        return fields | {name: value for name in _OPTIONAL if (value := getattr(self, name))}

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
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
