"""Spans that state a constraint, a sign of success or a preference → what the Frame says, or a gap that
quotes them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ir import (
    AttestationPredicate,
    Budget,
    BudgetConstraint,
    ClarifyQuestion,
    DeadlineConstraint,
    DeliveredPredicate,
    ExternalPredicate,
    JurisdictionConstraint,
    Preference,
    QualityConstraint,
    RuleConstraint,
    SignedOffPredicate,
    Unknown,
)
from ir.intent import SEVERITIES
from mcl.compiler.stages.around import Around, says_rate

# ---- A gap in what is known, before it has an id: it becomes an Unknown of the Intent and, where asked, a
# question.


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


def sentence(text: str) -> str:
    """`text` with a capital letter."""
    return text[:1].upper() + text[1:]


LIMITS: Final = (
    "budget",
    "deadline",
    "jurisdiction_allow",
    "jurisdiction_deny",
    "quality",
    "rule",
    "preference",
)
SIGNS: Final = ("delivered", "signed_off", "external", "attestation")
FIELDS: Final = (*LIMITS[:-1], *SIGNS, "preference")  # in the order of the Frame
_PATHS: Final = {
    "budget": ("frame.constraints.budget.max", "AssetAmount", "an amount of money with its currency"),
    "deadline": ("frame.constraints.deadline.by", "iso8601", "a moment"),
    "jurisdiction_allow": (
        "frame.constraints.jurisdiction.allow",
        "string[]",
        "a list of countries or regions",
    ),
    "jurisdiction_deny": (
        "frame.constraints.jurisdiction.deny",
        "string[]",
        "a list of countries or regions",
    ),
    "quality": ("frame.constraints.quality", "string", "a measure and its least value"),
}
FIELD_OF_PATH: Final = {path: field for field, (path, _, _) in _PATHS.items()}
ASKED: Final = tuple(_PATHS)  # the kinds that may be asked about, each with a question of its own
_CALLS = re.compile(
    r"(?:at most |max(?:imum)? |up to |no more than )?([0-9]{1,9}) (?:tool |model |api )?calls?"
)
_URL = re.compile(r"https?://[^\s<>\"']+")

CONSTRAINTS: Final = (
    BudgetConstraint,
    DeadlineConstraint,
    JurisdictionConstraint,
    QualityConstraint,
    RuleConstraint,
)
_Limit = BudgetConstraint | DeadlineConstraint | JurisdictionConstraint | QualityConstraint | RuleConstraint
_Sign = DeliveredPredicate | SignedOffPredicate | ExternalPredicate | AttestationPredicate
Stated = _Limit | _Sign | Preference | Budget


@dataclass(frozen=True)
class Reading:
    """What a span is read with: when and where the goal was said (ISO 8601 UTC, IANA zone), the words around
    it."""

    at: str
    zone: str
    around: Around = field(default_factory=Around)


def state(field: str, text: str, *, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    """What a span of one of FIELDS says. `rank` is that of a preference; `hard` is for constraints."""
    return _READERS[field](text, hard, rank, reading)


def unread(field: str, text: str, why: str = "") -> Gap:
    """The gap that a span leaves which cannot be read; blocking until the caller knows that it is only a
    wish, and without its question."""
    path, type_, what = _PATHS[field]
    why = why or f"“{text}” cannot be read as {what}"
    return Gap(path, type_, "blocking", why)


def doubt(field: str, text: str, question: str) -> Gap:
    """The gap that a span leaves which was read, but is not certain."""
    path, type_, _ = _PATHS.get(field, (field, "string", ""))
    why = f"it is not certain that “{text}” is meant as {field.replace('_', ' ')}"
    return Gap(path, type_, "preferred", why, f"{sentence(why)}. {question}", default=text)


def _budget(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.durations import read_duration
    from mcl.values.money import read_money, read_upper_end

    most = read_upper_end(text)
    if most is not None and not reading.around.is_rate():
        return BudgetConstraint(hard=hard, max=most)
    if reading.around.is_least(text):
        return unread("budget", text, f"“{text}” is said as the least, not as the most that it may cost")
    amount = read_money(text)
    if (amount is not None and reading.around.is_rate()) or (amount is None and says_rate(text)):
        return unread("budget", text, f"“{text}” is said of one of several; how much is it in all")
    if amount is not None:
        return BudgetConstraint(hard=hard, max=amount)
    calls = _CALLS.fullmatch(text.strip().lower())
    if calls and int(calls[1]):  # with none nothing can be done: it is asked what is meant
        return Budget(max_calls=int(calls[1]))
    duration = read_duration(text)
    return Budget(max_time=duration) if duration else unread("budget", text)


def _deadline(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.dates import read_moment

    if reading.around.is_beginning():
        return unread("deadline", text, f"“{text}” is not said as the time when it must be done")
    moment = read_moment(text, reading.at, reading.zone)
    if moment is None:
        return unread("deadline", text)
    if moment <= reading.at:
        return unread("deadline", text, f"“{text}” ({moment}) is already over")
    return DeadlineConstraint(hard=hard, by=moment)


def _allow(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.regions import read_regions

    if reading.around.region_is(text) == "deny":
        return unread("jurisdiction_allow", text, f"“{text}” is said as where not")
    regions = read_regions(text)
    return JurisdictionConstraint(hard=hard, allow=regions) if regions else unread("jurisdiction_allow", text)


def _deny(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.regions import read_regions

    if reading.around.region_is(text) == "allow":
        return unread("jurisdiction_deny", text, f"“{text}” is said as where only")
    regions = read_regions(text)
    return JurisdictionConstraint(hard=hard, deny=regions) if regions else unread("jurisdiction_deny", text)


def _quality(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.numbers import read_quality

    quality = read_quality(text)
    if quality is None:
        return unread("quality", text)
    if reading.around.is_most():
        return unread("quality", text, f"“{text}” is said as the most, not as the least that is wanted")
    return QualityConstraint(hard=hard, metric=quality.metric, min=quality.minimum)


def _external(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    url = _URL.search(text)
    return ExternalPredicate(url=url[0].rstrip(".,;") if url else "", check=text)


def _attestation(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    topic, by, source = text.partition(" by ")
    return AttestationPredicate(topic=topic, source=source) if by else AttestationPredicate(topic=text)


_READERS: Final[dict[str, Callable[[str, bool, int, Reading], Stated | Gap]]] = {
    "budget": _budget,
    "deadline": _deadline,
    "jurisdiction_allow": _allow,
    "jurisdiction_deny": _deny,
    "quality": _quality,
    "rule": lambda text, hard, rank, reading: RuleConstraint(hard=hard, rule=text),
    "delivered": lambda text, hard, rank, reading: DeliveredPredicate(artifact=text),
    "signed_off": lambda text, hard, rank, reading: SignedOffPredicate(by=text),
    "external": _external,
    "attestation": _attestation,
    "preference": lambda text, hard, rank, reading: Preference(rank=rank, prefer=text),
}
