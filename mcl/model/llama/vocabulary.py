"""The bytes of each token, from the vocabulary's own text (the library's call is slow and drops long
pieces)."""

import ctypes
import functools
import re
from dataclasses import dataclass

from mcl.core.errors import ModelError
from mcl.model.llama.weights import NO_AI, Weights

_UNKNOWN, _UNUSED, _NORMAL, _CONTROL, _USER_DEFINED, _BYTE = 1, 2, 4, 8, 16, 32  # llama_token_attr bits
_ROOM = 16_384
_BYTE_TEXT = re.compile(rb"<0x([0-9A-Fa-f]{2})>")
_BLANK = "\u2581".encode()  # SentencePiece writes a blank as U+2581


@dataclass(frozen=True)
class Vocabulary:
    """pieces: the bytes of each token by id; a control token's are its name. specials: ids of control tokens.

    ends: ids that end a text. eos, bos: the ones that the vocabulary names as end and begin, -1 for none.
    """

    pieces: tuple[bytes, ...]
    specials: frozenset[int]
    ends: frozenset[int]
    eos: int
    bos: int

    @classmethod
    def of(cls, weights: Weights) -> "Vocabulary":
        """Read the vocabulary of an opened model. Raises ModelError MODEL_KIND where it has none."""
        c, vocab = weights.library.c, weights.vocab
        kind = weights.meta("tokenizer.ggml.model")
        if kind in (None, "none", "no_vocab"):
            raise ModelError(
                "MODEL_KIND",
                "the file has no vocabulary: not a text model",
                place=str(weights.path),
                fix=NO_AI,
            )
        text_of, attributes_of, ends_at = c.llama_vocab_get_text, c.llama_vocab_get_attr, c.llama_vocab_is_eog
        buffer = ctypes.create_string_buffer(_ROOM)
        pieces: list[bytes] = []
        specials: set[int] = set()
        ends: set[int] = set()
        for token in range(weights.vocab_size):
            attributes: int = attributes_of(vocab, token)
            text: bytes = text_of(vocab, token)
            if attributes & (_CONTROL | _UNKNOWN | _UNUSED):
                specials.add(token)
                pieces.append(text)
                if attributes & _CONTROL and ends_at(vocab, token):
                    ends.add(token)
            elif attributes & _USER_DEFINED:
                pieces.append(text)
            elif kind == "gpt2":
                pieces.append(_byte_level(text))
            elif kind == "llama":
                pieces.append(_sentence_piece(text))
            else:
                pieces.append(_asked(weights, token, buffer))
        return cls(
            tuple(pieces),
            frozenset(specials),
            frozenset(ends),
            c.llama_vocab_eos(vocab),
            c.llama_vocab_bos(vocab),
        )

    def text(self, tokens: list[int]) -> str:
        """The text of tokens; bytes that are no UTF-8 become U+FFFD."""
        return b"".join(self.pieces[token] for token in tokens).decode("utf-8", "replace")


@functools.cache
def _bytes_of_characters() -> dict[int, int | None]:
    """GPT-2's table: printable bytes stand for themselves, the others for the characters from U+0100 on."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    table: dict[int, int | None] = dict.fromkeys(range(256))
    return table | {byte: byte for byte in own} | {0x100 + i: byte for i, byte in enumerate(others)}


def _byte_level(text: bytes) -> bytes:
    """The bytes that a piece's characters stand for; a character that stands for none is left out."""
    return text.decode("utf-8", "replace").translate(_bytes_of_characters()).encode("latin-1", "ignore")


def _sentence_piece(text: bytes) -> bytes:
    if text[:3] == b"<0x" and (found := _BYTE_TEXT.fullmatch(text)):
        return bytes([int(found[1], 16)])
    return text.replace(_BLANK, b" ")


def _asked(weights: Weights, token: int, buffer: "ctypes.Array[ctypes.c_char]") -> bytes:
    """The library's own answer, for kinds of vocabulary whose rules are not above."""
    count = weights.library.c.llama_token_to_piece(weights.vocab, token, buffer, _ROOM, 0, True)
    return ctypes.string_at(buffer, max(count, 0))
