"""What a model answers to the questions of a review, whichever model it is."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event

from anyio import to_thread

import grammars
from executor.core.tables import table_beside
from executor.walker.interfaces import StepAnswer
from mcl.compiler.execution import ModelReasoner
from mcl.core.errors import ModelError, ReviewError
from mcl.core.text import some
from mcl.model.files import GgufHeader
from mcl.model.form import FORM
from mcl.model.protocol import Candidate, Choice, Model, Writer, WritingRequest, WrittenText
from mcl.plugins.review.contract import GRAMMAR, ReviewContract
from mcl.plugins.review.finding import (
    RANK,
    SEVERITIES,
    ReviewFinding,
    Severity,
    in_order,
    normalised,
    without_repeats,
)
from mcl.plugins.review.finding_text import NO_FINDINGS, read_findings, says_nothing, write_findings
from mcl.plugins.review.piece import FilePiece
from mcl.plugins.review.prompt import (
    ROOMS,
    PieceWindow,
    about,
    findings_form,
    guidance,
    readable,
    structure_form,
    system_of,
    user_of,
    whole,
    windows,
)
from mcl.plugins.review.question import ReviewQuestion, read_question

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
    return f"The same is said of the lines {some([str(one.line) for one in rest], _NAMED)}."


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


# ---- Marks of a model that only chooses, such as the bundled one: weak, and never more than a note.


@dataclass(frozen=True)
class Marking:
    """What `marks.toml` says. threshold: the probability from which a label is told, as `label`."""

    threshold: float
    label: Severity
    most_lines: int


@functools.cache
def marking() -> Marking:
    """The rules of marks, from their file."""
    said = table_beside(__file__, "marks")
    label = next(one for one in SEVERITIES if one == said["label"])
    return Marking(float(said["threshold"]), label, int(said["most_lines"]))


def marked(model: Model, question: ReviewQuestion, goes_on: Callable[[], bool] = lambda: True) -> str:
    """The places that a model would put a label on, as notes of the form; at most as many a file as the
    contract allows, the surest.

    In the other passes such a model has nothing to say: no structure, no findings. Raises ModelError.
    """
    if question.asked.name == "structure":
        return ""
    pieces = question.pieces if question.asked.name == "review" else ()
    return write_findings(
        in_order(one for piece in pieces for one in _marks(model, question.contract, piece, goes_on))
    )


def _marks(
    model: Model, contract: ReviewContract, piece: FilePiece, goes_on: Callable[[], bool]
) -> Iterator[ReviewFinding]:
    rules, asked, shown = marking(), candidates(contract), readable(piece)
    sure: list[tuple[float, int, str]] = []
    for lines in chunks(piece, rules.most_lines):
        if not goes_on():
            return
        chosen = model.choose("\n".join(shown.rows[line - 1] for line in lines), asked)
        if is_marked(chosen, rules.threshold):
            sure.append((-chosen.skill_probability, lines[0], chosen.skill_id or ""))
    for share, line, label in sorted(sure)[: contract.max_findings]:
        body = (
            f"A small model that cannot explain itself would say {label} of the lines from here "
            f"({-share:.0%}). Look at them; it is often wrong."
        )
        yield ReviewFinding(rules.label, piece.path, line, body)


def is_marked(chosen: Choice, threshold: float) -> bool:
    """Is a label chosen, and surely enough?"""
    return chosen.skill_id is not None and chosen.skill_probability >= threshold


def candidates(contract: ReviewContract) -> list[Candidate]:
    """A contract's labels as they are shown to a model that chooses."""
    return [
        Candidate(label, label.casefold(), meaning, ("analyze",))
        for label, meaning in contract.meanings.items()
    ]


def chunks(piece: FilePiece, most: int) -> Iterator[Sequence[int]]:
    """The judged lines of a piece in runs of at most `most`, parted where a block begins at the left edge
    behind an empty line; runs of empty lines are left out."""
    for window in windows(piece):
        run: list[int] = []
        for line in window.judged:
            row = piece.rows[line - 1]
            begins = bool(row[:1].strip()) and line > 1 and not piece.rows[line - 2].strip()
            if run and (line != run[-1] + 1 or len(run) >= most or begins):
                yield from _said(piece, run)
                run = []
            run.append(line)
        yield from _said(piece, run)


def _said(piece: FilePiece, run: Sequence[int]) -> Iterator[Sequence[int]]:
    said = [line for line in run if piece.rows[line - 1].strip()]
    if said:
        yield range(said[0], said[-1] + 1)


# ---- What is to be said of a model before its findings are believed, from the header of its file.

_CHOOSES_ONLY = "mcl.form"  # of a model that only chooses, such as the bundled one
_MILLION = 1_000_000


@dataclass(frozen=True)
class NoiseBound:
    """What `noise.toml` says. below: weights. reason: what was measured."""

    below: int
    reason: str


@functools.cache
def bound() -> NoiseBound:
    """The bound, from its file."""
    said = table_beside(__file__, "noise")
    return NoiseBound(int(said["below"]), str(said["reason"]))


def noise_note(header: GgufHeader) -> str:
    """A sentence where a model only chooses, or is so small that its findings are likely noise; else "".

    A file without a tensor that has weights says nothing of its size, and so does this.
    """
    if _CHOOSES_ONLY in header.metadata:
        return "this model only chooses, and finds next to nothing"
    limit = bound()
    if not 0 < header.weights < limit.below:
        return ""
    many = f"{max(1, round(header.weights / _MILLION)):,} million weights"
    return f"this model has {many}, and what one so small finds is likely noise: {limit.reason}"


# ---- What the walker needs for the step nodes of a review: their prompts, and a model that answers in form.

_CHOOSES = f"{FORM} "  # the grammar of models of the bundled one's form
OUTPUT = "text"
"""The one output of a review's step."""


class Reviewing(ModelReasoner):
    """Prompts and answers of the steps `structure`, `review` and `consistency` of a review's plan.

    A step's inputs are texts: mode, contract (the digest of `contract(mode)`), pieces (those of what is
    looked at, as JSON), and where there are any: context, scan and review (findings as text), structure.
    Its output is `text`: for review and consistency the findings as `read_findings` reads them, or
    "No findings."; what a model said that cannot be read so is given as it was said, and blocks.

    The model is opened at the first step that asks it, and asked one thing at a time.
    """

    def __init__(self, load: Callable[[], Model]) -> None:
        super().__init__(load)
        self._questions: dict[tuple[str, str], ReviewQuestion] = {}

    def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
        """What binds the model, and what it is asked about. name: of the pass; inputs: see the class.

        Whichever skill the plan is of: the contract that it names is what counts.

        Raises SkillError NO_PROMPT, SKILL_CHANGED; ReviewError UNKNOWN_MODE, BAD_STEP, CONTRACT_INVALID.
        """
        question = read_question(name, inputs)
        texts = system_of(question), whole(question)
        self._questions[texts] = question
        return texts

    async def reason_live(
        self, *, system: str, user: str, outputs: Sequence[str], kind: str, tell: Callable[[bytes], None]
    ) -> StepAnswer:
        """The answer to what was prompted, told a question at a time. Raises ModelError; ReviewError
        BAD_STEP, NO_REVIEWER."""
        question = self._questions.pop((system, user), None)
        if question is None or tuple(outputs) != (OUTPUT,):
            raise ReviewError(
                "BAD_STEP",
                f"a step of a review has one output, {OUTPUT}, and asks what it prompted",
                place="step",
                fix="this is a fault of the review's plan: please report it",
            )
        given_up = Event()

        def ask() -> StepAnswer:
            with self._turn:
                if given_up.is_set():
                    return StepAnswer({})
                self._model = model = self._model or self._load()
                asked = _CountedWriter(model, tell) if isinstance(model, Writer) else model
                said = answered(asked, question, goes_on=lambda: not given_up.is_set())
                if not isinstance(asked, _CountedWriter):
                    return StepAnswer({OUTPUT: said}, model.digest, model.grammar)
                grammar = f"{GRAMMAR} sha256:{grammars.load(GRAMMAR).digest}"
                return StepAnswer({OUTPUT: said}, model.digest, grammar, asked.tokens)

        try:
            return await to_thread.run_sync(ask, abandon_on_cancel=True)
        finally:
            given_up.set()


class _CountedWriter:
    """A model that writes, and how many tokens it wrote. tell: is given what it wrote."""

    def __init__(self, model: Writer, tell: Callable[[bytes], None]) -> None:
        self._model, self._tell = model, tell
        self.tokens = 0

    def write(self, request: WritingRequest) -> WrittenText:
        wrote = self._model.write(request)
        self.tokens += len(wrote.parts)
        self._tell(f"{wrote.text}\n".encode("utf-8", "replace"))
        return wrote


def answered(
    model: Model | Writer, question: ReviewQuestion, goes_on: Callable[[], bool] = lambda: True
) -> str:
    """What a model answers, whichever it is. Raises ModelError; ReviewError NO_REVIEWER.

    A model that writes is held to the form by a grammar. One that only chooses marks places in a review, and
    has nothing to say in the other passes.
    """
    if isinstance(model, Writer):
        return written(model, question, goes_on)
    if model.grammar.startswith(_CHOOSES):
        return marked(model, question, goes_on)
    raise ReviewError(
        "NO_REVIEWER",
        f"{model.version} cannot review code",
        place="model",
        fix="name a GGUF with --model, or review without one: --no-ai",
    )
