"""What an agent is told where its host's call is refused, beside what the gate says of intents."""

from __future__ import annotations

from executor.gate.checkout import Violation
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from ir import MclError

_SHOWN = 200  # characters


def protected_path(path: str) -> Violation:
    """PROTECTED_PATH: secrets, keys, .git, .orchestration, and the files that name these hooks."""
    path = shown(path)
    return Violation(
        "PROTECTED_PATH",
        f"PROTECTED PATH: {path} is not changed by agents.",
        "Secrets, keys, .git, .orchestration, the home of mcl and the settings that start this check stay"
        " closed; no intent opens them.",
        "Leave it as it is. Where it must change, a person does that.",
        f"tell the person what should stand in {path}, and go on with files in scope",
        "what decides about you is not for you to change.",
    )


def link_on_the_way(path: str) -> Violation:
    """OUT_OF_SCOPE: what is written there lands somewhere else, or somewhere else too."""
    path = shown(path)
    return Violation(
        "OUT_OF_SCOPE",
        f"SCOPE VIOLATION: File '{path}' is not only in its own place.",
        "There is a link on its way, it has a second name, or it is no ordinary file.",
        "Name the file itself, by its real path.",
        "the same call with the path that the link leads to, where that is in scope",
        "a link could lead a write out of the scope.",
    )


def read_in_two_ways(path: str) -> Violation:
    """OUT_OF_SCOPE: which file is meant depends on who reads the path."""
    path = shown(path)
    return Violation(
        "OUT_OF_SCOPE",
        f"SCOPE VIOLATION: '{path}' is not one file to all who read it.",
        "There are blanks around it, it begins with ~, its characters are not composed, it leads through"
        " /proc, or it is a name that is looked for.",
        "Name the file itself, by its whole path.",
        "the same call with the whole path of the file, from /",
        "what is judged here must be what is written.",
    )


def stale_file(path: str) -> Violation:
    """STALE_FILE: the agent read, or wrote, another version than is there."""
    path = shown(path)
    return Violation(
        "STALE_FILE",
        f"STALE FILE: {path} changed since you last saw it.",
        "Somebody else wrote to it after you read it.",
        f"Read {path} again, then make your change on what is there now.",
        f"1. read {path}\n2. the same change, made on its new content",
        "a change made on an old version would undo somebody else's.",
    )


def person_only(command: str) -> Violation:
    """PERSON_ONLY: what signs, approves, grants or sets up is a person's."""
    return Violation(
        "PERSON_ONLY",
        f"NOT FOR AGENTS: {shown(command)} is a person's command.",
        "It signs, approves, grants, takes back or sets up; an agent cannot do that, with any intent.",
        "Ask the person to run it.",
        f"a person runs: {shown(command)}",
        "what was signed means something because only a person signs.",
    )


def other_agent(agent: str) -> Violation:
    """WRONG_AGENT: it would be done in another agent's name, or in none."""
    return Violation(
        "WRONG_AGENT",
        f"WRONG AGENT: you are the agent {agent} here.",
        "The command would speak for another agent, or for one without a name.",
        f"Say who you are: --agent {agent}",
        f"mcl work select INT-001 --agent {agent}",
        "an intent that another agent holds does not let you write.",
    )


def of_deny(deny: Deny, path: str) -> Violation:
    """The gate's refusal of a host's call. path: of the file that it is about, "" of none."""
    if "rationale" in deny.data:  # the gate has it in these parts already
        return Violation(deny.code, **{name: str(part) for name, part in deny.data.items()})
    of_file = {"PROTECTED_PATH": protected_path, "OUT_OF_SCOPE": link_on_the_way, "STALE_FILE": stale_file}
    if path and deny.code in of_file:
        return of_file[deny.code](path)
    return Violation(
        deny.code,
        f"NOT ALLOWED: {shown(deny.reason)}",
        "The gate refused this call.",
        shown(deny.fix),
        shown(deny.example) or "tell the person what this message says",
        "what the operator closed, and what a person took back, stays closed by whichever door it is tried.",
    )


def of_error(error: MclError) -> Violation:
    """Whatever else went wrong, as a refusal: what cannot be judged is not done."""
    return Violation(
        error.code,
        f"NOT JUDGED: {shown(error.message)}",
        "The call could not be judged, so it was not allowed.",
        shown(error.fix) or "Tell the person; reading still works.",
        "tell the person what this message says",
        "what cannot be judged is not done.",
    )


def shown(text: str) -> str:
    """A text of somebody else's on one line, and not too long."""
    plain = visible(text).replace("\n", "\\n").replace("\t", "\\t")
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"
