"""The KV cache of a prompt's fixed part: the same answers with it and without, whatever its folder holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from model_requests import CANDIDATES, FORM, GOAL

from mcl.model import load_model
from mcl.model.llama import context as prefix
from mcl.model.llama.context import ContextSize, ModelContext, Prefixes
from mcl.model.llama.weights import Weights

TOKENS = list(range(40, 90))


@pytest.fixture(scope="module")
def weights(chat_path):
    return Weights(chat_path)


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.kv"))


def hold(weights, folder, *, tokens=TOKENS, digest="0" * 64, batch=64) -> tuple[bytes, int]:
    """The state of a fresh context that holds `tokens`, and how many it evaluated for it."""
    context = ModelContext(weights, ContextSize(tokens=256, batch=batch))
    evaluated: list[int] = []
    feed = context.feed
    context.feed = lambda some, **how: (evaluated.append(len(some)), feed(some, **how))[1]
    Prefixes(context, model_digest=digest, folder=folder).hold(tokens, whole=False)
    assert context.used == len(tokens)
    return context.state(), sum(evaluated)


@pytest.fixture
def fresh(weights) -> bytes:
    return hold(weights, None)[0]


def test_a_prefix_is_evaluated_once_and_then_read_back_bit_for_bit(weights, tmp_path, fresh):
    assert hold(weights, tmp_path) == (fresh, len(TOKENS))
    assert hold(weights, tmp_path) == (fresh, 0)
    assert len(kept(tmp_path)) == 1


@pytest.mark.parametrize("at", [0, 31, 32, 40, 1000, -1])
def test_a_flipped_bit_is_a_miss(weights, tmp_path, fresh, at):
    hold(weights, tmp_path)
    (file,) = kept(tmp_path)
    data = bytearray(file.read_bytes())
    data[at] ^= 4
    file.write_bytes(data)
    assert hold(weights, tmp_path) == (fresh, len(TOKENS))
    assert hold(weights, tmp_path) == (fresh, 0)


@pytest.mark.parametrize("size", [0, 1, 32, 33, 5000])
def test_a_file_cut_short_is_a_miss(weights, tmp_path, fresh, size):
    hold(weights, tmp_path)
    (file,) = kept(tmp_path)
    os.truncate(file, size)
    assert hold(weights, tmp_path) == (fresh, len(TOKENS))


def test_another_prompt_s_file_under_this_one_s_name_is_a_miss(weights, tmp_path, fresh):
    hold(weights, tmp_path)
    (mine,) = kept(tmp_path)
    hold(weights, tmp_path, tokens=TOKENS[::-1])
    (other,) = [file for file in kept(tmp_path) if file != mine]
    other.replace(mine)
    assert hold(weights, tmp_path) == (fresh, len(TOKENS))


@pytest.mark.parametrize("how", [{"digest": "1" * 64}, {"batch": 16}, {"tokens": TOKENS[:-1]}])
def test_another_model_batch_or_prompt_is_a_miss(weights, tmp_path, how):
    hold(weights, tmp_path)
    assert hold(weights, tmp_path, **how)[1] == len(how.get("tokens", TOKENS))
    assert len(kept(tmp_path)) == 2


@pytest.mark.parametrize("what", ["llama_version", "llama_print_system_info"])
def test_another_llama_cpp_or_processor_is_a_miss(weights, tmp_path, monkeypatch, what):
    hold(weights, tmp_path)
    monkeypatch.setattr(weights.library.c, what, lambda: b"another")
    assert hold(weights, tmp_path)[1] == len(TOKENS)


@pytest.mark.parametrize("odd", ["folder", "pipe", "link"])
def test_what_is_no_regular_file_is_a_miss(weights, tmp_path, fresh, odd):
    hold(weights, tmp_path)
    (file,) = kept(tmp_path)
    data = file.read_bytes()
    file.unlink()
    if odd == "folder":
        file.mkdir()
    elif odd == "pipe":
        os.mkfifo(file)
    else:
        (tmp_path / "elsewhere").write_bytes(data)
        file.symlink_to(tmp_path / "elsewhere")
    assert hold(weights, tmp_path) == (fresh, len(TOKENS))


def test_a_folder_that_cannot_be_made_costs_time_only(weights, tmp_path, fresh):
    (tmp_path / "file").write_text("no folder")
    assert hold(weights, tmp_path / "file" / "prefix") == (fresh, len(TOKENS))


def test_what_was_used_longest_ago_goes_where_there_is_no_room(weights, tmp_path, monkeypatch):
    prompts = [list(range(start, start + 50)) for start in (40, 100, 150, 200)]
    for prompt in prompts[:3]:
        hold(weights, tmp_path, tokens=prompt)
    for age, file in enumerate(
        sorted(kept(tmp_path), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    ):
        os.utime(file, (1e9 - age, 1e9 - age))
    assert hold(weights, tmp_path, tokens=prompts[0])[1] == 0  # used again, so the newest now
    monkeypatch.setattr(prefix, "BYTES_ON_DISK", int(3.5 * kept(tmp_path)[0].stat().st_size))
    hold(weights, tmp_path, tokens=prompts[3])
    assert sum(file.stat().st_size for file in kept(tmp_path)) <= prefix.BYTES_ON_DISK
    assert [hold(weights, tmp_path, tokens=prompts[i])[1] for i in (0, 2, 3)] == [0, 0, 0]
    assert hold(weights, tmp_path, tokens=prompts[1])[1] == 50


def test_a_state_larger_than_all_room_is_not_written(weights, tmp_path, monkeypatch, fresh):
    monkeypatch.setattr(prefix, "BYTES_ON_DISK", 1000)
    monkeypatch.setattr(prefix, "BYTES_IN_MEMORY", 1000)
    assert hold(weights, tmp_path) == (fresh, len(TOKENS))
    assert kept(tmp_path) == []


def test_parts_that_a_process_left_behind_go(weights, tmp_path):
    tmp_path.joinpath(".old.kv.1-1").write_bytes(b"half")
    os.utime(tmp_path / ".old.kv.1-1", (1e9, 1e9))
    tmp_path.joinpath(".new.kv.1-1").write_bytes(b"being written")
    hold(weights, tmp_path)
    assert sorted(file.name for file in tmp_path.glob(".*")) == [".new.kv.1-1"]


@pytest.mark.slow
def test_many_processes_at_once_give_the_same_answers(chat_path, tmp_path):
    here = str(Path(__file__).parent)
    script = (
        f"import sys, pathlib\nsys.path.insert(0, {here!r})\n"
        "from model_requests import CANDIDATES, FORM, GOAL\nfrom mcl.model import load_model\n"
        f"home = pathlib.Path({str(tmp_path)!r})\n"
        f"m = load_model(pathlib.Path({str(chat_path)!r}), home_path=home)\n"
        "print(repr((m.choose(GOAL, CANDIDATES), m.extract(GOAL, FORM))))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    said = {child.communicate()[0].strip() for child in running}
    assert [child.returncode for child in running] == [0] * 4
    model = load_model(chat_path, home_path=None)
    assert said == {repr((model.choose(GOAL, CANDIDATES), model.extract(GOAL, FORM)))}
    assert not list((tmp_path / "cache" / "prefix").glob(".*"))
