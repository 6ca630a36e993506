"""What a model has read: its context, and the states of prompts that begin alike."""

import contextlib
import ctypes
import hashlib
import hmac
import os
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from executor.core.files import whole_file
from mcl.core.cache import seal
from mcl.core.errors import ModelError
from mcl.model.llama.weights import NO_AI, Weights

# ---- A llama.cpp context: one sequence, one thread, a fixed batch size. Evaluates tokens, hands out logits.

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


class ModelContext:
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
        params.n_outputs_max = params.n_outputs_max_per_seq = 0  # as many as the batch holds
        params.flash_attn_type = (
            c.LLAMA_FLASH_ATTN_TYPE_AUTO if size.flash else c.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        self._context = weights.open_context(params, self)
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


# ---- The KV cache of a prompt's fixed beginning, kept in memory and on disk, so that it is evaluated once.
#
# On disk a state is a file `<key>.kv` = the home's seal of it (32 bytes) + llama.cpp's bytes. The key covers
# all that the bytes depend on: the model's digest, the library's version, what it uses of the processor, the
# context's size and the tokens. A file that the home did not write is thrown away and made again. The folder
# is a cache: losing it costs time only. To read a state back takes a tenth to a fiftieth of the time of
# evaluating it, whatever the model (docs/models.md has figures).

_SUM = 32
# A state has 1 kB a token in the bundled model, and a thousand times that in one of 13B parameters.
BYTES_IN_MEMORY = 256 * 2**20
BYTES_ON_DISK = 2**30
_FORGOTTEN_S = 3600  # a part of a file that nobody goes on writing


class Prefixes:
    """Makes a context hold a given prefix, by the cheapest way there is."""

    def __init__(self, context: ModelContext, *, model_digest: str, folder: Path | None) -> None:
        """folder: where states are kept, made when first written; None: in memory only."""
        self._context = context
        self._folder = folder
        self._states: OrderedDict[str, bytes] = OrderedDict()
        self._held = ""
        c = context.weights.library.c
        processor: bytes = c.llama_print_system_info()  # its instructions change the bits of a state
        version: bytes = c.llama_version()
        self._salt = f"{model_digest} {version.decode()} {processor.decode()} {context.size}"

    def hold(self, tokens: Sequence[int], *, whole: bool, keep: bool = True) -> None:
        """Make the context hold exactly `tokens`; `whole` as in `Context.feed`. keep: for another time."""
        said = hashlib.sha256((ctypes.c_int32 * len(tokens))(*tokens)).hexdigest()
        key = hashlib.sha256(f"{self._salt} {said}".encode()).hexdigest()
        context = self._context
        # The same beginning again, with another goal behind it: what follows is cut off, nothing is
        # evaluated.
        if key == self._held and context.keep(len(tokens)):
            return
        self._held = ""
        state = self._states.get(key) or (self._load(key) if keep else None)
        # A prompt that is not asked again is not worth the megabytes of its state.
        if state is None and not keep:
            context.keep(0)
            context.feed(tokens, whole=whole)
            self._held = key
            return
        if state is None or not context.restore(state, len(tokens)):
            context.keep(0)
            context.feed(tokens, whole=whole)
            state = context.state()
            self._save(key, state)
        self._states[key] = state
        self._states.move_to_end(key)
        while sum(map(len, self._states.values())) > BYTES_IN_MEMORY:
            self._states.popitem(last=False)
        self._held = key

    def _load(self, key: str) -> bytes | None:
        if self._folder is None:
            return None
        file = self._folder / f"{key}.kv"
        data = _bytes_of(file)
        if data is None:
            return None
        # llama.cpp believes what it is given to restore: bytes of a stranger could crash the process, or
        # answer for the model.
        if len(data) > _SUM and _is_ours(file, data):
            with contextlib.suppress(OSError):
                os.utime(file)  # what was used last is kept longest
            return data[_SUM:]
        with contextlib.suppress(OSError):
            file.unlink()
        return None

    def _save(self, key: str, state: bytes) -> None:
        if self._folder is None or _SUM + len(state) > BYTES_ON_DISK:
            return
        # A cache that cannot be written (read-only home, full disk) is no reason to fail.
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self._folder / f"{key}.kv"
            with whole_file(file, durable=False) as new:
                new.write(seal(file, state) + state)
            _sweep(self._folder)


def _is_ours(file: Path, data: bytes) -> bool:
    try:
        return hmac.compare_digest(seal(file, memoryview(data)[_SUM:]), data[:_SUM])
    except OSError:
        return False


def _bytes_of(file: Path) -> bytes | None:
    """A regular file's bytes; None for anything else, and for more than is ever written."""
    try:
        # Whatever lies there: a link is not followed, and a pipe does not make the process wait.
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        stat = os.fstat(handle)
        if not S_ISREG(stat.st_mode) or stat.st_size > BYTES_ON_DISK:
            return None
        with os.fdopen(handle, "rb", closefd=False) as opened:
            return opened.read()
    except OSError:
        return None
    finally:
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove what was used longest ago until the rest fits, and parts that a process left. Raises OSError."""
    kept: list[tuple[int, int, str]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # another process sweeps too
                stat = entry.stat(follow_symlinks=False)
                if entry.name.endswith(".kv"):
                    kept.append((stat.st_mtime_ns, stat.st_size, entry.path))
                elif ".kv." in entry.name and stat.st_mtime < time.time() - _FORGOTTEN_S:
                    os.unlink(entry.path)  # noqa: PTH108 - a DirEntry's path is text
    room = BYTES_ON_DISK
    for _, size, path in sorted(kept, reverse=True):
        room -= size
        if room < 0:
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108
