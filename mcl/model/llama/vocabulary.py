"""The words of a model: the bytes of each token, and grammars over them."""

import ctypes
import functools
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from llguidance import LLMatcher, LLParserLimits, LLTokenizer

from mcl.core.errors import ModelError
from mcl.model.llama.weights import NO_AI, Weights

# ---- The bytes of each token, from the vocabulary's own text (the library's call is slow and drops long
# pieces).

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


# ---- llguidance over one vocabulary: from Lark text to a matcher. A bad grammar is an exception, always.

_KEPT = 32
_FUEL = 5_000_000
"""What the lexer may spend on one token, in its own unit. Its default, 200,000, ends a long goal of one
character repeated, where each run may begin at many places; the worst such goals take 0.1 s a token."""
_MOST_REPEATED = 2000
_LONGEST_PIECE = 32
_SPELLED = 1024
_TOKENIZE = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_int32),
    ctypes.c_int32,
    ctypes.c_bool,
    ctypes.c_bool,
)
_PARTS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|(/(?:[^/\\\n]|\\.)+/|[^"/]+)')
"""Of a grammar: literals, comments, and (as a group) what can hold repetitions."""
_BOUNDS = re.compile(r"(?<!\\)\{(\d*)(?:,(\d*))?\}")


class Grammars:
    """Compiled grammars of one model; the last 32 are kept, copied for each use."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary) -> None:
        """Build the token trie: 0.1 s for 50,000 tokens, 0.4 s for 150,000."""
        self._weights = weights  # the tokenizer holds a bare pointer to their vocabulary
        c = weights.library.c
        # llguidance tells control tokens from text by this byte, which no UTF-8 text starts with.
        pieces = [
            b"\xff" + piece if token in vocabulary.specials else piece
            for token, piece in enumerate(vocabulary.pieces)
        ]
        # Byte-level vocabularies spell every text; others (SentencePiece) take some characters for others,
        # which llguidance does not expect of the tokens that it forces.
        exact = weights.meta("tokenizer.ggml.model") == "gpt2"
        self._spell = c._lib.llama_tokenize if exact else _TOKENIZE(_Speller(weights, vocabulary))
        tokenize = ctypes.cast(self._spell, ctypes.c_void_p).value
        # The method is missing from the library's type stubs; its own helper needs all of llama_cpp imported.
        make: Any = LLTokenizer
        self._tokenizer: LLTokenizer = make.from_llamacpp(
            tokens=pieces, vocab_ptr=weights.vocab, tokenize_fptr=tokenize, eos_token=vocabulary.eos
        )
        self._compiled: OrderedDict[str, LLMatcher] = OrderedDict()

    def matcher(self, lark: str, *, name: str) -> LLMatcher:
        """A fresh matcher for a grammar. Raises ModelError GRAMMAR_BROKEN; `name` is for its message."""
        compiled = self._compiled.get(lark)
        if compiled is None:
            # Some engines take a repetition above 2,000 as one without end: it is refused here, whichever is
            # behind this.
            _check_bounds(lark, name)
            compiled = LLMatcher(
                self._tokenizer,
                LLMatcher.grammar_from_lark(lark),
                log_level=0,
                limits=LLParserLimits(step_lexer_fuel=_FUEL),
            )
            if compiled.is_error():
                raise broken_grammar(name, compiled.get_error())
            self._compiled[lark] = compiled
            if len(self._compiled) > _KEPT:
                self._compiled.popitem(last=False)
        self._compiled.move_to_end(lark)
        return compiled.deep_copy()


class _Speller:
    """Tokens that spell a text byte for byte, called as `llama_tokenize` is."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary) -> None:
        self._weights, self._pieces = weights, vocabulary.pieces
        self._tokens: dict[bytes, int] = {}
        self._known: dict[bytes, list[int]] = {}  # what is forced is mostly the same: keys and marks
        for token, piece in enumerate(vocabulary.pieces):
            if token not in vocabulary.specials:
                # The first of several tokens with the same bytes: the choice must be the same each time.
                self._tokens.setdefault(piece, token)

    def __call__(
        self, _vocab: int, text: int, size: int, into: Any, room: int, _begin: bool, _specials: bool
    ) -> int:
        """Write the tokens of `size` bytes into `into`; their number, negative where there is no room."""
        data = ctypes.string_at(text, size)
        tokens = self._known.get(data)
        if tokens is None:
            if len(self._known) >= _SPELLED:
                self._known.clear()
            tokens = self._known[data] = self._spelled(data)
        if len(tokens) > room:
            return -len(tokens)
        for index, token in enumerate(tokens):
            into[index] = token
        return len(tokens)

    def _spelled(self, data: bytes) -> list[int]:
        tokens = self._weights.tokens(data)
        if b"".join(self._pieces[token] for token in tokens) == data:
            return tokens
        tokens, at = [], 0
        while at < len(data):
            longest = (data[at:end] for end in range(min(len(data), at + _LONGEST_PIECE), at, -1))
            piece = next((piece for piece in longest if piece in self._tokens), b"")
            if piece:
                tokens.append(self._tokens[piece])
            at += len(piece) or 1
        return tokens


def _check_bounds(lark: str, name: str) -> None:
    for part in _PARTS.finditer(lark):
        for bounds in _BOUNDS.finditer(part[1] or ""):
            if any(len(bound) > 9 or int(bound) > _MOST_REPEATED for bound in bounds.groups() if bound):
                raise broken_grammar(name, f"the repetition {bounds[0]} is above {_MOST_REPEATED}")


def broken_grammar(name: str, what: str) -> ModelError:
    """The error for a grammar that cannot be used."""
    first = what.strip().splitlines()[0] if what.strip() else "no reason given"
    return ModelError(
        "GRAMMAR_BROKEN", first, place=name, fix="this is a fault of the grammar: please report it"
    )
