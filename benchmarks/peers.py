"""Ways to get one JSON object of a fixed shape out of a GGUF: ours and those of other libraries.

Every way is given the same file, prompt, thread, batch and context, decodes greedily and may keep what it
keeps of an earlier prompt. `Clock` measures the time inside llama.cpp's evaluation for all of them alike.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from mcl.model.llama.context import ContextSize, ModelContext
from mcl.model.llama.decoder import Decoder
from mcl.model.llama.vocabulary import Grammars, Vocabulary
from mcl.model.llama.weights import Weights, library
from mcl.model.loader import load_model
from mcl.model.protocol import Candidate, ExtractForm, SlotForm

CONTEXT, BATCH, BUDGET = 1024, 512, 400
_LONGEST = 24
_VERBS = ("find", "acquire", "build", "modify", "deliver", "analyze", "negotiate", "schedule", "monitor")
_CURRENCIES = ("SEK", "EUR", "USD", "GBP")
_TEXTS = {"folder": "the folder to look in", "text": "the text to look for", "output": "the file to write"}

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "verb": {"enum": list(_VERBS)},
        **{name: {"type": "string", "maxLength": _LONGEST} for name in _TEXTS},
        "currency": {"enum": list(_CURRENCIES)},
        "urgent": {"type": "boolean"},
    },
    "required": ["verb", *_TEXTS, "currency", "urgent"],
    "additionalProperties": False,
}


def _quoted(words: tuple[str, ...]) -> str:
    return " | ".join(f'"\\"{word}\\""' for word in words)


# The same language as the schema, compact, as a person would write it for llama.cpp.
GBNF = rf"""
root ::= "{{\"verb\":" verb ",\"folder\":" text ",\"text\":" text ",\"output\":" text ",\"currency\":" currency ",\"urgent\":" ("true" | "false") "}}"
verb ::= {_quoted(_VERBS)}
currency ::= {_quoted(_CURRENCIES)}
text ::= "\"" char{{0,{_LONGEST}}} "\""
char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{{4}})
"""  # noqa: E501 - a rule of GBNF is a line
_COMPACT = {"x-guidance": {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}}
LARK = f"start: %json {json.dumps({**SCHEMA, **_COMPACT})}"


_SILENT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: None)


class Clock:
    """Seconds inside, and number of, llama.cpp's evaluations since it was last read."""

    def __init__(self, timer: Callable[[], float] = time.perf_counter) -> None:
        """timer: seconds that only grow; `time.process_time` on a machine that others use as well."""
        self.now = timer
        self._seconds, self._calls = 0.0, 0

    def watch(self, module: Any) -> None:
        """Count the calls of `module.llama_decode` from now on."""
        decode: Callable[..., int] = module.llama_decode

        @functools.wraps(decode)
        def timed(*given: Any) -> int:
            start = self.now()
            status = decode(*given)
            self._seconds += self.now() - start
            self._calls += 1
            return status

        module.llama_decode = timed

    def read(self) -> tuple[float, int]:
        """(seconds, calls); both begin again."""
        told = self._seconds, self._calls
        self._seconds, self._calls = 0.0, 0
        return told


class Peer(Protocol):
    """One way. `answer` gives the text and how many tokens of it were decoded."""

    name: str

    def answer(self, prompt: str) -> tuple[str, int]: ...


class Ours:
    """The decode loop of `mcl/model/llama/decoder.py`. weigh: with a probability for every token."""

    def __init__(self, path: Path, *, weigh: bool = False) -> None:
        self.name = "ours, with probabilities" if weigh else "ours"
        self._weigh = weigh
        self._weights = Weights(path)
        self._vocabulary = Vocabulary.of(self._weights)
        self._context = ModelContext(self._weights, ContextSize(tokens=CONTEXT, batch=BATCH, flash=True))
        self._grammars = Grammars(self._weights, self._vocabulary)
        self._decoder = Decoder(self._context, self._vocabulary)
        self._held: list[int] = []

    def answer(self, prompt: str) -> tuple[str, int]:
        """As llama-cpp-python does, what this prompt shares with the last one is not evaluated again."""
        tokens = self._weights.tokens(prompt)
        same = next((at for at, (a, b) in enumerate(zip(tokens, self._held, strict=False)) if a != b), 0)
        self._context.keep(same)
        self._held = tokens
        matcher = self._grammars.matcher(LARK, name="benchmark")
        answer = self._decoder.answer(tokens[self._context.used :], matcher, budget=BUDGET, weigh=self._weigh)
        return self._vocabulary.text(answer.tokens), len(answer.tokens)


class Bundled:
    """The model that comes with mcl, a file of its own: it marks the goal's words and writes nothing."""

    name = "ours, the bundled model"

    def __init__(self) -> None:
        self._model = load_model(None, home_path=None)
        texts = [SlotForm(name, "string", hint) for name, hint in _TEXTS.items()]
        more = [
            SlotForm("currency", "enum", "the currency", _CURRENCIES),
            SlotForm("urgent", "bool", "urgent"),
        ]
        self._task = Candidate("task", "Task", "what a goal asks for", _VERBS)
        self._form = ExtractForm("task", "what a goal asks for", (*texts, *more))

    def answer(self, prompt: str) -> tuple[str, int]:
        """The same object, made of what is marked; what is not marked is empty."""
        goal = prompt.partition("Goal: ")[2].partition("\n")[0]
        verb = self._model.choose(goal, [self._task]).verb
        found = {
            span.field.removeprefix("slot."): span.value for span in self._model.extract(goal, self._form)
        }
        said = {name: found.get(name, "")[:_LONGEST] for name in _TEXTS}
        currency = found.get("currency", _CURRENCIES[0])
        answer = {"verb": verb, **said, "currency": currency, "urgent": "urgent" in found}
        return json.dumps(answer, ensure_ascii=False), 0


class LlamaCppPython:
    """`create_completion`. how: "gbnf", "schema" or "free" (no grammar; as many tokens as `length` says)."""

    def __init__(self, path: Path, how: str, length: Callable[[str], int]) -> None:
        from llama_cpp import LlamaGrammar

        self.name = {
            "gbnf": "llama-cpp-python, GBNF",
            "schema": "llama-cpp-python, JSON schema",
            "free": "llama-cpp-python, no grammar",
        }[how]
        self._llama, self._length, self._free = _llama(path), length, how == "free"
        self._grammar = None
        if how == "gbnf":
            self._grammar = LlamaGrammar.from_string(GBNF, verbose=False)
        elif how == "schema":
            self._grammar = LlamaGrammar.from_json_schema(json.dumps(SCHEMA), verbose=False)

    def answer(self, prompt: str) -> tuple[str, int]:
        """One completion."""
        budget = self._length(prompt) if self._free else BUDGET
        said = self._llama.create_completion(
            prompt, max_tokens=budget, temperature=0.0, grammar=self._grammar, repeat_penalty=1.0
        )
        return said["choices"][0]["text"], said["usage"]["completion_tokens"]


class Guidance:
    """guidance's own engine over llama-cpp-python's model."""

    name = "guidance"

    def __init__(self, path: Path) -> None:
        import guidance

        self._llama = _llama(path)
        self._model = guidance.models.LlamaCpp(self._llama, echo=False, enable_monitoring=False)
        self._json = guidance.json("answer", schema=SCHEMA, temperature=0.0)

    def answer(self, prompt: str) -> tuple[str, int]:
        """One answer; its tokens are counted by the model's own tokenizer."""
        text = str((self._model + prompt + self._json)["answer"])
        return text, len(self._llama.tokenize(text.encode(), add_bos=False, special=False))


class Outlines:
    """outlines over llama-cpp-python, with its default backend."""

    name = "outlines"

    def __init__(self, path: Path) -> None:
        import outlines
        from outlines.types.dsl import JsonSchema

        self._llama = _llama(path)
        model = outlines.from_llamacpp(self._llama, chat_mode=False)
        self._generator = outlines.Generator(model, JsonSchema(dict(SCHEMA), whitespace_pattern=""))

    def answer(self, prompt: str) -> tuple[str, int]:
        """One answer; its tokens are counted by the model's own tokenizer."""
        text = self._generator(prompt, max_tokens=BUDGET, temperature=0.0)
        return text, len(self._llama.tokenize(text.encode(), add_bos=False, special=False))


def peers(path: Path, clock: Clock, length: Callable[[str], int]) -> Iterator[tuple[Peer, float]]:
    """Every way that is installed, ours first, each with the seconds that it took to make.

    length: how many tokens the way without a grammar shall write for a prompt.
    """
    clock.watch(library().c)
    makers: list[Callable[[], Peer]] = [lambda: Ours(path), lambda: Ours(path, weigh=True), Bundled]
    if importlib.util.find_spec("llama_cpp.llama"):
        import llama_cpp

        llama_cpp.llama_log_set(_SILENT, None)
        clock.watch(llama_cpp.llama_cpp)
        llama_cpp.llama_decode = llama_cpp.llama_cpp.llama_decode  # the name that guidance calls
        for how in ("gbnf", "schema", "free"):
            makers.append(functools.partial(LlamaCppPython, path, how, length))
    if importlib.util.find_spec("guidance"):
        makers.append(lambda: Guidance(path))
    if importlib.util.find_spec("outlines"):
        makers.append(lambda: Outlines(path))
    for make in makers:
        start = time.perf_counter()
        peer = make()
        yield peer, time.perf_counter() - start


def _llama(path: Path) -> Any:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from llama_cpp import Llama

    return Llama(
        str(path), n_ctx=CONTEXT, n_batch=BATCH, n_threads=1, n_threads_batch=1, n_gpu_layers=0, verbose=False
    )
