"""How what reviews remember is shown."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType

from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, listing, moment, plain, rows
from mcl.core.text import one_line

if TYPE_CHECKING:
    from mcl.plugins.review.memory import ArchitectureDecision, DecisionDifference, Dismissal, Meaning, Review
    from mcl.plugins.review.memory.documents import Bootstrapped

_SHOWN = 240  # characters of a text in a list


def files_view(reviews: "Sequence[Review]") -> Iterator[RenderableType]:
    """The last review of each file."""
    lines = [((one.file, ""), (one.mode, DIM), (moment(one.at), DIM), _counted(one)) for one in reviews]
    yield listing(("file", "mode", "reviewed", "found"), lines) if lines else plain("nothing", DIM)


def history_view(reviews: "Sequence[Review]") -> Iterator[RenderableType]:
    """The reviews of one file: all in short, the findings of the newest in full."""
    if not reviews:
        yield plain("nothing", DIM)
        return
    yield joined(((reviews[0].file, STRONG),))
    lines = [
        ((moment(one.at), ""), (one.mode, DIM), (one.model or "no model", DIM), _counted(one))
        for one in reviews
    ]
    yield listing(("reviewed", "mode", "model", "found"), lines)
    for one in reviews[0].findings:
        yield plain(f"[{one.severity}] {one.location}", BAD if one.blocking else "")
        yield plain("\n".join(f"  {line}" for line in one.body.split("\n")))
    if reviews[0].dismissed:
        places = ", ".join(f"{one.location} {one.rule}".rstrip() for one in reviews[0].dismissed)
        yield plain(f"dismissed: {places}", DIM)
    if reviews[0].left_out:
        yield plain(f"{reviews[0].left_out} further findings did not fit", DIM)


def decisions_view(decisions: "Sequence[ArchitectureDecision]") -> Iterator[RenderableType]:
    """Decisions, one a line."""
    lines = [
        ((one.id, ""), (one.kind, DIM), (one.status, DIM), (one_line(one.title, _SHOWN), ""))
        for one in decisions
    ]
    yield listing(("id", "kind", "status", "title"), lines) if lines else plain("nothing", DIM)


def decision_view(one: "ArchitectureDecision") -> Iterator[RenderableType]:
    """One decision."""
    yield joined(((one.id, STRONG), (one.title, STRONG)))
    pairs = [
        ("kind", one.kind),
        ("status", one.status),
        ("date", one.date),
        ("about", " ".join(one.files) or "all files"),
        ("file", one.path if one.sha256 else "none"),
        ("memory", one.uri),
    ]
    yield rows([(name, plain(text)) for name, text in pairs])
    yield plain("\n".join(f"  {line}".rstrip() for line in one.body.split("\n")))


def differences_view(found: "Sequence[DecisionDifference]", *, read: bool) -> Iterator[RenderableType]:
    """Where files and memory differ, or what of that was read."""
    if not found:
        yield plain("nothing new" if read else "files and memory say the same", GOOD)
        return
    lines = [
        ((one.id, ""), (one.what, GOOD if read else WARN), (one.path, ""), (one_line(one.why, _SHOWN), DIM))
        for one in found
    ]
    yield listing(("id", "what", "file", "why"), lines)


def meanings_view(meanings: "Sequence[Meaning]") -> Iterator[RenderableType]:
    """Texts, one a line."""
    lines = [
        ((one.id, ""), (one.kind, DIM), (one_line(one.source, 60), DIM), (one_line(one.text, _SHOWN), ""))
        for one in meanings
    ]
    yield listing(("id", "kind", "source", "says"), lines) if lines else plain("nothing", DIM)


def dismissals_view(dismissals: "Sequence[Dismissal]") -> Iterator[RenderableType]:
    """What was dismissed, one a line."""
    lines = [
        (
            (one.location, ""),
            (one.rule or one.severity, DIM),
            (moment(one.at), DIM),
            (one_line(one.why, _SHOWN), ""),
        )
        for one in dismissals
    ]
    yield listing(("place", "rule", "dismissed", "why"), lines) if lines else plain("nothing", DIM)


def bootstrap_view(done: "Bootstrapped") -> Iterator[RenderableType]:
    """What a bootstrap did."""
    if done.documents:
        lines = [((path, ""), (str(count), DIM)) for path, count in done.documents]
        yield listing(("document", "sections"), lines)
    for path, why in done.skipped:
        yield joined((("left out", WARN), (path, ""), (why, DIM)))
    yield plain(
        f"{done.written} remembered, {done.unchanged} were known, {done.forgotten} forgotten;"
        f" {done.conventions} conventions of settings",
        GOOD,
    )


def _counted(one: "Review") -> tuple[str, str]:
    told = ", ".join(f"{number} {severity}" for severity, number in one.severities)
    return told or "nothing", BAD if one.blocking else ""
