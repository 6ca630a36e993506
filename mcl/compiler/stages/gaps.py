"""What is not known of a goal, before it has an id: it becomes an Unknown of the Intent and, where it is
asked about, a question."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ir import ClarifyQuestion, Unknown
from ir.intent import SEVERITIES


@dataclass(frozen=True)
class Gap:
    """`field` is what is missing ("slot.<name>", "frame.verb", "frame.constraints.<type>", "skill"), `why`
    the reason for people, `prompt` the question ("" makes one of the reason)."""

    field: str
    type: str
    severity: str
    why: str
    prompt: str = ""
    options: tuple[str, ...] = ()
    default: str = ""
    source_hint: str = ""


def one_a_field(gaps: Sequence[Gap]) -> tuple[Gap, ...]:
    """One gap for each field, blocking ones first: one answer fills it."""
    best: dict[str, Gap] = {}
    # Sorting is stable: of gaps that are as severe, the first that was found stays.
    for gap in sorted(gaps, key=lambda gap: SEVERITIES.index(gap.severity)):
        best.setdefault(gap.field, gap)
    return tuple(best.values())


def unknowns_of(gaps: Sequence[Gap]) -> tuple[Unknown, ...]:
    """The Unknowns u1, u2, … in the order of the gaps."""
    return tuple(
        Unknown.model_validate(
            {
                "id": f"u{place}",
                "field": gap.field,
                "type": gap.type,
                "severity": gap.severity,
                "rationale": gap.why,
                "default": gap.default,
                "options": gap.options,
                "source_hint": gap.source_hint,
            }
        )
        for place, gap in enumerate(gaps, 1)
    )


def questions_of(gaps: Sequence[Gap], template: str, most: int) -> tuple[ClarifyQuestion, ...]:
    """One question for each of the first `most` gaps, by the ids that `unknowns_of` gives.

    template: makes a question of a gap that has none, with the places {field} and {reason}.
    """
    return tuple(
        ClarifyQuestion(
            unknown_id=f"u{place}",
            field=gap.field,
            prompt=gap.prompt
            or template.replace("{field}", gap.field).replace("{reason}", sentence(gap.why)),
            type=gap.type,
            required=gap.severity == "blocking",
            options=gap.options,
            default=gap.default,
        )
        for place, gap in enumerate(gaps[:most], 1)
    )


_ASKS: Final = re.compile(r"(?:(?:from|to|for) )?(?:what|which|who\w*|where|when|how)\b", re.IGNORECASE)


def sentence(text: str) -> str:
    """`text` with a capital letter."""
    return text[:1].upper() + text[1:]


def slot_question(name: str, hint: str) -> str:
    """How a person is asked for what a slot takes: by its hint, else by its name in words."""
    said = hint.strip().rstrip(".?") or f"the {name.replace('_', ' ')}"
    return f"{sentence(said)}?" if _ASKS.match(said) else f"What is {said}?"
