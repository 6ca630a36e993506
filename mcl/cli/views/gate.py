"""A question of a running plan, with all that a person must see before deciding it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from ir.shown import clear, quoted
from mcl.cli.views.exact import exact, field
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, moment, plain, rows

if TYPE_CHECKING:
    from mcl.usecases.gates import ShownGate

_STYLES = {"open": WARN, "decided": GOOD, "expired": BAD, "closed": DIM, "asked again": DIM}


def gate_view(found: "ShownGate") -> Iterator[RenderableType]:
    """The question and what it is about, but for the arguments."""
    yield exact(("Gate", STRONG), (found.id, STRONG), (found.standing, _STYLES[found.standing]))
    pairs: list[tuple[str, RenderableType]] = [
        ("goal", field(found.goal)),
        ("intent", exact((clear(found.intent_id), ""), (found.state, DIM))),
        ("node", field(found.node_id)),
        ("asked", field(moment(found.asked_at))),
    ]
    if found.expires_at:
        pairs.append(("until", field(moment(found.expires_at))))
    pairs.append(("answers", exact((found.offer.words, ""))))
    if found.decision:
        unseen = ("signed unseen", WARN) if found.unseen else ("", "")
        at = (moment(found.decided_at), DIM)
        pairs.append(("decision", exact((quoted(found.decision), STRONG), at, unseen)))
        pairs.append(("by", field(found.by)))
    if found.reason:
        pairs.append(("reason", field(found.reason)))
    # What was asked is kept as views, line by line.
    pairs += [("question", exact((line, ""))) for line in found.question.split("\n")]
    if found.tool:
        pairs.append(("tool", exact((clear(found.tool), ""), (f"declared {clear(found.declared)}", DIM))))
        if found.call:
            trusted = ("", "") if found.trusted else ("you do not trust this server", WARN)
            pairs.append(("called", exact((clear(found.call), ""), trusted)))
            pairs.append(("does", exact((f"{found.operation} ({', '.join(found.effects)})", ""))))
        pairs += [
            (f"bound to {name}", exact((clear(found.bound[name]), DIM)))
            for name in ("intent", "plan", "tool", "args", "policy")
            if found.bound.get(name)
        ]
    yield rows(pairs, label=16)
    if found.flaw:
        yield exact((f"It cannot be approved any more: {clear(found.flaw)}", BAD))
    elif not found.holds:
        yield plain("  What is shown is not what was asked about: do not approve this.", BAD)
