"""What an agent is told where its host's call is refused, beside what the gate says of intents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from executor.core.tables import table_beside
from executor.gate.checkout import Violation
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from ir import MclError

_SHOWN = 200  # characters


Refusal = Literal[
    "protected_path", "link_on_the_way", "read_in_two_ways", "stale_file", "person_only", "other_agent"
]

_OF_FILE: Final[Mapping[str, Refusal]] = {
    "PROTECTED_PATH": "protected_path",
    "OUT_OF_SCOPE": "link_on_the_way",
    "STALE_FILE": "stale_file",
}


def _texts() -> dict[str, dict[str, str]]:
    return table_beside(__file__)


def refused(why: Refusal, about: str) -> Violation:
    """What refusals.toml says. about: a path, a command or an agent."""
    said = shown(about)
    return Violation(**{name: text.replace("{shown}", said) for name, text in _texts()[why].items()})


def of_deny(deny: Deny, path: str) -> Violation:
    """The gate's refusal of a host's call. path: of the file that it is about, "" of none."""
    if "rationale" in deny.data:  # the gate has it in these parts already
        return Violation(deny.code, **{name: str(part) for name, part in deny.data.items()})
    if path and (why := _OF_FILE.get(deny.code)):
        return refused(why, path)
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
