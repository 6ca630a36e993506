"""GGUF files with random weights, for tests: the bundled form, and chat models over given vocabularies."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

from mcl.model import form

_HEAD = 16


@dataclass(frozen=True)
class Words:
    """A vocabulary as a GGUF states it. kind: tokenizer.ggml.model; pre: tokenizer.ggml.pre; what is None is
    not stated."""

    kind: str
    pre: str
    tokens: Sequence[bytes]
    types: Sequence[int]
    merges: Sequence[str] = ()
    scores: Sequence[float] = ()
    eos: int | None = None
    bos: int | None = None
    add_bos: bool | None = None
    space_prefix: bool | None = None


def byte_characters() -> list[str]:
    """GPT-2's character for each byte, written out independently of the code under test."""
    own = set(range(ord("!"), ord("~") + 1)) | set(range(ord("¡"), ord("¬") + 1)) | set(range(ord("®"), 256))
    characters, extra = [], 256
    for byte in range(256):
        characters.append(chr(byte if byte in own else extra))
        extra += byte not in own
    return characters


def small_words(specials: Sequence[str] = (), *, control: Sequence[str] = ("<|end|>",)) -> Words:
    """A byte-level BPE of 256 bytes and a few merges, then control tokens."""
    merges = ["t h", "th e", "Ġ t", "Ġt he", "i n", "a n", "e r", "r e", "Ġ f", "o r", "Ġf or", "o s", "l o"]
    plain = byte_characters() + [merge.replace(" ", "") for merge in merges]
    names = [*control, *specials]
    return Words(
        kind="gpt2",
        pre="qwen2",
        tokens=[token.encode() for token in [*plain, *names]],
        types=[gguf.TokenType.NORMAL] * len(plain) + [gguf.TokenType.CONTROL] * len(names),
        merges=merges,
        eos=len(plain),
        add_bos=False,
        space_prefix=False,
    )


def small_pieces(control: Sequence[str] = ("<|im_start|>", "<|im_end|>")) -> Words:
    """A SentencePiece vocabulary, as llama and gemma have it: a blank is U+2581, what has no piece goes by
    bytes."""
    normal = [*"▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:\"'{}[]/-"]
    normal += ["▁t", "th", "he", "▁the", "in", "er", "▁f", "or", "▁for", '":', '",', '"}', "▁▁", "å", "漢"]
    first = ["<unk>", "<s>", "</s>"]
    kinds = gguf.TokenType
    return Words(
        kind="llama",
        pre="default",
        tokens=[
            piece.encode()
            for piece in [*first, *(f"<0x{byte:02X}>" for byte in range(256)), *normal, *control]
        ],
        types=[
            *[kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL],
            *[kinds.BYTE] * 256,
            *[kinds.NORMAL] * len(normal),
            *[kinds.CONTROL] * len(control),
        ],
        scores=[0.0] * 259 + [-float(i) for i in range(len(normal))] + [0.0] * len(control),
        eos=2,
        bos=1,
    )


def words_of(path: Path) -> Words:
    """The vocabulary of a GGUF file (llama.cpp's own vocab-only files, for one)."""
    reader = gguf.GGUFReader(path)

    def value(name: str, default=None):
        field = reader.fields.get(f"tokenizer.ggml.{name}")
        return default if field is None else field.contents()

    return Words(
        kind=value("model"),
        pre=value("pre", "default"),
        tokens=[token.encode() for token in value("tokens")],
        types=value("token_type"),
        merges=value("merges", ()),
        scores=value("scores", ()),
        eos=value("eos_token_id"),
        bos=value("bos_token_id"),
        add_bos=value("add_bos_token"),
        space_prefix=value("add_space_prefix"),
    )


def write_gguf(
    path: Path,
    words: Words,
    *,
    architecture: str = "llama",
    layers: int = 2,
    width: int = 32,
    context: int = 2048,
    seed: int = 0,
    scale: float = 0.4,
    extra: dict[str, str | bool] | None = None,
    head: int = _HEAD,
) -> Path:
    """Write a model of random weights: tied embeddings, `width` channels, `head` of them in each head."""
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("random")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(2 * width)
    writer.add_head_count(width // head)
    writer.add_head_count_kv(width // head)
    writer.add_layer_norm_rms_eps(1e-5)
    if architecture.startswith("gemma"):
        writer.add_key_length(head)
        writer.add_value_length(head)
    else:
        writer.add_rope_dimension_count(head)
    writer.add_tokenizer_model(words.kind)
    writer.add_tokenizer_pre(words.pre)
    writer.add_token_list(list(words.tokens))
    writer.add_token_types(list(words.types))
    if len(words.merges):
        writer.add_token_merges(list(words.merges))
    if len(words.scores):
        writer.add_token_scores(list(words.scores))
    if words.add_bos is not None:
        writer.add_add_bos_token(words.add_bos)
    if words.space_prefix is not None:
        writer.add_add_space_prefix(words.space_prefix)
    if words.eos is not None:
        writer.add_eos_token_id(words.eos)
    if words.bos is not None:
        writer.add_bos_token_id(words.bos)
    for key, value in (extra or {}).items():
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        else:
            writer.add_string(key, value)

    def matrix(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(f"{name}.weight", random.normal(0, scale, (rows, columns)).astype(np.float16))

    def vector(name: str, size: int, suffix: str = "weight", value: float = 1.0) -> None:
        writer.add_tensor(f"{name}.{suffix}", np.full(size, value, np.float32))

    matrix("token_embd", len(words.tokens), width)
    vector("output_norm", width)
    for layer in range(layers):
        block = f"blk.{layer}"
        vector(f"{block}.attn_norm", width)
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"{block}.{part}", width, width)
        if architecture == "qwen2":
            for part in ("attn_q", "attn_k", "attn_v"):
                vector(f"{block}.{part}", width, "bias", 0.0)
        vector(f"{block}.ffn_norm", width)
        matrix(f"{block}.ffn_gate", 2 * width, width)
        matrix(f"{block}.ffn_up", 2 * width, width)
        matrix(f"{block}.ffn_down", width, 2 * width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_tags(path: Path, *, seed: int = 0, layers: int = 2, width: int = 32, context: int = 2048) -> Path:
    """A model of the bundled form, with random weights."""
    words = small_words([form.token_text(name) for name in form.SPECIALS])
    extra: dict[str, str | bool | int] = {"mcl.form": form.FORM, "llama.attention.causal": False}
    return write_gguf(path, words, layers=layers, width=width, context=context, seed=seed, extra=extra)
