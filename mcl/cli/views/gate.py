"""A question of a running plan, with all that a person must see before deciding it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from mcl.cli.safe import one_line
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, moment, plain, rows

if TYPE_CHECKING:
    from mcl.acts.gates import ShownGate

_STYLES = {"open": WARN, "decided": GOOD, "expired": BAD, "closed": DIM, "asked again": DIM}


def gate_view(found: "ShownGate") -> Iterator[RenderableType]:
    """The question and what it is about, but for the arguments."""
    yield joined((("Gate", STRONG), (found.id, STRONG), (found.standing, _STYLES[found.standing])))
    pairs: list[tuple[str, RenderableType]] = [
        ("goal", plain(found.goal)),
        ("intent", joined(((found.intent_id, ""), (found.state, DIM)))),
        ("node", plain(found.node_id)),
        ("asked", plain(moment(found.asked_at))),
    ]
    if found.expires_at:
        pairs.append(("until", plain(moment(found.expires_at))))
    pairs.append(("answers", plain(found.offer.words)))
    if found.decision:
        pairs.append(("decision", joined(((found.decision, STRONG), (moment(found.decided_at), DIM)))))
        pairs.append(("by", plain(found.by)))
    if found.reason:
        pairs.append(("reason", plain(found.reason)))
    pairs.append(("question", plain(found.question)))
    if found.tool:
        pairs.append(("tool", joined(((found.tool, ""), (f"declared {found.declared}", DIM)))))
        if found.call:
            trusted = ("", "") if found.trusted else ("you do not trust this server", WARN)
            pairs.append(("called", joined(((one_line(found.call), ""), trusted))))
            pairs.append(("does", plain(f"{found.operation} ({', '.join(found.effects)})")))
        pairs += [
            (f"bound to {name}", plain(found.bound[name], DIM))
            for name in ("intent", "plan", "tool", "args", "policy")
            if found.bound.get(name)
        ]
    yield rows(pairs, label=16)
    if found.flaw:
        yield plain(f"  It cannot be approved any more: {one_line(found.flaw)}", BAD)
    elif not found.holds:
        yield plain("  What is shown is not what was asked about: do not approve this.", BAD)
