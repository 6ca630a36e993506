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
    Unknown,
)
from ir.intent import SEVERITIES

# ---- The words around a marked limit that turn its meaning: read without them, it would say the opposite.

# "No" and "Not", but not NO, the code of Norway.
_NOT: Final = re.compile(
    r"\b(?:[Nn]ot?|[Nn]ever|[Nn]on|[Nn]othing|[Ww]ithout|[Aa]void(?:ing)?|[Cc]annot|[Ee]xcept|[Ee]xcluding|"
    r"[Ii]nte|[Ii]ngen|[Ii]nga|[Ee]j|[Aa]ldrig|[Uu]tan)\b|n['’]t\b"
)
_OUT: Final = re.compile(
    r"\b(?:outside|leav(?:e|es|ing)|out of|beyond|(?:anywhere|everywhere|all) but|utanför|lämna|lämnar)\b",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(r"\b(?:only|solely|exclusively|nowhere but|bara|endast|enbart)\b", re.IGNORECASE)
_NEAR: Final = re.compile(r"(?:\S+\s+){0,3}\S*\s*$")  # a "not" further back belongs to something else
_MORE: Final = re.compile(
    r"(?:more than|over|above|beyond|exceed(?:s|ing)?|upwards of|mer än|över)\s+(?:the |a |of )*$",
    re.IGNORECASE,
)
_LEAST: Final = re.compile(
    r"(?:at least|a minimum of|minimum|min\.?|(?:no|not) (?:less|under|below|lower)(?: than)?|between|"
    r"starting at|minst|mellan)\s+$",
    re.IGNORECASE,
)
_MOST: Final = re.compile(
    r"(?:at (?:the )?most|(?:no|not) (?:more|over|above|higher|longer|later)(?: than)?|up to|max(?:imum)?\.?|"
    r"under|below|less than|fewer than|within|högst|under|mindre än)\s+(?:the |a |of )*$",
    re.IGNORECASE,
)
_NOT_UNDER: Final = re.compile(
    r"\b(?:no|not|never)\s+(?:under|below|less than|fewer than)\s+$", re.IGNORECASE
)
_OR_MORE: Final = re.compile(
    r"\s*(?:\+|or (?:more|above|over|up)\b|and (?:up|above|more)\b|at (?:the )?least\b|minimum\b|"
    r"eller mer\b)",
    re.IGNORECASE,
)
_RATE: Final = re.compile(
    r"\s*(?:/\s*\w|per\b|an? (?:hour|day|week|night|month|quarter|year|person|head|piece|unit|seat|user|"
    r"item)\b|each\b|every\b|apiece\b|hourly\b|daily\b|weekly\b|monthly\b|yearly\b|annually\b|"
    r"om året\b|i månaden\b)",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"\b(?:after|since|from|starting|later than|(?:not|never) (?:until|before|ahead of|prior to)|"
    r"(?:no|not) (?:earlier|sooner)(?: than)?|efter|sedan|från|tidigast|inte (?:före|innan))\s+(?:the )?$"
    r"|\b(?:second|minute|hour|day|night|week|month|year|minut|timm|dag|veck|månad)\w*\s+"
    r"(?:before|ahead of|prior to|innan|före)\s+(?:the )?$",
    re.IGNORECASE,
)
_NO_LATER: Final = re.compile(
    r"\b(?:no|not|never|inte)\s+(?:\w+\s+)?(?:later than|after|efter)\s+(?:the )?$", re.IGNORECASE
)
_OR_LATER: Final = re.compile(
    r"\s*(?:or later|at the earliest|onwards?|eller senare|tidigast)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Around:
    """The words of a span's clause before and after it, and all that follows in its sentence; empty for an
    answer, which stands alone."""

    before: str = ""
    after: str = ""
    beyond: str = ""

    def is_least(self, text: str) -> bool:
        """Whether an amount is the least that it may be ("at least", "over", "or more"), not the most."""
        figure = re.search(r"[0-9]", text)
        said = f"{self.before}{text[: figure.start()] if figure else ''}".rstrip("$€£¥₹ ") + " "
        over = _MORE.search(said)
        unbound = over is not None and not _NOT.search(said[: over.start()])
        return unbound or _LEAST.search(said) is not None or _OR_MORE.match(self.after) is not None

    def is_most(self) -> bool:
        """Whether a measure is the most that it may be ("at most", "under"), not the least."""
        return _MOST.search(self.before) is not None and not _NOT_UNDER.search(self.before)

    def is_rate(self) -> bool:
        """Whether an amount is one of many ("per month", "each"), not all that may be spent."""
        return _RATE.match(self.after) is not None

    def is_beginning(self) -> bool:
        """Whether a moment is where something begins, or is counted from, and not when it must be done."""
        from_then = _AFTER.search(self.before) and not _NO_LATER.search(self.before)
        return bool(from_then or _OR_LATER.match(self.after))

    def region_is(self, text: str) -> str:
        """What the words say about a region: "allow", "deny", "either" ("not only in"), or "" for nothing."""
        said = f"{self.before}{text}"
        out = _OUT.search(said) is not None
        near = _NEAR.search(self.before)
        denied = _NOT.search(said if out else f"{near[0] if near else ''}{text}") is not None
        only = _ONLY.search(f"{near[0] if near else ''}{text}") is not None
        if not out and not denied:
            return "allow" if only else ""
        if only and denied and not out:
            return "either"
        return "allow" if out and denied else "deny"


def says_rate(text: str) -> bool:
    """Whether an amount is followed, in the same span, by what it is paid for each time."""
    figure = re.search(r"[0-9]", text)
    found = _RATE.search(text, figure.end()) if figure else None
    return found is not None


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
    """What a span is read with: when and where the goal was said (ISO 8601 UTC, IANA zone), the words around
    it. kept: what a rule in these words keeps (`KeptWords.kept`)."""

    at: str
    zone: str
    around: Around = field(default_factory=Around)
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


def slot_question(name: str, hint: str) -> str:
    """How a person is asked for what a slot takes: by its hint, else by its name in words."""
    said = hint.strip().rstrip(".?") or f"the {name.replace('_', ' ')}"
    return f"{sentence(said)}?" if _ASKS.match(said) else f"What is {said}?"


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
    # Compared as texts: both are UTC with the same number of digits.
    if moment <= reading.at:
        return unread("deadline", text, f"“{text}” ({moment}) is already over")
    return DeadlineConstraint(hard=hard, by=moment)


def _allow(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.regions import read_regions

    # The model marks the words of a region, not the “not” before them: a limit that says the opposite of what
    # was meant is worse than a question.
    if reading.around.region_is(text) in ("deny", "either"):
        return unread("jurisdiction_allow", text, f"“{text}” is said as where not")
    regions = read_regions(text)
    return JurisdictionConstraint(hard=hard, allow=regions) if regions else unread("jurisdiction_allow", text)


def _deny(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.regions import read_regions

    if reading.around.region_is(text) in ("allow", "either"):
        return unread("jurisdiction_deny", text, f"“{text}” is said as where only")
    if reading.stands and not reading.around.region_is(text):
        return unread("jurisdiction_deny", text, f"“{text}” is not said as where not")
    regions = read_regions(text)
    return JurisdictionConstraint(hard=hard, deny=regions) if regions else unread("jurisdiction_deny", text)


def _quality(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    from mcl.values.numbers import read_quality

    quality = read_quality(text)
    if quality is None:
        return unread("quality", text)
    if reading.around.is_most():
        return unread("quality", text, f"“{text}” is said as the most, not as the least that is wanted")
    return QualityConstraint(hard=hard, metric=quality.metric, min=quality.minimum, share=quality.share)


def _external(text: str, hard: bool, rank: int, reading: Reading) -> Stated | Gap:
    url = _URL.search(text)
    if url is None and not _NOT.search(reading.around.before) and (ran := reading.command(text)) is not None:
        return ran
    address = url[0].rstrip(".,;") if url else ""
    return ExternalPredicate(
        url=address, check=_expected(text.replace(address, " ").strip(" .,;"), address, text)
    )


# What people say of an address, as checks are written (`executor.gate.page`).
_UP: Final = re.compile(
    r"(?:is|are|goes|comes|är)?\s*(?:up|live|online|reachable|there|ok|answers?|responds?|works?|loads?|uppe|nåbar|"
    r"svarar|fungerar)?",
    re.IGNORECASE,
)
_STATUS: Final = re.compile(
    r"(?:returns?|answers?|gives?|responds?|says|svarar|ger)\s+(?:with\s+|med\s+)?(?:an?\s+)?(?:http\s+)?"
    r"(?:status\s+)?([1-5][0-9]{2})(?:\s+ok)?",
    re.IGNORECASE,
)
_CONTAINS: Final = re.compile(
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
