"""Models with random weights, made once a session."""

from pathlib import Path

import pytest
from random_gguf import few_pieces, small_words, words_of, write_encoder, write_gguf
from real_models import real_model
from vocabularies import NotHereError, vocabularies

from mcl.model import load_model
from mcl.model.protocol import Model

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="session")
def encoder_path(tmp_path_factory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "encoder.gguf")


@pytest.fixture(scope="session")
def unigram_path(tmp_path_factory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("unigram") / "unigram.gguf", unigram=few_pieces())


@pytest.fixture(scope="session")
def chat_template() -> str:
    return CHAT_TEMPLATE


@pytest.fixture(scope="session")
def chat_path(tmp_path_factory) -> Path:
    words = small_words(control=("<|end|>", "<|im_start|>", "<|im_end|>"))
    path = tmp_path_factory.mktemp("chat") / "chat.gguf"
    return write_gguf(path, words, context=4096, extra={"tokenizer.chat_template": CHAT_TEMPLATE})


@pytest.fixture(scope="session", name="vocabularies")
def real_vocabularies() -> Path:
    """The folder with llama.cpp's vocab-only files and, in `templates`, chat templates; fetched where need
    be."""
    try:
        return vocabularies()
    except NotHereError as error:
        pytest.skip(f"no real vocabularies (make vocabularies, or set MCL_VOCABULARIES): {error}")


@pytest.fixture(scope="session")
def real_chat_path(vocabularies, tmp_path_factory):
    """A function: architecture and vocabulary to a random model over it."""
    folder = tmp_path_factory.mktemp("real")

    def make(architecture: str, vocabulary: str) -> Path:
        path = folder / f"{architecture}-{vocabulary}.gguf"
        words = words_of(vocabularies / f"ggml-vocab-{vocabulary}.gguf")
        return (
            path
            if path.exists()
            else write_gguf(path, words, architecture=architecture, layers=1, context=8192)
        )

    return make


@pytest.fixture(scope="session")
def real_chat_model():
    """A function: the name of a small real model to the model, fetched where need be and loaded once."""
    loaded: dict[str, Model] = {}

    def load(name: str) -> Model:
        if name not in loaded:
            try:
                loaded[name] = load_model(real_model(name), home_path=None)
            except NotHereError as error:
                pytest.skip(f"no real models (or set MCL_REAL_MODELS): {error}")
        return loaded[name]

    return load
