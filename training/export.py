"""Write a checkpoint as GGUF: llama architecture, attention both ways, BPE `gpt2` / `qwen2`."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType, TokenType

from mcl.model import form
from mcl.plugins.train.tuner.network import Asker
from mcl.plugins.train.tuner.weights import tensors

NAME, VERSION = "mcl-tags", "1"


CONTEXT = 2048


TYPES = {
    "q8_0": GGMLQuantizationType.Q8_0,
    "f16": GGMLQuantizationType.F16,
    "f32": GGMLQuantizationType.F32,
}


SOURCES = (
    "SNIPS NLU benchmark (CC0 1.0); CLINC150 (CC BY 3.0); HWU64 (CC BY 4.0); SGD (CC BY-SA 4.0); "
    "BANKING77 (CC BY 4.0); RESTAURANT8k (CC BY 4.0); nl2bash (MIT); TaskBench (MIT); "
    "own generator (Apache-2.0)"
)


def export(asker: Asker, path: Path, kind: str = "q8_0") -> None:
    """Write the checkpoint; matrices as `kind` (q8_0, f16 or f32), norms as f32."""
    shape, vocabulary = asker.shape, asker.vocabulary
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name(NAME)
    writer.add_version(VERSION)
    writer.add_author("mcl")
    writer.add_license("Apache-2.0")
    writer.add_description(f"Chooses skills and tags spans in one pass ({form.FORM}). Trained on: {SOURCES}.")
    writer.add_string("mcl.form", form.FORM)
    writer.add_string("mcl.version", VERSION)
    writer.add_string("mcl.sources", SOURCES)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_causal_attention(False)
    for name, temperature in asker.temperatures.items():
        writer.add_float32(f"mcl.temperature.{name}", temperature)
    _vocabulary(writer, asker)
    for name, values in tensors(asker.network.state_dict(), shape).items():
        values = np.ascontiguousarray(values, dtype=np.float32)
        if values.ndim == 1 or kind == "f32":
            writer.add_tensor(name, values)
        elif kind == "f16":
            writer.add_tensor(name, values.astype(np.float16))
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, TYPES[kind]), raw_dtype=TYPES[kind])
    assert vocabulary.size == shape.vocabulary
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    digest = hashlib.sha256(
        path.read_bytes()
    ).hexdigest()  # beside it, so that a first run need not try it out
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n")


def _vocabulary(writer: gguf.GGUFWriter, asker: Asker) -> None:
    vocabulary = asker.vocabulary
    texts = [""] * vocabulary.size
    for text, i in vocabulary.tokenizer.get_vocab().items():
        texts[i] = text
    types = [TokenType.NORMAL] * vocabulary.base + [TokenType.CONTROL] * len(form.SPECIALS)
    for name, i in vocabulary.special.items():
        texts[i] = form.token_text(name)
    if len(set(texts)) != len(texts):
        raise ValueError("two tokens have the same text: llama.cpp would abort")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(texts)
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(pair) for pair in vocabulary.merges])
    writer.add_eos_token_id(vocabulary.special["end"])
    writer.add_bos_token_id(vocabulary.special["end"])
    writer.add_pad_token_id(vocabulary.special["pad"])
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--gguf", type=Path, required=True, help="file to write")
    parser.add_argument("--kind", choices=tuple(TYPES), default="q8_0")
    given = parser.parse_args()
    export(Asker(given.out), given.gguf, given.kind)
    print(f"{given.gguf} {given.gguf.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
