"""What a person sees of a call that a program asks for, and how their answer is read.

Whatever is not ours stands behind a bar, a line each, with everything written out that could not be seen: no
text of an argument, a tool or a client can pass for a line of this page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from executor.gate.approvals import APPROVE, DENY
from executor.walker.questions import GateAnswer, GateQuestion
from ir.characters import UNSEEN, written_out
from ir.shown import beginning, bounded, clear, of_value, quoted
from mcl.core.safe import one_line, safe, whole
from mcl.serve.exchange import Filled, Form
from mcl.usecases.asked_call import AskedCall, declared_of

MAX_REASON: Final = 1000  # characters
_SHOWN: Final = 80  # characters of an argument, or of what a client calls itself, in a sentence
WAIT: Final = "wait"


def call_form(asked: AskedCall, args: Mapping[str, object], *, here: bool, again: bool = False) -> Form:
    """The form about one call. here: an answer can be signed in this process; else it says where. again:
    what came back for it before was no answer."""
    lines = [*(["That was no answer; it is asked again."] if again else []), *_page(asked, args), ""]
    if here:
        lines.append("Allow exactly this call?")
        return Form("\n".join(lines), _schema(DENY, APPROVE))
    key = "needs a key of yours that no program can use" if asked.chain else "needs your passphrase"
    lines.append(f"To allow it {key}. Decide at a terminal: mcl gate approve {asked.id}")
    return Form("\n".join(lines), _schema(DENY, WAIT))


def read_answer(filled: Filled | None, *, here: bool) -> GateAnswer | None:
    """What came back for a `call_form`: approve, deny or wait, where it was offered; else as `read_gate`."""
    return _read(filled, (DENY, APPROVE) if here else (DENY, WAIT))


def gate_form(gate: GateQuestion) -> Form:
    """The form about a gate of a running plan."""
    lines = [f"{one_line(gate.again)}; it is asked again."] if gate.again else []
    lines += ["A plan that you accepted waits for your answer.", ""]
    if gate.tool_ref:
        lines.append(f"Tool: {clear(gate.tool_ref)}")
    lines.append(f"Step: {clear(gate.node_id) or 'the end'}")
    if gate.expires_at:
        lines.append(f"Until: {_minute(gate.expires_at)}; without an answer it is refused")
    lines += [f"More: mcl gate show {gate.gate_id}", "What is asked:"]
    lines += [f"    | {line}" for line in safe(gate.question).split("\n")]  # kept as views
    lines += ["Arguments, whole:", *_barred(gate.args)] if gate.args else []
    refusing = f"Refuses: {' / '.join(map(quoted, gate.offer.refusing))}"
    return Form("\n".join([*lines, "", refusing, "Your answer?"]), _schema(*_answers(gate)))


def read_gate(gate: GateQuestion, filled: Filled | None) -> GateAnswer | None:
    """What came back for a `gate_form`; without an option where the form was sent off with what is no answer,
    so that it is asked again, None where it was closed."""
    return _read(filled, _answers(gate))


def _read(filled: Filled | None, offered: tuple[str, ...]) -> GateAnswer | None:
    """The answer in a form; nobody knows whether a person has seen what a client shows."""
    if filled is not None and filled.action == "decline":
        return GateAnswer(DENY, unseen=True)
    if filled is None or filled.action != "accept":
        return None
    decision, reason = filled.content.get("decision"), filled.content.get("reason") or ""
    if not isinstance(reason, str) or len(reason) > MAX_REASON or decision not in offered:
        return GateAnswer("", unseen=True)
    return GateAnswer(str(decision), reason, unseen=True)


def _answers(gate: GateQuestion) -> tuple[str, ...]:
    """What may be answered, refusals first."""
    return (*gate.offer.refusing, *gate.offer.continuing)


def question_of(name: str, operation: str, effects: tuple[str, ...], client: str) -> str:
    """The question in a sentence."""
    return (
        f"{beginning(client, _SHOWN) if client else 'A program'} wants to call {quoted(name)} "
        f"({operation}: {', '.join(effects)}). Allow exactly this?"
    )


def prose_of(name: str, args: Mapping[str, object], *, client: str, said: Mapping[str, str]) -> str:
    """What the Intent of such a call says in words. said: what the program declares, by name."""
    shown = ", ".join(f"{beginning(one, _SHOWN)} = {of_value(value, _SHOWN)}" for one, value in args.items())
    words = "; ".join(f"{what} {one_line(text, MAX_REASON)}" for what, text in said.items() if text)
    asked = f"{one_line(client, _SHOWN) or 'a program'} over MCP"
    return f"call {one_line(name)}{f' with {shown}' if shown else ''}, as {asked} asks" + (
        f" ({words})" if words else ""
    )


def _page(asked: AskedCall, args: Mapping[str, object]) -> Iterator[str]:
    trusted = "you trust it" if asked.trusted else "you do not trust it"
    own = asked.server == "mcl"
    yield "A program asks to make one call, and only you can allow it."
    yield ""
    yield f"Tool: {clear(asked.name)}"
    yield f"Server: {'mcl itself' if own else f'{clear(asked.server)} ({trusted})'}"
    yield f"It does: {asked.operation} ({', '.join(asked.effects)})"
    yield f"Until: {_minute(asked.expires_at)}; without an answer it is refused"
    yield f"More: mcl gate show {asked.id}"
    yield "Why you are asked:"
    for why in asked.why:
        yield f"  - {written_out(why, UNSEEN, keep='')}"  # its values are views already
    yield "Arguments, whole:" if args else "Arguments: none"
    yield from _barred(args)
    yield "What the program says, in its own words; nobody has checked them:"
    yield from _barred(declared_of(asked))


def _barred(values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        yield f"  {bounded(name)}"
        for line in whole(value):
            yield f"    | {line}"


def _schema(*decisions: str) -> dict[str, object]:
    """The refusal comes first: a form that is sent off as it opens shall not approve."""
    return {
        "type": "object",
        "properties": {
            "decision": {"type": "string", "title": "Decision", "enum": list(decisions)},
            "reason": {"type": "string", "title": "Reason", "maxLength": MAX_REASON},
        },
        "required": ["decision"],
    }


def _minute(text: str) -> str:
    return f"{text[:19].replace('T', ' ')} UTC"
