"""A model that writes is asked about every window of every piece; its answers become one text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from mcl.core.errors import ModelError
from mcl.model.protocol import Writer, WritingRequest
from mcl.plugins.review.findings import (
    NO_FINDINGS,
    ReviewFinding,
    Severity,
    in_order,
    read_findings,
    says_nothing,
    without_repeats,
    write_findings,
)
from mcl.plugins.review.findings.finding import RANK, normalised
from mcl.plugins.review.passes.prompts import (
    GRAMMAR,
    ROOMS,
    PieceWindow,
    about,
    findings_form,
    guidance,
    readable,
    structure_form,
    system_of,
    user_of,
    windows,
)
from mcl.plugins.review.passes.question import ReviewQuestion
from mcl.plugins.review.target import FilePiece

# ---- What a model says again and again, once. Small models repeat a line, or the same words of every line.

_FEW = 3  # places of which the same may be said one by one
_LEAST = 20  # characters of a line that was cut off
_NAMED = 20  # lines that are named


def without_echoes(finding: ReviewFinding) -> ReviewFinding:
    """The finding with each line of its body once. A line that ends in the middle of one before is that one;
    one without a letter, such as a bracket of quoted code, stays."""
    kept: list[str] = []
    said: list[str] = []
    for line in finding.body.split("\n"):
        words = normalised(line)
        if any(one == words or (len(words) >= _LEAST and one.startswith(words)) for one in said):
            continue
        kept.append(line)
        said += [words] if any(map(str.isalpha, words)) else []
    return replace(finding, body="\n".join(kept))


def gathered(findings: Iterable[ReviewFinding]) -> list[ReviewFinding]:
    """Findings of the same label and words in more than three places of a file as one, in the first of them,
    that names the lines of the others. No label and no place is lost."""
    same: dict[tuple[str, Severity, str], list[ReviewFinding]] = {}
    for one in findings:
        same.setdefault((one.file, one.severity, normalised(one.body)), []).append(one)
    told: list[ReviewFinding] = []
    for group in same.values():
        first, *rest = sorted(group, key=lambda one: one.line)
        told += group if len(group) <= _FEW else [replace(first, body=f"{first.body}\n{_also(rest)}")]
    return told


def _also(rest: list[ReviewFinding]) -> str:
    named = ", ".join(str(one.line) for one in rest[:_NAMED])
    more = f" and {len(rest) - _NAMED:,} more" if len(rest) > _NAMED else ""
    return f"The same is said of the lines {named}{more}."


def written(model: Writer, question: ReviewQuestion, goes_on: Callable[[], bool] = lambda: True) -> str:
    """What a model writes about all pieces, in the form of the contract.

    For a pass that finds: the findings, the worst first, at most as many a file as the contract allows, or
    "No findings."; one that only copies what the model was told of the same line is left out. What cannot
    be read as findings is given as it was said, with all the others, so that who reads it can refuse it. For
    the structure: a part for each file, headed by its name.

    goes_on: asked before each question; after a no there is none. Raises ModelError; MODEL_SILENT where it
    says nothing at all about the findings: that is no review without any.
    """
    if question.asked.name == "structure":
        parts = [
            about(piece.path, one)
            for piece in question.pieces
            for one in _answers(model, question, piece, goes_on)
        ]
        return "\n\n".join(parts)
    found: list[ReviewFinding] = []
    raw: list[str] = []
    plain = True
    known = [*read_findings(question.scan).findings, *read_findings(question.review).findings]
    for piece in question.pieces:
        mine: list[ReviewFinding] = []
        for answer in _answers(model, question, piece, goes_on):
            if says_nothing(answer):
                raise ModelError(
                    "MODEL_SILENT",
                    f"the model said nothing of {piece.path}, not even that there are no findings",
                    fix="ask another model: --model PATH; or review by the rules alone: --no-ai",
                )
            reading = read_findings(answer, labels=question.contract.labels)
            raw.append(answer.strip())
            plain = plain and not reading.unreadable and (bool(reading.findings) or raw[-1] == NO_FINDINGS)
            mine += map(without_echoes, reading.findings)
        mine = [one for one in mine if not is_copied(one, known)]
        found += in_order(gathered(without_repeats(mine)))[: question.contract.max_findings]
    if not plain:
        return "\n\n".join(one for one in raw if one and one != NO_FINDINGS)
    return write_findings(in_order(found))


def is_copied(finding: ReviewFinding, known: Sequence[ReviewFinding]) -> bool:
    """Does a finding begin as one that was found already on its line does, and is it no worse?"""
    body = normalised(finding.body)
    return any(
        one.location == finding.location
        and RANK[one.severity] <= RANK[finding.severity]
        and body.startswith(normalised(one.body.partition("\n")[0]))
        for one in known
        if one.body
    )


def _answers(
    model: Writer, question: ReviewQuestion, piece: FilePiece, goes_on: Callable[[], bool]
) -> Iterator[str]:
    shown = readable(piece)
    for window in windows(piece):
        yield from _asked(model, question, shown, window, 0, goes_on)


def _asked(
    model: Writer,
    question: ReviewQuestion,
    piece: FilePiece,
    window: PieceWindow,
    level: int,
    goes_on: Callable[[], bool],
) -> Iterator[str]:
    """The answers about a window: one, or those about its parts where it does not fit into the context."""
    if not goes_on():
        return
    try:
        answer = model.write(_request(question, piece, window, level)).text
    except ModelError as error:
        if error.code != "MODEL_CONTEXT":
            raise
        if len(window.judged) <= ROOMS[level].few:
            yield from _asked(model, question, piece, window, level + 1, goes_on)
            return
        halves: Sequence[PieceWindow] = window.halves()
        if len(halves) == 1:
            raise
        for half in halves:
            yield from _asked(model, question, piece, half, level, goes_on)
        return
    yield answer


def _request(question: ReviewQuestion, piece: FilePiece, window: PieceWindow, level: int) -> WritingRequest:
    room = ROOMS[level]
    if level == len(ROOMS) - 1:
        window = window.narrow()
    tokens = int(question.asked.max_tokens * room.answer)
    if question.asked.name == "structure":
        form = structure_form(tokens)
    else:
        form = findings_form(question.contract, piece.path, window.judged, tokens)
    return WritingRequest(
        grammar=GRAMMAR,
        rules=form.rules,
        system=system_of(question),
        fixed=guidance(question, piece.path) if room.guides else "",
        user=user_of(question, piece, window, room),
        most=form.most,
    )
