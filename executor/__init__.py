"""What is done: the home, its journal and keys, the gate, the walker and its tools.

Importing this loads nothing. The public names stand in `__init__.pyi`, where type checkers read them too;
each is fetched from its module at first use.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

_places: dict[str, str] = {}  # of each public name its module


def __getattr__(name: str) -> Any:
    if name not in __dir__():
        raise AttributeError(f"module 'executor' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_places[name]), name)
    return value


def __dir__() -> list[str]:
    if not _places:
        for line in Path(__file__).with_suffix(".pyi").read_text("utf-8").splitlines():
            if line.startswith("from "):
                _, module, _, name, *_ = line.split()
                _places[name] = module
    return sorted(_places)
