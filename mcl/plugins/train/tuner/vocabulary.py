"""Byte-level BPE of the bundled model; llama.cpp reads it as model `gpt2`, pre-tokenizer `qwen2`."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from mcl.model import form

QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def bare(vocabulary: dict[str, int] | None = None, merges: list[tuple[str, str]] | None = None) -> Tokenizer:
    """The tokenizer with these pieces and merges; without any, ready to learn them."""
    tokenizer = Tokenizer(models.BPE(vocabulary, merges) if vocabulary else models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


class TokenVocabulary:
    """Pieces to ids: text through the BPE (remembered), special tokens behind it, as in form.SPECIALS."""

    def __init__(self, path: Path) -> None:
        self.tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        self.base: int = self.tokenizer.get_vocab_size()
        self.special = {name: self.base + i for i, name in enumerate(form.SPECIALS)}
        self.size = self.base + len(form.SPECIALS)
        self.merges: list[tuple[str, str]] = [
            tuple(m) for m in json.loads(path.read_text())["model"]["merges"]
        ]
        self._known: dict[str, tuple[int, ...]] = {}

    def ids(self, piece: form.Piece) -> tuple[int, ...]:
        """Token ids of a piece."""
        if piece.special:
            return (self.special[piece.text],)
        known = self._known.get(piece.text)
        if known is None:
            known = tuple(self.tokenizer.encode(piece.text).ids)
            if len(self._known) < 400_000:
                self._known[piece.text] = known
        return known
