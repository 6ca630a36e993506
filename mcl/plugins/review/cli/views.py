"""How what reviews remember, and what is wrong with a repository, is shown."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, listing, moment, plain, rows
from mcl.core.text import counted, one_line

if TYPE_CHECKING:
    from mcl.plugins.review.drift.drift import DriftReport
    from mcl.plugins.review.drift.rules import RepositoryFlaw
    from mcl.plugins.review.memory.decision import ArchitectureDecision
    from mcl.plugins.review.memory.decisions import DecisionDifference
    from mcl.plugins.review.memory.dismissals import Dismissal
    from mcl.plugins.review.memory.documents import Bootstrapped
    from mcl.plugins.review.memory.history import Review
    from mcl.plugins.review.memory.meanings import Meaning
    from mcl.plugins.review.release.report import ReleaseReport

_SHOWN = 240  # characters of a text in a list


def _listing(heads: tuple[str, ...], lines: "Sequence[Sequence[tuple[str, str]]]") -> RenderableType:
    return listing(heads, lines) if lines else plain("nothing", DIM)


def files_view(reviews: "Sequence[Review]") -> Iterator[RenderableType]:
    """The last review of each file."""
    lines = [((one.file, ""), (one.mode, DIM), (moment(one.at), DIM), _counted(one)) for one in reviews]
    yield _listing(("file", "mode", "reviewed", "found"), lines)


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
    lines = [
        ((one.id, ""), (one.kind, DIM), (one.status, DIM), (one_line(one.title, _SHOWN), ""))
        for one in decisions
    ]
    yield _listing(("id", "kind", "status", "title"), lines)


def decision_view(one: "ArchitectureDecision") -> Iterator[RenderableType]:
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
    lines = [
        ((one.id, ""), (one.kind, DIM), (one_line(one.source, 60), DIM), (one_line(one.text, _SHOWN), ""))
        for one in meanings
    ]
    yield _listing(("id", "kind", "source", "says"), lines)


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
    yield _listing(("place", "rule", "dismissed", "why"), lines)


def bootstrap_view(done: "Bootstrapped") -> Iterator[RenderableType]:
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


# ---- Flaws of a repository, and a release check.

_STYLES: Final = {
    "pass": GOOD,
    "warning": WARN,
    "blocked": BAD,
    "not run": WARN,
    "noted": WARN,
    "does not apply": DIM,
}
_MOST_FLAWS: Final = 10  # flaws of one check that are shown; --json has all
_WIDE = max(len(one) for one in _STYLES)


def drift_view(report: "DriftReport") -> Iterator[RenderableType]:
    """Each flaw, then how many there are."""
    yield from _flaws(report.flaws)
    files = f"{report.files:,}{' (and more)' if report.cut else ''} files"
    count = counted(len(report.flaws), "flaw") if report.flaws else "no drift"
    version = f"version {report.version}" if report.version else ""
    yield joined(((count, BAD if report.flaws else GOOD), (files, DIM), (version, DIM)))


def release_view(report: "ReleaseReport") -> Iterator[RenderableType]:
    """Each check with its flaws; the verdict; what to do next."""
    yield joined((("Release", STRONG), (str(report.workspace), ""), (report.version, STRONG)))
    wide = max(len(one.looked.title) for one in report.checks)
    for check in report.checks:
        line = Text("  ")
        line.append(f"{check.status:<{_WIDE}}  ", _STYLES[check.status])
        line.append(f"{check.looked.title:<{wide}}  ")
        line.append_text(plain(check.said, DIM))
        yield line
        yield from _flaws(check.flaws[:_MOST_FLAWS], indent=_WIDE + 4, fixes=False)
        if len(check.flaws) > _MOST_FLAWS:
            yield Padding(
                plain(f"… {len(check.flaws) - _MOST_FLAWS} more (--json)", DIM), (0, 0, 0, _WIDE + 4)
            )
    yield joined(
        (("verdict", DIM), (report.verdict, _STYLES[report.verdict]), (f"score {report.score}", DIM))
    )
    for number, one in enumerate(report.next, 1):
        yield plain(f"  {number}. {one}")


def _flaws(
    flaws: "Iterable[RepositoryFlaw]", *, indent: int = 0, fixes: bool = True
) -> Iterator[RenderableType]:
    for one in flaws:
        head = joined(
            ((one.code, BAD if one.level == "blocked" else WARN), (one.place, STRONG), (one.message, ""))
        )
        yield Padding(head, (0, 0, 0, indent))
        if fixes:
            yield Padding(plain(f"fix  {one.fix}", DIM), (0, 0, 0, indent + 2))
