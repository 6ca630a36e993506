"""GGUF files with random weights, for tests: the form enc@1, and chat models over given vocabularies."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

from mcl.model import form
from mcl.model.form import FORM
from mcl.model.heads import CHANGES, KINDS, SIZE_KEY, packed_heads
from mcl.model.skill_classifier import SIZE_KEY as SKILLS_SIZE_KEY
from training import tokenizer_keys
from training.unigram import UnigramVocabulary

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


_PIECES = [
    *"abcdefghijklmnopqrstuvwxyz0123456789.,:;!?\"'()[]{}/_-@#$%&*+=<>",
    "the",
    "in",
    "to",
    "for",
    "find",
    "er",
    "ing",
]
_MATCH = 24
_RANDOM_HEADS = {
    "verb": len(form.VERBS), "kind": len(KINDS), "change": len(CHANGES), "wish": 2, "none": 1,
    "outside_tag": 2, "word_match": _MATCH, "slot_match": _MATCH, "slot_bias": 1, "asking": _MATCH,
    "offered": _MATCH, "unsaid": 1,
}  # fmt: skip


def random_heads(width: int, seed: int = 0, scale: float = 0.4) -> dict[str, np.ndarray]:
    """Heads as form enc@1 has them, of random numbers."""
    random = np.random.default_rng(seed)

    def values(*shape: int) -> np.ndarray:
        return random.normal(0, scale, shape).astype(np.float32)

    found = {
        "scale": np.array([12.0], np.float32),
        "example": np.array([-0.05], np.float32),
        "named": np.array([4.0], np.float32),
    }
    found |= {"types": values(4, width), "fields": values(len(form.FIELDS), width)}
    linear = {name: (rows, width) for name, rows in _RANDOM_HEADS.items()}
    linear |= {f"joint.{part}": (width, width) for part in "qkvo"}
    linear |= {"joint.up": (2 * width, width), "joint.down": (width, 2 * width)}
    for name, shape in linear.items():
        found |= {f"{name}.weight": values(*shape), f"{name}.bias": values(shape[0])}
    for part in ("n1", "n2"):
        found |= {f"joint.{part}.weight": np.ones(width, np.float32), f"joint.{part}.bias": values(width)}
    return found


def write_encoder(
    path: Path, *, seed: int = 0, layers: int = 2, width: int = 24, positions: int = 512,
    heads: dict[str, np.ndarray] | None = None, more: dict[str, object] | None = None,
    form_name: str = FORM, skills: bytes = b"", around: bool = True, unigram: UnigramVocabulary | None = None,
) -> Path:  # fmt: skip
    """A model of the form enc@1 (architecture bert) of random weights. skills: what it knows of skills by
    name; around: whether it states what a text stands between; unigram: its vocabulary, None: word pieces."""
    random = np.random.default_rng(seed)
    packed = packed_heads(heads or random_heads(width, seed), more or {})
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name("random")
    writer.add_block_count(layers)
    writer.add_context_length(positions)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(2 * width)
    writer.add_head_count(2)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.NONE)
    writer.add_token_type_count(2)
    if unigram is not None:
        tokenizer_keys.unigram(writer, unigram)
    words = len(unigram.pieces) if unigram is not None else _word_pieces(writer, around)
    writer.add_string("mcl.form", form_name)
    writer.add_uint64(SIZE_KEY, len(packed))
    if skills:
        writer.add_uint64(SKILLS_SIZE_KEY, len(skills))

    def tensor(name: str, *shape: int, value: float | None = None) -> None:
        made = random.normal(0, 0.4, shape) if value is None else np.full(shape, value)
        writer.add_tensor(name, made.astype(np.float32))

    tensor("token_embd.weight", words, width)
    tensor("position_embd.weight", positions, width)
    tensor("token_types.weight", 2, width)
    tensor("token_embd_norm.weight", width, value=1.0)
    tensor("token_embd_norm.bias", width)
    for layer in range(layers):
        for part, rows, columns in (
            ("attn_q", width, width), ("attn_k", width, width), ("attn_v", width, width),
            ("attn_output", width, width), ("ffn_up", 2 * width, width), ("ffn_down", width, 2 * width),
        ):  # fmt: skip
            tensor(f"blk.{layer}.{part}.weight", rows, columns)
            tensor(f"blk.{layer}.{part}.bias", rows)
        for part in ("attn_output_norm", "layer_output_norm"):
            tensor(f"blk.{layer}.{part}.weight", width, value=1.0)
            tensor(f"blk.{layer}.{part}.bias", width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with path.open("ab") as file:
        file.write(packed + skills)
    return path


def _word_pieces(writer: gguf.GGUFWriter, around: bool) -> int:
    special = ["[PAD]", *(f"[unused{i}]" for i in range(99)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = [*special, *(f"\N{LOWER ONE EIGHTH BLOCK}{piece}" for piece in _PIECES), *_PIECES]
    kinds = gguf.TokenType
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([token.encode() for token in tokens])
    writer.add_token_types(
        [kinds.UNKNOWN if token == "[UNK]" else kinds.CONTROL for token in special]
        + [kinds.NORMAL] * (2 * len(_PIECES))
    )
    for name, token in (("bos", 101), ("cls", 101), ("eos", 102), ("seperator", 102)) if around else ():
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", token)
    writer.add_unk_token_id(100)
    writer.add_pad_token_id(0)
    writer.add_mask_token_id(103)
    return len(tokens)


def few_pieces(read_as: dict[str, str] | None = None) -> UnigramVocabulary:
    """A unigram vocabulary of letters and a few words, with scores; read_as None: a little of everything."""
    texts = ["\u2581", *"abcdefghijklmnopqrstuvwxyzåäöABC0123456789.,:'\"()!?-/€😀", *_PIECES[-7:]]
    texts += [f"\u2581{word}" for word in ("the", "find", "a", "i", "nästa", "12")]
    texts += ["äst", "ing", "in", "1⁄2"]
    pieces = list(dict.fromkeys(texts))
    random = np.random.default_rng(3)
    scores = [-2.0 * len(piece) ** 0.5 - float(random.random()) for piece in pieces]
    scores = [float(np.float32(score)) for score in scores]
    if read_as is None:
        read_as = {"\n": " ", "\t": " ", "\u2581": " ", "\x07": "", "A": "a", "½": "1⁄2", "①": "1"}
        read_as["a\u0308"] = "ä"
    special = ("<s>", "<pad>", "</s>", "<unk>")
    return UnigramVocabulary((*special, *pieces), (*[0.0] * 4, *scores), read_as)
