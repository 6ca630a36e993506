"""Phrasings: a tiny language of choices, what a generated skill is made of, and clauses for any goal."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.utterances import LabelMark

# ---- A tiny phrase language: `(a|b|)` is a choice, `{name}` a place; expansion keeps the offsets of the
# places.

# ruff: noqa: E501  -- tables of phrases: a line a meaning


Filler = Callable[[random.Random], str]


@dataclass(frozen=True)
class Phrase:
    """Text with marks (offsets within the text)."""

    text: str
    marks: tuple[LabelMark, ...] = ()

    def __add__(self, other: Phrase) -> Phrase:
        shift = len(self.text)
        moved = tuple(
            LabelMark(
                m.field,
                m.value,
                None if m.start is None else m.start + shift,
                None if m.end is None else m.end + shift,
            )
            for m in other.marks
        )
        return Phrase(self.text + other.text, self.marks + moved)


def choose_parts(template: str, source: random.Random) -> str:
    """Resolve the choices of a template, innermost first. Raises ValueError for unbalanced brackets."""
    while (close := template.find(")")) >= 0:
        start = template.rfind("(", 0, close)
        if start < 0:
            raise ValueError(f"unbalanced: {template}")
        template = (
            template[:start] + source.choice(template[start + 1 : close].split("|")) + template[close + 1 :]
        )
    return template


def expand(template: str, fillers: Mapping[str, tuple[str, Filler]], source: random.Random) -> Phrase:
    """Fill a template. `fillers`: place -> (field, filler); field "" leaves the value unmarked."""
    rest = " ".join(choose_parts(template, source).split())
    phrase = Phrase("")
    while (start := rest.find("{")) >= 0:
        end = rest.index("}", start)
        field, filler = fillers[rest[start + 1 : end]]
        value = filler(source)
        marks = (LabelMark(field, value, 0, len(value)),) if field else ()
        phrase = phrase + Phrase(rest[:start]) + Phrase(value, marks)
        rest = rest[end + 1 :]
    return phrase + Phrase(rest)


def capital(phrase: Phrase) -> Phrase:
    """With a capital letter in front (values keep their offsets; a value at the front keeps its case)."""
    if not phrase.text or any(m.start == 0 for m in phrase.marks):
        return phrase
    return Phrase(phrase.text[0].upper() + phrase.text[1:], phrase.marks)


# ---- What a generated skill is: its slots, what stands in them, and its phrasings.

Template = tuple[str, str, tuple[tuple[str, str], ...]]
"""Verb, phrase, and the options that the phrase chooses, by slot."""


@dataclass(frozen=True)
class Family:
    """A skill and its phrasings.

    fillers: what stands at a place of a phrase; a place is a slot, or stands for the one that `places` names.
    blocked: constraints that could be mistaken for its slots.
    """

    name: str
    descriptions: tuple[str, ...]
    slots: tuple[SlotForm, ...]
    fillers: dict[str, Filler]
    templates: tuple[Template, ...]
    blocked: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)


def slot(name: str, hint: str, *options: str) -> SlotForm:
    """A slot of texts, or of options."""
    return SlotForm(name=name, type="string", hint=hint, options=options)


def said(verb: str, *templates: str, **options: str) -> tuple[Template, ...]:
    """Phrasings with one verb that choose these options."""
    return tuple((verb, template, tuple(options.items())) for template in templates)


# ---- Constraints, predicates and preferences as clauses that can follow any goal, each with many phrasings.

# ruff: noqa: E501  -- tables of phrases: a line a meaning


def _percent(r: random.Random) -> str:
    n = r.choice(
        ["95", "99", "99.9", "97", "90", "85", "80", "98.5", "0.5", "1", "2", "5", "10", "99.95", "75", "100"]
    )
    return n + r.choice([" %", "%", " percent", " per cent", "%"])


def _quality(r: random.Random) -> str:
    k = r.random()
    if k < 0.45:
        return r.choice(
            ["", "at least ", "over ", "above ", "no less than ", "", "more than ", ""]
        ) + _percent(r)
    if k < 0.6:
        return r.choice(["under ", "below ", "at most ", "less than ", "within ", ""]) + r.choice(
            [
                "200 ms",
                "two seconds",
                "80 ms",
                "one second",
                "50 milliseconds",
                "5 minutes",
                "1 %",
                "0.1 %",
                "3 errors",
                "ten minutes",
                "300 ms",
                "2 s",
            ]
        )
    return r.choice(["four stars or better", "print quality", "full HD", "ISO 9001 grade", "grade A", "a score of 8 or more", "300 dpi", "zero warnings",
                     "no known defects", "production quality", "at least 4.5 stars", "energy class A", "medical grade", "five decimals", "4K",
                     "a readability score above 60", "a rating of at least 4", "p95 below 100 ms", "no critical findings", "RAID 1 or better"])  # fmt: skip


RULES = """do not open any other folder|use only open source tools|nothing may be deleted|always ask me before paying
|no personal data leaves the house|only during office hours|in British English|the style guide applies
|at most three people|no overtime|do not tell the press|keep a copy of everything|four eyes on every change
|no downtime during the day|GDPR applies|only vegetarian food|no air travel|it has to be reversible
|never email customers twice|stay on the current version|only suppliers we know|no single use plastic
|do not use my private address|the law on public procurement applies|prices must not be shown|no weekend work
|leave the tests alone|don't break the build|use the corporate template|no longer than two pages
|everything must be documented|keep it confidential|only read, never write|WCAG 2.1 AA must be met|no cookies
|the colours must not change|children must not be shown|pay only on delivery|no advance payment
|the old data has to stay readable|passwords are never stored in clear text|only with a written quote
|not more than one a day|without telling the team|no third party scripts|keep the charts|no changes after Thursday
|alcohol is not allowed|at least three offers must be compared|every step must be logged
|only with licensed electricians|skip the archive|do not spend more than ten hours on it|in plain language
|no new dependencies|no more than five bullet points|only on working days|never restart the server
|leave the archive untouched|in groups of four|without any photos of faces|the name stays secret until May
|each page needs a date|only after a test run|no changes to the layout|all amounts in euros
|do not contact the press office|one backup before each step|keep within the building code
|the old links have to work|no more than twenty guests|twice a day|only on working days|never restart the server
|leave the archive untouched|in groups of four|without any photos of faces|the name stays secret until May
|each page needs a date|only after a test run|no changes to the layout|all amounts in euros
|do not contact the press office|one backup before each step|keep within the building code
|the old links have to work|no more than twenty guests|twice a day""".replace("\n", "").split("|")  # fmt: skip
PREFERENCES = """local companies|by train|something simple|a quiet place|the cheaper one|an open source solution|a window seat
|paper copies|speed over price|quality over speed|a fixed price|German speakers|short meetings|dark colours
|environmentally friendly options|a well known brand|small batches|email over phone|a vendor from the region
|fewer but larger orders|something near the station|video calls|renewable energy|a supplier with its own lorries
|Tuesday or Wednesday|in the afternoon|outside the rush hour|with as few changes as possible|recycled material
|Python|a monthly subscription|direct flights|a woman|early in the day|two small rooms rather than one big one
|the blue version|certified partners|a table instead of prose|people from our own team|somebody with experience
|the newest model|vegetarian food|remote work|an annual plan|at the weekend|a supplier who knows us|a short video
|a three year term|before breakfast|a plain layout|with the old tables kept|fewer pages|at the weekend
|a supplier who knows us|a short video|a three year term|before breakfast|a plain layout|with the old tables kept
|fewer pages""".replace("\n", "").split("|")  # fmt: skip
DELIVERED_PLACES = """our website|the shared drive|the front desk|the client|the printers|the customer portal|the head office|the wiki
|the intranet|the archive|the staging server|the team channel|the warehouse gate|the reception|the app store|the public bucket
|the finance folder|my inbox|the loading dock|the construction site|the data lake|the main branch|the registry|our shop""".replace("\n", "").split("|")  # fmt: skip
ATTESTATIONS = """a signed attestation from {a}|an attestation by {a}|a signed attestation in {p}|a certificate from {a}|a notarised statement
|a signed statement by {a}|the attestation in {p}|an attestation of compliance|an ISO 27001 certificate|a signed record in {p}
|a test certificate|an attestation signed by {a}|a provenance attestation|a SLSA attestation|a signed checksum in {p}
|a conformity declaration|written confirmation from {a}|a sworn statement|an affidavit from {a}""".replace("\n", "").split("|")  # fmt: skip
EXTERNALS = """the CI pipeline|{u}|the smoke test on {u}|the status page at {u}|the health check at {u}|the build at {u}|the CI|the check at {u}
|the nightly build|the monitoring page {u}|the acceptance test|the security scan|the pipeline|the test run at {u}|the linter
|the integration tests|the CI job|the vulnerability scan|the external audit check|the payment provider's check|the GitHub checks""".replace("\n", "").split("|")  # fmt: skip


def _attestation(r: random.Random) -> str:
    return r.choice(ATTESTATIONS).replace("{a}", fillers.approver(r)).replace("{p}", fillers.path(r))


def _external(r: random.Random) -> str:
    return r.choice(EXTERNALS).replace("{u}", fillers.url(r))


def _place(r: random.Random) -> str:
    k = r.random()
    if k < 0.45:
        return fillers.path(r) if r.random() < 0.75 else fillers.folder(r)
    if k < 0.55:
        return r.choice([f"s3://{r.choice(fillers.DIRS)}/{r.choice(fillers.FILES)}/", fillers.url(r)])
    if k < 0.75:
        return r.choice([f"the {fillers.city(r)} office", fillers.city(r), f"our {fillers.city(r)} site", f"the {fillers.city(r)} warehouse",
                         f"the {fillers.city(r)} region", f"the client in {fillers.city(r)}"])  # fmt: skip
    return fillers.person(r) if r.random() < 0.25 else r.choice(DELIVERED_PLACES)


def _exclusive(r: random.Random) -> str:
    return "" if r.random() < 0.5 else " " + r.choice(["only", "and nowhere else", "exclusively", "please"])


FILLERS: Mapping[str, tuple[str, Filler]] = {
    "m": ("budget", fillers.money), "t": ("deadline", fillers.when), "w": ("deadline", fillers.within),
    "ja": ("jurisdiction_allow", fillers.region), "jd": ("jurisdiction_deny", fillers.region),
    "q": ("quality", _quality), "r": ("rule", lambda r: r.choice(RULES)),
    "to": ("delivered", _place), "a": ("signed_off", fillers.approver), "x": ("external", _external),
    "y": ("attestation", _attestation), "p": ("preference", lambda r: r.choice(PREFERENCES)), "only": ("", _exclusive),
}  # fmt: skip

CLAUSES: Mapping[str, tuple[str, ...]] = {
    "budget": (
        "for (at most|up to|under|less than|no more than|around|a maximum of|not more than|max|) {m}",
        ", (budget|our budget is|the budget is|budget of|with a budget of|on a budget of|budget:|total budget) {m}",
        "(within|with|on|at) a (budget|total|cap|limit) of {m}", ", (don't|do not|never) (spend|pay) (over|more than|above) {m}",
        ", (max|maximum|at most|up to|no more than|not over|tops) {m}", ", (cost|costs) (capped at|up to|at most|below) {m}",
        "; (it|this|all of it|everything) (must not|may not|should not|can't) cost more than {m}", ", {m} (at most|tops|max|at the very most|or less|is the limit)",
        "and (spend|pay) (no more than|at most|less than|up to) {m}", ", (the bill|the price|the total|the cost) (must stay|has to stay|should be|must be) (below|under|within) {m}",
        ", (we|I) (can|could|will) (spend|pay) (up to|at most|no more than) {m}", ". (We have|There is|I have|I've got) {m} (for it|for this|to spend|at hand|available|)",
        "with {m} (at hand|to spend|at most|in the budget)", ", (keep it|stay|staying|it must stay) (under|below|within) {m}", "without spending more than {m}",
        ", (the limit is|limit|price limit|spending limit|cost limit:) {m}", "for {m} (or less|at most|max)", ", (they|she|he|you) may spend {m}",
    ),
    "deadline": (
        "(by|before|until|no later than|not later than|till) {t}", ", (due|ready|done|finished|needed|required) (by|on|before|) {t}", "(within|in) {w}",
        ", (deadline|the deadline is|deadline:|due date|due:) {t}", "; (I|we) need (it|this|that|them) (by|before|on|) {t}",
        ", (it|this) (must|has to|should|needs to) be (done|ready|finished|there|over|complete) (by|before|on) {t}", "(by|before) {t} (at the latest|please|sharp|)",
        ", (at the latest|latest) {t}", "on {t}", ", (finished|done|ready|delivered) within {w}", ". (It|This) (is due|has to be done|must be finished) (by|on|before|) {t}",
        ", {t} (at the latest|is the deadline|latest)", "(and|but) (have it|be|get it) (done|ready|finished) (by|before|in time for) {t}", ", you have (until|till) {t}",
        ", (which must happen|to be done|to be finished) (before|by) {t}", "this must not take longer than {w}",
    ),
    "jurisdiction_allow": (
        "(only in|in|from|within) {ja}", "(only|exclusively) (in|from|within|inside) {ja}", ", (data|all data|the data|everything|it) must (stay|remain|be kept) (in|within|inside) {ja}",
        ", (suppliers|companies|firms|providers|hosts|people|sellers|offers) (from|in|inside|within|based in) {ja}{only}", ", (but|and) only (to|with|from|in|by) (firms|companies|suppliers|people|someone) (in|from) {ja}",
        "; (hosted|stored|processed|made|produced|registered) in {ja}{only}", ", (restricted|limited) to {ja}", "under the law of {ja}", ", {ja} only",
        ", (it|this|the supplier|the server|the company) (has to be|must be|should be) (in|from|within|located in|based in) {ja}", "using only (data|sources|suppliers|material) from {ja}",
        ", (jurisdiction|country|region|allowed countries|location): {ja}", "with (a company|somebody|a supplier|a partner|an agency) (from|in|based in) {ja}", ", (valid|allowed|permitted) only in {ja}",
    ),
    "jurisdiction_deny": (
        "but not (from|in) {jd}", ", (nothing|nobody|no one|no suppliers|no servers|no data|no companies) (from|in|to) {jd}", ", (except|excluding|excluded:|but never) {jd}",
        "(outside|outside of) {jd}", ", not (from|in|one from|to|with anyone from) {jd}", "; {jd} (is|are) (excluded|out of the question|off limits|not allowed|forbidden|ruled out)",
        ", (avoid|avoiding|stay out of|keep out of|leave out|skip) {jd}", ", (anywhere but|everywhere except|any country but) {jd}", ", (data|it|the data) must not (leave for|go to|be stored in|enter|pass through) {jd}",
        ", never (in|from|through|via) {jd}", "without (suppliers|vendors|partners|any link) (from|to) {jd}", ", (blocked|denied|banned) countries: {jd}", "and (please|) no one (from|in) {jd}",
    ),
    "quality": (
        "with (an accuracy|a quality|a precision|a confidence|a score|a success rate|an availability) of {q}", ", (accuracy|coverage|quality|precision|uptime|availability|confidence|recall) (of|should be|must be|at|) {q}",
        "; (quality|the quality|the result|the accuracy|the error rate|coverage) (must be|should be|has to be|of) {q}", ", (it|which|that) (should|must|has to) (load|answer|run|respond|finish) (in|within) {q}", "to within {q}",
        ", (we|I) (promised|expect|need|want|require) {q}", "(when|if|once|as soon as) it (goes|rises|is|drops|falls) (above|below|over|under) {q}", ", (error rate|failure rate|latency|response time) {q}",
        "that (answers|loads|responds|runs) in {q}", ", {q} (accuracy|coverage|or better|please|availability|quality|precision|correct)", "in {q} (quality|)", ", (minimum quality|quality|quality level|target) {q}",
        "(if|when) it (rises over|falls below|exceeds|goes over|drops under) {q}", "until (we are|it is) at {q}", ", of {q} (quality|)",
    ),
    "rule": (
        ", {r}", "; {r}", ". (Rule|Note|Important|One rule|Mind|Please note|Remember): {r}", ", (and|but) {r}", "({r})", ", (with the rule that|on condition that|provided that|as long as|it matters that) {r}",
        ". {r}", ", (mind you|remember|note that|please|rule:) {r}", "- {r}", "and {r}",
    ),
    "delivered": (
        "(to|and send it to|and deliver it to|and bring it to|and hand it to) {to}", ", delivered to {to}", "and (put|place|save|store|drop|write|leave|file) (it|them|the result|that|the output) (in|into|at|under|to) {to}",
        "(in|into|at|under) {to}", "(and|,) (upload|publish|post|copy|ship|push|export) (it|them|the result) (to|on|in) {to}", ", (the result|the output|everything|it) (goes|belongs|must end up|has to land) (in|to|into|at) {to}",
        "; (I|we) (want|expect|need) it (in|at|on) {to}", ", (saved|stored|written|placed|delivered|filed|kept) (in|at|to|under|as) {to}", "and write (it|it up|that up|the answer) (in|to) {to}", ", (deliver to|delivery to|destination:|output:|target:) {to}", "(as|to) {to}",
    ),
    "signed_off": (
        "; {a} (must|has to|should|needs to) (sign|approve|sign off|sign it off|agree|approve it)", ", (signed off|approved|signed|cleared|confirmed) by {a}", ", {a} (has to approve|approves|signs|must approve) (the result|it|the deal|it before it goes out|first|this)",
        "after {a} (approved|signed off|has signed|agreed|gave the okay|has approved it)", ", (with|subject to) (the approval|the sign-off|sign-off|the okay|consent) (of|by|from) {a}", ", it must be (approved|signed|signed off|accepted) by {a}",
        "(once|when|as soon as) {a} (has signed|has approved|signs|says yes|okayed it)", ", (get|with|wait for) (sign-off|approval|a signature) (from|by) {a}", "; {a} (has the last word|signs at the end|has to sign|will sign it off)", ", not without the (signature|okay|approval) of {a}",
    ),
    "external": (
        ", (done|finished|complete|it is done) when {x} (is green|passes|succeeds|returns 200|says ok|has passed|is happy)", "; {x} (must|has to|should) (pass|be green|stay green|succeed|return 200)", ", (checked by|verified by|proved by|as shown by|confirmed by) {x}",
        "and (make sure|check that|see that) {x} (is green|passes|still works|succeeds|stays green)", "(until|once|as soon as) {x} (passes|is green|answers|succeeds)", ", success means {x} (passes|is green)", "; we are done when {x} (is green|passes|is clean)",
    ),
    "attestation": (
        ", with {y}", "; proof is {y}", ", (backed by|proved by|including|together with|accompanied by) {y}", ", I (need|want|expect) {y}", "and (attach|bring|include|provide|get) {y}", ", (we need|there must be|it requires|it needs|to be shown with) {y}", "; {y} (is required|is needed|must be there|has to be attached)",
    ),
    "preference": (
        ", (ideally|preferably|if possible|best|rather|by preference) {p}", "; (I|we) (prefer|would prefer|would like|like|favour) {p}", ", (I would rather have|I'd rather have|I'd prefer|I would rather go for) {p}", ", prefer {p}", "; preferably {p}",
        ", {p} (if possible|would be nice|would be best|if you can|preferred|would be great)", ". (Preference|Nice to have|If there is a choice|Wish): {p}", ", (with a preference for|preferring|and prefer) {p}", "; {p} (is|are) (better|nicer|preferred|preferable)",
    ),
}  # fmt: skip
WEIGHTS = {"budget": 5, "deadline": 5, "jurisdiction_allow": 3, "jurisdiction_deny": 2, "quality": 3, "rule": 4,
           "delivered": 3, "signed_off": 3, "external": 2, "attestation": 2, "preference": 3}  # fmt: skip


def clause(kind: str, r: random.Random) -> Phrase:
    """One clause of a kind, beginning with its joint (", ", "; ", " by ...")."""
    phrase = expand(r.choice(CLAUSES[kind]), FILLERS, r)
    joined = phrase if phrase.text[0] in ",;." else Phrase(" ") + phrase
    if joined.text.startswith((", ", "; ")) and r.random() < 0.12:
        first = joined.text[2]
        if joined.marks and min(m.start or 0 for m in joined.marks) == 2:
            return Phrase(". ") + Phrase(joined.text[2:], _shift(joined, -2))
        return Phrase(". " + first.upper() + joined.text[3:], joined.marks)
    return joined


def _shift(phrase: Phrase, by: int) -> tuple[LabelMark, ...]:
    return tuple(LabelMark(m.field, m.value, (m.start or 0) + by, (m.end or 0) + by) for m in phrase.marks)


def clauses(r: random.Random, number: int, leave: frozenset[str] = frozenset()) -> Phrase:
    """Several clauses of different kinds, `leave` left out."""
    kinds = [k for k in WEIGHTS if k not in leave]
    phrase = Phrase("")
    for _ in range(min(number, len(kinds))):
        kind = r.choices(kinds, [WEIGHTS[k] for k in kinds])[0]
        kinds.remove(kind)
        phrase = phrase + clause(kind, r)
    return phrase
