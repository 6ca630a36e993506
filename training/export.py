"""A tuned network as a GGUF that llama.cpp reads (architecture bert), its heads behind the tensors."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf.quants import quantize
from torch import nn

from mcl.model.form import FORM
from mcl.model.heads import SIZE_KEY, packed_heads
from training import tokenizer_keys, written
from training.base import MINILM, base_of
from training.network import EncoderNetwork
from training.pieces import VOCABULARY, pieces_of
from training.rounding import iq4_nl, q5_0
from training.unigram import UnigramVocabulary

_PARTS = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "n1": "attn_output_norm", "up": "ffn_up",
    "down": "ffn_down", "n2": "layer_output_norm",
}  # fmt: skip
_KINDS = gguf.GGMLQuantizationType
_ROUNDED = {"iq4_nl": iq4_nl, "q5_0": q5_0}
"""Kinds that are rounded for what the matrices really meet; all others are rounded as they are."""
_MET, _AT_ONCE = 400, 40  # goals that tell what they meet


def export(
    network: EncoderNetwork, package: Path, target: Path, *, name: str = "mcl-encoder", version: str = "1",
    more: Mapping[str, object] | None = None, kinds: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Write the GGUF and its sum. more: said beside the heads; kinds: other types than the base says, by the
    name of its field."""
    base = replace(base_of(package), **(kinds or {}))
    heads = {key: tensor.detach().float().numpy() for key, tensor in network.heads.state_dict().items()}
    packed = packed_heads(heads, more or {})
    writer = gguf.GGUFWriter(str(target.with_suffix(".part")), "bert")
    _describe(writer, network, name, version)
    writer.add_string("mcl.form", FORM)
    writer.add_uint64(SIZE_KEY, len(packed))
    if base_of(package) is MINILM:
        tokenizer_keys.word_pieces(writer, package)
    else:
        tokenizer_keys.unigram(writer, UnigramVocabulary.load(package / VOCABULARY))
    weights = {key: tensor.detach().float().numpy() for key, tensor in network.encoder.state_dict().items()}

    met: dict[str, np.ndarray] = {}
    if {base.attention, base.feed_forward} & _ROUNDED.keys():
        met = squares_met(network, package)

    def add(key: str, values: np.ndarray, as_: str, counts: np.ndarray | None = None) -> None:
        values = np.ascontiguousarray(values, dtype=np.float32)
        if as_ == "f32":
            writer.add_tensor(key, values)
            return
        kind = _KINDS[as_.upper()]
        if as_ in _ROUNDED:
            even = np.ones(values.shape[1], np.float32)
            writer.add_tensor(key, _ROUNDED[as_](values, even if counts is None else counts), raw_dtype=kind)
        else:
            writer.add_tensor(key, quantize(values, kind), raw_dtype=kind)

    add("token_embd.weight", weights["word.weight"], base.words)
    add("position_embd.weight", weights["pos.weight"], base.places)
    add("token_types.weight", weights["typ.weight"], "f32")
    for part in ("weight", "bias"):
        add(f"token_embd_norm.{part}", weights[f"norm.{part}"], "f32")
        for layer in range(len(network.encoder.layers)):
            for own, theirs in _PARTS.items():
                as_ = base.feed_forward if own in ("up", "down") else base.attention
                as_ = as_ if part == "weight" and not own.startswith("n") else "f32"
                key = f"layers.{layer}.{own}"
                add(f"blk.{layer}.{theirs}.{part}", weights[f"{key}.{part}"], as_, met.get(key))
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


def squares_met(network: EncoderNetwork, package: Path) -> dict[str, np.ndarray]:
    """Of each matrix of a layer the mean squares of what its columns are multiplied with, over goals."""
    goals = [goal.text for one in written.writers(parts=("train",)) for goal in one.goals]
    pieces = pieces_of(package)
    rows = [pieces.of_text(text) for text in goals[:: max(1, len(goals) // _MET)]]
    sums: dict[str, torch.Tensor] = {}

    def note(name: str, _module: nn.Module, given: tuple[torch.Tensor, ...], _: object) -> None:
        sums[name] = sums.get(name, torch.zeros(())) + given[0].flatten(0, -2).float().square().sum(0)

    hooks = [
        getattr(layer, own).register_forward_hook(functools.partial(note, f"layers.{place}.{own}"))
        for place, layer in enumerate(network.encoder.layers)
        for own in _PARTS
    ]
    with torch.no_grad():
        for at in range(0, len(rows), _AT_ONCE):
            network.encode(rows[at : at + _AT_ONCE])
    for hook in hooks:
        hook.remove()
    count = sum(map(len, rows))
    return {name: (total / count).numpy() for name, total in sums.items()}
