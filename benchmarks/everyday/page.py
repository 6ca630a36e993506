"""The page of results: how many ended how; by language, writer and kind; and what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.everyday.trial import ENDS

_HEADS = (
    "right",
    "after one question",
    "asked wrongly or more than once",
    "wrong and visible",
    "wrong and ran",
    "refused",
)


def table(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Markdown: a row each for all, the languages, the writers and the kinds; shares in percent."""
    yield f"| | goals | {' | '.join(_HEADS)} | **done** |"
    yield f"|---|---|{'---|' * len(_HEADS)}---|"
    yield _row("all", results)
    for key in ("language", "writer", "kind"):
        for value in sorted({one[key] for one in results}):
            yield _row(value, [one for one in results if one[key] == value])


def _row(name: str, results: Sequence[Mapping[str, Any]]) -> str:
    ends, total = Counter(one["end"] for one in results), max(1, len(results))
    shares = [f"{100 * ends[end] / total:.0f}" for end in ENDS]
    done = 100 * (ends["right"] + ends["after one question"]) / total
    return f"| {name} | {len(results)} | {' | '.join(shares)} | **{done:.0f}** |"


def failures(results: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What is not done, a few lines a goal, worst first."""
    order = {end: place for place, end in enumerate(("ran", "visible", "asked", "refused"))}
    wrong = sorted(
        (one for one in results if one["end"] in order), key=lambda one: (order[one["end"]], one["id"])
    )
    for one in wrong:
        kind = f"{one['language']}, {one['folder']}, {one['kind']}"
        yield f"- **{one['id']}** ({kind}) {one['end']}: “{one['goal']}”"
        slots = ", ".join(f"{name}={value!r}" for name, value in one["slots"].items())
        review = " review" if one["review"] else ""
        yield f"  - {one['skill'] or 'no skill'}({slots}){review}; {'; '.join(one['how'])[:400]}"
        if one["wrong"]:
            yield f"  - wrong: {'; '.join(one['wrong'])[:400]}"


def figures(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The same as JSON data."""
    total = max(1, len(results))
    ends = Counter(one["end"] for one in results)
    told: dict[str, Any] = {"goals": len(results), "ends": {end: ends[end] for end in ENDS}}
    told["done"] = (ends["right"] + ends["after one question"]) / total
    told["wrong and ran"] = ends["ran"] / total
    told["marked for review"] = sum(bool(one["review"]) for one in results) / total
    return told
