"""A model file that is missing, foreign or damaged is a clear error; it never ends the process."""

import contextlib
import importlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from random_gguf import small_words, write_gguf

from mcl.core.cache import read_own
from mcl.core.errors import ModelError
from mcl.model import load_model
from mcl.model.files import open_model_file, read_header


def refused(path: Path, home: Path | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        load_model(path, home_path=home)
    error = caught.value
    assert error.message
    assert str(path) in error.place
    assert error.fix
    assert error.exit == 2
    return error


def test_a_missing_file_names_the_way_out(tmp_path):
    error = refused(tmp_path / "none.gguf")
    assert error.code == "MODEL_MISSING"
    assert "--no-ai" in error.fix


def test_a_folder_is_not_a_model(tmp_path):
    assert refused(tmp_path).code == "MODEL_MISSING"


def test_an_empty_file_is_not_a_gguf(tmp_path):
    path = tmp_path / "empty.gguf"
    path.touch()
    assert refused(path).code == "MODEL_NOT_GGUF"


def test_another_kind_of_file_is_not_a_gguf(tmp_path):
    path = tmp_path / "picture.gguf"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" * 100)
    assert refused(path).code == "MODEL_NOT_GGUF"


@pytest.mark.parametrize("share", [0.001, 0.01, 0.3, 0.9, 0.999])
def test_a_file_cut_short_is_told_from_a_whole_one(encoder_path, tmp_path, share):
    data = encoder_path.read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(data[: int(len(data) * share)])
    assert refused(path).code == "MODEL_TRUNCATED"


def test_a_truncated_file_says_how_much_is_missing(encoder_path, tmp_path):
    path = tmp_path / "cut.gguf"
    path.write_bytes(encoder_path.read_bytes()[:-64])
    assert f"{path.stat().st_size:,}" in refused(path).message


def test_an_unknown_version_of_the_format_is_refused(encoder_path, tmp_path):
    path = tmp_path / "future.gguf"
    data = bytearray(encoder_path.read_bytes())
    data[4:8] = struct.pack("<I", 9)
    path.write_bytes(data)
    assert refused(path).code == "MODEL_VERSION"


def test_an_unknown_architecture_is_named(encoder_path, tmp_path):
    path = tmp_path / "other.gguf"
    write_gguf(path, small_words(), architecture="dreams")
    error = refused(path)
    assert error.code == "MODEL_ARCHITECTURE"
    assert error.data["architecture"] == "dreams"
    assert "--no-ai" in error.fix


def test_what_makes_llama_cpp_abort_costs_only_a_child_process(tmp_path):
    words = small_words()
    path = tmp_path / "twice.gguf"
    write_gguf(path, replace(words, tokens=[*words.tokens[:-2], words.tokens[0], words.tokens[-1]]))
    assert refused(path).code == "MODEL_BROKEN"


def test_another_form_of_answer_is_refused(tmp_path):
    path = tmp_path / "later.gguf"
    write_gguf(path, small_words(), extra={"mcl.form": "tags@99"})
    assert refused(path).code == "MODEL_FORM"


def test_a_form_without_its_heads_is_refused(encoder_path, tmp_path):
    path = tmp_path / "bare.gguf"
    write_gguf(path, small_words(), extra={"mcl.form": "enc@1"})
    assert refused(path).code == "MODEL_BROKEN"


def test_random_damage_to_the_header_is_an_error_or_harmless(encoder_path, tmp_path):
    whole = encoder_path.read_bytes()
    dice = random.Random(7)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(4, 20_000)] = dice.randrange(256)
        path = tmp_path / "damaged.gguf"
        path.write_bytes(data)
        with contextlib.suppress(ModelError):  # nothing else may come out
            read_header(path)


@pytest.mark.parametrize("damage", ["missing", "text", "cut"])
def test_a_process_with_a_bad_model_ends_with_the_error_alone(encoder_path, tmp_path, damage):
    path = tmp_path / "bad.gguf"
    if damage == "text":
        path.write_text("not a model")
    elif damage == "cut":
        path.write_bytes(encoder_path.read_bytes()[:5000])
    trial = [sys.executable, "-m", "mcl.model.files", str(path)]
    done = subprocess.run(trial, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert json.loads(done.stdout)["code"].startswith("MODEL_")
    assert done.stderr == ""


def test_a_checked_file_is_remembered_until_it_changes(encoder_path, tmp_path, monkeypatch):
    path = tmp_path / "model.gguf"
    shutil.copy(encoder_path, path)
    home = tmp_path / "home"
    first = open_model_file(path, home_path=home)
    monkeypatch.setattr("mcl.model.files.file_digest", lambda _: pytest.fail("hashed again"))
    assert open_model_file(path, home_path=home) == first
    monkeypatch.undo()
    with path.open("ab") as file:
        file.write(b"\0" * 32)
    assert open_model_file(path, home_path=home).digest != first.digest


def test_a_file_may_have_any_name(encoder_path, tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9 \xf0\x9f\x98\x80.gguf")
    shutil.copy(encoder_path, path)
    assert load_model(path, home_path=tmp_path).digest == open_model_file(encoder_path, home_path=None).digest
    assert open_model_file(path, home_path=tmp_path).path == path


def test_whoever_imports_the_whole_package_does_not_take_the_log(encoder_path, tmp_path):
    importlib.import_module("llama_cpp")
    path = tmp_path / os.fsdecode(b"\xe9.gguf")
    shutil.copy(encoder_path, path)
    assert load_model(path, home_path=tmp_path).digest


def test_a_memory_that_cannot_be_read_is_made_again(encoder_path, tmp_path):
    memory = tmp_path / "cache" / "models.json"
    memory.parent.mkdir()
    memory.write_text("[1, 2")
    assert open_model_file(encoder_path, home_path=tmp_path).digest
    assert str(encoder_path) in json.loads(read_own(str(memory)))


def test_a_published_digest_spares_the_trial(encoder_path, tmp_path, monkeypatch):
    path = tmp_path / "model.gguf"
    shutil.copy(encoder_path, path)
    digest = open_model_file(encoder_path, home_path=None).digest
    path.with_name("model.gguf.sha256").write_text(f"{digest}  model.gguf\n")
    monkeypatch.setattr("mcl.model.files._load_apart", lambda _: pytest.fail("loaded in a child"))
    assert open_model_file(path, home_path=None).digest == digest
