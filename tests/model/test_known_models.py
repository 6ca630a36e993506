"""The models that a home knows: added, listed, used, forgotten; and files that are no whole text model."""

import os
import shutil
from dataclasses import replace

import gguf
import numpy as np
import pytest
from random_gguf import small_pieces, small_words, write_gguf

from executor import FixedClock, Home
from mcl.core.errors import ModelError
from mcl.model import load_model
from mcl.usecases.models import Models


@pytest.fixture
def models(tmp_path):
    with Home.open(tmp_path / "home", clock=FixedClock("2026-11-21T10:00:00.000Z")) as home:
        yield Models(home)


@pytest.fixture
def other(tmp_path):
    return write_gguf(tmp_path / "other.gguf", small_words(), layers=1, seed=1)


def code(caught) -> str:
    assert caught.value.message
    assert caught.value.fix
    return caught.value.code


def names(models) -> list[str]:
    return [one.name for one in models.list() if one.name not in ("bundled", "no-ai")]


def test_one_is_added_under_its_file_s_name_and_used_until_another_is(models, other):
    added = models.add(other)
    assert (added.name, added.path, added.in_use) == ("other", other, False)
    assert models.use("other").in_use
    assert models.open().digest == added.digest
    models.use("no-ai")
    assert models.open().version.startswith("no-ai")


def test_one_is_found_by_the_beginning_of_its_digest(models, other):
    added = models.add(other)
    assert models.find(added.digest[:8]).name == "other"
    with pytest.raises(ModelError) as caught:
        models.find(added.digest[:3])
    assert code(caught) == "MODEL_UNKNOWN"


def test_the_same_file_added_again_gets_the_new_name_and_stays_in_use(models, other):
    models.add(other)
    models.use("other")
    assert models.add(other, name="mine").in_use
    assert names(models) == ["mine"]
    assert models.open().digest == models.find("mine").digest


def test_a_name_that_another_file_has_is_refused(models, other, tmp_path):
    models.add(other, name="mine")
    second = write_gguf(tmp_path / "second.gguf", small_words(), layers=1, seed=2)
    with pytest.raises(ModelError) as caught:
        models.add(second, name="mine")
    assert code(caught) == "MODEL_NAME"
    assert models.find("mine").path == other


@pytest.mark.parametrize("name", ["bundled", "no-ai", " a", "a\nb", "\x1b[2J", "x" * 65])
def test_a_name_that_cannot_be_shown_or_is_fixed_is_refused(models, other, name):
    with pytest.raises(ModelError) as caught:
        models.add(other, name=name)
    assert code(caught) == "MODEL_NAME"
    assert names(models) == []


def test_a_file_whose_name_is_not_utf_8_is_used_once_and_not_added(models, other, tmp_path):
    odd = tmp_path / os.fsdecode(b"caf\xe9.gguf")
    shutil.copy(other, odd)
    assert models.open(path=odd).digest
    with pytest.raises(ModelError) as caught:
        models.add(odd, name="odd")
    assert code(caught) == "MODEL_NAME"


def test_a_file_that_changed_since_is_not_taken_for_the_one_that_was_added(models, other):
    digest = models.add(other).digest
    models.use("other")
    write_gguf(other, small_words(), layers=1, seed=3)
    for ask in (models.open, lambda: models.use("other")):
        with pytest.raises(ModelError) as caught:
            ask()
        assert code(caught) == "MODEL_CHANGED"
        assert "--no-ai" in caught.value.fix
    assert models.with_digest(digest) is None
    assert models.add(other).digest != digest
    assert models.open().digest == models.find("other").digest


def test_a_file_that_is_gone_is_listed_so_and_is_a_clear_error(models, other):
    digest = models.add(other).digest
    models.use("other")
    other.unlink()
    assert [one.fault for one in models.list() if one.name == "other"] == ["MODEL_MISSING"]
    with pytest.raises(ModelError) as caught:
        models.open()
    assert code(caught) == "MODEL_MISSING"
    assert models.with_digest(digest) is None
    assert models.open(ai=False).version.startswith("no-ai")


def test_one_that_is_forgotten_keeps_its_file_and_gives_way_to_the_bundled_one(models, other):
    models.add(other)
    models.use("other")
    assert models.remove("other").path == other
    assert other.exists()
    assert names(models) == []
    assert [one.name for one in models.list() if one.in_use] in (["bundled"], [])
    with pytest.raises(ModelError) as caught:
        models.remove("bundled")
    assert code(caught) in ("MODEL_NAME", "MODEL_UNKNOWN")


def test_a_broken_bundled_model_does_not_hide_the_others(models, other, tmp_path, monkeypatch):
    broken = tmp_path / "bundled.gguf"
    broken.write_bytes(b"GGUF rubbish")
    monkeypatch.setattr("mcl.model.loader.bundled_path", lambda: broken)
    models.add(other)
    assert {one.name: bool(one.fault) for one in models.list()} == {
        "bundled": True,
        "no-ai": False,
        "other": False,
    }
    assert models.use("other").in_use
    models.use("no-ai")
    with pytest.raises(ModelError) as caught:
        models.use("bundled")
    assert "--no-ai" in caught.value.fix


def test_how_a_model_writes_json_is_kept_with_it_and_enters_what_an_intent_records(models, other):
    models.add(other, spaced=True)
    models.use("other")
    assert " spaced " in models.open().grammar
    assert models.open(path=other).grammar == models.open().grammar
    found = models.with_digest(models.find("other").digest)
    assert found is not None
    assert found.grammar == models.open().grammar
    models.add(other)
    assert " spaced " not in models.open().grammar


def test_links_are_followed_and_keep_their_own_name(models, other, tmp_path):
    link = tmp_path / "link.gguf"
    link.symlink_to(other)
    assert models.add(link).name == "link"
    assert models.find("link").path == link
    loop = tmp_path / "loop.gguf"
    loop.symlink_to(loop)
    for broken in (loop, tmp_path / "dangling.gguf"):
        with pytest.raises(ModelError) as caught:
            models.add(broken)
        assert code(caught) == "MODEL_MISSING"


def test_what_is_no_regular_file_is_not_waited_for(models, tmp_path):
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path, tmp_path / "\0"):
        with pytest.raises(ModelError) as caught:
            models.add(place, name="odd")
        assert code(caught) == "MODEL_MISSING"


def test_a_part_of_a_split_model_is_told(models, tmp_path):
    path = write_gguf(
        tmp_path / "m-00001-of-00003.gguf", small_words(), extra={"split.count": 3, "split.no": 0}
    )
    with pytest.raises(ModelError) as caught:
        models.add(path)
    assert code(caught) == "MODEL_SPLIT"
    assert "--no-ai" in caught.value.fix


@pytest.mark.parametrize("kind", ["adapter", "mmproj", "imatrix"])
def test_another_kind_of_file_is_told(models, tmp_path, kind):
    path = write_gguf(tmp_path / "odd.gguf", small_words(), extra={"general.type": kind})
    with pytest.raises(ModelError) as caught:
        models.add(path)
    assert code(caught) == "MODEL_KIND"
    assert kind in caught.value.message


def test_a_vocabulary_without_weights_is_told(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "vocab.gguf", "llama")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ModelError) as caught:
        load_model(tmp_path / "vocab.gguf", home_path=None)
    assert code(caught) == "MODEL_KIND"


def test_a_model_that_only_encodes_is_told(tmp_path):
    with pytest.raises(ModelError) as caught:
        load_model(write_encoder(tmp_path / "bert.gguf"), home_path=None)
    assert code(caught) == "MODEL_KIND"
    assert "--no-ai" in caught.value.fix


def test_token_texts_that_are_no_utf_8_do_no_harm(tmp_path):
    words = small_pieces()
    tokens = [*words.tokens[:-3], b"\xff\xfe odd", *words.tokens[-2:]]
    model = load_model(write_gguf(tmp_path / "m.gguf", replace(words, tokens=tokens)), home_path=None)
    assert list(model.reason("", "a goal", ["title"], "write")) == ["title"]


def write_encoder(path):
    """A BERT of random weights: two layers, 32 channels."""
    width = 32
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"▁{chr(code)}" for code in range(33, 127))]
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_context_length(64)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(2 * width)
    writer.add_block_count(1)
    writer.add_head_count(2)
    writer.add_layer_norm_eps(1e-5)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_token_type_count(2)
    writer.add_tokenizer_model("bert")
    writer.add_token_list(words)
    writer.add_token_types([gguf.TokenType.CONTROL] * 5 + [gguf.TokenType.NORMAL] * (len(words) - 5))
    for name, token in {"unknown": 1, "seperator": 3, "padding": 0, "cls": 2, "mask": 4}.items():
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", token)
    shapes = {
        "token_embd": (len(words), width),
        "token_types": (2, width),
        "position_embd": (64, width),
        **{f"blk.0.attn_{part}": (width, width) for part in ("q", "k", "v", "output")},
        "blk.0.ffn_up": (2 * width, width),
        "blk.0.ffn_down": (width, 2 * width),
    }
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", np.zeros(shape, np.float32))
        if name.startswith("blk"):
            writer.add_tensor(f"{name}.bias", np.zeros(shape[0], np.float32))
    for name in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
