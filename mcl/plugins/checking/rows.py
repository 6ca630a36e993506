"""Rows of the journal, one line each, or one whole; what a replay found, and what guards say of a plan."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from executor.gate.verdict import Ask, Deny
from executor.sandbox.redaction import visible, visible_value
from executor.store.journal.bodies import names_body
from executor.store.journal.journal import Journal
from executor.store.journal.record import Record
from executor.store.journal.rows import Row
from executor.store.journal.standing import CHANGED
from ir import (
    Body,
    Intent,
    IntentAcceptBody,
    IntentAnswerBody,
    IntentAttestBody,
    IntentCancelBody,
    IntentClarifyBody,
    IntentCompiledBody,
    IntentCorrectBody,
    IntentDispatchBody,
    IntentDraftBody,
    IntentFailBody,
    PlanOutputBody,
    PlanProposedBody,
    PlanStepBody,
    PlanTree,
    PolicyGateBody,
    PolicyGateResolveBody,
)
from ir.errors import MclError
from ir.schedule import Schedule
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, duration, joined, plain, rows
from mcl.cli.views.plan import VERDICT_STYLES
from mcl.core.text import one_line

if TYPE_CHECKING:
    from executor import Verdict
    from mcl.plugins.checking.plans import PlanChecked
    from mcl.plugins.checking.replay import Replay

_LINES = 200  # of a body that are shown

_STATUS = {"completed": "green", "failed": BAD, "denied": BAD, "cancelled": "yellow"}


def row_document(journal: Journal, row: Row) -> dict[str, object]:
    says, _ = _says(journal, row)
    return {
        "row": row.seq,
        "at": row.at,
        "kind": row.kind,
        "id": row.id,
        "intent": row.intent,
        "self_hash": row.self_hash,
        "says": says,
    }


def row_line(journal: Journal, row: Row, *, named: bool) -> tuple[tuple[str, str], ...]:
    """One row as cells: number, time, kind, the intent's id where `named`, what it says."""
    says, style = _says(journal, row)
    at = row.at[:19].replace("T", " ")
    name = ((row.intent or "", DIM),) if named else ()
    return ((str(row.seq), DIM), (at, DIM), (row.kind, ""), *name, (says, style))


def whole_row(journal: Journal, row: Row) -> dict[str, object]:
    """All that a row says, as JSON: what is JSON in it is read, and other bytes are hexadecimal digits."""
    document = row_document(journal, row)
    try:
        message = journal.open(row.wire, row.seq)
    except MclError as error:
        return {**document, "flaw": error.to_json()}
    body = dict(message.body) if isinstance(message, Record) else asdict(message.body)
    told: dict[str, object] = {"from": message.from_, "previous": message.previous.hex()}
    if isinstance(chunk := body.get("chunk"), bytes):
        body["chunk"] = chunk.decode("utf-8", "replace")
    if (named := names_body(message)) is not None:
        told["beside"] = "gone" if _is_gone(named) else "here"
    return {**document, **told, "leaf": row.leaf.hex(), "body": _readable(body)}


def whole_row_view(journal: Journal, row: Row) -> Iterator[RenderableType]:
    """The same for a person: what it is, then its body; of a long one the beginning."""
    document = whole_row(journal, row)
    body = document.pop("body", document.pop("flaw", {}))
    yield rows([(name, visible(str(value))) for name, value in document.items() if value])
    yield ""
    lines = json.dumps(visible_value(body), ensure_ascii=False, indent=2).split("\n")
    yield plain("\n".join(lines[:_LINES]))
    if len(lines) > _LINES:
        yield plain(f"… {len(lines) - _LINES} more lines (--json)", DIM)


def _is_gone(told: PlanStepBody | PlanOutputBody) -> bool:
    """Whether what lay beside a row was forgotten, of a body that names it."""
    return bool(told.sha256) and not (told.result if isinstance(told, PlanStepBody) else told.chunk)


def _readable(value: object) -> object:
    if isinstance(value, bytes):
        try:
            return json.loads(value)
        except ValueError:
            return {"bytes": len(value), "hex": value.hex()}
    if isinstance(value, dict):
        return {str(name): _readable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(one) for one in value]
    return value


def _says(journal: Journal, row: Row) -> tuple[str, str]:
    try:
        message = journal.open(row.wire)
        if isinstance(message, Record) and message.kind == CHANGED:
            return one_line("; ".join(_changes(message.body)), 160), ""
        if isinstance(message, Record):
            told = (f"{name}={_short(value)}" for name, value in message.body.items())
            return one_line(" ".join(told), 160), ""
        says, style = _told(message.body)
        return f"{says}  unseen" if getattr(message.body, "unseen", False) else says, style
    except MclError as error:
        return f"{error.code}: {error.message}", BAD


def _forgotten(size: int) -> str:
    return f"({size:,} bytes, forgotten)"


def _changes(body: Mapping[str, Any]) -> Iterator[str]:
    """How many lines of which tables are new, and how many are gone."""
    for table, change in body.items():
        yield f"{table}: " + ", ".join(f"{len(lines)} {what}" for what, lines in dict(change).items())


def _short(value: object) -> object:
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    if isinstance(value, list):  # of files, say: their paths tell more than the rest
        told = (item.get("path", item) if isinstance(item, dict) else item for item in value)
        return ", ".join(map(str, told)) or "none"
    return value or "none" if isinstance(value, str | dict) else value


def _told(body: Body) -> tuple[str, str]:
    match body:
        case IntentDraftBody(prose=prose):
            return one_line(prose, 160), ""
        case IntentCompiledBody(intent_json=data):
            intent = Intent.from_json(data)
            return f"{intent.frame.verb}, confidence {intent.confidence:.2f}, hash {intent.hash[:12]}", ""
        case IntentClarifyBody(questions=questions):
            return one_line("; ".join(f"{one.unknown_id}: {one.prompt}" for one in questions), 160), "yellow"
        case IntentAnswerBody(patches=patches):
            return one_line(patches.decode(errors="replace"), 160), ""
        case IntentAcceptBody(intent_hash=intent_hash, plan_hash=plan_hash, schedule=standing):
            words = (
                f", again and again: {one_line(Schedule.from_json(standing).words, 80)}" if standing else ""
            )
            signed = f" and plan {plan_hash[:12]}" if plan_hash else ""
            return f"signed intent {intent_hash[:12]}{signed}{words}", "green"
        case PlanProposedBody(plan_json=data):
            plan = PlanTree.from_json(data)
            return f"plan {plan.hash[:12]} for {plan.skill_ref.removeprefix('matrix://skill/')}", ""
        case PlanStepBody(node_id=node, status=status, error=error, latency_ms=latency, model=model):
            took = duration(latency) if status not in ("pending", "running") else ""
            who = f"model {model[:12]}" if model else ""
            left = _forgotten(body.size) if _is_gone(body) else ""
            return "  ".join(
                part for part in (node, status, took, who, left, one_line(error, 120)) if part
            ), _STATUS.get(status, "")
        case PlanOutputBody(node_id=node, chunk=chunk, channel=channel):
            text = chunk.decode("utf-8", "replace") if isinstance(chunk, bytes) else chunk
            heard = _forgotten(body.size) if _is_gone(body) else one_line(text.strip(), 120)
            return one_line("  ".join(part for part in (node, channel, heard) if part), 160), DIM
        case IntentDispatchBody(sub_intent_json=data, scope_uri=scope):
            intent = Intent.from_json(data)
            made = intent.compile_metadata
            skill = f"{made.skill_id}@{made.skill_version}" if made else ""
            due = f"fired for {body.due}" if body.due else ""
            told = (due, intent.frame.verb, skill, f"intent {intent.id}", scope)
            return one_line("  ".join(part for part in told if part), 160), ""
        case IntentCorrectBody(patches=patches, reason=reason, retry_from=retry, goal=goal):
            again = f"again from {retry}" if retry else ""
            said = (reason, again, (goal or patches).decode(errors="replace"))
            return one_line("  ".join(part for part in said if part), 160), "yellow"
        case IntentAttestBody(outcome=outcome):
            return outcome, "green" if outcome == "success" else BAD
        case IntentFailBody(reason=reason, message=message):
            return one_line(f"{reason} {message}", 160), BAD
        case IntentCancelBody(reason=reason):
            return one_line(reason, 160) or "cancelled", "yellow"
        case PolicyGateBody(question=question, node_id=node):
            return one_line(f"{node} {question}", 160), "yellow"
        case PolicyGateResolveBody(decision=decision, answer=answer, reason=reason):
            parts = (decision, reason, "" if answer == decision else answer)
            return one_line("  ".join(part for part in parts if part), 160), ""
        case _:
            return "", ""


# ---- What a replay found, line by line.


_STYLES = {"same": GOOD, "different": BAD, "not available": WARN}


_OF = {
    "ran": "what ran is what its goal, answers and corrections make of it",
    "accepted": "what was accepted; nothing of it has run",
    "compiled": "what was compiled; nobody accepted it, and nothing of it has run",
}


def replay_view(replay: "Replay") -> Iterator[RenderableType]:
    """One line an item: same, different or not available; the two values where they differ."""
    yield joined((("Replay", STRONG), (replay.intent_id, STRONG)))
    yield ""
    pairs: list[tuple[str, RenderableType]] = []
    for item in replay.items:
        verdict = Text(f"{item.verdict:<15}", style=_STYLES[item.verdict])
        verdict.append_text(plain(item.recorded if item.verdict == "same" else item.note, DIM))
        pairs.append((item.name, verdict))
        if item.verdict == "different" and item.found:
            pairs.append((item.name, joined((("recorded", DIM), (item.recorded, "")))))
            pairs.append((item.name, joined((("now     ", DIM), (item.found, "")))))
    yield rows(pairs)
    yield ""
    bad = [item.name for item in replay.items if item.verdict != "same"]
    said = (
        f"byte for byte the same: {_OF[replay.of]}"
        if replay.same
        else f"not proved the same: {', '.join(bad)}"
    )
    yield plain(said, GOOD if replay.same else BAD)


# ---- What the guards say of a plan.

_CHECKED_STYLES = {"allowed": GOOD, "needs_approval": WARN, "denied": BAD, "invalid": BAD}


def checked_view(found: "PlanChecked") -> Iterator[RenderableType]:
    """Node by node, and under each what its guards object to; the whole in one word."""
    verb = f"a goal to {found.verb}" if found.verb else "no verb is known"
    yield joined((("Plan", STRONG), (found.plan.id, ""), (verb, DIM if found.verb else BAD)))
    for verdict in found.verdicts:
        tool = verdict.tool_ref.removeprefix("matrix://tool/")
        does = ", ".join(verdict.effects)
        word = "invalid" if verdict.kind == "plan" else verdict.decision
        yield joined(
            (
                (f"  {verdict.node_id or 'plan'}", ""),
                (word, VERDICT_STYLES.get(word, BAD)),
                (tool or verdict.kind, DIM),
                (f"{verdict.operation}: {does}" if does else "", DIM),
            )
        )
        yield from _objections(verdict)
    if found.missing:
        said = plain(f"{found.missing.code}: {found.missing.message}", BAD)
        yield rows([("extra", said), ("", found.missing.fix)])
    yield plain(found.verdict.replace("_", " "), _CHECKED_STYLES[found.verdict])


def _objections(verdict: "Verdict") -> Iterator[RenderableType]:
    said = [reply for reply in verdict.guards.values() if reply] or ([verdict.reply] if verdict.reply else [])
    for reply in said:
        if isinstance(reply, Deny):
            lines: list[tuple[str, RenderableType]] = [
                (reply.guard, plain(f"{reply.code}: {reply.reason}", BAD)),
                ("", reply.fix),
            ]
            yield rows([*lines, *([("", plain(f"such as: {reply.example}", DIM))] if reply.example else [])])
        elif isinstance(reply, Ask):
            yield rows([(reply.guard, plain(reply.question, WARN))])
    yield from (rows([("warning", plain(str(one), WARN))]) for one in verdict.warnings)
