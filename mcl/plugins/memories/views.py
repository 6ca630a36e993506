"""Memories as people see them."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType

from mcl.cli.output import Output
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, joined, listing, moment, plain, rows
from mcl.core.text import one_line
from mcl.memory.memory import Memory
from mcl.memory.proof import ProofCheck

_SHOWN = 240  # characters of a text in a list


def memory_view(memory: Memory) -> Iterator[RenderableType]:
    state = ("forgotten", BAD) if memory.forgotten else ("", "")
    yield joined(((memory.uri, STRONG), state))
    pairs = [
        ("says", memory.text),
        ("tags", " ".join(memory.tags)),
        *(("linked", f"{relation} {uri}") for relation, uri in memory.edges),
        ("source", memory.source),
        *(("data", f"{name}: {text}") for name, text in memory.data),
        ("importance", "" if memory.forgotten else f"{memory.importance:g}"),
        ("confidence", "" if memory.forgotten else f"{memory.confidence:g}"),
        ("at", moment(memory.at)),
        ("change", f"{memory.seq}"),
    ]
    yield rows([(name, text) for name, text in pairs if text])


def history_view(versions: Sequence[Memory]) -> RenderableType:
    lines = [
        (
            (f"v{one.version}", ""),
            (moment(one.at), DIM),
            (f"{one.seq}", DIM),
            ("forgotten", BAD) if one.forgotten else (one_line(one.text, _SHOWN), ""),
        )
        for one in versions
    ]
    return listing(("version", "at", "change", "says"), lines)


def tell_list(memories: Sequence[Memory], out: Output) -> None:
    out.document({"memories": memories})
    lines = [
        (
            (one.uri.removeprefix("matrix://cortex/"), ""),
            (" ".join(one.tags), DIM),
            (one_line(one.text, _SHOWN), ""),
        )
        for one in memories
    ]
    out.view([listing(("memory", "tags", "says"), lines) if lines else plain("nothing", DIM)])


def checks_view(checks: Iterable[ProofCheck]) -> RenderableType:
    """What was checked of a proof."""
    lines = [
        ((check.name, ""), ("holds", GOOD) if check.ok else ("wrong", BAD), (one_line(check.said, 400), ""))
        for check in checks
    ]
    return listing(("part", "", "says"), lines)
