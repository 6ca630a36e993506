"""Whatever the weights, the goal and the skill: a valid document or a clear error, and the process lives."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from random_gguf import small_pieces, small_words, write_gguf

SCRIPT = Path(__file__).with_name("compile_at_random.py")
FEW, MORE = 15, 40
MANY = int(os.environ.get("MCL_RANDOM_COMPILES", "1450"))  # for each of eight vocabularies


def compile_at_random(model: Path, folder: Path, seed: int, count: int) -> dict[str, int]:
    """Run the script in a process of its own; fails with its input where it dies."""
    command = [sys.executable, str(SCRIPT), str(model), str(folder), str(seed), str(count)]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    now = folder / "now.txt"
    last = now.read_text()[:4000] if now.exists() else "nothing yet"
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stderr[-6000:]}\nat: {last}"
    counted: dict[str, int] = json.loads(done.stdout)
    return counted


def check(counted: dict[str, int], count: int) -> None:
    compiled = sum(counted.get(outcome, 0) for outcome in ("Compiled", "Clarify", "Refused"))
    assert compiled >= 0.7 * count, counted
    assert counted["answers"] >= 0.7 * count, counted


@pytest.mark.parametrize(
    ("seed", "architecture", "count"),
    [
        (0, "llama", FEW),
        pytest.param(1, "qwen2", MORE, marks=pytest.mark.slow),
        pytest.param(2, "gemma", MORE, marks=pytest.mark.slow),
    ],
)
def test_small_models_of_each_shape_compile_anything(chat_template, tmp_path, seed, architecture, count):
    control = ("<|end|>", "<|im_start|>", "<|im_end|>")
    words = small_words(control=control) if architecture == "qwen2" else small_pieces()
    extra = {"tokenizer.chat_template": chat_template}
    path = tmp_path / "model.gguf"
    write_gguf(path, words, architecture=architecture, layers=1, context=8192, seed=seed, extra=extra)
    check(compile_at_random(path, tmp_path, seed, count), count)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "architecture", "vocabulary"),
    [
        (1, "llama", "llama-spm"),
        (2, "llama", "phi-3"),
        (3, "llama", "gpt-2"),
        (4, "llama", "llama-bpe"),
        (5, "qwen2", "qwen2"),
        (6, "gemma", "gemma-4"),
        (7, "llama", "command-r"),
        (8, "llama", "deepseek-llm"),
    ],
)
def test_ten_thousand_compiles_over_real_vocabularies(
    real_chat_path, tmp_path, seed, architecture, vocabulary
):
    path = real_chat_path(architecture, vocabulary)
    counted = compile_at_random(path, tmp_path, seed, MANY)
    print(vocabulary, counted)  # what `pytest -s` shows
    check(counted, MANY)
