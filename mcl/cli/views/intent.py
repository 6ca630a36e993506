"""The Frame as a person reads it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.text import Text

from ir import Constraint, Given, Intent, Predicate, SlotEntry, SpanMark, Unknown
from ir.display import beginning, clear, quoted
from ir.frame import (
    AttestationPredicate,
    BudgetConstraint,
    CommandPredicate,
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
from ir.plan import MAX_MEMBERS
from ir.schedule import RECURRENCE, recurs
from mcl.catalog.extras import missing_for
from mcl.cli.views.exact import Exact, exact, line_of
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, coloured, commands, joined, moment, plain, rows
from mcl.cli.views.plan import Cell, plan_head, plan_table
from mcl.cli.views.promises import promises_view
from mcl.cli.views.walk import may_write, outputs_view, said_view
from mcl.compiler.compiler import Clarify, Compiled, Refused
from mcl.usecases.documents import next_commands

if TYPE_CHECKING:
    from ir import ClarifyQuestion
    from mcl.usecases.intents import Shown

_LEARNED = "matrix://cortex/Preference/learned-"  # an answer of earlier stands where a question would
STATE_STYLES = {"completed": GOOD, "failed": BAD, "cancelled": DIM, "clarifying": WARN}
_QUOTED = 60  # characters of the goal's words beside what was read in them
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
    yield "goal", Exact(marked(intent.prose, marks, written=not coloured(console)))
    yield "verb", exact((clear(frame.verb), STRONG) if frame.verb else ("not known", WARN))
    quotes = {mark.field: intent.prose[mark.start : mark.end] for mark in marks}
    names = max((len(clear(one.name)) for one in frame.objects), default=0)
    for place, entry in enumerate(frame.objects):
        yield "objects", _object(entry, quotes.get(f"frame.objects[{place}]", ""), names)
    for one in intent.references:
        if one.role == RECURRENCE:
            yield "when", exact((clear(one.summary), "cyan"), (clear(one.uri), DIM))
        if one.uri.startswith(_LEARNED):
            yield "remembered", exact((clear(one.summary), "cyan"), (clear(one.uri), DIM))
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
        yield (
            "preferences",
            _ruled(clear(preference.prefer), quotes.get(f"frame.preferences[{index}]"), "magenta"),
        )
    for wish in frame.further:
        said = " ".join(f"{one.name}={quoted(one.value or one.uri)}" for one in wish.objects)
        given = " ".join(map(_given, wish.given))
        words = (clear(wish.prose), DIM)
        yield "and then", exact((clear(wish.verb), STRONG), (said, "cyan"), (given, "cyan"), words)
        if (when := wish.when) is not None:
            told = f"{_of_wish(when.wish, when.output)} {when.test.replace('_', ' ')}"
            yield "only if", exact((told, "yellow"), (quoted(when.value) if when.value else "", "yellow"))
        if wish.scope_uri:
            yield "may use", exact((clear(wish.scope_uri), DIM))
    yield from _limits(intent, quotes)
    if gaps and not intent.unknowns:
        yield "unknowns", exact(("none", DIM))
    for unknown in intent.unknowns if gaps else ():
        yield "unknowns", unknown_line(unknown)
    yield "confidence", exact((f"{intent.confidence:.2f}", WARN if intent.unknowns else GOOD))
    if (made := intent.compile_metadata) is not None:
        yield (
            "skill",
            exact((clear(f"{made.skill_id}@{made.skill_version}") if made.skill_id else "none", "")),
        )
        yield "model", exact((clear(made.model_version), ""), (made.model_digest[:12], DIM))
    if intent.hash:
        yield "hash", exact((intent.hash, DIM))


def _given(one: Given) -> str:
    """What a wish is given by an earlier one."""
    each = f"each of {one.output} (at most {MAX_MEMBERS})" if one.each else one.output
    return f"{clear(one.slot)} ← {_of_wish(one.wish, each)}"


def _of_wish(place: int, what: str) -> str:
    return f"{clear(what)} of the {'first' if not place else f'further wish {place}'}"


def _object(one: SlotEntry, quote: str, names: int) -> Exact:
    """What fills a slot, with its address and the words that it was read from where they say it otherwise."""
    name = clear(one.name).ljust(names)
    return exact(
        (name, DIM),
        (quoted(one.value) if one.value else "", "cyan"),
        (clear(one.uri), DIM),
        _said(quote, one.value),
    )


def _said(quote: str | None, line: str) -> tuple[str, str]:
    """The words of the goal, where they are others than what was read in them."""
    told = quote is None or quote == line or line.startswith(f"{quoted(quote)} keeps ")
    return ("" if told or not quote else f"({beginning(quote, _QUOTED)})", DIM)


def _limits(intent: Intent, quotes: Mapping[str, str]) -> Iterator[tuple[str, RenderableType]]:
    """Budget, deadline and expiry, as far as no constraint says the same."""
    said = {constraint.type for constraint in intent.frame.constraints}
    if (budget := intent.budget) is not None:
        cost = f"{budget.max_cost.value} {budget.max_cost.asset}" if budget.max_cost else ""
        calls = "" if budget.max_calls is None else f"{budget.max_calls} calls"
        agents = "" if budget.max_agents is None else f"{budget.max_agents} agents"
        parts = [part for part in ("" if "budget" in said else cost, budget.max_time, calls, agents) if part]
        if parts:
            words = [quotes[field] for field in ("budget.max_time", "budget.max_calls") if field in quotes]
            yield (
                "limits",
                exact(*((clear(part), "yellow") for part in parts), *(_said(q, "") for q in words)),
            )
    if intent.deadline and "deadline" not in said:
        yield "deadline", exact((clear(moment(intent.deadline)), "yellow"))
    if intent.expires_at:
        yield "expires", exact((clear(moment(intent.expires_at)), DIM))


def _ruled(line: str, quote: str | None, style: str) -> Exact:
    """A reading of some words of the goal, a view, with those words."""
    return exact((line, style), _said(quote, line))


def marked(prose: str, marks: Sequence[SpanMark], *, written: bool) -> Text:
    """The goal with the words that fields came from underlined, or in [brackets] without styles."""
    text, at = Text(), 0
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        if not at <= mark.start < mark.end <= len(prose):
            continue  # inside another span, or outside the text
        text.append_text(_part(prose, at, mark.start, written))
        words = _part(prose, mark.start, mark.end, written).plain
        style = next((style for field, style in _FIELD_STYLES if mark.field.startswith(field)), STRONG)
        text.append(f"[{words}]" if written else words, style=f"underline {style}")
        at = mark.end
    text.append_text(_part(prose, at, len(prose), written))
    return text


def _part(prose: str, start: int, end: int, written: bool) -> Text:
    """The view of a part of the goal: a blank at its end is one where the goal goes on behind it."""
    part, before, after = prose[start:end], prose[:start], prose[end:]
    head = " " if part[:1] == " " != part[1:2] and before and not before.endswith(" ") else ""
    part = part[len(head) :]
    tail = " " if part[-1:] == " " != part[-2:-1] and after and not after.startswith(" ") else ""
    view = head + clear(part[: len(part) - len(tail)]) + tail
    return line_of((view.replace("[", "\\[").replace("]", "\\]") if written else view, ""))


def constraint_line(constraint: Constraint) -> str:
    """A constraint in words, as a view."""
    match constraint:
        case BudgetConstraint(max=most):
            what = f"spend at most {most.value} {quoted(most.asset)}" if most else "a budget"
        case DeadlineConstraint(by=by):
            what = f"by {clear(moment(by))}" if by else "a deadline"
        case JurisdictionConstraint(allow=allow, deny=deny):
            only = f"only in {' '.join(map(quoted, allow))}" if allow else ""
            never = f"not in {' '.join(map(quoted, deny))}" if deny else ""
            what = ", ".join(part for part in (only, never) if part) or "a jurisdiction"
        case QualityConstraint(metric=metric, min=least, share=share):
            what = f"{quoted(metric)} at least {f'{least * 100:g} %' if share else f'{least:g}'}"
        case RuleConstraint(rule=rule, keeps=keeps):
            what = f"{quoted(rule)} keeps {quoted(keeps)}" if keeps else quoted(rule)
        case PolicyConstraint(policy=policy):
            what = quoted(policy)
        case ExtensionConstraint():
            what = _extension(constraint.type, constraint.schema, constraint.data)
    return what if constraint.hard else f"{what} (soft)"


def predicate_line(predicate: Predicate) -> str:
    """A success criterion in words, as a view."""
    match predicate:
        case DeliveredPredicate(artifact=artifact):
            return f"{quoted(artifact)} exists"
        case SignedOffPredicate(by=by, what=what):
            who = quoted(by) if by else "whoever accepts it"
            return f"{who} has signed off{f' {quoted(what)}' if what else ''}"
        case ExternalPredicate(url=url, check=check):
            return f"{quoted(check) if check else 'the check'} holds at {quoted(url)}"
        case AttestationPredicate(source=source, topic=topic):
            return f"{quoted(source)} has attested {quoted(topic)}"
        case CommandPredicate(tool_ref=tool, args=args):
            given = "".join(f" {quoted(name)}={quoted(text)}" for name, text in sorted(args.items()))
            return f"{quoted(tool)}{given} exits with status 0"
        case ExtensionPredicate():
            return _extension(predicate.type, predicate.schema, predicate.data)


def _extension(type: str, schema: str, data: object) -> str:
    return " ".join(quoted(text) for text in (type, schema, str(data)) if text)


def unknown_line(unknown: Unknown) -> Exact:
    """An open question: id, severity, why, and the answers offered."""
    style = {"blocking": BAD, "preferred": WARN}.get(unknown.severity, DIM)
    return exact(
        (clear(unknown.id), STRONG),
        (unknown.severity, style),
        (clear(unknown.field), DIM),
        (clear(unknown.rationale), ""),
        (f"one of: {', '.join(map(quoted, unknown.options))}" if unknown.options else "", DIM),
        (f"default {quoted(unknown.default)}" if unknown.default else "", DIM),
    )


# ---- An intent with its plan, its questions, and what can be done next.

_NODE_STYLES = {"completed": "green", "failed": BAD, "denied": BAD, "running": "cyan"}


def shown_view(found: "Shown", console: Console, found_text: str = "") -> Iterator[RenderableType]:
    """Everything a person needs before the next command. found_text: what a review found."""
    if found.intent is not None:
        yield from intent_view(found.intent, console, state=found.state)
    else:
        style = STATE_STYLES.get(found.state, "cyan")
        yield joined((("Intent", STRONG), (found.id, STRONG), (found.state, style)))
        yield ""
        yield rows([("goal", found.prose)])
    if found.reason:
        yield rows([("reason", plain(found.reason, BAD))])
    if found.view.unseen:
        kinds = ", ".join(dict.fromkeys(kind for kind, _ in found.view.unseen))
        yield rows([("unseen", plain(f"nobody need have looked when these were signed: {kinds}", WARN))])
    if found.plan is not None:
        cells = {node: Cell(state, _NODE_STYLES.get(state, DIM)) for node, state in found.view.nodes.items()}
        yield ""
        yield plan_head(found.plan)
        yield plan_table(found.plan, console, cells, head="state" if cells else "")
        yield from promises_view(found.intent, found.plan) if found.intent is not None else ()
        yield rows([("plan hash", plain(found.plan.hash, DIM))])
    if found.questions and found.state == "clarifying":
        yield ""
        yield from questions_view(found.questions)
    if found_text:
        yield ""
        yield plain("Findings", STRONG)
        yield plain(found_text)
    elif found.outputs:
        yield ""
        yield from outputs_view(found.outputs, found.plan)
    yield from said_view(found.said, found.outputs)
    compiled = found.intent is not None and found.intent.compile_metadata is not None
    writes = found.plan is not None and may_write(found.plan, found.view.nodes)
    further = {"compiled": compiled, "writes": writes, "scheduled": found.view.schedule is not None}
    further["recurs"] = found.intent is not None and recurs(found.intent)
    yield commands(next_commands(found.id, found.state, found.questions, plan=found.plan, **further))


def questions_view(questions: "tuple[ClarifyQuestion, ...]") -> Iterator[RenderableType]:
    """The questions that must be answered."""
    pairs: list[tuple[str, RenderableType]] = []
    for question in questions:
        offered = f"one of: {', '.join(question.options)}" if question.options else ""
        default = f"default {question.default}" if question.default else ""
        pairs.append((question.unknown_id, joined(((question.prompt, ""), (offered, DIM), (default, DIM)))))
    yield plain("Questions", STRONG)
    yield rows(pairs)


# ---- What came of a compile.


def result_view(
    result: Compiled | Clarify | Refused, console: Console, *, stored: bool
) -> Iterator[RenderableType]:
    """The Frame, what will run, what is asked, and the exact next command."""
    match result:
        case Compiled():
            yield from intent_view(result.intent, console)
            if result.plan is not None:
                yield ""
                yield plan_head(result.plan)
                yield plan_table(result.plan, console, {}, head="")
                yield from promises_view(result.intent, result.plan)
            else:
                yield rows([("plan", plain(f"none: {result.no_plan}" if result.no_plan else "none", WARN))])
            if missing := missing_for(result.plan):
                yield plain(missing.message, WARN)
            if result.advice:
                yield ""
                yield plain(f"{result.advice[:1].upper()}{result.advice[1:]}.", WARN)
            yield from _prompt(result, stored=stored)
            yield from _next(result.intent.id, "proposed", result, stored=stored)
        case Clarify():
            yield from intent_view(result.intent, console, gaps=False)
            yield ""
            yield from questions_view(result.questions)
            yield from _prompt(result, stored=stored)
            yield from _next(result.intent.id, "clarifying", result, stored=stored)
        case Refused():
            yield joined((("Refused", BAD), (result.id, STRONG), (result.reason, BAD)))
            yield ""
            yield rows([("reason", result.message)])
            if stored:
                yield commands(
                    [("mcl skill list", "what can be asked for"), (f"mcl log {result.id}", "what was kept")]
                )


def _prompt(result: Compiled | Clarify, *, stored: bool) -> Iterator[RenderableType]:
    """What the model was asked with, where nothing else comes of it."""
    if stored or not result.prompt.system:
        return
    yield ""
    yield rows(
        [
            ("prompt", plain("system", DIM)),
            ("", result.prompt.system),
            ("", plain("user", DIM)),
            *(("", line) for line in result.prompt.user.split("\n")),
        ]
    )


def _next(id: str, state: str, result: Compiled | Clarify, *, stored: bool) -> Iterator[RenderableType]:
    if not stored:
        yield ""
        yield plain("Dry run: nothing was signed or stored.", DIM)
        return
    questions = result.questions if isinstance(result, Clarify) else ()
    plan = result.plan if isinstance(result, Compiled) else None
    yield commands(next_commands(id, state, questions, plan=plan, recurs=recurs(result.intent)))
