"""Why a compile ended as it did: the choice, what was read, and the limits that decided."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from mcl.cli.views.layout import DIM, STRONG, WARN, joined, plain, rows
from mcl.compiler.outcome import CompileReasons, WordReading

if TYPE_CHECKING:
    from mcl.usecases.why import WhyReport

_RIVALS = 3  # skills told beside the best


def reasons_view(reasons: CompileReasons) -> Iterator[RenderableType]:
    yield ""
    yield plain("Why", STRONG)
    yield rows(list(_lines(reasons)))


def why_view(found: "WhyReport") -> Iterator[RenderableType]:
    yield joined(((found.intent_id, DIM), (found.prose, STRONG)))
    if found.reasons is not None:
        yield from reasons_view(found.reasons)
    for uri, summary in found.memories:
        yield rows([("memory", joined(((summary, "cyan"), (uri, DIM))))])
    if not found.memories:
        yield rows([("memory", plain("gave nothing", DIM))])
    if not found.same:
        yield plain("Skills or memories changed since: this is how it would be read now.", WARN)


def _lines(reasons: CompileReasons) -> Iterator[tuple[str, RenderableType]]:
    if reasons.skills:
        best, *others = reasons.skills[: _RIVALS + 1]
        yield "skill", joined([(_share(*best), STRONG), *((_share(*one), DIM) for one in others)])
    else:
        yield "skill", joined([(reasons.skill, STRONG), ("given", DIM)])
    if reasons.verb:
        limit = f"asked about below {reasons.verb_below:.2f} (verb.mtx: threshold.certain)"
        yield "verb", joined([(f"{reasons.verb} {reasons.verb_share:.2f}", STRONG), (limit, DIM)])
    for one in reasons.readings:
        yield one.field.removeprefix("slot."), _reading(one)
    if reasons.left_over is not None:
        word, nothing = reasons.left_over
        yield "left over", plain(f"“{word}” was read as nothing, rightly with {nothing:.2f}", WARN)
    if reasons.parts:
        factors = " × ".join(
            f"{part.name} {part.share:.2f}{f'^{part.weight:g}' if part.weight != 1 else ''}"
            for part in reasons.parts
        )
        if reasons.left_over is not None and reasons.confidence < round(reasons.decided_on, 4):
            factors += f" = {reasons.decided_on:.2f}, less what was left over"
        yield "confidence", joined([(f"{reasons.confidence:.2f}", STRONG), (f"from {factors}", DIM)])
    for gap in reasons.open:
        yield "open", joined([(gap.severity, WARN), (gap.field, DIM), (gap.why, "")])
    yield "so", plain(_decision(reasons))


def _share(id: str, share: float) -> str:
    return f"{id or 'none of these'} {share:.2f}"


def _reading(one: WordReading) -> RenderableType:
    read = one.value if one.value != one.words else ""
    certain = one.source if one.probability is None else f"{one.probability:.2f}"
    return joined([(f"“{one.words}”" if one.words else "", STRONG), (read, "cyan"), (certain, DIM)])


def _decision(reasons: CompileReasons) -> str:
    asked, read = f"{reasons.asked_below:.2f}", f"{reasons.read_below:.2f}"
    match reasons.outcome:
        case "refused":
            return "refused: “none of these” has the largest share"
        case "clarify" if reasons.blocked:
            return "asked: what blocks is always asked, however sure the rest is"
        case "clarify":
            return f"asked: {reasons.decided_on:.2f} is below {asked} (confidence.mtx)"
        case "review":
            why = f"below {read} (confidence.mtx), or a word was left over, for which nobody is asked"
            return f"not asked, but to be read with care: {why}"
        case _:
            return f"not asked: {read} or more (confidence.mtx)"
