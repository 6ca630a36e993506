"""An opened GGUF: metadata and vocabulary lookups, text to tokens. Knows nothing of forms or grammars."""

import ctypes
import functools
import importlib
import importlib.util
import os
import sys
import weakref
from collections import deque
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from mcl.core.errors import NO_AI as NO_AI
from mcl.core.errors import ModelError

# ---- llama.cpp's C interface as llama-cpp-python declares it, loaded when first needed, silent.

_WARN = 3  # ggml_log_level: 0 none, 1 debug, 2 info, 3 warn, 4 error, 5 continuation of the line before


class Library:
    """The C functions, and the last warnings that they logged (never printed)."""

    def __init__(self, functions: ModuleType) -> None:
        self.c: Any = functions
        self._lines: deque[str] = deque(maxlen=20)
        self._keep = False
        # A C callback: it must live as long as the library, and must not raise.
        self._callback = functions.llama_log_callback(self._log)
        self.listen()
        functions.llama_backend_init()

    def listen(self) -> None:
        """Take the log again: whoever imports the whole package llama_cpp takes it, and cannot read every
        file name."""
        self.c.llama_log_set(self._callback, ctypes.c_void_p())

    def _log(self, level: int, text: bytes, _data: object) -> None:
        if level != 5:
            self._keep = level >= _WARN
        if self._keep:
            self._lines.append(text.decode("utf-8", "replace").strip())

    def complaints(self) -> str:
        """What was logged at warning level or above since the last call, in one line; empties the log."""
        lines = [line for line in self._lines if line]
        self._lines.clear()
        return "; ".join(lines)


@functools.cache
def library() -> Library:
    """The library, loaded once a process. Raises ModelError MODEL_LIBRARY where it is missing or does not
    load."""
    try:
        return Library(_declarations())
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise ModelError(
            "MODEL_LIBRARY",
            f"llama.cpp cannot be loaded: {error}",
            fix="reinstall llama-cpp-python, or work without a model: --no-ai",
        ) from error


def _declarations() -> ModuleType:
    # Only the module with the C declarations is loaded, under an empty package: the real one brings in chat
    # formats and a server's parts, which take longer than the rest. The empty one is taken out again, so that
    # whoever imports llama_cpp gets the whole.
    if "llama_cpp" in sys.modules:
        return importlib.import_module("llama_cpp.llama_cpp")
    spec = importlib.util.find_spec("llama_cpp")
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError("the package llama_cpp is not installed")
    parent = ModuleType("llama_cpp")
    parent.__path__ = list(spec.submodule_search_locations)
    sys.modules["llama_cpp"] = parent
    try:
        return importlib.import_module("llama_cpp.llama_cpp")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "llama_cpp"]:
            del sys.modules[name]


_LEAD = b"\n"


class Weights:
    """A model in memory (mapped from its file, never on a GPU). Freed when garbage collected, or by the
    system with the process."""

    def __init__(self, path: Path) -> None:
        """Map the file. Raises ModelError MODEL_ARCHITECTURE or MODEL_BROKEN with llama.cpp's own words."""
        self.path = path
        self.library: Library = library()
        c = self.library.c
        self.library.listen()
        self.library.complaints()
        params = c.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model = c.llama_model_load_from_file(os.fsencode(path), params)
        if not self.model:
            raise _refused(path, self.library.complaints())
        weakref.finalize(self, c.llama_model_free, self.model).atexit = False
        self.vocab = c.llama_model_get_vocab(self.model)
        self.vocab_size: int = c.llama_vocab_n_tokens(self.vocab)
        self.context_length: int = c.llama_model_n_ctx_train(self.model)

    def open_context(self, params: Any, owner: object) -> Any:
        """A context of llama.cpp with these parameters, of one sequence and one thread. It is freed with its
        owner, and this model not before. Raises ModelError MODEL_BROKEN where llama.cpp refuses."""
        c = self.library.c
        params.n_seq_max = 1
        # Threads of a busy machine wait for one another by spinning: two were 6 to 30 times slower there than
        # one.
        params.n_threads = params.n_threads_batch = 1
        params.no_perf = True
        context = c.llama_init_from_model(self.model, params)
        if not context:
            message = f"llama.cpp cannot make a context: {self.library.complaints()}"
            raise ModelError("MODEL_BROKEN", message, place=str(self.path), fix=NO_AI)
        weakref.finalize(owner, _free, c, context, self).atexit = False
        return context

    def meta(self, key: str) -> str | None:
        """The metadata value of `key` as text, None where the file has no such key."""
        c = self.library.c
        size: int = c.llama_model_meta_val_str(self.model, key.encode(), None, 0)
        if size < 0:
            return None
        buffer = ctypes.create_string_buffer(size + 1)
        c.llama_model_meta_val_str(self.model, key.encode(), buffer, size + 1)
        return buffer.value.decode("utf-8", "replace")

    def tokens(self, text: str | bytes, *, specials: bool = False, begin: bool = False) -> list[int]:
        """Tokens of `text` as it stands within a longer one. bytes: UTF-8.

        specials: also where it spells control tokens; begin: with the model's own BOS.
        """
        # A lone surrogate is no text: it becomes "?".
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text
        if self._lead and not begin:
            # A SentencePiece tokeniser puts a blank before its input; a line break before keeps it away.
            found = self._ask(_LEAD + data, specials=specials, begin=False)
            if found[: len(self._lead)] == self._lead:
                return found[len(self._lead) :]
        return self._ask(data, specials=specials, begin=begin)

    @cached_property
    def around(self) -> tuple[int, int]:
        """What an encoder's text stands between, as the file states it. Raises ModelError MODEL_BROKEN where
        it does not."""
        return self._stated("cls", "bos"), self._stated("seperator", "eos")  # the format spells it so

    def _stated(self, *names: str) -> int:
        for name in names:
            said = self.meta(f"tokenizer.ggml.{name}_token_id")
            if said is not None and said.isdecimal() and int(said) < self.vocab_size:
                return int(said)
        message = f"its vocabulary has no token {' or '.join(names)}"
        raise ModelError("MODEL_BROKEN", message, place=str(self.path), fix=NO_AI)

    @cached_property
    def _lead(self) -> list[int]:
        """The tokens of a line break alone where the tokeniser puts a blank before its input, else none."""
        plain = self._ask(_LEAD, specials=False, begin=False)
        twice = self._ask(_LEAD * 2, specials=False, begin=False)
        return plain if plain[1:] * 2 == twice[1:] and len(plain) > 1 and len(twice) > len(plain) else []

    def _ask(self, data: bytes, *, specials: bool, begin: bool) -> list[int]:
        room = len(data) + 8
        while True:
            buffer = (ctypes.c_int32 * room)()
            count: int = self.library.c.llama_tokenize(
                self.vocab, data, len(data), buffer, room, begin, specials
            )
            if -count <= room:
                break
            room = -count  # one character may be read as many
        if count < 0:
            raise ModelError("MODEL_TOKENS", "the text cannot be tokenised", place=str(self.path), fix=NO_AI)
        return buffer[:count]


def _free(c: Any, context: Any, _weights: Weights) -> None:
    c.llama_free(context)


def _refused(path: Path, complaints: str) -> ModelError:
    if "unknown model architecture" in complaints:
        name = complaints.split("unknown model architecture:", 1)[1].split("'")[1]
        return ModelError(
            "MODEL_ARCHITECTURE",
            f"this llama.cpp does not know the architecture {name!r}",
            place=str(path),
            fix=NO_AI,
            data={"architecture": name},
        )
    return ModelError(
        "MODEL_BROKEN", f"llama.cpp cannot load the file: {complaints}", place=str(path), fix=NO_AI
    )
