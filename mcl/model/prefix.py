"""The KV cache of a prompt's fixed beginning, kept in memory and on disk, so that it is evaluated once.

On disk a state is a file `<key>.kv` = sha256 of the rest (32 bytes) + llama.cpp's bytes. The key covers all
that the bytes depend on: the model's digest, the library's version, the context's size and the tokens. A file
that does not match its sum is thrown away and made again. The folder is a cache: losing it costs time only.
"""

import contextlib
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from mcl.model.context import Context, digest_of_tokens

_SUM = 32
# A state has 1 kB a token in the bundled model, and a thousand times that in one of 13B parameters.
BYTES_IN_MEMORY = 256 * 2**20
BYTES_ON_DISK = 2**30


class Prefixes:
    """Makes a context hold a given prefix, by the cheapest way there is."""

    def __init__(self, context: Context, *, model_digest: str, folder: Path | None) -> None:
        """folder: where states are kept, made when first written; None: in memory only."""
        self._context = context
        self._folder = folder
        self._states: OrderedDict[str, bytes] = OrderedDict()
        self._held = ""
        version: bytes = context.weights.library.c.llama_version()
        size = context.size
        self._salt = f"{model_digest} {version.decode()} {size}"

    def hold(self, tokens: Sequence[int], *, whole: bool, keep: bool = True) -> None:
        """Make the context hold exactly `tokens`; `whole` as in `Context.feed`. keep: for another time."""
        key = hashlib.sha256(f"{self._salt} {digest_of_tokens(tokens)}".encode()).hexdigest()
        context = self._context
        if key == self._held and context.keep(len(tokens)):
            return
        self._held = ""
        state = self._states.get(key) or (self._load(key) if keep else None)
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
        try:
            data = file.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data[_SUM:]).digest() == data[:_SUM]:
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
            write_whole(self._folder / f"{key}.kv", hashlib.sha256(state).digest() + state)
            room = BYTES_ON_DISK
            kept = [(file.stat(), file) for file in self._folder.glob("*.kv")]
            for stat, file in sorted(kept, key=lambda one: one[0].st_mtime_ns, reverse=True):
                room -= stat.st_size
                if room < 0:
                    file.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that others see the old bytes or the new ones, never a part. Raises OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        part.write_bytes(data)
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
