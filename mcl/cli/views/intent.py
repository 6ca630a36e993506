"""The Frame as a person reads it."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from ir import Constraint, Intent, Predicate, SlotEntry, SpanMark, Unknown
from ir.frame import (
    AttestationPredicate,
    BudgetConstraint,
    DeadlineConstraint,
    DeliveredPredicate,
    ExtensionConstraint,
    ExtensionPredicate,
    ExternalPredicate,
    JurisdictionConstraint,
    PolicyConstraint,
    QualityConstraint,
    RuleConstraint,
    SignedOffPredicate,
)
from mcl.cli.safe import one_line, safe
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, coloured, columns, joined, moment, plain, rows

_LEARNED = "matrix://cortex/Preference/learned-"  # an answer of earlier stands where a question would
STATE_STYLES = {"completed": GOOD, "failed": BAD, "cancelled": DIM, "clarifying": WARN}
_FIELD_STYLES = (
    ("frame.objects", "cyan"),
    ("frame.constraints", "yellow"),
    ("frame.success_criteria", "green"),
    ("frame.preferences", "magenta"),
)


def intent_view(
    intent: Intent, console: Console, *, state: str = "", gaps: bool = True
) -> Iterator[RenderableType]:
    """Head, goal with its spans, Frame, open questions, and what the signature will cover.

    state: where the Intent is now, where that is known better than in the document (the journal knows).
    gaps: show the unknowns; not needed where the questions about them follow.
    """
    state = state or intent.state
    yield joined((("Intent", STRONG), (intent.id, STRONG), (state, STATE_STYLES.get(state, "cyan"))))
    yield ""
    yield rows(list(_fields(intent, console, gaps=gaps)))


def _fields(intent: Intent, console: Console, *, gaps: bool) -> Iterator[tuple[str, RenderableType]]:
    frame = intent.frame
    marks = intent.compile_metadata.spans if intent.compile_metadata else ()
    yield "goal", marked(intent.prose, marks, written=not coloured(console))
    yield "verb", plain(frame.verb or "not known", STRONG if frame.verb else WARN)
    quotes = {mark.field: one_line(intent.prose[mark.start : mark.end], 60) for mark in marks}
    if frame.objects:
        cells = [_object(one, quotes, place) for place, one in enumerate(frame.objects)]
        if not any(said for *_, (said, _) in cells):  # the last column folds: a long value is not cut
            cells = [cell[:2] for cell in cells]
        yield "objects", columns(cells)
    for one in intent.references:
        if one.uri.startswith(_LEARNED):
            yield "remembered", joined(((one.summary, "cyan"), (one.uri, DIM)))
    for index, constraint in enumerate(frame.constraints):
        yield (
            "constraints",
            _ruled(constraint_line(constraint), quotes.get(f"frame.constraints[{index}]"), "yellow"),
        )
    for index, predicate in enumerate(frame.success_criteria):
        yield (
            "done when",
            _ruled(predicate_line(predicate), quotes.get(f"frame.success_criteria[{index}]"), "green"),
        )
    for index, preference in enumerate(frame.preferences):
        yield "preferences", _ruled(preference.prefer, quotes.get(f"frame.preferences[{index}]"), "magenta")
    yield from _limits(intent, quotes)
    if gaps and not intent.unknowns:
        yield "unknowns", plain("none", DIM)
    for unknown in intent.unknowns if gaps else ():
        yield "unknowns", unknown_line(unknown)
    yield "confidence", plain(f"{intent.confidence:.2f}", WARN if intent.unknowns else GOOD)
    if (made := intent.compile_metadata) is not None:
        yield "skill", joined(((f"{made.skill_id}@{made.skill_version}" if made.skill_id else "none", ""),))
        yield "model", joined(((made.model_version, ""), (made.model_digest[:12], DIM)))
    if intent.hash:
        yield "hash", plain(intent.hash, DIM)


def _object(one: SlotEntry, quotes: Mapping[str, str], place: int) -> list[tuple[str, str]]:
    """What fills a slot, with its address and the words that it was read from where they say it otherwise."""
    quote = quotes.get(f"frame.objects[{place}]")
    said = f"“{quote}”" if quote and quote != one_line(one.value, 60) else ""
    return [(one.name, DIM), (one.value, "cyan"), ("  ".join(text for text in (one.uri, said) if text), DIM)]


def _limits(intent: Intent, quotes: Mapping[str, str]) -> Iterator[tuple[str, RenderableType]]:
    """Budget, deadline and expiry, as far as no constraint says the same."""
    said = {constraint.type for constraint in intent.frame.constraints}
    if (budget := intent.budget) is not None:
        cost = f"{budget.max_cost.value} {budget.max_cost.asset}" if budget.max_cost else ""
        calls = f"{budget.max_calls} calls" if budget.max_calls else ""
        agents = f"{budget.max_agents} agents" if budget.max_agents else ""
        parts = [part for part in ("" if "budget" in said else cost, budget.max_time, calls, agents) if part]
        if parts:
            words = [quotes[field] for field in ("budget.max_time", "budget.max_calls") if field in quotes]
            yield "limits", joined([*((part, "yellow") for part in parts), *((f"“{q}”", DIM) for q in words)])
    if intent.deadline and "deadline" not in said:
        yield "deadline", plain(moment(intent.deadline), "yellow")
    if intent.expires_at:
        yield "expires", plain(moment(intent.expires_at), DIM)


def _ruled(line: str, quote: str | None, style: str) -> Text:
    """A reading of some words of the goal, with those words."""
    return joined(((line, style), (f"“{quote}”" if quote and quote != line else "", DIM)))


def marked(prose: str, marks: Sequence[SpanMark], *, written: bool) -> Text:
    """The goal with the words that fields came from underlined, or in [brackets] without styles."""
    text, at = Text(), 0
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        if not at <= mark.start < mark.end <= len(prose):
            continue  # inside another span, or outside the text
        text.append(safe(prose[at : mark.start]))
        words = safe(prose[mark.start : mark.end])
        style = next((style for field, style in _FIELD_STYLES if mark.field.startswith(field)), STRONG)
        text.append(f"[{words}]" if written else words, style=f"underline {style}")
        at = mark.end
    text.append(safe(prose[at:]))
    return text


def constraint_line(constraint: Constraint) -> str:
    """A constraint in words."""
    match constraint:
        case BudgetConstraint(max=most):
            what = f"spend at most {most.value} {most.asset}" if most else "a budget"
        case DeadlineConstraint(by=by):
            what = f"by {moment(by)}" if by else "a deadline"
        case JurisdictionConstraint(allow=allow, deny=deny):
            only = f"only in {' '.join(allow)}" if allow else ""
            never = f"not in {' '.join(deny)}" if deny else ""
            what = ", ".join(part for part in (only, never) if part) or "a jurisdiction"
        case QualityConstraint(metric=metric, min=least):
            what = f"{metric} at least {least:g}"
        case RuleConstraint(rule=rule):
            what = rule
        case PolicyConstraint(policy=policy):
            what = policy
        case ExtensionConstraint():
            what = f"{constraint.type} {constraint.schema} {constraint.data}".strip()
    return what if constraint.hard else f"{what} (soft)"


def predicate_line(predicate: Predicate) -> str:
    """A success criterion in words."""
    match predicate:
        case DeliveredPredicate(artifact=artifact):
            return f"{artifact} exists"
        case SignedOffPredicate(by=by):
            return f"{by} has signed off"
        case ExternalPredicate(url=url, check=check):
            return f"{check or 'the check'} holds at {url}"
        case AttestationPredicate(source=source, topic=topic):
            return f"{source} has attested {topic}"
        case ExtensionPredicate():
            return f"{predicate.type} {predicate.schema} {predicate.data}".strip()


def unknown_line(unknown: Unknown) -> Text:
    """An open question: id, severity, why, and the answers offered."""
    style = {"blocking": BAD, "preferred": WARN}.get(unknown.severity, DIM)
    offered = f"one of: {', '.join(unknown.options)}" if unknown.options else ""
    default = f"default {unknown.default}" if unknown.default else ""
    return joined(
        (
            (unknown.id, STRONG),
            (unknown.severity, style),
            (unknown.field, DIM),
            (unknown.rationale, ""),
            (offered, DIM),
            (default, DIM),
        )
    )
