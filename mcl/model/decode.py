"""The decode loop: greedy, held by a grammar, always closed within its budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llguidance import LLMatcher

from mcl.errors import ModelError
from mcl.model.context import Context
from mcl.model.vocabulary import Vocabulary
from mcl.model.weights import NO_AI

Numbers = np.ndarray[Any, np.dtype[np.floating[Any]]]


@dataclass(frozen=True, slots=True)
class Answer:
    """tokens: what was answered, without an end token. probabilities: one a token, over what the grammar
    allowed there; 1.0 for a forced token, and for all of them where they were not asked for."""

    tokens: list[int]
    probabilities: list[float]


class Decoder:
    """Answers of one model, one after the other."""

    def __init__(self, context: Context, vocabulary: Vocabulary) -> None:
        self._context = context
        self._vocabulary = vocabulary

    def answer(self, prompt: Sequence[int], matcher: LLMatcher, *, budget: int, weigh: bool) -> Answer:
        """Feed `prompt` after what the context holds, then decode until the grammar is complete.

        budget: most tokens of the answer; the grammar must be one that closes within it.
        weigh: give probabilities (computes the grammar's mask at every token, not only when the best is
        refused).
        Raises ModelError MODEL_BUDGET, MODEL_CONTEXT, MODEL_FAILED, MODEL_NUMBERS, GRAMMAR_BROKEN.
        """
        tokens: list[int] = []
        probabilities: list[float] = []
        pending = list(prompt)
        while True:
            forced = matcher.compute_ff_tokens()
            if forced:
                _consume(matcher, forced)
                tokens += forced
                probabilities += [1.0] * len(forced)
                pending += forced
            if matcher.is_stopped():
                break
            if len(tokens) >= budget:
                raise ModelError(
                    "MODEL_BUDGET",
                    f"the answer is not complete after {len(tokens)} tokens",
                    place=str(self._context.weights.path),
                    fix=NO_AI,
                )
            logits = self._next(pending)
            token, probability = self._pick(logits, matcher, weigh=weigh)
            _consume(matcher, [token])
            if token in self._vocabulary.ends:
                break
            tokens.append(token)
            probabilities.append(probability)
            pending = [token]
        if matcher.is_error():
            raise _lost(matcher)
        return Answer(tokens, probabilities)

    def first(self, prompt: Sequence[int], matcher: LLMatcher) -> Mapping[int, float]:
        """Feed `prompt`; the tokens that the grammar allows next, each with its probability among them."""
        logits = self._next(prompt)
        allowed = self._allowed(matcher)
        weights = _softmax(logits[allowed], self._context)
        return dict(zip(allowed.tolist(), weights.tolist(), strict=True))

    def _next(self, tokens: Sequence[int]) -> Numbers:
        self._context.feed(tokens, reads=[len(tokens) - 1])
        size = self._context.weights.vocab_size
        logits: Numbers = np.ctypeslib.as_array(self._context.logits(-1), shape=(size,))
        return logits

    def _pick(self, logits: Numbers, matcher: LLMatcher, *, weigh: bool) -> tuple[int, float]:
        if not weigh:
            best = int(logits.argmax())
            if matcher.validate_tokens([best]) == 1:
                return best, 1.0
        allowed = self._allowed(matcher)
        weights = _softmax(logits[allowed], self._context)
        index = int(weights.argmax())
        return int(allowed[index]), float(weights[index]) if weigh else 1.0

    def _allowed(self, matcher: LLMatcher) -> Any:
        mask = np.frombuffer(matcher.compute_bitmask(), np.uint8)
        size = self._context.weights.vocab_size
        allowed = np.flatnonzero(np.unpackbits(mask, count=size, bitorder="little"))
        if not len(allowed):
            raise _lost(matcher)
        return allowed


def _softmax(logits: Numbers, context: Context) -> Numbers:
    weights: Numbers = np.exp(logits - logits.max(), dtype=np.float64)
    weights /= weights.sum()
    if not np.isfinite(weights).all():
        raise ModelError(
            "MODEL_NUMBERS",
            "the model's output is not a number: its weights are damaged",
            place=str(context.weights.path),
            fix=NO_AI,
        )
    return weights


def _consume(matcher: LLMatcher, tokens: list[int]) -> None:
    if not matcher.consume_tokens(tokens):
        raise _lost(matcher)


def _lost(matcher: LLMatcher) -> ModelError:
    detail = matcher.get_error().strip().splitlines()
    return ModelError(
        "GRAMMAR_BROKEN",
        f"the grammar allows nothing more: {detail[0] if detail else matcher.stop_reason()}",
        fix="this is a fault of the grammar: please report it",
    )
