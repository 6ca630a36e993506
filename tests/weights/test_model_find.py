"""The models of other programs are found where they keep them, and only listed."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from mcl.plugins.weights.places import find_models
from tests.model.random_gguf import small_words, write_gguf


@pytest.fixture
def kept(tmp_path) -> dict[str, str]:
    """A home folder in which four programs keep models; the variables that say where."""
    made = write_gguf(tmp_path / "made.gguf", small_words(), layers=1, seed=5)
    home = tmp_path / "someone"
    hub = home / ".cache/huggingface/hub/models--acme--tiny"
    blob = hub / "blobs" / sha256(made.read_bytes()).hexdigest()
    snapshot = hub / "snapshots/abc/tiny.gguf"
    for place in (blob, snapshot):
        place.parent.mkdir(parents=True)
    shutil.copy(made, blob)
    snapshot.symlink_to(blob)
    ollama = home / ".ollama/models"
    layer = sha256(b"x").hexdigest()
    manifest = ollama / "manifests/registry.ollama.ai/library/tiny/latest"
    for place in (
        manifest.parent,
        ollama / "blobs",
        home / ".lmstudio/models/acme/tiny",
        home / ".cache/llama.cpp",
    ):
        place.mkdir(parents=True)
    shutil.copy(made, ollama / f"blobs/sha256-{layer}")
    layers = [
        {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{layer}"},
        {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:../../../../etc/passwd"},
        {"mediaType": "application/vnd.ollama.image.license", "digest": f"sha256:{'0' * 64}"},
    ]
    manifest.write_text(json.dumps({"layers": layers}))
    manifest.with_name("broken").write_bytes(b"\xff{")
    shutil.copy(made, home / ".lmstudio/models/acme/tiny/tiny.gguf")
    (home / ".cache/llama.cpp/bad.gguf").write_bytes(b"no model")
    (home / ".cache/llama.cpp/gone.gguf").symlink_to(tmp_path / "nowhere")
    return {"HOME": str(home)}


def test_each_is_named_as_its_program_does(kept):
    found = find_models(kept)
    assert [(one.kept_by, one.name) for one in found] == [
        ("Hugging Face", "acme/tiny:tiny.gguf"),
        ("LM Studio", "acme/tiny/tiny.gguf"),
        ("Ollama", "tiny:latest"),
        ("llama.cpp", "bad.gguf"),
    ]
    assert [one.fault for one in found] == ["", "", "", "MODEL_NOT_GGUF"]
    assert all(one.weights and one.architecture == "llama" for one in found[:3])


def test_variables_move_the_places(kept, tmp_path):
    moved = tmp_path / "elsewhere"
    Path(kept["HOME"], ".ollama/models").rename(moved)
    assert "Ollama" not in {one.kept_by for one in find_models(kept)}
    assert "Ollama" in {one.kept_by for one in find_models(kept | {"OLLAMA_MODELS": str(moved)})}


def test_nobody_has_any(tmp_path):
    assert find_models({"HOME": str(tmp_path)}) == ()
