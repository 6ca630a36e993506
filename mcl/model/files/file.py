"""A model file that may be opened: its header is sound, its digest known, and llama.cpp has loaded it once.

A file never seen before is loaded in a child process first, for llama.cpp stops the whole process on some
damage that no header shows (two tokens with the same text, for one). Files that passed are remembered by
path, size and time of change in `<home>/cache/models.json`, so all this is paid once.
"""

import contextlib
import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from stat import S_ISREG

from mcl.core.errors import NO_AI, ModelError
from mcl.core.kept import read_own, write_own
from mcl.model.files.gguf import Header, read_header

_LOADING_LIMIT_S = 180


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


def open_model_file(path: Path, *, home_path: Path | None) -> ModelFile:
    """Check the file at `path`, from memory of an earlier check where nothing changed.

    home_path: where that memory is kept; None: nothing is remembered. A file with its digest beside it in
    `<path>.sha256` (the bundled model) need not be loaded in a child process when the digest is right.
    Raises ModelError: MODEL_MISSING, MODEL_NOT_GGUF, MODEL_VERSION, MODEL_TRUNCATED, MODEL_BROKEN,
    MODEL_ARCHITECTURE, MODEL_KIND, MODEL_SPLIT.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links: the name given is the one shown
    try:
        stat = path.stat()
    except (OSError, ValueError) as error:  # a ValueError of a path with a NUL in it
        why = error.strerror if isinstance(error, OSError) else error
        raise ModelError(
            "MODEL_MISSING", f"there is no readable model file: {why}", place=str(path), fix=NO_AI
        ) from error
    known = _recall(home_path)
    if not S_ISREG(stat.st_mode):
        raise ModelError("MODEL_MISSING", "this is no file", place=str(path), fix=NO_AI)
    seen = known.get(str(path))
    if seen and (seen.size, seen.mtime_ns) == (stat.st_size, stat.st_mtime_ns):
        return ModelFile(path, seen.sha256)
    _check_kind(path, read_header(path))
    digest = file_digest(path)
    if _published_digest(path) != digest:
        _load_apart(path)
    known[str(path)] = _Seen(stat.st_size, stat.st_mtime_ns, digest)
    _remember(home_path, known)
    return ModelFile(path, digest)


def _check_kind(path: Path, header: Header) -> None:
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


def _published_digest(path: Path) -> str | None:
    try:
        return path.with_name(f"{path.name}.sha256").read_text("ascii").split()[0]
    except (OSError, UnicodeDecodeError, IndexError):
        return None


def _load_apart(path: Path) -> None:
    """Load the file in a child process. Raises ModelError: the child's, or MODEL_BROKEN with how it died."""
    import subprocess  # here, for it is needed once a file and costs every start 8 ms

    command = [sys.executable, "-m", "mcl.model.files.trial", str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        child = subprocess.run(
            command, env=environment, capture_output=True, timeout=_LOADING_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _broken(path, f"llama.cpp was not done loading it after {_LOADING_LIMIT_S} s") from error
    if child.returncode == 0:
        return
    try:
        told = json.loads(child.stdout)
        raise ModelError(told["code"], told["message"], place=str(path), fix=told["fix"], data=told)
    except (ValueError, KeyError, TypeError) as error:
        last = child.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        died = f"signal {-child.returncode}" if child.returncode < 0 else f"status {child.returncode}"
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
