"""Spans that state a constraint, a sign of success or a preference → what the Frame says, or a gap that
quotes them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ir import (
    AttestationPredicate,
    Budget,
    BudgetConstraint,
    CommandPredicate,
    DeadlineConstraint,
    DeliveredPredicate,
    ExtensionConstraint,
    ExternalPredicate,
    JurisdictionConstraint,
    Preference,
    QualityConstraint,
    RuleConstraint,
    SignedOffPredicate,
)
from mcl.compiler.stages.gaps import Gap
from mcl.compiler.stages.limit_words import Around, LimitWords
from mcl.core.patterns import late

LIMITS: Final = (
    "budget",
    "deadline",
    "jurisdiction_allow",
    "jurisdiction_deny",
    "quality",
    "rule",
    "recurrence",
    "second",
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
_CALLS = late(r"(?:at most |max(?:imum)? |up to |no more than )?([0-9]{1,9}) (?:tool |model |api )?calls?")
_URL = late(r"https?://[^\s<>\"']+")

CONSTRAINTS: Final = (
    BudgetConstraint,
    DeadlineConstraint,
    JurisdictionConstraint,
    QualityConstraint,
    RuleConstraint,
    ExtensionConstraint,
)
_Limit = (
    BudgetConstraint
    | DeadlineConstraint
    | JurisdictionConstraint
    | QualityConstraint
    | RuleConstraint
    | ExtensionConstraint
)
_Sign = DeliveredPredicate | SignedOffPredicate | ExternalPredicate | AttestationPredicate | CommandPredicate
Stated = _Limit | _Sign | Preference | Budget


@dataclass(frozen=True)
class Reading:
    """What a span is read with: when and where the goal was said (ISO 8601 UTC, IANA zone), which words turn
    a limit, and those around it. kept: what a rule in these words keeps (`KeptWords.kept`)."""

    at: str
    zone: str
    words: LimitWords
    around: Around
    kept: Callable[[str, Around], str] = lambda text, around: ""
    command: Callable[[str], CommandPredicate | None] = lambda text: None
    stands: bool = False


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
    why = f"“{text}” may be meant otherwise than as {field.replace('_', ' ')}"
    return Gap(path, type_, "preferred", why, question, default=text)


def _budget(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.durations import read_duration
    from mcl.values.money import read_money, read_upper_end

    most = read_upper_end(text)
    if most is not None and not reading.words.is_rate(reading.around):
        return BudgetConstraint(hard=hard, max=most)
    if reading.words.is_least(reading.around, text):
        return unread("budget", text, f"“{text}” is said as the least, not as the most that it may cost")
    amount = read_money(text)
    words = reading.words
    if words.says_rate(text) if amount is None else words.is_rate(reading.around):
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

    if reading.words.is_beginning(reading.around):
        return unread("deadline", text, f"“{text}” is not said as the time when it must be done")
    moment = read_moment(text, reading.at, reading.zone)
    if moment is None:
        return unread("deadline", text)
    # Compared as texts: both are UTC with the same number of digits.
    if moment <= reading.at:
        return unread("deadline", text, f"“{text}” ({moment}) is already over")
    return DeadlineConstraint(hard=hard, by=moment)


def _allow(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.regions import read_regions

    # The model marks the words of a region, not the “not” before them: a limit that says the opposite of what
    # was meant is worse than a question.
    if reading.words.region_is(reading.around, text) in ("deny", "either"):
        return unread("jurisdiction_allow", text, f"“{text}” is said as where not")
    regions = read_regions(text)
    return JurisdictionConstraint(hard=hard, allow=regions) if regions else unread("jurisdiction_allow", text)


def _deny(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.regions import read_regions

    if reading.words.region_is(reading.around, text) in ("allow", "either"):
        return unread("jurisdiction_deny", text, f"“{text}” is said as where only")
    if reading.stands and not reading.words.region_is(reading.around, text):
        return unread("jurisdiction_deny", text, f"“{text}” is not said as where not")
    regions = read_regions(text)
    return JurisdictionConstraint(hard=hard, deny=regions) if regions else unread("jurisdiction_deny", text)


def _quality(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.numbers import read_quality

    quality = read_quality(text)
    if quality is None:
        return unread("quality", text)
    if reading.words.is_most(reading.around):
        return unread("quality", text, f"“{text}” is said as the most, not as the least that is wanted")
    return QualityConstraint(hard=hard, metric=quality.metric, min=quality.minimum, share=quality.share)


def _external(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    url = _URL.search(text)
    denied = reading.words.negates.search(reading.around.before) is not None
    if url is None and not denied and (ran := reading.command(text)) is not None:
        return ran
    address = url[0].rstrip(".,;") if url else ""
    return ExternalPredicate(
        url=address, check=_expected(text.replace(address, " ").strip(" .,;"), address, text)
    )


# What people say of an address, as checks are written (`executor.gate.page`).
_UP: Final = late(
    r"(?:is|are|goes|comes|är)?\s*(?:up|live|online|reachable|there|ok|answers?|responds?|works?|loads?|uppe|nåbar|"
    r"svarar|fungerar)?",
    re.IGNORECASE,
)
_STATUS: Final = late(
    r"(?:returns?|answers?|gives?|responds?|says|svarar|ger)\s+(?:with\s+|med\s+)?(?:an?\s+)?(?:http\s+)?"
    r"(?:status\s+)?([1-5][0-9]{2})(?:\s+ok)?",
    re.IGNORECASE,
)
_CONTAINS: Final = late(
    r"(?:says|contains|shows|innehåller|visar|säger)\s+(?:\"([^\"]+)\"|“([^”]+)”|(\S+))", re.IGNORECASE
)


def _expected(words: str, address: str, text: str) -> str:
    """What the words beside an address expect of it; the whole text where nothing here understands them."""
    if not address:
        return text
    if _UP.fullmatch(words):
        return ""
    if found := _STATUS.fullmatch(words):
        return f"status={found[1]}"
    if found := _CONTAINS.fullmatch(words):
        return f"contains:{found[1] or found[2] or found[3]}"
    return text


def _attestation(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    topic, by, source = text.partition(" by ")
    return AttestationPredicate(topic=topic, source=source) if by else AttestationPredicate(topic=text)


_READERS: Final[dict[str, Callable[[str, bool, int, Reading], Stated | Gap]]] = {
    "budget": _budget,
    "deadline": _deadline,
    "jurisdiction_allow": _allow,
    "jurisdiction_deny": _deny,
    "quality": _quality,
    "rule": lambda text, hard, rank, reading: RuleConstraint(
        hard=hard, rule=text, keeps=reading.kept(text, reading.around)
    ),
    # Nothing in an Intent repeats it: how often is a rule that is kept to by whoever runs it again.
    "recurrence": lambda text, hard, rank, reading: RuleConstraint(hard=hard, rule=text),
    # What this plan does not do: it is held against the plan as a rule, and so asked about.
    "second": lambda text, hard, rank, reading: RuleConstraint(hard=hard, rule=text),
    "delivered": lambda text, hard, rank, reading: DeliveredPredicate(artifact=text),
    "signed_off": lambda text, hard, rank, reading: SignedOffPredicate(by=text),
    "external": _external,
    "attestation": _attestation,
    "preference": lambda text, hard, rank, reading: Preference(rank=rank, prefer=text),
}
