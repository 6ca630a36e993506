"""The KV cache of a prompt's fixed beginning, kept in memory and on disk, so that it is evaluated once.

On disk a state is a file `<key>.kv` = the home's seal of it (32 bytes) + llama.cpp's bytes. The key covers
all that the bytes depend on: the model's digest, the library's version, what it uses of the processor, the
context's size and the tokens. A file that the home did not write is thrown away and made again. The folder is
a cache: losing it costs time only. To read a state back takes a tenth to a fiftieth of the time of evaluating
it, whatever the model (docs/models.md has figures).
"""

import contextlib
import hashlib
import hmac
import os
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from stat import S_ISREG

from executor.core.files import whole_file
from mcl.core.kept import seal
from mcl.model.llama.context import Context, digest_of_tokens

_SUM = 32
# A state has 1 kB a token in the bundled model, and a thousand times that in one of 13B parameters.
BYTES_IN_MEMORY = 256 * 2**20
BYTES_ON_DISK = 2**30
_FORGOTTEN_S = 3600  # a part of a file that nobody goes on writing


class Prefixes:
    """Makes a context hold a given prefix, by the cheapest way there is."""

    def __init__(self, context: Context, *, model_digest: str, folder: Path | None) -> None:
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
        data = _bytes_of(file)
        if data is None:
            return None
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
