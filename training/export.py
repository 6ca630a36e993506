"""A tuned network as a GGUF that llama.cpp reads (architecture bert), its heads behind the tensors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np
from gguf.quants import quantize

from mcl.model.form import FORM
from mcl.model.heads import SIZE_KEY, packed_heads
from training.network import EncoderNetwork

_PARTS = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "n1": "attn_output_norm", "up": "ffn_up",
    "down": "ffn_down", "n2": "layer_output_norm",
}  # fmt: skip
_SPECIAL = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
KINDS = {
    "f32": gguf.GGMLQuantizationType.F32,
    "f16": gguf.GGMLQuantizationType.F16,
    "q8_0": gguf.GGMLQuantizationType.Q8_0,
    "q4_0": gguf.GGMLQuantizationType.Q4_0,
}


def export(
    network: EncoderNetwork, package: Path, target: Path, *, kind: str = "q8_0", table: str = "q8_0",
    name: str = "mcl-encoder", version: str = "1", more: Mapping[str, object] | None = None,
) -> None:  # fmt: skip
    """Write the GGUF and its sum. kind: of matrices; table: of the words; more: said beside the heads."""
    heads = {key: tensor.detach().float().numpy() for key, tensor in network.heads.state_dict().items()}
    packed = packed_heads(heads, more or {})
    writer = gguf.GGUFWriter(str(target.with_suffix(".part")), "bert")
    _describe(writer, network, name, version)
    writer.add_string("mcl.form", FORM)
    writer.add_uint64(SIZE_KEY, len(packed))
    _vocabulary(writer, package)
    weights = {key: tensor.detach().float().numpy() for key, tensor in network.encoder.state_dict().items()}

    def add(key: str, values: np.ndarray, as_: str) -> None:
        values = np.ascontiguousarray(values, dtype=np.float32)
        if as_ == "f32":
            writer.add_tensor(key, values)
        else:
            writer.add_tensor(key, quantize(values, KINDS[as_]), raw_dtype=KINDS[as_])

    add("token_embd.weight", weights["word.weight"], table)
    add("position_embd.weight", weights["pos.weight"], "f32")
    add("token_types.weight", weights["typ.weight"], "f32")
    for part in ("weight", "bias"):
        add(f"token_embd_norm.{part}", weights[f"norm.{part}"], "f32")
        for layer in range(len(network.encoder.layers)):
            for own, theirs in _PARTS.items():
                as_ = kind if part == "weight" and not own.startswith("n") else "f32"
                add(f"blk.{layer}.{theirs}.{part}", weights[f"layers.{layer}.{own}.{part}"], as_)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with target.with_suffix(".part").open("ab") as file:
        file.write(packed)
    target.with_suffix(".part").replace(target)
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    target.with_name(f"{target.name}.sha256").write_text(f"{digest}  {target.name}\n")


def _describe(writer: gguf.GGUFWriter, network: EncoderNetwork, name: str, version: str) -> None:
    encoder = network.encoder
    layer = encoder.layers[0]
    writer.add_name(name)
    writer.add_version(version)
    writer.add_license("apache-2.0")
    writer.add_block_count(len(encoder.layers))
    writer.add_context_length(encoder.pos.num_embeddings)
    writer.add_embedding_length(encoder.word.embedding_dim)
    writer.add_feed_forward_length(layer.up.out_features)  # type: ignore[union-attr,arg-type]
    writer.add_head_count(layer.heads)  # type: ignore[union-attr,arg-type]
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.NONE)
    writer.add_token_type_count(2)


def _vocabulary(writer: gguf.GGUFWriter, package: Path) -> None:
    """Word pieces as llama.cpp wants them: a mark before those that begin a word, `##` off the others."""
    told = json.loads(next(package.rglob("tokenizer.json")).read_text(encoding="utf-8"))["model"]["vocab"]
    pieces = sorted(told, key=told.__getitem__)
    tokens, types = [], []
    for piece in pieces:
        if piece in _SPECIAL:
            tokens.append(piece.encode())
            types.append(gguf.TokenType.UNKNOWN if piece == "[UNK]" else gguf.TokenType.CONTROL)
        else:
            tokens.append(piece[2:].encode() if piece.startswith("##") else b"\xe2\x96\x81" + piece.encode())
            types.append(gguf.TokenType.NORMAL)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_bos_token_id(_SPECIAL["[CLS]"])
    writer.add_eos_token_id(_SPECIAL["[SEP]"])
    writer.add_unk_token_id(_SPECIAL["[UNK]"])
    writer.add_sep_token_id(_SPECIAL["[SEP]"])
    writer.add_pad_token_id(_SPECIAL["[PAD]"])
    writer.add_mask_token_id(_SPECIAL["[MASK]"])
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
