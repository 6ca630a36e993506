"""The bundled model: reads prose and questions in one pass and tags them (`form.py` says how)."""

import functools
import hashlib
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcl.core.errors import ModelError
from mcl.model import form as shape
from mcl.model.llama.context import ContextSize, ModelContext, Prefixes
from mcl.model.llama.weights import NO_AI, Weights
from mcl.model.protocol import Candidate, Choice, ExtractForm, SlotForm, Span
from mcl.model.skill_classifier import SIZE_KEY, SkillClassifier

_LONGEST_CONTEXT = 4096
_HEADERS_KEPT = 64
_LABELS_KEPT = 4096
_PLACES = 4  # of a margin: what comes behind is noise
_VERB_WEIGHT, _VERB_SHARE = 2.5, 0.5  # fitted on goals that were kept apart
_BODY_SHARE = 2  # the body may take 1/2 of the context, so that a header always has the other half


class TagModel:
    """A GGUF whose key `mcl.form` is `tags@1`. Nothing is generated: an answer is a softmax over what is
    allowed."""

    def __init__(self, weights: Weights, *, digest: str, cache: Path | None) -> None:
        """cache: folder for the KV cache of headers, None for memory only. Raises ModelError MODEL_FORM."""
        self.digest = digest
        self.version = f"{weights.meta('general.name') or 'tags'}/{weights.meta('general.version') or '0'}"
        self.grammar = f"{shape.FORM} sha256:{_form_digest()}"
        self._weights = weights
        self._ids = _special_ids(weights)
        cells = min(weights.context_length, _LONGEST_CONTEXT)
        self._temperatures = {kind: _temperature(weights, kind) for kind in shape.KINDS}
        self._context = ModelContext(weights, ContextSize(tokens=cells, batch=cells))
        self._labels: dict[shape.Label, tuple[int, list[int]]] = {}
        self._prefixes = Prefixes(self._context, model_digest=digest, folder=cache)
        self._headers: OrderedDict[tuple[shape.Piece, ...], list[int]] = OrderedDict()

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """Choose among at most 16 candidates. Raises ModelError MODEL_CANDIDATES for more."""
        if not candidates:
            return Choice(None, "", 1.0, 1.0, (("", 1.0),))
        if len(candidates) > shape.MAX_CANDIDATES:
            raise ModelError(
                "MODEL_CANDIDATES",
                f"at most {shape.MAX_CANDIDATES} skills can be shown at once, not {len(candidates)}",
                fix="rank the skills first and show the best",
            )
        prompt = shape.choose_prompt(prose, candidates)
        # Of many skills others are shown for each goal: what is asked once only is not worth keeping.
        keep = prompt.header in self._headers or not self._headers
        picks, verbs = self._answers(prompt, keep=keep)
        best = max(range(len(picks)), key=picks.__getitem__)
        chosen = candidates[best - 1] if best else None
        asked = chosen or (
            candidates[0] if len(candidates) == 1 else None
        )  # the only one is asked for its verb
        allowed = (asked.verbs if asked else ()) or shape.VERBS
        weights = {verb: p for verb, p in zip(shape.VERBS, verbs, strict=True) if verb in allowed}
        # A skill may declare only verbs of its own (`x:...`): the model knows none of them.
        weights = self._with_margins(prose, weights)
        verb = max(weights, key=weights.__getitem__) if weights else allowed[0]
        return Choice(
            skill_id=chosen.skill_id if chosen else None,
            verb=verb,
            skill_probability=picks[best],
            verb_probability=weights[verb] / sum(weights.values()) if weights else 1 / len(allowed),
            probabilities=(
                *((candidate.skill_id, p) for candidate, p in zip(candidates, picks[1:], strict=True)),
                ("", picks[0]),
            ),
        )

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """How clearly a goal is for each candidate that was taught by name; empty where none of them was.

        Raises ModelError MODEL_BROKEN where that part of the file is damaged.
        """
        margins = self._classifier.margins(prose, candidates) if self._classifier else ()
        if all(margin is None for margin in margins):
            return ()
        return tuple(margin if margin is None else round(margin, _PLACES) for margin in margins)

    def kinship(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float, ...]:
        """How alike a goal and what each candidate says of itself are, by what was taught: 0 to 1.

        Raises ModelError MODEL_BROKEN where that part of the file is damaged.
        """
        kinship = (
            self._classifier.kinship(prose, candidates) if self._classifier else (0.0,) * len(candidates)
        )
        return tuple(round(one, _PLACES) for one in kinship)

    def _with_margins(self, prose: str, weights: Mapping[str, float]) -> dict[str, float]:
        """Shares of verbs, each times e^(its margin, weighed)."""
        if len(weights) < 2 or not self._classifier:
            return dict(weights)
        margins = self._classifier.verbs(prose)
        least = min(margins.values(), default=0.0)
        return {
            verb: share**_VERB_SHARE * math.exp(_VERB_WEIGHT * round(margins.get(verb, least), _PLACES))
            for verb, share in weights.items()
        }

    @functools.cached_property
    def _classifier(self) -> SkillClassifier | None:
        """What the file knows of skills by name, opened when first asked for."""
        size = self._weights.meta(SIZE_KEY)
        if size is None:
            return None
        if not size.isdecimal():
            message = f"{SIZE_KEY} is no number of bytes: {size!r}"
            raise ModelError("MODEL_BROKEN", message, place=str(self._weights.path), fix=NO_AI)
        return SkillClassifier(self._weights.path, int(size))

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Find values in all of the prose, window by window; a slot of one value gets the most probable.
        Words that were marked as nothing, and not surely so, follow as spans of the field "rest".

        Raises ModelError MODEL_SLOTS when the skill has more slots or options than the form has tokens for.
        """
        try:
            shape.extract_header(form)
        except ValueError as error:
            raise ModelError(
                "MODEL_SLOTS", str(error), place=form.skill_id, fix="split the skill, or use sub-skills"
            ) from error
        spans: list[Span] = []
        rest: list[Span] = []
        for units in self._windows(prose):
            answers = self._answers(shape.extract_prompt(prose, units, form))
            spans += (Span(*found) for found in shape.found(prose, units, form, answers))
            rest += (Span(*found) for found in shape.doubts(prose, units, answers))
        return (*best_of_each(spans, {slot.name: slot.many for slot in form.slots}), *rest)

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """What of `user` answers each output, word for word; "" where nothing does.

        This model extracts: it cannot write, summarise or judge. A step that needs that wants another model.
        """
        slots = tuple(SlotForm(name=name, type="text", hint=shape.plain(name)) for name in outputs)
        answer: dict[str, object] = dict.fromkeys(outputs, "")
        spans = self.extract(user, ExtractForm(skill_id=kind, description=system, slots=slots))
        answer.update(
            (span.field.removeprefix("slot."), span.value) for span in spans if span.field[:5] == "slot."
        )
        return answer

    def _windows(self, prose: str) -> list[Sequence[shape.Unit]]:
        """Runs of units, each short enough for half the context (long words have many tokens)."""
        room = self._context.size.tokens // _BODY_SHARE - 3 * shape.MAX_SLOTS
        units = shape.words(prose)
        size = shape.WINDOW_UNITS
        while size > 1:
            runs = shape.windows(units, size)
            # A token has at least one byte, so only windows of many bytes need to be counted.
            if all(sum(map(_most_tokens, run)) <= room for run in runs):
                return runs
            size //= 2
        return shape.windows(units, 1)

    def _answers(self, prompt: shape.Prompt, *, keep: bool = True) -> list[list[float]]:
        """Probabilities of what is allowed, one row a read. keep: the header will come again."""
        self._prefixes.hold(self._header(prompt.header), whole=True, keep=keep)
        tokens: list[int] = []
        at: list[int] = []
        for piece in prompt.body:
            at.append(len(tokens))
            tokens += self._tokens(piece)
        reads = [at[read.piece] for read in prompt.reads]
        self._context.feed(tokens, reads=reads, whole=True)
        rows: list[list[float]] = []
        allowed: tuple[shape.Label, ...] = ()
        labels: list[tuple[int, list[int]]] = []
        temperature = 1.0
        for index, read in zip(reads, prompt.reads, strict=True):
            if read.allowed is not allowed:  # all units of a prompt share one tuple
                allowed, labels = read.allowed, [self._label(label) for label in read.allowed]
                temperature = self._temperatures[shape.kind_of(read)]
            # The square root: the sum alone would prefer long labels, the mean short ones.
            logits = self._context.logits(index)
            rows.append(
                softmax(
                    [
                        (
                            logits[special]
                            + (sum(logits[i] for i in text) * len(text) ** -0.5 if text else 0.0)
                        )
                        / temperature
                        for special, text in labels
                    ]
                )
            )
        return rows

    def _label(self, label: shape.Label) -> tuple[int, list[int]]:
        """The tokens of an answer's label: the special one, those of its text."""
        known = self._labels.get(label)
        if known is None:
            special, *texts = label
            known = self._ids[special.text], [token for piece in texts for token in self._tokens(piece)]
            if len(self._labels) >= _LABELS_KEPT:
                self._labels.clear()
            self._labels[label] = known
        return known

    def _header(self, pieces: tuple[shape.Piece, ...]) -> list[int]:
        tokens = self._headers.get(pieces)
        if tokens is None:
            tokens = [token for piece in pieces for token in self._tokens(piece)]
            self._headers[pieces] = tokens
            if len(self._headers) > _HEADERS_KEPT:
                self._headers.popitem(last=False)
        return tokens

    def _tokens(self, piece: shape.Piece) -> list[int]:
        return [self._ids[piece.text]] if piece.special else self._weights.tokens(piece.text)


def _most_tokens(unit: shape.Unit) -> int:
    return len(unit.text[: shape.UNIT_CHARS].encode()) + 1


def best_of_each(spans: Sequence[Span], many: Mapping[str, int]) -> tuple[Span, ...]:
    """Keep of each slot its `many` most probable different values, and every constraint; in the order
    given."""
    kept: set[int] = set()
    taken: dict[str, set[str]] = {}
    for index in sorted(range(len(spans)), key=lambda index: -spans[index].probability):
        span = spans[index]
        values = taken.setdefault(span.field, set())
        limit = many.get(span.field.removeprefix("slot."), 0) if span.field.startswith("slot.") else None
        if (limit is None or len(values) < limit) and span.value not in values:
            values.add(span.value)
            kept.add(index)
    return tuple(span for index, span in enumerate(spans) if index in kept)


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities of logits, in their order."""
    top = max(logits)
    weights = [math.exp(logit - top) for logit in logits]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _form_digest() -> str:
    return hashlib.sha256("\n".join((shape.FORM, *shape.SPECIALS)).encode()).hexdigest()


def _temperature(weights: Weights, kind: str) -> float:
    """What the scores of a kind of answer are divided by: 1 where the file does not say."""
    key = f"mcl.temperature.{kind}"
    said = weights.meta(key)
    try:
        temperature = float(said or 1)
    except ValueError:
        temperature = 0.0
    if not 0.1 <= temperature <= 10:
        message = f"{key} is no temperature: {said!r}"
        raise ModelError("MODEL_BROKEN", message, place=str(weights.path), fix=NO_AI)
    return temperature


def _special_ids(weights: Weights) -> dict[str, int]:
    ids: dict[str, int] = {}
    # Looked up and not counted from the end of the vocabulary: a tuned or converted file may have other
    # numbers.
    for name in shape.SPECIALS:
        tokens = weights.tokens(shape.token_text(name), specials=True)
        if len(tokens) != 1:
            raise ModelError(
                "MODEL_FORM",
                f"the vocabulary has no token for {name!r}, which the form {shape.FORM} needs",
                place=str(weights.path),
                fix=NO_AI,
            )
        ids[name] = tokens[0]
    return ids
