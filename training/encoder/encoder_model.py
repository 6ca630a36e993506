"""A model that encodes (form enc@1): a goal is read once, all else is looked up in its vectors."""

import hashlib
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcl.core.cache import read_own, write_own
from mcl.core.errors import ModelError
from mcl.model import form as shape
from mcl.model.llama.weights import NO_AI, Weights
from mcl.model.protocol import Candidate, Choice, ExtractForm, SlotForm, Span
from mcl.model.tags import best_of_each
from training.encoder.embedding_context import EmbeddingContext
from training.encoder.heads import (
    OPTION,
    SIZE_KEY,
    SLOT,
    MarkForm,
    Vectors,
    probabilities,
    read_heads,
)

FORM = "enc@1"
_BEGIN, _END = 101, 102  # [CLS] and [SEP] of BERT's vocabulary
_GOALS_KEPT, _TEXTS_KEPT = 8, 20_000
_SHOWN_EXAMPLES = 12


@dataclass(frozen=True)
class GoalVectors:
    """A goal as it was read: units, a vector of each, and the mean over all pieces."""

    units: tuple[shape.Unit, ...]
    words: Vectors
    whole: Vectors


class TextVectors:
    """Vectors of names, hints, options and examples, by what they say; kept on disk by the model's digest."""

    def __init__(self, encode: Callable[[str], Vectors], width: int, path: Path | None) -> None:
        """path: where they are kept, None: in memory only."""
        self._encode, self._width, self._path = encode, width, path
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._new = 0
        if path is not None:
            self._load(path)

    def of(self, texts: Sequence[str]) -> Vectors:
        """[len(texts), width]."""
        rows = [self._one(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self._width), np.float32)

    def keep(self) -> None:
        """Write what is new to disk; what cannot be written is made again next time."""
        if self._path is None or not self._new:
            return
        parts = []
        for text, vector in self._known.items():
            data = text.encode("utf-8", "replace")
            parts.append(struct.pack("<I", len(data)) + data + vector.astype("<f4").tobytes())
        try:
            write_own(self._path, b"".join(parts))
            self._new = 0
        except OSError:
            return

    def _one(self, text: str) -> Vectors:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._encode(text)
            self._new += 1
            if len(self._known) > _TEXTS_KEPT:
                self._known.popitem(last=False)
        return known

    def _load(self, path: Path) -> None:
        try:
            data, at = read_own(str(path)), 0
            while at < len(data):
                (length,) = struct.unpack_from("<I", data, at)
                text = data[at + 4 : at + 4 + length].decode("utf-8")
                at += 4 + length
                self._known[text] = np.frombuffer(data, "<f4", self._width, at).copy()
                at += 4 * self._width
        except (OSError, ValueError, struct.error):
            self._known.clear()


class EncoderModel:
    """A GGUF whose key `mcl.form` is `enc@1`."""

    def __init__(self, weights: Weights, *, digest: str, cache: Path | None) -> None:
        """cache: folder for vectors of skills, None for memory only. Raises ModelError MODEL_FORM,
        MODEL_BROKEN."""
        self.digest = digest
        self.version = f"{weights.meta('general.name') or 'encoder'}/{weights.meta('general.version') or '0'}"
        self.grammar = f"{FORM} sha256:{hashlib.sha256(FORM.encode()).hexdigest()}"
        self._weights = weights
        size = _number(weights, SIZE_KEY)
        start = weights.path.stat().st_size - size - _number(weights, "mcl.familiar.bytes")
        self._heads, told = read_heads(weights.path, start, size)
        self._temperatures = {
            kind: float(told.get("temperatures", {}).get(kind, 1.0)) for kind in shape.KINDS
        }
        self._context = EmbeddingContext(weights)
        if self._context.width != self._heads.width:
            message = f"its heads are for vectors of {self._heads.width}, not of {self._context.width}"
            raise ModelError("MODEL_BROKEN", message, place=str(weights.path), fix=NO_AI)
        kept = cache / f"vectors-{digest[:16]}" if cache else None
        self._texts = TextVectors(lambda text: self._read(text).whole, self._heads.width, kept)
        self._goals: OrderedDict[str, GoalVectors] = OrderedDict()
        self._pieces: dict[str, list[int]] = {}

    # ---- what is asked

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """Choose among any number of skills, or none of them."""
        if not candidates:
            return Choice(None, "", 1.0, 1.0, (("", 1.0),))
        goal = self._goal(prose)
        shares = self._shares(goal, candidates)
        best = int(shares.argmax())
        chosen = candidates[best - 1] if best else None
        asked = chosen or (candidates[0] if len(candidates) == 1 else None)
        allowed = (asked.verbs if asked else ()) or shape.VERBS
        scores = probabilities(self._heads.verbs(goal.whole), self._temperatures["verb"])
        weights = {v: float(p) for v, p in zip(shape.VERBS, scores, strict=True) if v in allowed}
        # A skill may declare only verbs of its own (`x:...`): the model knows none of them.
        verb = max(weights, key=weights.__getitem__) if weights else allowed[0]
        self._texts.keep()
        return Choice(
            skill_id=chosen.skill_id if chosen else None,
            verb=verb,
            skill_probability=float(shares[best]),
            verb_probability=weights[verb] / sum(weights.values()) if weights else 1 / len(allowed),
            probabilities=(
                *((one.skill_id, float(p)) for one, p in zip(candidates, shares[1:], strict=True)),
                ("", float(shares[0])),
            ),
        )

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Values of the form's slots, limits and signs of success; words that may be part of one follow as
        spans of the field "rest"."""
        goal = self._goal(prose)
        slots, options = self._form(form)
        words, items = self._heads.joined(goal.words, options)
        places = [place for place, slot in slots if not slot.options]
        columns = [0, 1, *(2 + place for place in places)]
        first_field = 2 + len(options.kinds)
        columns += range(first_field, first_field + len(shape.FIELDS))
        rows = probabilities(self._heads.tags(words, items)[:, columns], self._temperatures["tag"]).tolist()
        asked = []
        for place, slot in slots:
            if slot.options:
                scores = self._heads.options(items[place], items[place + 1 : place + 1 + len(slot.options)])
                asked.append(probabilities(scores, self._temperatures["option"]).tolist())
        self._texts.keep()
        found = shape.found(prose, goal.units, form, [*rows, *asked])
        rest = shape.doubts(prose, goal.units, rows)
        most = {slot.name: slot.many for slot in form.slots}
        return (*best_of_each([Span(*one) for one in found], most), *(Span(*one) for one in rest))

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """What of `user` answers each output, word for word; "" where nothing does."""
        slots = tuple(SlotForm(name=name, type="text", hint=shape.plain(name)) for name in outputs)
        answer: dict[str, object] = dict.fromkeys(outputs, "")
        spans = self.extract(user, ExtractForm(skill_id=kind, description=system, slots=slots))
        answer.update((s.field.removeprefix("slot."), s.value) for s in spans if s.field[:5] == "slot.")
        return answer

    # ---- how it is answered

    def _shares(self, goal: GoalVectors, candidates: Sequence[Candidate]) -> Vectors:
        texts = [skill_text(one.skill_id, one.description) for one in candidates]
        scores = self._heads.choices(goal.whole, self._texts.of(texts))
        return probabilities(scores, self._temperatures["pick"])

    def _form(self, form: ExtractForm) -> tuple[list[tuple[int, SlotForm]], MarkForm]:
        """Slots with their places among the items, options right behind their slot."""
        texts: list[str] = []
        kinds: list[int] = []
        places: list[tuple[int, SlotForm]] = []
        for slot in form.slots:
            places.append((len(texts), slot))
            texts.append(slot_text(form.skill_id, slot))
            kinds.append(SLOT)
            for option in slot.options:
                texts.append(option_text(slot, option))
                kinds.append(OPTION)
        return places, MarkForm(self._texts.of(texts), tuple(kinds))

    def _goal(self, prose: str) -> GoalVectors:
        known = self._goals.get(prose)
        if known is None:
            known = self._goals[prose] = self._read(prose)
            if len(self._goals) > _GOALS_KEPT:
                self._goals.popitem(last=False)
        return known

    def _read(self, text: str) -> GoalVectors:
        """Read a text, in as many passes as its length takes, each up to the end of a sentence."""
        units = shape.words(text)
        words = np.zeros((len(units), self._heads.width), np.float32)
        total, count, at = np.zeros(self._heads.width, np.float32), 0, 0
        for run in self._runs(units):
            tokens, places = [_BEGIN], [-1]
            for place, unit in enumerate(run):
                pieces = self._of_unit(unit.text[: shape.UNIT_CHARS])
                tokens += pieces
                places += [place] * len(pieces)
            vectors = self._context.vectors([*tokens, _END])
            total += vectors.sum(0)
            count += len(vectors)
            for place in range(len(run)):
                own = [i for i, p in enumerate(places) if p == place]
                if own:
                    words[at + place] = vectors[own].mean(0)
            at += len(run)
        return GoalVectors(tuple(units), words, total / np.float32(max(1, count)))

    def _runs(self, units: Sequence[shape.Unit]) -> Iterable[Sequence[shape.Unit]]:
        size = shape.WINDOW_UNITS
        while size > 1:
            runs = shape.windows(units, size)
            room = self._context.longest - 2
            if all(sum(len(self._of_unit(u.text[: shape.UNIT_CHARS])) for u in run) <= room for run in runs):
                return runs
            size //= 2
        return shape.windows(units, 1)

    def _of_unit(self, unit: str) -> list[int]:
        known = self._pieces.get(unit)
        if known is None:
            if len(self._pieces) > _TEXTS_KEPT:
                self._pieces.clear()
            known = self._pieces[unit] = self._weights.tokens(unit)
        return known


def skill_text(skill_id: str, description: str) -> str:
    """How a skill is shown: its name and what it says of itself."""
    name = _name(skill_id)
    return name if description.lower().strip(". ") == name else f"{name}: {description}"


def slot_text(skill_id: str, slot: SlotForm) -> str:
    """How a slot is shown: name, hint, and whose it is."""
    name = shape.plain(slot.name)
    return f"{name if slot.hint.lower() == name else f'{name}: {slot.hint}'} ({_name(skill_id)})"


def option_text(slot: SlotForm, option: str) -> str:
    """How an option is shown."""
    return f"{shape.plain(slot.name)}: {option}"


def _name(skill_id: str) -> str:
    return shape.plain(skill_id.rsplit("/", 1)[-1].split("@", 1)[0].rsplit(".", 1)[-1])


def _number(weights: Weights, key: str) -> int:
    said = weights.meta(key)
    if said is None:
        return 0
    if not said.isdecimal():
        raise ModelError(
            "MODEL_BROKEN", f"{key} is no number of bytes: {said!r}", place=str(weights.path), fix=NO_AI
        )
    return int(said)
