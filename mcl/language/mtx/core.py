"""The compiler's own rules: `grammars/core/*.mtx`, read for thresholds, budgets, weights, words and
prompts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from grammars import core_modules
from mcl.core.errors import SkillError
from mcl.language.mtx.ast import FailureNode, File, Node
from mcl.language.mtx.codec import value_digest
from mcl.language.mtx.files import Cache, load_file, read_bytes
from mcl.language.mtx.source import nearest

Made = TypeVar("Made")
MODULES = (
    *("confidence", "constraint", "coverage", "frame", "pipeline", "pre_resolve", "predicate", "promise"),
    *("step", "unknown", "verb"),
)


_PHRASE = re.compile(r"(?:\([^()]*\)|[^|])+")
_GROUP = re.compile(r"\(([^()]*\|[^()]*)\)")


def _ways(phrase: str) -> list[str]:
    """A phrase with each of the words between brackets in turn, the last bracket turning fastest."""
    group = _GROUP.search(phrase)
    if group is None:
        return [" ".join(phrase.split())]
    before, after = phrase[: group.start()], phrase[group.end() :]
    return [way for one in group[1].split("|") for way in _ways(f"{before}{one.strip()}{after}")]


@dataclass(frozen=True)
class CoreModule:
    """One module: its file and tree (for `interpret`), its digest, and its §SKILL settings by dotted key.

    shipped: the module whose place it takes, which says what this one says nothing of; a file of before lacks
    what came since.
    """

    name: str
    path: Path
    file: File = field(compare=False)  # the digest says what both hold
    digest: str
    settings: Mapping[str, str] = field(compare=False)
    shipped: CoreModule | None = None

    @property
    def lacking(self) -> tuple[str, ...]:
        """The settings and failure modes that are read of the shipped module, by name."""
        if self.shipped is None:
            return ()
        known = {failure.name for failure in self.file.failures}
        modes = (one.name for one in self.shipped.file.failures if one.name not in known)
        return (*(key for key in self.shipped.settings if key not in self.settings), *modes)

    def text(self, key: str) -> str:
        """A setting. Raises SkillError NO_SETTING."""
        if key in self.settings:
            return self.settings[key]
        if self.shipped is not None:
            return self.shipped.text(key)
        message = f"core module {self.name} has no setting {key}"
        raise SkillError("NO_SETTING", message, place=str(self.path), fix=f"add {key}= to §SKILL")

    def number(self, key: str, low: float = 0.0, high: float = 1e9) -> float:
        """A number from `low` to `high`. Raises SkillError NO_SETTING, BAD_SETTING."""
        try:
            value = float(self.text(key))
        except ValueError:
            raise self.bad(key, "is no number") from None
        if not low <= value <= high:
            raise self.bad(key, f"is not from {low:g} to {high:g}")
        return value

    def whole(self, key: str, low: int = 0, high: int = 1_000_000) -> int:
        """A whole number from `low` to `high`. Raises SkillError NO_SETTING, BAD_SETTING."""
        try:
            value = int(self.text(key))
        except ValueError:
            raise self.bad(key, "is no whole number") from None
        if not low <= value <= high:
            raise self.bad(key, f"is not from {low} to {high}")
        return value

    def words(self, key: str, legal: Sequence[str]) -> tuple[str, ...]:
        """A setting that is a list of legal words. Raises SkillError NO_SETTING, BAD_SETTING."""
        words = tuple(self.text(key).split())
        for place, word in enumerate(words):
            if word not in legal:
                raise self.bad(key, f"names {word!r}", nearest(word, legal) or f"words: {' '.join(legal)}")
            if word in words[:place]:
                raise self.bad(key, f"names {word!r} twice")
        return words

    def phrases(self, key: str) -> tuple[str, ...]:
        """A setting that is a list of phrases, separated by `|`, each way to say one in turn: "(two | some)
        (things | jobs)" are four. Raises SkillError NO_SETTING."""
        phrases = (" ".join(one.split()) for one in _PHRASE.findall(self.text(key)))
        return tuple(way for phrase in phrases if phrase for way in _ways(phrase))

    def family(self, prefix: str) -> dict[str, str]:
        """The settings below `prefix.`, by what follows it, in order of declaration. A module that has some
        of its own has no others: who leaves one out does not want it."""
        start = prefix + "."
        found = {key[len(start) :]: value for key, value in self.settings.items() if key.startswith(start)}
        return found if found or self.shipped is None else self.shipped.family(prefix)

    def failure(self, name: str) -> FailureNode:
        """A failure mode. Raises SkillError NO_SETTING."""
        found = next((failure for failure in self.file.failures if failure.name == name), None)
        if found is None and self.shipped is not None:
            return self.shipped.failure(name)
        if found is None:
            message = f"core module {self.name} does not say what follows when {name}"
            fix = f"add {name} to §FAILURE_MODES"
            raise SkillError("NO_SETTING", message, place=str(self.path), fix=fix)
        return found

    def bad(self, key: str, why: str, fix: str = "") -> SkillError:
        """The error for a setting (or failure mode) that cannot be used, at its line and column."""
        section = self.file.section("SKILL")
        nodes: list[Node] = [one for one in self.file.failures if one.name == key]
        nodes += [one for one in (section.entries if section else ()) if getattr(one, "key", "") == key]
        place = f"{self.path}:{nodes[0].at.line}:{nodes[0].at.column}" if nodes else str(self.path)
        said = f"={self.settings[key]}" if key in self.settings else ""
        if not said and self.shipped is not None and key in self.shipped.settings:
            return self.shipped.bad(key, why, fix)
        return SkillError(
            "BAD_SETTING", f"{key}{said} of core module {self.name} {why}", place=place, fix=fix
        )


@dataclass(frozen=True)
class Core:
    """All core modules; `core["pipeline"].whole("limits.max_prose")`."""

    modules: Mapping[str, CoreModule]
    _made: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getitem__(self, name: str) -> CoreModule:
        return self.modules[name]

    def once(self, make: Callable[[Core], Made]) -> Made:
        """What `make` makes of these modules, made when first asked for. Raises what `make` raises."""
        if make not in self._made:
            self._made[make] = make(self)
        made: Made = self._made[make]
        return made

    @property
    def digests(self) -> dict[str, str]:
        return {name: module.digest for name, module in self.modules.items()}

    @property
    def digest(self) -> str:
        """sha256 (hex) over all modules."""
        return value_digest(self.digests)


def load_core(
    paths: Mapping[str, Path] | None = None,
    *,
    own: Mapping[str, Path] | None = None,
    cache: Path | None = None,
) -> Core:
    """Read and check the core modules.

    paths: files by module name (None: the shipped ones). own: files that take the place of some of them, and
    leave to them what they lack. cache: a folder for parsed trees (None: parse anew). Raises SkillError
    CORE_MISSING, or SKILL_INVALID with every error of the first module that has any.
    """
    paths = core_modules() if paths is None else paths
    missing = [name for name in MODULES if name not in paths]
    if missing:
        raise SkillError("CORE_MISSING", f"no core module {', '.join(missing)}", fix="reinstall mcl")
    modules = {name: _module(name, paths[name], read_bytes(paths[name]), cache) for name in sorted(paths)}
    for name, path in sorted((own or {}).items()):
        modules[name] = _module(name, path, read_bytes(path), cache, modules[name])
    return _core(tuple(modules.values()))


@lru_cache(maxsize=64)
def _module(
    name: str, path: Path, source: bytes, cache: Path | None, shipped: CoreModule | None = None
) -> CoreModule:
    loaded = load_file(path, Cache(cache), source=source)
    made = CoreModule(name, loaded.path, loaded.file, loaded.digest, loaded.file.settings(), shipped)
    if shipped is None or not made.lacking:
        return replace(made, shipped=None)
    return replace(made, digest=value_digest({"own": made.digest, "shipped": shipped.digest}))


@lru_cache(maxsize=8)
def _core(modules: tuple[CoreModule, ...]) -> Core:
    """One for the same modules: what is made of them once is made once in a process."""
    return Core({one.name: one for one in modules})


def own_modules(home: Path) -> dict[str, Path]:
    """The files in a home's folder `core`, by name: what takes the place of shipped modules."""
    return {path.stem: path for path in sorted((home / "core").glob("*.mtx"))}


def core_of(home: Path) -> Core:
    """The core modules that a home uses: those in its folder `core`, with what they lack of the shipped ones,
    and the others as shipped.

    Raises SkillError CORE_UNKNOWN for a file there that is no module's, and what load_core raises.
    """
    own = own_modules(home)
    for name, path in own.items():
        if name not in MODULES:
            hint = nearest(name, MODULES) or f"modules: {' '.join(MODULES)}"
            raise SkillError("CORE_UNKNOWN", f"there is no core module {name}", place=str(path), fix=hint)
    return load_core(own=own, cache=home / "cache")
