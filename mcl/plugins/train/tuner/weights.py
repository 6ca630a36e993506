"""From a model file back to a checkpoint, and from changed weights to a model file beside it.

    unpack(Path("mcl-tags.gguf"), Path("run"))       a folder that a training can begin with, and be asked
    python -m mcl.plugins.train.tuner.weights --gguf mcl-tags.gguf --out run
    python -m training.train --begin run …

q8_0 rounds each weight to a 254th of its block's range, so a checkpoint read back is a little off.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch

from mcl.model import form
from mcl.model.skill_classifier import SIZE_KEY
from mcl.plugins.train.tuner.network import NetworkShape
from mcl.plugins.train.tuner.rows import bare

_LAYER = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output",
    "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
}  # fmt: skip


class WeightsError(ValueError):
    """A file that is no model of the bundled form."""


@dataclass(frozen=True)
class Checkpoint:
    """weights: by the network's names, float32. tokenizer: as tokenizers saves one. tail: the bytes behind
    the tensors (the linear member), b"" where there are none."""

    weights: dict[str, torch.Tensor]
    shape: NetworkShape
    tokenizer: str
    tail: bytes


def split(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows of Q or K from the neighbouring RoPE pairs of llama.cpp to half-split pairs (export does the
    opposite)."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def read(path: Path) -> Checkpoint:
    """Read a GGUF of the form `tags@1`. Raises WeightsError for another one; what gguf raises for a damaged
    one."""
    reader = gguf.GGUFReader(str(path))

    def said(name: str) -> Any:
        if name not in reader.fields:
            raise WeightsError(f"{path}: the key {name} is missing")
        return reader.fields[name].contents()

    if "mcl.form" not in reader.fields or said("mcl.form") != form.FORM:
        raise WeightsError(f"{path}: not of the form {form.FORM}")
    shape = NetworkShape(
        vocabulary=len(said("tokenizer.ggml.tokens")),
        specials=len(form.SPECIALS),
        width=said("llama.embedding_length"),
        layers=said("llama.block_count"),
        heads=said("llama.attention.head_count"),
        feed_forward=said("llama.feed_forward_length"),
        rope_base=said("llama.rope.freq_base"),
        epsilon=said("llama.attention.layer_norm_rms_epsilon"),
    )
    found = {one.name: gguf.quants.dequantize(one.data, one.tensor_type) for one in reader.tensors}

    def tensor(name: str) -> torch.Tensor:
        return torch.from_numpy(np.array(found[name], dtype=np.float32))

    weights = {"embedding.weight": tensor("token_embd.weight"), "norm": tensor("output_norm.weight")}
    for i in range(shape.layers):
        weights[f"blocks.{i}.norm_attention"] = tensor(f"blk.{i}.attn_norm.weight")
        weights[f"blocks.{i}.norm_forward"] = tensor(f"blk.{i}.ffn_norm.weight")
        for ours, theirs in _LAYER.items():
            weight = np.array(found[f"blk.{i}.{theirs}.weight"], dtype=np.float32)
            weight = split(weight, shape.heads) if ours in "qk" else weight
            weights[f"blocks.{i}.{ours}.weight"] = torch.from_numpy(np.ascontiguousarray(weight))
    return Checkpoint(weights, shape, _tokenizer(said), path.read_bytes()[_end(reader) :])


def _end(reader: gguf.GGUFReader) -> int:
    """Where the tensors end."""
    return max(int(one.data_offset) + int(one.n_bytes) for one in reader.tensors)


def _tokenizer(said: Any) -> str:
    tokens = said("tokenizer.ggml.tokens")[: -len(form.SPECIALS)]
    merges = [tuple(pair.split(" ")) for pair in said("tokenizer.ggml.merges")]
    return str(bare({token: place for place, token in enumerate(tokens)}, merges).to_str())


def neighbouring(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows of Q or K from half-split RoPE pairs to the neighbouring pairs of llama.cpp."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def tensors(weights: dict[str, torch.Tensor], shape: NetworkShape) -> dict[str, np.ndarray]:
    """Checkpoint tensors under GGUF names."""
    out = {
        "token_embd.weight": weights["embedding.weight"].numpy(),
        "output_norm.weight": weights["norm"].numpy(),
    }
    for i in range(shape.layers):
        out[f"blk.{i}.attn_norm.weight"] = weights[f"blocks.{i}.norm_attention"].numpy()
        out[f"blk.{i}.ffn_norm.weight"] = weights[f"blocks.{i}.norm_forward"].numpy()
        for ours, theirs in _LAYER.items():
            weight = weights[f"blocks.{i}.{ours}.weight"].numpy()
            out[f"blk.{i}.{theirs}.weight"] = neighbouring(weight, shape.heads) if ours in "qk" else weight
    return out


def unpack(path: Path, folder: Path) -> Checkpoint:
    """Write a checkpoint.pt and a tokenizer.json with what a model file holds, for --begin and for Asker."""
    found = read(path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(found.tokenizer, encoding="utf-8")
    state = {"average": found.weights, "network": found.weights, "shape": found.shape.to_json()}
    torch.save(state | {"step": 0, "spent": 0.0, "examples": 0}, folder / "checkpoint.pt")
    return found


def rewrite(
    base: Path, target: Path, tensors: Mapping[str, np.ndarray], *, said: Mapping[str, str], tail: bytes
) -> None:
    """Write `base` again with other float32 values of the same tensors (in its own kinds of numbers),
    further or other texts under keys, and `tail` behind the tensors."""
    reader = gguf.GGUFReader(str(base))
    writer = gguf.GGUFWriter(str(target), str(reader.fields["general.architecture"].contents()))
    for one in reader.fields.values():
        if one.name != "general.architecture" and one.name not in said and not one.name.startswith("GGUF."):
            kind = one.types[0]
            inner = one.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            value = len(tail) if one.name == SIZE_KEY else one.contents()
            writer.add_key_value(one.name, value, kind, sub_type=inner)
    for name in sorted(said):
        writer.add_string(name, said[name])
    for tensor in reader.tensors:
        values = np.ascontiguousarray(tensors[tensor.name], dtype=np.float32)
        if tensor.tensor_type == gguf.GGMLQuantizationType.F32:
            writer.add_tensor(tensor.name, values)
        else:
            stored = gguf.quants.quantize(values, tensor.tensor_type)
            writer.add_tensor(tensor.name, stored, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with target.open("ab") as file:
        file.write(tail)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    given = parser.parse_args()
    print(json.dumps(unpack(given.gguf, given.out).shape.to_json()))


if __name__ == "__main__":
    main()
