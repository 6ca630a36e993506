"""Contract documents for tests: the examples, an independent judge of them, and what may go wrong."""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jsonschema import Draft202012Validator

INTENTS = (
    *("help", "list_repos", "print_cd", "pwd", "repo_tree", "git_status", "git_log", "grep_repo"),
    *(
        "repo_status_json",
        "switch_repo",
        "run_test",
        "open_editor",
        "run_mqlaunch",
        "create_branch",
        "refuse",
    ),
)
COMMANDS = ("doctor", "release-check", "selftest", "perf", "system-check", "demo")

# The contract's table: intent, triggers (sv and en), the argument that tests put behind them.
TABLE = {
    "help": (["help", "hjälp", "--help"], ""),
    "list_repos": (["lista repo", "list repos", "vilka repo"], ""),
    "grep_repo": (["hitta", "sök", "search", "grep"], "OLLAMA_MODEL"),
    "open_editor": (["öppna", "open"], "src/router.py"),
    "create_branch": (["skapa branch", "ny branch", "create branch"], "feature/hal-router"),
    "repo_status_json": (["repo-status-json", "inspect json"], ""),
    "git_status": (["git status", "status"], ""),
    "git_log": (["git log", "senaste commit", "commits"], ""),
    "repo_tree": (["träd", "tree", "filer"], ""),
    "run_test": (["kör tester", "run tests", "testerna"], ""),
}
ROWS = [
    (trigger, intent, argument) for intent, (triggers, argument) in TABLE.items() for trigger in triggers
] + [(command, "run_mqlaunch", "") for command in COMMANDS]

VALID = (
    '{"schema":"mq-hal.intent.v1","intent":"git_status","repo":"macos-scripts","command":null,"args":[],'
    '"message":"Visar git status."}',
    '{"schema":"mq-hal.intent.v1","intent":"run_mqlaunch","repo":null,"command":"doctor","args":[],'
    '"message":"Kör mqlaunch doctor."}',
    '{"schema":"mq-hal.intent.v1","intent":"grep_repo","repo":"mq-hal","command":null,"args":["OLLAMA_MODEL"],'
    '"message":"Söker."}',
    '{"schema":"mq-hal.intent.v1","intent":"create_branch","repo":"mq-hal","command":null,'
    '"args":["feature/hal-router"],"message":"Skapar branch."}',
)

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "schema": {"const": "mq-hal.intent.v1"},
        "intent": {"enum": list(INTENTS)},
        "repo": {"type": ["string", "null"]},
        "command": {"type": ["string", "null"]},
        "args": {"type": "array", "items": {"type": "string"}},
        "message": {"type": "string"},
        "risk_level": {"enum": ["", "low", "medium", "high", "critical", None]},
        "rollback_plan": {"type": ["string", "null"]},
        "requires_confirmation": {"type": ["boolean", "null"]},
    },
    "required": ["schema", "intent", "repo", "command", "args", "message"],
    "additionalProperties": False,
}
SCHEMA_FIELDS = tuple(_SCHEMA["properties"])
_VALIDATOR = Draft202012Validator(_SCHEMA)


def document(**changed: Any) -> dict[str, Any]:
    """A valid contract with some fields changed."""
    return {**json.loads(VALID[0]), **changed}


def keeps_the_rules(data: bytes) -> bool:
    """Whether a document is a contract, told by another JSON reader and a JSON Schema."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_never)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone surrogate cannot be written
    except (ValueError, RecursionError):
        return False
    if len(data) > 65536 or not _VALIDATOR.is_valid(value):
        return False
    named = [value["repo"] or "", value["command"] or "", *value["args"]]
    return not any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for text in named for char in text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands there twice")
    return dict(pairs)


def _never(_constant: str) -> None:
    raise ValueError("no JSON number")


_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        10**400,
        "",
        "mq-hal",
        "rm_rf",
        "doctor",
        "rm -rf /",
        "../x",
        "\x00",
        "\x85",
    ),
    *("é", "e\u0301", "\u2028", "\u202e", "😀", "a" * 300, [], [[]], ["x"], ["x", 1], [None], {}, {"a": []}),
    *INTENTS,
)
_PIECES = (
    *(
        b"\xef\xbb\xbf",
        b"```json\n",
        b"\n```",
        b"Sure! ",
        b"NaN",
        b"-Infinity",
        b"\\ud800",
        b"\\u0000",
        b"\x00",
    ),
    *(
        b'"args":["x"],',
        b'"message":"",',
        b'"x":1,',
        b"{",
        b"}",
        b"[" * 200,
        b"]",
        b'"',
        b"\\",
        b",",
        b":",
        b"null",
    ),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b" ", b"\n", b"// no", b"1e999", b"9" * 400, b"true"),
)


def mutated(rng: random.Random) -> bytes:
    """A valid contract after one to three things happened to it."""
    value: Any = json.loads(rng.choice(VALID))
    value["intent"] = rng.choice(INTENTS)
    data: bytes | None = None
    for _ in range(rng.randint(1, 3)):
        if data is None and rng.random() < 0.5:
            value = rng.choice(_ON_VALUES)(value, rng)
        else:
            data = _on_bytes(data if data is not None else _dumped(value, rng), rng)
    return data if data is not None else _dumped(value, rng)


def _dumped(value: Any, rng: random.Random) -> bytes:
    separators = rng.choice([(",", ":"), (", ", ": "), (" ,\n", "\t:")])
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=separators)
    return text.encode("utf-8", "surrogatepass")


def _on_bytes(data: bytes, rng: random.Random) -> bytes:
    at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    kind = rng.randrange(6)
    if kind == 0:
        return data[:at] + data[min(to, at + 8) :]
    if kind == 1:
        return data[:at] + rng.choice(_PIECES) + data[at:]
    if kind == 2:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if kind == 3:
        return data[:to] + data[at:]
    if kind == 4:
        return rng.choice(_PIECES) + data + rng.choice(_PIECES)
    return data[:at]


def _change(value: dict[str, Any], rng: random.Random) -> Any:
    return {**value, rng.choice(list(value) or ["args"]): rng.choice(_VALUES)}


def _add(value: dict[str, Any], rng: random.Random) -> Any:
    names = ("risk_level", "rollback_plan", "requires_confirmation", "extra", "Schema", "", "args ")
    return {**value, rng.choice(names): rng.choice(_VALUES)}


def _leave_out(value: dict[str, Any], rng: random.Random) -> Any:
    gone = rng.choice(list(value) or [""])
    return {name: one for name, one in value.items() if name != gone}


def _turn(value: dict[str, Any], rng: random.Random) -> Any:
    names = list(value)
    rng.shuffle(names)
    return {name: value[name] for name in names}


def _argue(value: dict[str, Any], rng: random.Random) -> Any:
    return {**value, "args": [rng.choice(_VALUES) for _ in range(rng.randrange(4))]}


_ON_VALUES: tuple[Callable[[dict[str, Any], random.Random], Any], ...] = (
    _change,
    _add,
    _leave_out,
    _turn,
    _argue,
)


_WATCHING: list[list[str]] = []  # of an audit hook there is no way back: it looks here
_TOUCHES = ("open", "os.", "subprocess.", "socket.", "shutil.", "exec", "ctypes.", "sqlite3.")


def _noted(event: str, _arguments: object) -> None:
    if len(_WATCHING) > 1 and event.startswith(_TOUCHES):
        _WATCHING[-1].append(event)


@contextmanager
def watched() -> Iterator[list[str]]:
    """What the interpreter tells of files, processes and sockets meanwhile."""
    events: list[str] = []
    if not _WATCHING:
        _WATCHING.append([])
        sys.addaudithook(_noted)
    _WATCHING.append(events)
    try:
        yield events
    finally:
        _WATCHING.pop()
