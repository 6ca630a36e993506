"""An intent that an agent has checked out: which files it may change, and what it is told where it may not.

The three messages have the same five parts: what rule was broken, what happened, what to do, an example, and
why there is such a rule. They are made for a model that corrects itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

from executor.core.globs import Scope
from executor.gate.verdict import Deny
from executor.sandbox.files import readings
from executor.sandbox.redaction import visible

_FILE: Final = ".orchestration/active_intents.yaml"
_MOST: Final = 20  # labels or patterns that are named
_SHOWN: Final = 200  # characters of a path or a pattern
# Files of a project that name what the hosts of agents run, the hooks that judge an agent above all: by the
# last names of their paths, since a host may be started in any folder.
_STARTING: Final = frozenset(
    {
        *(".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".gemini/settings.json"),
        *(".cursor/mcp.json", ".cursor/hooks.json", ".vscode/mcp.json", ".vscode/tasks.json"),
        *(".codex/config.toml", ".codex/hooks.json"),
    }
)
# Folders whose files may name hooks, or commands that a host runs when it reads them.
_HOLDING: Final = frozenset({"skills", "agents", "commands", "hooks", "plugins", "extensions", "policies"})
_HOSTS: Final = frozenset({".claude", ".gemini"})


@dataclass(frozen=True, slots=True)
class Checkout:
    """What an agent holds.

    intent_id: ULID of the signed Intent. label: what people call it, such as INT-001. scope: the files that
    it may change. agent: name of the agent. expires_at: ISO 8601 UTC.
    """

    intent_id: str
    label: str
    scope: Scope
    agent: str
    expires_at: str


def names_programs(path: str) -> bool:
    """Does a file name programs that hosts of agents start? No scope opens it: an agent that writes it
    would not be judged again."""
    names = [readings(name)[-1] for name in path.split("/")]  # however a file system spells it
    if names[-1] in _STARTING or "/".join(names[-2:]) in _STARTING:
        return True
    return any(one in _HOSTS and below in _HOLDING for one, below in pairwise(names))


class Checkouts(Protocol):
    """What is checked out, as things stand whenever it is asked: of one workspace, for one agent."""

    def governed(self) -> bool:
        """Must an intent be checked out before files change here?"""

    def held(self) -> Checkout | None:
        """What the agent holds; None where that is nothing, or not any more."""

    def owners(self, path: str) -> tuple[str, ...]:
        """The labels of the intents whose scope has this path, whoever holds them; of many the first."""

    def labels(self) -> tuple[str, ...]:
        """The labels of the intents that could be checked out; of many the first."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of working under intents that a call would break. code: as of the gate; each other field is one
    part of the message, a sentence or a few."""

    code: str
    violation: str
    explanation: str
    action: str
    example: str
    rationale: str

    @property
    def parts(self) -> dict[str, object]:
        """The five parts by name, in their order."""
        return {
            "violation": self.violation,
            "explanation": self.explanation,
            "action": self.action,
            "example": self.example,
            "rationale": self.rationale,
        }

    @property
    def text(self) -> str:
        """The whole message: the five parts in their order."""
        return (
            f"{self.violation}\n\n{self.explanation}\n\nRequired action: {self.action}\n\n"
            f"Example:\n{self.example}\n\nWhy this matters: {self.rationale}"
        )

    def deny(self) -> Deny:
        """The same as the gate says it."""
        return Deny(
            self.code,
            f"{self.violation} {self.explanation}",
            self.action,
            data=self.parts,
            example=self.example,
        )


def no_intent_declared(tool: str, labels: Sequence[str]) -> Violation:
    """NO_INTENT_DECLARED: something is to be changed, and nothing is checked out.

    tool: what the agent calls it. labels: of the intents that it could check out.
    """
    tool = _shown(tool)
    there = (
        f"Available intents: {_named(labels)}." if labels else "No intent is there that could be selected."
    )
    get = "" if labels else f" A person writes one into {_FILE} and runs mcl work import first."
    return Violation(
        "NO_INTENT_DECLARED",
        f"PROTOCOL VIOLATION: Cannot execute {tool} without declaring an intent.",
        f"Files of this workspace change only under an intent that was selected; reading needs none. {there}",
        f"Call select_active_intent first, and say which intent you are working on.{get}",
        f'1. select_active_intent with intent_id = "{_first(labels)}"\n2. wait for confirmation\n3. {tool}',
        "a selected intent says which files you may change, which constraints and acceptance criteria hold,"
        " and every change can be traced to it.",
    )


def out_of_scope(path: str, label: str, patterns: Sequence[str], owners: Sequence[str]) -> Violation:
    """OUT_OF_SCOPE: a file is to be changed that the intent which was checked out does not have.

    patterns: what that intent may change. owners: labels of other intents whose scope has the path.
    """
    path, others = _shown(path), [one for one in owners if one != label]
    theirs = (
        f" It is in the scope of {_named(others)}." if others else " No other intent has it in its scope."
    )
    other = _first(others) if others else "the one that has it"
    named = f'"{other}"' if others else '"INT-…"'
    return Violation(
        "OUT_OF_SCOPE",
        f"SCOPE VIOLATION: File '{path}' is outside intent {label}'s scope.",
        f"Current intent: {label}. Allowed scope: {_listed(patterns)}. Attempted file: {path}.{theirs}",
        f"Change only files in the allowed scope. If {path} belongs to {label}, a person adds its pattern to"
        f" {_FILE} and runs mcl work import. If it belongs to another intent, finish or release {label}"
        f" and select {other}. If one change needs several scopes, a person writes a parent intent with all.",
        f"1. release_active_intent\n2. select_active_intent with intent_id = {named}\n3. the same call",
        "scopes keep one piece of work from changing another's files by accident.",
    )


def intent_already_active(current: str, wanted: str) -> Violation:
    """INTENT_ALREADY_ACTIVE: an intent is to be checked out by an agent that holds one.

    current, wanted: labels, which may be the same.
    """
    wanted = _shown(wanted)
    return Violation(
        "INTENT_ALREADY_ACTIVE",
        f"STATE ERROR: Intent {current} is already active. Cannot activate {wanted}.",
        f"Current active intent: {current}. An agent has one active intent at a time.",
        f"If you are done with {current}, call complete_intent. To switch, call release_active_intent, then"
        f" select {wanted}. If you meant to go on with {current}, go on: nothing needs to be selected again.",
        f'1. complete_intent or release_active_intent\n2. select_active_intent with intent_id = "{wanted}"',
        "with one intent at a time it is clear which scope holds and which intent a change belongs to.",
    )


def _first(labels: Sequence[str]) -> str:
    return _shown(labels[0]) if labels else "INT-001"


def _named(labels: Sequence[str]) -> str:
    """Labels, of which there may be more than were looked up."""
    return ", ".join(map(_shown, labels[:_MOST])) + (" and others" if len(labels) > _MOST else "")


def _listed(texts: Sequence[str]) -> str:
    more = f", and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return ", ".join(map(_shown, texts[:_MOST])) + more


def _shown(text: str) -> str:
    """A text of somebody else's, on one line and not too long."""
    plain = visible(text).replace("\n", "\\n")
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


def circuit_open(code: str) -> Violation:
    """CIRCUIT_OPEN: the very same call was refused again and again."""
    return Violation(
        "CIRCUIT_OPEN",
        f"CIRCUIT OPEN: this very call was refused several times ({code}).",
        "It is not looked at any more for a minute, or until you select another intent.",
        "Do what the refusal said, or something else. Do not repeat the call as it is.",
        "list_active_intents, then select_active_intent with the intent that has the file",
        "a call that was refused is refused again for as long as nothing else changes.",
    )
