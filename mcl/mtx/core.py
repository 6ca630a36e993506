"""The compiler's own rules: `grammars/core/*.mtx`, read for thresholds, budgets, weights, words and
prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grammars import core_modules
from mcl.errors import SkillError
from mcl.mtx.ast import File
from mcl.mtx.cache import Cache
from mcl.mtx.digest import value_digest
from mcl.mtx.load import load_file

MODULES = ("confidence", "constraint", "frame", "pipeline", "pre_resolve", "predicate", "unknown", "verb")


@dataclass(frozen=True)
class CoreModule:
    """One module: its tree (for `interpret`), its digest, and its §SKILL settings by dotted key."""

    name: str
    file: File
    digest: str
    settings: Mapping[str, str]

    def text(self, key: str) -> str:
        """A setting. Raises SkillError NO_SETTING."""
        try:
            return self.settings[key]
        except KeyError:
            raise SkillError(
                "NO_SETTING", f"core module {self.name} has no {key}", place=f"core/{self.name}.mtx"
            ) from None

    def number(self, key: str) -> float:
        """A setting that is a number. Raises SkillError NO_SETTING, BAD_SETTING."""
        try:
            return float(self.text(key))
        except ValueError:
            raise self._bad(key, "a number") from None

    def whole(self, key: str) -> int:
        """A setting that is a whole number. Raises SkillError NO_SETTING, BAD_SETTING."""
        try:
            return int(self.text(key))
        except ValueError:
            raise self._bad(key, "a whole number") from None

    def phrases(self, key: str) -> tuple[str, ...]:
        """A setting that is a list of phrases, separated by `|`; none where there is no such setting."""
        return tuple(phrase.strip() for phrase in self.settings.get(key, "").split("|") if phrase.strip())

    def family(self, prefix: str) -> dict[str, str]:
        """The settings below `prefix.`, by what follows it, in order of declaration."""
        start = prefix + "."
        return {key[len(start) :]: value for key, value in self.settings.items() if key.startswith(start)}

    def _bad(self, key: str, what: str) -> SkillError:
        message = f"{key}={self.settings[key]} in core module {self.name} is not {what}"
        return SkillError("BAD_SETTING", message, place=f"core/{self.name}.mtx")


@dataclass(frozen=True)
class Core:
    """All core modules; `core["pipeline"].whole("limits.max_prose")`."""

    modules: Mapping[str, CoreModule]

    def __getitem__(self, name: str) -> CoreModule:
        return self.modules[name]

    @property
    def digests(self) -> dict[str, str]:
        """Each module's digest by name."""
        return {name: module.digest for name, module in self.modules.items()}

    @property
    def digest(self) -> str:
        """sha256 (hex) over all modules."""
        return value_digest(self.digests)


def load_core(paths: Mapping[str, Path] | None = None, *, cache: Path | None = None) -> Core:
    """Read and check the core modules.

    paths: files by module name (None: the shipped ones). cache: a folder for parsed trees (None: parse anew).
    Raises SkillError CORE_MISSING, or SKILL_INVALID with every error of the first module that has any.
    """
    paths = core_modules() if paths is None else paths
    missing = [name for name in MODULES if name not in paths]
    if missing:
        raise SkillError("CORE_MISSING", f"no core module {', '.join(missing)}", fix="reinstall mcl")
    store = Cache(cache)
    modules = {}
    for name in sorted(paths):
        loaded = load_file(paths[name], store)
        modules[name] = CoreModule(name, loaded.file, loaded.digest, loaded.file.settings())
    return Core(modules)
