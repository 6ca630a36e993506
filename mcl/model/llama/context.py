"""A llama.cpp context: one sequence, one thread, a fixed batch size. Evaluates tokens, hands out logits."""

import ctypes
import hashlib
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcl.core.errors import ModelError
from mcl.model.llama.weights import NO_AI, Weights

_SEQUENCE = 0


@dataclass(frozen=True, slots=True)
class ContextSize:
    """tokens: cells of the KV cache. batch: most tokens evaluated at once (logit bits change with it).

    flash: let llama.cpp choose flash attention; off is faster for a few dozen tokens on a CPU, but its memory
    grows with tokens times batch.
    """

    tokens: int
    batch: int
    flash: bool = False


class Context:
    """The KV cache of one model. Not for several threads at once."""

    def __init__(self, weights: Weights, size: ContextSize) -> None:
        """Reserve the buffers. Raises ModelError MODEL_BROKEN where llama.cpp refuses."""
        self.weights = weights
        self.size = size
        self.used = 0
        """Tokens now in the KV cache, at positions 0..used-1."""
        c = self._c = weights.library.c
        params = c.llama_context_default_params()
        params.n_ctx = size.tokens
        params.n_batch = params.n_ubatch = size.batch
        params.n_seq_max = 1
        params.n_outputs_max = params.n_outputs_max_per_seq = 0  # as many as the batch holds
        params.n_threads = params.n_threads_batch = 1
        params.flash_attn_type = (
            c.LLAMA_FLASH_ATTN_TYPE_AUTO if size.flash else c.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        params.no_perf = True
        self._context = c.llama_init_from_model(weights.model, params)
        if not self._context:
            raise ModelError(
                "MODEL_BROKEN",
                f"llama.cpp cannot make a context: {weights.library.complaints()}",
                place=str(weights.path),
                fix=NO_AI,
            )
        # The model must outlive its context: the finalizer holds the weights.
        self._finalizer = weakref.finalize(self, _free, c, self._context, weights)
        self._memory = c.llama_get_memory(self._context)
        if not self._memory or c.llama_model_has_encoder(weights.model):
            raise ModelError(
                "MODEL_KIND",
                "this model cannot answer: it only encodes, or needs an encoder",
                place=str(weights.path),
                fix=NO_AI,
            )
        self._tokens = (ctypes.c_int32 * size.batch)()
        self._positions = (ctypes.c_int32 * size.batch)()
        self._reads = (ctypes.c_int8 * size.batch)()
        # Without sequence ids every token belongs to sequence 0.
        self._batch = c.llama_batch(token=self._tokens, pos=self._positions, logits=self._reads)

    def feed(self, tokens: Sequence[int], *, reads: Sequence[int] = (), whole: bool = False) -> None:
        """Evaluate `tokens` after those already held.

        reads: indexes into `tokens` whose logits are wanted (they must lie in the last batch).
        whole: never split into batches (a model that attends both ways needs that).
        Raises ModelError MODEL_CONTEXT when they do not fit, MODEL_FAILED when llama.cpp fails.
        """
        count = len(tokens)
        if self.used + count > self.size.tokens or (whole and count > self.size.batch):
            raise ModelError(
                "MODEL_CONTEXT",
                f"{self.used + count} tokens do not fit into this model's context of {self.size.tokens}",
                place=str(self.weights.path),
                fix="shorten the goal or the skill's texts, or choose a model with a longer context",
            )
        step = self.size.batch
        for start in range(0, count, step):
            part = tokens[start : start + step]
            self._evaluate(part, [read - start for read in reads if start <= read < start + step])

    def _evaluate(self, tokens: Sequence[int], reads: Sequence[int]) -> None:
        count = len(tokens)
        self._batch.n_tokens = count
        self._tokens[:count] = list(tokens)
        self._positions[:count] = list(range(self.used, self.used + count))
        ctypes.memset(self._reads, 0, count)
        for read in reads:
            self._reads[read] = 1
        status = self._c.llama_decode(self._context, self._batch)
        if status != 0:
            self.keep(0)
            detail = self.weights.library.complaints()
            raise ModelError(
                "MODEL_FAILED",
                f"llama.cpp could not evaluate {count} tokens (status {status}) {detail}".rstrip(),
                place=str(self.weights.path),
                fix=NO_AI,
            )
        self.used += count

    def logits(self, read: int) -> Any:
        """The vocabulary's logits (C float32) at index `read` of the last batch, -1 the last; valid until
        the next."""
        return self._c.llama_get_logits_ith(self._context, read)

    def keep(self, count: int) -> bool:
        """Forget all but the first `count` tokens. False, and all forgotten, where that cannot be."""
        if count == self.used:
            return True
        if 0 < count < self.used and self._c.llama_memory_seq_rm(self._memory, _SEQUENCE, count, -1):
            self.used = count
            return True
        self._c.llama_memory_clear(self._memory, False)
        self.used = 0
        return count == 0

    def state(self) -> bytes:
        """The KV cache as bytes, for `restore` in a context of the same size over the same file."""
        c = self._c
        size: int = c.llama_state_seq_get_size(self._context, _SEQUENCE)
        buffer = (ctypes.c_uint8 * size)()
        written: int = c.llama_state_seq_get_data(self._context, buffer, size, _SEQUENCE)
        return bytes(memoryview(buffer)[:written])

    def restore(self, state: bytes, count: int) -> bool:
        """Replace the KV cache by a `state` of `count` tokens. False, and nothing held, when it is
        refused."""
        self.keep(0)
        buffer = ctypes.cast(
            ctypes.c_char_p(state), ctypes.POINTER(ctypes.c_uint8)
        )  # no copy: it is only read
        if self._c.llama_state_seq_set_data(self._context, buffer, len(state), _SEQUENCE) != len(state):
            self._c.llama_memory_clear(self._memory, False)
            return False
        self.used = count
        return True


def digest_of_tokens(tokens: Sequence[int]) -> str:
    """sha256 (hex) of a token sequence, each as four bytes."""
    return hashlib.sha256((ctypes.c_int32 * len(tokens))(*tokens)).hexdigest()


def _free(c: Any, context: Any, _weights: Weights) -> None:
    c.llama_free(context)
