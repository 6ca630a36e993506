"""The decode loop: greedy, held by a grammar, always closed within its budget."""

import ctypes
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llguidance import LLMatcher

from mcl.core.errors import ModelError
from mcl.model.llama.context import ModelContext
from mcl.model.llama.vocabulary import Vocabulary
from mcl.model.llama.weights import NO_AI

_FEW = 64


@dataclass(frozen=True, slots=True)
class DecodedAnswer:
    """tokens: what was answered, without an end token. probabilities: one a token, over what the grammar
    allowed there; 1.0 for a forced token, and for all of them where they were not asked for."""

    tokens: list[int]
    probabilities: list[float]


class Decoder:
    """Answers of one model, one after the other."""

    def __init__(self, context: ModelContext, vocabulary: Vocabulary) -> None:
        self._context = context
        self._vocabulary = vocabulary
        self._size = context.weights.vocab_size
        self._row = ctypes.c_float * self._size

    def answer(
        self,
        prompt: Sequence[int],
        matcher: LLMatcher,
        *,
        budget: int,
        weigh: bool,
        tell: Callable[[bytes], None] | None = None,
    ) -> DecodedAnswer:
        """Feed `prompt` after what the context holds, then decode until the grammar is complete.

        budget: most tokens of the answer; the grammar must be one that closes within it.
        weigh: give probabilities (computes the grammar's mask at every token, not only when the best is
        refused).
        tell: is given the bytes of the answer as they come.
        Raises ModelError MODEL_BUDGET, MODEL_CONTEXT, MODEL_FAILED, MODEL_NUMBERS, GRAMMAR_BROKEN.
        """
        tokens: list[int] = []
        probabilities: list[float] = []
        pending = list(prompt)
        while True:
            # Where the grammar leaves one way to go on (keys, quotes, brackets), the model is not asked.
            forced = matcher.compute_ff_tokens()
            if forced:
                _consume(matcher, forced)
                tokens += forced
                probabilities += [1.0] * len(forced)
                pending += forced
                if tell is not None:
                    tell(b"".join(self._vocabulary.pieces[token] for token in forced))
            if matcher.is_stopped():
                break
            if len(tokens) >= budget:
                raise ModelError(
                    "MODEL_BUDGET",
                    f"the answer is not complete after {len(tokens)} tokens",
                    place=str(self._context.weights.path),
                    fix=NO_AI,
                )
            # The prompt, forced tokens and the last choice go in together; only what follows the last of them
            # is read.
            self._context.feed(pending, reads=[len(pending) - 1])
            token, probability = self._pick(matcher, weigh=weigh)
            _consume(matcher, [token])
            if token in self._vocabulary.ends:
                break
            tokens.append(token)
            probabilities.append(probability)
            pending = [token]
            if tell is not None:
                tell(self._vocabulary.pieces[token])
        if matcher.is_error():
            raise _lost(matcher)
        return DecodedAnswer(tokens, probabilities)

    def first(self, prompt: Sequence[int], matcher: LLMatcher) -> Mapping[int, float]:
        """Feed `prompt`; the tokens that the grammar allows next, each with its probability among them."""
        self._context.feed(prompt, reads=[len(prompt) - 1])
        allowed = self._allowed(matcher)
        return dict(zip(allowed, self._chances(allowed), strict=True))

    def _pick(self, matcher: LLMatcher, *, weigh: bool) -> tuple[int, float]:
        """The best token that the grammar allows after what was fed."""
        if not weigh:
            # The mask of a grammar is dear, and the model's first choice is legal nearly always: it is tried
            # alone.
            best = int(np.frombuffer(self._logits(), np.float32).argmax())
            if matcher.validate_tokens([best]) == 1:
                return best, 1.0
        mask = matcher.compute_bitmask()
        allowed = _few(mask)
        if allowed is None:
            return self._best_of_many(mask, weigh=weigh)
        if not allowed:
            raise _lost(matcher)
        chances = self._chances(allowed)
        chance = max(chances)
        return allowed[chances.index(chance)], chance if weigh else 1.0

    def _best_of_many(self, mask: bytes, *, weigh: bool) -> tuple[int, float]:
        """The best of so many tokens that they are better left in numpy: as numbers of Python they take ten
        times as long."""
        bits = self._bits_of(mask)
        row = np.where(bits, np.frombuffer(self._logits(), np.float32), np.float32(-np.inf))
        best = int(row.argmax())
        if not math.isfinite(row[best]):
            raise self._no_numbers()
        if not weigh:
            return best, 1.0
        row -= row[best]
        return best, 1 / float(np.exp(row, out=row).sum(dtype=np.float64))

    def _logits(self) -> Any:
        """The logits after the last token fed, one a token of the vocabulary; valid until more is fed."""
        return self._row.from_address(ctypes.addressof(self._context.logits(-1).contents))

    def _allowed(self, matcher: LLMatcher) -> list[int]:
        mask = matcher.compute_bitmask()
        allowed = _few(mask)
        if allowed is None:
            allowed = np.flatnonzero(self._bits_of(mask)).tolist()
        if not allowed:
            raise _lost(matcher)
        return allowed

    def _bits_of(self, mask: bytes) -> Any:
        """A bool for each token of the vocabulary: as numbers it takes 30 times as long to look through."""
        bits = np.unpackbits(np.frombuffer(mask, np.uint8), count=self._size, bitorder="little")
        return bits.view(np.bool_)

    def _chances(self, allowed: Sequence[int]) -> list[float]:
        """Softmax over the logits of `allowed`. Raises ModelError MODEL_NUMBERS."""
        logits = self._logits()
        if len(allowed) <= _FEW:
            # Plain Python: behind a model's evaluation, which leaves no cache warm, numpy takes ten times as
            # long for a handful of numbers.
            values = [logits[token] for token in allowed]
            top = max(values)
            weights = [math.exp(value - top) for value in values] if math.isfinite(top) else [math.nan]
            total = math.fsum(weights)
            chances = [weight / total for weight in weights]
        else:
            row = np.frombuffer(logits, np.float32)[allowed].astype(np.float64)
            array = np.exp(row - row.max())
            total = float(array.sum())
            chances = (array / total).tolist()
        if not math.isfinite(total):
            raise self._no_numbers()
        return chances

    def _no_numbers(self) -> ModelError:
        return ModelError(
            "MODEL_NUMBERS",
            "the model's output is not a number: its weights are damaged",
            place=str(self._context.weights.path),
            fix=NO_AI,
        )


def _few(mask: bytes) -> list[int] | None:
    """The tokens of a mask where they are few; nearly always, and then the rest is not looked at."""
    words = np.frombuffer(mask, np.uint32)
    used = np.flatnonzero(words)
    if len(used) > _FEW:
        return None
    return [32 * at + bit for at in used.tolist() for bit in _bits(int(words[at]))]


def _bits(word: int) -> Iterator[int]:
    """The places of the ones in a word, lowest first."""
    while word:
        lowest = word & -word
        yield lowest.bit_length() - 1
        word ^= lowest


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
