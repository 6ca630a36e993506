"""A vocabulary as a GGUF states it."""

from __future__ import annotations

import json
from pathlib import Path

import gguf

from training.unigram import BEGIN, END, PAD, SPECIAL, UNKNOWN, UnigramVocabulary, charsmap

_SPECIAL = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}


def word_pieces(writer: gguf.GGUFWriter, package: Path) -> None:
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


def unigram(writer: gguf.GGUFWriter, kept: UnigramVocabulary) -> None:
    """Pieces with scores (llama.cpp's `t5`). No blank is put before a text, and those in it stay: whoever
    asks says where they are."""
    types = [gguf.TokenType.NORMAL] * len(kept.pieces)
    types[:SPECIAL] = [gguf.TokenType.CONTROL] * SPECIAL
    types[UNKNOWN] = gguf.TokenType.UNKNOWN
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece.encode() for piece in kept.pieces])
    writer.add_token_scores(list(kept.scores))
    writer.add_token_types(types)
    if kept.read_as:
        writer.add_precompiled_charsmap(charsmap(kept.read_as))
    writer.add_add_space_prefix(False)
    writer.add_remove_extra_whitespaces(False)
    writer.add_bos_token_id(BEGIN)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(UNKNOWN)
    writer.add_sep_token_id(END)
    writer.add_pad_token_id(PAD)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
