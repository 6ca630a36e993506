"""llguidance over one vocabulary: from Lark text to a matcher. A bad grammar is an exception, always."""

import ctypes
import re
from collections import OrderedDict
from typing import Any

from llguidance import LLMatcher, LLTokenizer

from mcl.core.errors import ModelError
from mcl.model.llama.vocabulary import Vocabulary
from mcl.model.llama.weights import Weights

_KEPT = 32
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
            _check_bounds(lark, name)
            compiled = LLMatcher(self._tokenizer, LLMatcher.grammar_from_lark(lark), log_level=0)
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
