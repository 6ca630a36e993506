"""llama.cpp's C interface as llama-cpp-python declares it, loaded when first needed, silent.

Importing the package `llama_cpp` takes about 200 ms (numpy, jinja2, chat formats); its module of C
declarations takes 11 ms and is all we use. So that module is loaded under a bare parent, which is taken out
of `sys.modules` again: whoever imports llama_cpp later gets the whole of it.
"""

import ctypes
import functools
import importlib
import importlib.util
import sys
from collections import deque
from types import ModuleType
from typing import Any

from mcl.core.errors import ModelError

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
