"""Vectors of tokens from a GGUF that encodes (architecture bert): one pass, one thread, nothing kept."""

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mcl.core.errors import ModelError
from mcl.model.llama.weights import NO_AI, Weights

if TYPE_CHECKING:
    import numpy as np

LONGEST = 512
"""Tokens of one pass: as many places as the architecture has positions for."""


class EmbeddingContext:
    """What an encoder reads with. Not for several threads at once."""

    def __init__(self, weights: Weights) -> None:
        """Reserve the buffers. Raises ModelError MODEL_BROKEN where llama.cpp refuses."""
        self.weights = weights
        c = self._c = weights.library.c
        self.longest = min(LONGEST, weights.context_length)
        params = c.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self.longest
        params.embeddings = True
        params.pooling_type = c.LLAMA_POOLING_TYPE_NONE
        params.flash_attn_type = c.LLAMA_FLASH_ATTN_TYPE_DISABLED  # slower for the few tokens of a goal
        self._context = weights.open_context(params, self)
        self.width: int = c.llama_model_n_embd(weights.model)
        self._tokens = (ctypes.c_int32 * self.longest)()
        self._wanted = (ctypes.c_int8 * self.longest)(*[1] * self.longest)
        self._batch = c.llama_batch(token=self._tokens, logits=self._wanted)

    def vectors(self, tokens: Sequence[int]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """The vector of each token, [len(tokens), width].

        Raises ModelError MODEL_CONTEXT where there are too many, MODEL_FAILED when llama.cpp fails.
        """
        import numpy as np

        count = len(tokens)
        if not 0 < count <= self.longest:
            raise ModelError(
                "MODEL_CONTEXT",
                f"{count} tokens do not fit into this model's {self.longest}",
                place=str(self.weights.path),
                fix="shorten the goal or the skill's texts",
            )
        self._batch.n_tokens = count
        self._tokens[:count] = list(tokens)
        status = self._c.llama_encode(self._context, self._batch)
        if status != 0:
            detail = self.weights.library.complaints()
            raise ModelError(
                "MODEL_FAILED",
                f"llama.cpp could not encode {count} tokens (status {status}) {detail}".rstrip(),
                place=str(self.weights.path),
                fix=NO_AI,
            )
        found = self._c.llama_get_embeddings(self._context)
        return np.ctypeslib.as_array(found, shape=(count, self.width)).copy()
