"""Models that other programs keep on this machine: where each keeps them, and what their headers say.

Sources: the Hugging Face hub's cache ("models--OWNER--REPO/snapshots/REVISION"), Ollama's manifests
(OCI image manifests; a layer of the media type `application/vnd.ollama.image.model` is a GGUF in `blobs`),
LM Studio's folder of models ("OWNER/REPO/FILE"), llama.cpp's cache.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcl.core.errors import ModelError
from mcl.model.files import check_kind, read_header

_LAYER: Final = "application/vnd.ollama.image.model"
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MOST_FILES: Final = 100_000  # entries of one place that are looked at
_MOST_MANIFEST: Final = 1 << 20  # bytes


@dataclass(frozen=True)
class FoundModel:
    """One GGUF. kept_by: the program whose folder it lies in. name: what that program calls it. bytes: of the
    file. weights: how many it has. chat: whether it has a chat template. fault: the code of why the compiler
    cannot use it, as far as its header shows; "" for nothing."""

    kept_by: str
    name: str
    path: Path
    bytes: int
    architecture: str = ""
    weights: int = 0
    chat: bool = False
    fault: str = ""


def find_models(environment: Mapping[str, str] | None = None) -> tuple[FoundModel, ...]:
    """The GGUFs in the places of others, by place and name; nothing is hashed, loaded or changed.

    environment: where the variables that move these places are looked up (default: the process's own).
    """
    found: dict[Path, FoundModel] = {}
    for kept_by, name, path in _files(os.environ if environment is None else environment):
        try:
            place = path.resolve(strict=True)
            if place not in found and place.is_file():
                found[place] = _described(kept_by, name, path)
        except OSError:  # gone, or not for us to read, since its folder was listed
            continue
    return tuple(sorted(found.values(), key=lambda one: (one.kept_by, one.name)))


def _described(kept_by: str, name: str, path: Path) -> FoundModel:
    size = path.stat().st_size
    try:
        header = read_header(path)
    except ModelError as error:
        return FoundModel(kept_by, name, path, size, fault=error.code)
    try:
        check_kind(path, header)
        fault = ""
    except ModelError as error:
        fault = error.code
    architecture, chat = str(header.metadata["general.architecture"]), "tokenizer.chat_template"
    return FoundModel(kept_by, name, path, size, architecture, header.weights, chat in header.metadata, fault)


def _files(environment: Mapping[str, str]) -> Iterator[tuple[str, str, Path]]:
    """Program, name, and path of each file."""
    home = Path(environment.get("HOME") or Path.home())
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    hub = Path(environment.get("HF_HOME") or cache / "huggingface") / "hub"
    for path in _ggufs(Path(environment.get("HF_HUB_CACHE") or hub)):
        repo = next((part for part in path.parts if part.startswith("models--")), "")
        if repo and "snapshots" in path.parts:
            owner_and_repo = repo.removeprefix("models--").replace("--", "/", 1)
            yield "Hugging Face", f"{owner_and_repo}:{path.name}", path
    named = environment.get("OLLAMA_MODELS")
    usual = (
        home / ".ollama/models",
        Path("/usr/share/ollama/.ollama/models"),
        Path("/var/lib/ollama/models"),
    )
    for folder in (Path(named),) if named else usual:
        yield from _of_ollama(folder)
    for folder in (home / ".lmstudio/models", cache / "lm-studio/models"):
        for path in _ggufs(folder):
            yield "LM Studio", path.relative_to(folder).as_posix(), path
    own = home / "Library/Caches/llama.cpp" if sys.platform == "darwin" else cache / "llama.cpp"
    for path in _ggufs(Path(environment.get("LLAMA_CACHE") or own)):
        yield "llama.cpp", path.name, path


def _ggufs(folder: Path) -> Iterator[Path]:
    """The files of this kind below a folder, in order; links to folders are not followed."""
    seen = 0
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            seen += 1
            if seen > _MOST_FILES:
                return
            if name.endswith(".gguf"):
                yield Path(place) / name


def _of_ollama(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """What the manifests of Ollama name: "manifests/HOST/OWNER/MODEL/TAG"."""
    manifests = folder / "manifests"
    for place, folders, files in os.walk(manifests):
        folders.sort()
        for file in sorted(files):
            path = Path(place) / file
            try:
                with path.open("rb") as manifest:
                    layers = json.loads(manifest.read(_MOST_MANIFEST))["layers"]
                digests = [str(one["digest"]) for one in layers if one["mediaType"] == _LAYER]
            except (OSError, ValueError, LookupError, TypeError):
                continue  # no manifest of a model
            owner, _, named = "/".join(path.relative_to(manifests).parts[1:-1]).rpartition("/")
            name = named if owner in ("", "library") else f"{owner}/{named}"
            for digest in digests:
                if _DIGEST.fullmatch(digest):
                    yield "Ollama", f"{name}:{file}", folder / "blobs" / digest.replace(":", "-")
