"""Walk a GGUF file's header without trusting it: metadata, tensor table and sizes, all within the file.

llama.cpp reads the same header, but stops the whole process on some damage; so a file is walked here first.
Source: the GGUF specification (ggml/docs/gguf.md), versions 2 and 3, little endian.
"""

import contextlib
import hashlib
import json
import math
import mmap
import os
import struct
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from executor.core.files import whole_file
from mcl.core.cache import read_own, write_own
from mcl.core.errors import NO_AI, ModelError
from mcl.model.form import FORM

if TYPE_CHECKING:
    from mcl.model.llama.weights import Weights

# ---- The header of a GGUF.

BEHIND_KEYS = ("mcl.heads.bytes", "mcl.familiar.bytes")
"""GGUF keys of what lies behind the tensors, in this order: each says how many bytes it has."""
_MAGIC = b"GGUF"
_GIVE = f"give the path of a GGUF file; or {NO_AI}"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
# ggml type: (elements, bytes) of a block. A type that is not listed is left to llama.cpp to judge.
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 40),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
_MOST_DIMENSIONS = 4
_LONGEST_KEY = 65_535
_MOST_TENSORS = 100_000


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF says of itself: scalar and string metadata (arrays left out), how many tensors it has, and
    how many weights are in them. keys: where each key and its value stand; table: where the list of tensors
    does; data: where theirs begins (bytes of the file, ends exclusive)."""

    version: int
    metadata: dict[str, object]
    tensors: int
    weights: int = 0
    keys: tuple[tuple[str, int, int], ...] = ()
    table: tuple[int, int] = (0, 0)
    data: int = 0


def read_header(path: Path) -> GgufHeader:
    """Walk the header of the file at `path`.

    Raises ModelError: MODEL_MISSING, MODEL_NOT_GGUF, MODEL_VERSION, MODEL_TRUNCATED or MODEL_BROKEN.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise _error("MODEL_NOT_GGUF", "this is not a GGUF file", path)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Walk(path, data).header()
    except FileNotFoundError as error:
        raise _error("MODEL_MISSING", "there is no such model file", path) from error
    except OSError as error:
        raise _error("MODEL_MISSING", f"the model file cannot be read: {error.strerror}", path) from error
    except struct.error as error:
        raise _error("MODEL_TRUNCATED", "the file ends within its header", path) from error


class _Walk:
    """A cursor over the mapped file; every step stays inside it or raises."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self._path, self._data, self._at = path, data, len(_MAGIC)
        self._weights = 0

    def header(self) -> GgufHeader:
        version = self._scalar("I")
        if version not in _VERSIONS:
            raise _error("MODEL_VERSION", f"GGUF version {version}; known are 2 and 3", self._path)
        tensors, keys = self._scalar("Q"), self._scalar("Q")
        if tensors > _MOST_TENSORS or keys > _LONGEST_KEY:
            raise self._broken(f"{tensors} tensors and {keys} keys are more than any model has")
        metadata: dict[str, object] = {}
        places: list[tuple[str, int, int]] = []
        for _ in range(keys):
            start = self._at
            name = self._string()
            if name in metadata:
                raise self._broken(f"the key {name!r} is there twice")
            metadata[name] = self._value(self._scalar("I"))
            places.append((name, start, self._at))
        if not isinstance(metadata.get("general.architecture"), str):
            raise self._broken("the key general.architecture is missing")
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
            raise self._broken(f"alignment {alignment!r} is not a power of two")
        table = self._at
        end = max((self._tensor(alignment) for _ in range(tensors)), default=0)
        start = -(-self._at // alignment) * alignment
        needed = start + end
        # Heads and what was learned by name lie behind the tensors.
        needed += sum(size for key in BEHIND_KEYS if isinstance(size := metadata.get(key), int))
        if tensors and needed > len(self._data):
            raise _error(
                "MODEL_TRUNCATED",
                f"the file should have {needed:,} bytes and has {len(self._data):,}",
                self._path,
                fix="copy or download it again",
            )
        return GgufHeader(version, metadata, tensors, self._weights, tuple(places), (table, self._at), start)

    def _tensor(self, alignment: int) -> int:
        """End of a tensor's data, counted from the data's start."""
        name = self._string()
        dimensions = self._scalar("I")
        if dimensions > _MOST_DIMENSIONS:
            raise self._broken(f"tensor {name!r} has {dimensions} dimensions")
        elements = math.prod(self._scalar("Q") for _ in range(dimensions))
        kind, offset = self._scalar("I"), self._scalar("Q")
        if offset % alignment:
            raise self._broken(f"tensor {name!r} is not aligned")
        block, size = _BLOCKS.get(kind, (1, 0))
        if elements % block:
            raise self._broken(f"tensor {name!r} is not a whole number of blocks")
        self._weights += elements
        return offset + elements // block * size

    def _value(self, kind: int) -> object:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            self._array()
            return None
        if kind not in _SCALARS:
            raise self._broken(f"unknown kind of value {kind}")
        return self._scalar(_SCALARS[kind])

    def _array(self) -> None:
        kind, count = self._scalar("I"), self._scalar("Q")
        if kind == _STRING:
            for _ in range(self._within(count)):
                self._at = self._within(self._at + 8 + self._scalar("Q", move=False))
        elif kind in _SCALARS:
            self._at = self._within(self._at + count * struct.calcsize(_SCALARS[kind]))
        else:
            raise self._broken(f"an array of kind {kind}")

    def _string(self) -> str:
        size = self._scalar("Q")
        start, self._at = self._at, self._within(self._at + size)
        return self._data[start : self._at].decode("utf-8", "replace")

    def _scalar(self, form: str, *, move: bool = True) -> int:
        value: int = struct.unpack_from(f"<{form}", self._data, self._at)[0]
        if move:
            self._at += struct.calcsize(form)
        return value

    def _within(self, position: int) -> int:
        if position > len(self._data):
            raise struct.error("past the end")
        return position

    def _broken(self, what: str) -> ModelError:
        return _error("MODEL_BROKEN", f"the header is damaged: {what}", self._path)


def _error(code: str, message: str, path: Path, *, fix: str = NO_AI) -> ModelError:
    return ModelError(code, message, place=str(path), fix=fix)


_LOADING_LIMIT_S = 180
_MOST_SAID = 1 << 20  # bytes of what the child says


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file that passed; digest is the sha256 (hex) of its bytes."""

    path: Path
    digest: str


@dataclass(frozen=True, slots=True)
class _Seen:
    size: int
    mtime_ns: int
    sha256: str

    def is_of(self, stat: os.stat_result) -> bool:
        """Whether the file has changed in neither size nor time since."""
        return (self.size, self.mtime_ns) == (stat.st_size, stat.st_mtime_ns)


_checked: dict[str, _Seen] = {}  # by this process, whatever the home


def open_model_file(path: Path, *, home_path: Path | None) -> ModelFile:
    """Check the file at `path`, from memory of an earlier check where nothing changed.

    home_path: where that memory is kept beside that of this process; None: nowhere. A file with its digest
    beside it in `<path>.sha256` (the bundled model) need not be loaded in a child process when the digest is
    right.
    Raises ModelError: MODEL_MISSING, MODEL_NOT_GGUF, MODEL_VERSION, MODEL_TRUNCATED, MODEL_BROKEN,
    MODEL_ARCHITECTURE, MODEL_KIND, MODEL_SPLIT.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links: the name given is the one shown
    try:
        stat = path.stat()
    except (OSError, ValueError) as error:  # a ValueError of a path with a NUL in it
        why = error.strerror if isinstance(error, OSError) else error
        raise ModelError(
            "MODEL_MISSING", f"there is no readable model file: {why}", place=str(path), fix=_GIVE
        ) from error
    known = _recall(home_path)
    if not S_ISREG(stat.st_mode):
        raise ModelError("MODEL_MISSING", "this is no file", place=str(path), fix=_GIVE)
    # Hashing a large model takes seconds: as long as size and time of change are those of the last check, its
    # digest is too.
    if (seen := known.get(str(path))) and seen.is_of(stat):
        return ModelFile(path, seen.sha256)
    if (seen := _checked.get(str(path))) is None or not seen.is_of(stat):
        check_kind(path, read_header(path))
        digest = file_digest(path)
        # llama.cpp ends the process on some damage that a header does not show. So an unknown file is loaded
        # once in a child, which may die; the bundled one is known by its digest.
        if _published_digest(path) != digest:
            _load_apart(path)
        seen = _checked[str(path)] = _Seen(stat.st_size, stat.st_mtime_ns, digest)
    known[str(path)] = seen
    _remember(home_path, known)
    return ModelFile(path, seen.sha256)


def check_kind(path: Path, header: GgufHeader) -> None:
    """Raise ModelError for what a header alone tells apart from a whole text model."""
    parts = header.metadata.get("split.count", 0)
    if isinstance(parts, int) and parts > 1:
        raise ModelError(
            "MODEL_SPLIT",
            f"this is one of {parts} parts of a model",
            place=str(path),
            fix=f"join them (llama-gguf-split --merge) and name the whole; or {NO_AI}",
        )
    kind = header.metadata.get("general.type", "model")
    if kind != "model" or not header.tensors:
        what = f"its type is {kind!r}" if kind != "model" else "it has no weights"
        raise ModelError("MODEL_KIND", f"this is not a whole text model: {what}", place=str(path), fix=NO_AI)


def file_digest(path: Path) -> str:
    """sha256 (hex) of a file's bytes. Raises ModelError MODEL_MISSING when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(
            "MODEL_MISSING", f"the model file cannot be read: {error.strerror}", place=str(path), fix=NO_AI
        ) from error


def publish_digest(path: Path, digest: str) -> None:
    """Write beside a model which bytes are known to be good: they need not be tried out before they are
    loaded. Raises OSError."""
    with whole_file(_digest_file(path), mode=0o666) as file:
        file.write(f"{digest}  {path.name}\n".encode())


def _digest_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _published_digest(path: Path) -> str | None:
    try:
        return _digest_file(path).read_text("ascii").split()[0]
    except (OSError, UnicodeDecodeError, IndexError):
        return None


def _load_apart(path: Path) -> None:
    """Load the file in a child process. Raises ModelError: the child's, or MODEL_BROKEN with how it died."""
    # Here, for they are needed once a file and cost every start some ms.
    from executor.sandbox.environment import own_code
    from executor.sandbox.process import run_command
    from mcl.core.event_loop import at_once

    command, environment = own_code("mcl.model.files", str(path))
    try:
        child = at_once(
            lambda: run_command(
                command,
                cwd=Path(),  # paths may be relative
                environment=environment,
                max_output=_MOST_SAID,
                keep="tail",  # of what llama.cpp says, the end tells why it stopped
                alone=True,
                seconds=_LOADING_LIMIT_S,
            )
        )
    except TimeoutError as error:
        raise _broken(path, f"llama.cpp was not done loading it after {_LOADING_LIMIT_S} s") from error
    if child.status == 0:
        return
    try:
        told = json.loads(child.out)
        raise ModelError(told["code"], told["message"], place=str(path), fix=told["fix"], data=told)
    except (ValueError, KeyError, TypeError) as error:
        last = child.err.decode("utf-8", "replace").strip().splitlines()[-1:]
        died = f"signal {-child.status}" if child.status < 0 else f"status {child.status}"
        raise _broken(path, f"llama.cpp stopped with {died} while loading it: {' '.join(last)}") from error


def _broken(path: Path, message: str) -> ModelError:
    return ModelError("MODEL_BROKEN", message, place=str(path), fix=NO_AI)


def _memory(home_path: Path) -> Path:
    return home_path / "cache" / "models.json"


def _recall(home_path: Path | None) -> dict[str, _Seen]:
    if home_path is None:
        return {}
    try:
        entries = json.loads(read_own(str(_memory(home_path))))
        return {path: _Seen(**entry) for path, entry in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # a cache: what cannot be read is made again


def _remember(home_path: Path | None, known: dict[str, _Seen]) -> None:
    if home_path is None:
        return
    file = _memory(home_path)
    with contextlib.suppress(OSError):  # a read-only home costs the check again, nothing else
        entries = {path: asdict(seen) for path, seen in known.items() if Path(path).exists()}
        write_own(file, json.dumps(entries, indent=1, sort_keys=True).encode())


# ---- `python -m mcl.model.files FILE`: load a model, evaluate one token and render its chat template, in a
# process of its own. Where llama.cpp aborts, it aborts only this.

_CELLS = 256
# Characters of many kinds: a vocabulary that lacks a piece for a byte aborts llama.cpp's tokeniser.
_TEXT = "".join(map(chr, range(0x20, 0x250))) + "\n\t …€漢字😀"


def try_file(path: Path) -> int:
    """0 where a file loads and answers; else 2, with the error as JSON on standard output."""
    from mcl.model.chat import ChatTemplate
    from mcl.model.llama.context import ContextSize, ModelContext
    from mcl.model.llama.embedding import EmbeddingContext
    from mcl.model.llama.vocabulary import Vocabulary
    from mcl.model.llama.weights import Weights

    try:
        weights = Weights(path)
        if form_of(weights) is not None:  # it encodes: no template, no cache of what was read
            weights.tokens(_TEXT)
            EmbeddingContext(weights).vectors([0])
            return 0
        vocabulary = Vocabulary.of(weights)
        context = ModelContext(weights, ContextSize(tokens=_CELLS, batch=_CELLS))
        weights.tokens(_TEXT)
        context.feed([0], reads=[0])
        ChatTemplate(weights, vocabulary)  # one that never ends ends with this process
    except ModelError as error:
        sys.stdout.write(json.dumps(error.to_json()))
        return 2
    return 0


def form_of(weights: "Weights") -> str | None:
    """The form that a model answers in, None for one that writes. Raises ModelError MODEL_FORM where this
    version does not read it."""
    spoken = weights.meta("mcl.form")
    if spoken not in (None, FORM):
        message = f"this model answers in the form {spoken!r}; this version reads {FORM!r}"
        raise ModelError("MODEL_FORM", message, place=str(weights.path), fix=NO_AI)
    return spoken


if __name__ == "__main__":
    sys.exit(try_file(Path(sys.argv[1])))
