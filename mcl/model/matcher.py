"""`--no-ai`: a verb lexicon, BM25 over the skills, and patterns for spans. Deterministic; learns nothing.

It answers the same questions as a model, in the same shapes, from `cues.toml` and the core module `verb`
alone. What it does not find it leaves out, so the stages ask the person.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ir.frame import valid_verb
from mcl.language.bm25 import Bm25, stems
from mcl.language.mtx.core import load_core
from mcl.model.cues import TextPlace, free, load_cues, pattern_spans, span_at, typed, words_of
from mcl.model.form import VERBS
from mcl.model.protocol import Candidate, Choice, ExtractForm, Span

if TYPE_CHECKING:
    from mcl.language.mtx.core import Core, CoreModule


# ---- Words that say a verb, as the core module `verb` lists them.

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True)
class Lexicon:
    """verbs: by cue word; kin: verbs of one kind; first, heard, akin, guessed: how certain a verb is (see
    grammars/core/verb.mtx)."""

    verbs: Mapping[str, str]
    kin: tuple[frozenset[str], ...]
    first: float
    heard: float
    akin: float
    guessed: float

    @classmethod
    def of(cls, module: "CoreModule") -> "Lexicon":
        """Read them. Raises SkillError NO_SETTING, BAD_SETTING."""
        verbs: dict[str, str] = {}
        for verb, words in module.family("cue").items():
            if not valid_verb(verb):
                raise module.bad(f"cue.{verb}", "is of no verb")
            for word in words.split():
                verbs.setdefault(word, verb)
        return cls(
            verbs,
            tuple(frozenset(verbs.split()) for verbs in module.family("kin").values()),
            *(module.number(f"share.{name}", 0, 1) for name in ("first", "heard", "akin", "guessed")),
        )

    def said(self, prose: str) -> list[str]:
        """The verbs whose words are in the prose, in its order."""
        words = [word.casefold() for word in WORD.findall(prose)]
        return list(dict.fromkeys(self.verbs[word] for word in words if word in self.verbs))

    def among(self, prose: str, allowed: Sequence[str]) -> tuple[str, float]:
        """The verb of `allowed` that the prose says and how certain that is; ("", share of a guess) where it
        says none of them.

        A verb that is not allowed stands for the only allowed one of its kind. Where all that are allowed are
        of one kind, a guess among them does little harm and counts as `akin`.
        """
        if len(allowed) == 1:
            return allowed[0], 1.0
        said = self.said(prose)
        if verb := next((verb for verb in said if verb in allowed), ""):
            return verb, self.first if verb == self.first_verb(prose) else self.heard
        for kind in self.kin:
            akin = [verb for verb in allowed if verb in kind]
            if said and said[0] in kind and len(akin) == 1:
                return akin[0], self.heard
        return "", self.akin if any(kind >= set(allowed) for kind in self.kin) else self.guessed

    def first_verb(self, prose: str) -> str:
        """The verb that the first word says, or "": that is how people tell somebody to do something."""
        words = (word[0].casefold() for word in WORD.finditer(prose))
        return self.verbs.get(next((word for word in words if word != "please"), ""), "")


@dataclass(frozen=True)
class Routing:
    """What a skill's score is made of: the settings `match.…` of the core module `verb`."""

    verb: float
    breadth: float
    none: float
    sharpness: float

    @classmethod
    def of(cls, module: "CoreModule") -> "Routing":
        """Read them. Raises SkillError NO_SETTING, BAD_SETTING."""
        return cls(*(module.number(f"match.{name}") for name in ("verb", "breadth", "none", "sharpness")))


class PatternMatcher:
    """A model without weights. digest covers its tables, version is "no-ai/1"; what it takes from the core
    modules, their own digest covers."""

    copies_only = True

    def __init__(self, core: "Core | None" = None) -> None:
        """Read the tables (about 3 ms, once a process). core: has the words for verbs (None: as shipped).

        Raises SkillError NO_SETTING, BAD_SETTING.
        """
        self._cues = load_cues()
        module = (core or load_core())["verb"]
        self._routing, self._lexicon = Routing.of(module), Lexicon.of(module)
        self.digest = self._cues.digest
        self.version = self._cues.version
        self.grammar = f"cues sha256:{self.digest}"

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """The best by BM25 over names, descriptions and examples, among those that declare the verb heard."""
        heard = self._lexicon.said(prose)
        routing = self._routing
        index = Bm25([stems(_shown(candidate)) for candidate in candidates])
        scores = []
        for score, candidate in zip(index.scores(stems(prose)), candidates, strict=True):
            if any(verb in candidate.verbs for verb in heard):
                score += routing.verb
            scores.append(score + routing.breadth * len(candidate.verbs) / 10)
        weights = _softmax([*scores, routing.none], routing.sharpness)
        best = max(range(len(weights)), key=weights.__getitem__)
        probabilities = tuple(
            zip([*(candidate.skill_id for candidate in candidates), ""], weights, strict=True)
        )
        if best == len(candidates):
            verb, sure = (heard[0], self._lexicon.heard) if heard else ("", 0.0)
            return Choice(None, verb, weights[best], sure, probabilities)
        allowed = candidates[best].verbs or VERBS
        verb, sure = self._lexicon.among(prose, allowed)
        return Choice(candidates[best].skill_id, verb or allowed[0], weights[best], sure, probabilities)

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Constraints by cue patterns, then slots by type, by name, by what is left; in the order of the
        prose."""
        taken: list[TextPlace] = []
        spans = pattern_spans(prose, form.slots, self._cues, taken)
        filled = {span.field for span in spans}
        waiting = [
            slot
            for slot in form.slots
            if f"slot.{slot.name}" not in filled and not slot.options and not typed(slot, self._cues)
        ]
        # "What is left" is one run of words: a slot that must be filled has it before one that may stay
        # empty.
        for slot in sorted(waiting, key=lambda slot: not slot.required):
            rest = self._rest(prose, taken) if words_of(slot.name) & self._cues.rest_names else None
            if rest:
                taken.append(rest)
                spans.append(span_at(f"slot.{slot.name}", prose, rest, self._cues.probability["rest"]))
        return tuple(
            sorted(spans, key=lambda span: (span.start if span.start is not None else -1, span.field))
        )

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """The text of `user` for every output, unchanged: nothing is understood, nothing is lost."""
        return dict.fromkeys(outputs, user.strip())

    def _rest(self, prose: str, taken: Sequence[TextPlace]) -> TextPlace | None:
        """What the request is about: the words after its first verb, up to the first stop or taken place."""
        start = 0
        for word in WORD.finditer(prose):
            if word[0].casefold() in self._lexicon.verbs:
                start = word.end()
                break
        start += len(prose[start:]) - len(prose[start:].lstrip())
        drop = re.compile(self._cues.drop, re.IGNORECASE)
        while dropped := drop.match(prose, start):
            start = dropped.end()
        ends = [place.start for place in taken if place.start >= start]
        if stop := re.compile(self._cues.stops, re.IGNORECASE).search(prose, start):
            ends.append(stop.start())
        end = min(ends, default=len(prose))
        end -= len(prose[start:end]) - len(prose[start:end].rstrip(" \t\n.,;:!?"))
        place = TextPlace(start, end)
        if start >= end or re.compile(self._cues.never, re.IGNORECASE).match(prose[start:end]):
            return None
        return place if free(place, taken) else None


def _shown(candidate: Candidate) -> str:
    name = candidate.skill_id.rsplit("/", 1)[-1].partition("@")[0]
    return " ".join([name, candidate.display, candidate.description, *candidate.examples])


def _softmax(scores: Sequence[float], sharpness: float) -> list[float]:
    top = max(scores)
    weights = [math.exp(sharpness * (score - top)) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]
