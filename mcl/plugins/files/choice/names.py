"""The files here that a single word of a goal may be about: by their kind, their folder or their name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from executor.core.errors import GlobError
from executor.core.globs import anywhere
from mcl.compiler.stages.file_names import FileNames, NamedFile
from mcl.compiler.stages.word_forms import folded, forms, stems
from mcl.plugins.files.choice.words import SaidWord, states, words
from mcl.values.slots import read_pattern

_TYPO: Final = 0.85
_READ: Final = 300  # files that are read for what they say of themselves
_SHORT: Final = 4  # letters of a word that is said short
_COMPOUND: Final = 4  # letters that the first part of a compound has


class NamedSets:
    """The sets of files that words stand for. names: of the workspace."""

    def __init__(self, names: FileNames) -> None:
        self.names, self.words = names, words()

    def of(self, token: SaidWord) -> frozenset[str]:
        """The files that a word may be about, by their kind, folder or name."""
        key = (token.text, token.quoted)
        if key not in self._found:
            self._found[key] = frozenset(self._looked_up(token))
        return self._found[key]

    @cached_property
    def _found(self) -> dict[tuple[str, bool], frozenset[str]]:
        return {}

    @cached_property
    def files(self) -> list[NamedFile]:
        """The files of the workspace."""
        return [one for one in self.names.entries if not one.folder]

    def _looked_up(self, token: SaidWord) -> Iterator[str]:
        text = token.text.removeprefix("./")
        exact = [one for one in self.names.entries if text.rstrip("/") == one.path.casefold()]
        if exact:
            yield from self._below(exact[0])
            return
        whole = [one.path for one in self.files if base(one.path).casefold() == text]
        if whole or token.quoted:
            yield from whole
            return
        if text[:1] == "(":  # of a copy: “the (1) one”
            yield from (one.path for one in self.files if text in base(one.path))
            return
        parts = [one for one in text.replace("’", "'").split("-") if one]
        if (numbered := re.fullmatch(r"([^\W\d_]{3,})(\d+)", text)) and "*" not in read_pattern(text):
            parts = list(numbered.groups())
        if len(parts) > 1 and parts[-1] in self.words.sets["file"] | self.words.sets["folder"]:
            parts = parts[:-1]
        sets = [frozenset(self._by_part(one)) for one in parts]
        if sets:
            yield from frozenset.intersection(*sets)

    def _below(self, one: NamedFile) -> Iterator[str]:
        if not one.folder:
            yield one.path
        yield from (other.path for other in self.files if other.path.startswith(f"{one.path}/"))

    def _by_part(self, text: str) -> Iterator[str]:
        if text.startswith("*") or (text.startswith(".") and len(text) > 1):
            kind = list(self._of_kind(text))
            yield from kind or (one.path for one in self.files if one.path.casefold().endswith(text))
            return
        if text not in self.words.sets["no_kind"] and (kind := list(self._of_kind(text))):
            yield from kind
            return
        plain = text.partition(":")[0] or text
        if ended := [one.path for one in self.files if one.path.casefold().endswith(f".{plain}")]:
            yield from ended
            return
        wanted = stems(folded(plain))
        if not (plain.isdigit() or any(len(one) > 1 for one in wanted)):
            return
        mixed = f" {folded(plain)} " if not (plain.isalpha() or plain.isdigit()) else "?"  # "v1", "img_0412"
        found = [one.path for one in self.files if mixed in f" {folded(base(one.path))} "]
        for said in (stems(folded(plain), same=False), wanted):  # its own name before another
            found = found or [one.path for one in self.files if self._stems_in(one.path) & said]
        if not found:
            ways = (self._compounds(folded(plain), whole=whole) for whole in (True, False))
            found = next(filter(None, ways), [])
            found = found or self._misspelled(plain) or self._shortened(folded(plain))
        yield from found

    def _of_kind(self, text: str) -> Iterator[str]:
        said = read_pattern(text)
        if "*" not in said:
            return
        try:
            pattern = anywhere(said.casefold())
        except GlobError:
            return
        for one in self.files:
            if pattern.fits(tuple(one.path.casefold().split("/"))):
                yield one.path

    def _misspelled(self, word: str) -> list[str]:
        if len(word) < 5:
            return []
        there = {part for one in self.files for part in _parts(one.path) if part[0] == folded(word)[:1]}
        close = difflib.get_close_matches(folded(word), sorted(there), 1, _TYPO)
        return [one.path for one in self.files if close and close[0] in _parts(one.path)]

    def _shortened(self, word: str) -> list[str]:
        """The files with a word in the path that is said short: “stats” of “statistics”, “group” of
        “gruppbild”."""
        said = {word.removesuffix("s"), *stems(word)} if word.isalpha() else ()
        shorts = tuple(one for one in said if len(one) >= _SHORT)
        return [
            one.path
            for one in self.files
            if shorts
            and any(part.startswith(shorts) and len(part) > len(word) + 1 for part in _parts(one.path))
        ]

    def _stems_in(self, path: str) -> frozenset[str]:
        if path not in self._stems:
            self._stems[path] = frozenset(stem for part in _parts(path) for stem in stems(part, same=False))
        return self._stems[path]

    @cached_property
    def _stems(self) -> dict[str, frozenset[str]]:
        return {}

    def is_stated(self, token: SaidWord) -> bool:
        """Whether a word names no file, and is what some files say of themselves."""
        plain = token.text.isalpha() and not token.quoted and not self.of(token)
        return plain and not self._stated.isdisjoint(stems(token.text))

    @cached_property
    def _stated(self) -> frozenset[str]:
        said = (states(self.names.text(one.path)) for one in self.files[:_READ])
        return frozenset(stem for words in said for one in words for stem in stems(one))

    def folder(self, text: str) -> str:
        """The one folder here that is called so, "" where there is none or several."""
        plain = text.rstrip("/").removeprefix("./")
        for end in ("mappen", "-mappen", "-folder"):
            plain = plain.removesuffix(end) or plain
        there = [one.path for one in self.names.entries if one.folder]
        exact = [path for path in there if path.casefold() == plain]
        exact = exact or [path for path in there if "/" in plain and path.casefold().endswith(f"/{plain}")]
        if exact:
            return exact[0]
        wanted = stems(folded(plain))
        found = [path for path in there if stems(folded(path.rpartition("/")[2])) & wanted]
        top = [path for path in found if "/" not in path] or found
        return top[0] if len(top) == 1 else ""

    def is_whole(self, text: str) -> bool:
        """Whether a word is the whole name or path of something here."""
        return text.rstrip("/") in self._wholes

    @cached_property
    def _wholes(self) -> frozenset[str]:
        paths = [one.path.casefold() for one in self.names.entries]
        return frozenset((*paths, *map(base, paths)))

    def spaced_at(self, prose: str, start: int) -> str:
        """The whole name or path with blanks of something here that stands at a place, in small letters."""
        said = prose[start:].casefold()
        found = [one for one in self._wholes if " " in one and said.startswith(one)]
        return max((one for one in found if not said[len(one) :][:1].isalnum()), key=len, default="")

    def _compounds(self, word: str, *, whole: bool) -> list[str]:
        """The files of which a word is one of the path, with another of it behind, or, not whole, one that
        says no more: “kassaboken”."""
        return [one.path for one in self.files if self._is_compound(word, _parts(one.path), whole=whole)]

    def _is_compound(self, word: str, parts: Sequence[str], *, whole: bool) -> bool:
        beside = set(parts) if whole else {*self.words.sets["behind"], *forms().endings}
        for part in parts:
            rest = word.removeprefix(part)
            if rest != word and len(part) >= (_COMPOUND - 1 if whole else _COMPOUND):
                double = f"{part[-1]}{rest}" if part[-2:-1] == part[-1:] else rest  # "labb" and "bilder"
                ends = (
                    stems(rest.removeprefix("s"))
                    | stems(rest.removeprefix(part[-1]))
                    | stems(double)
                    | {rest}
                )
                if ends & beside:
                    return True
        return False


def base(path: str) -> str:
    """The name of a file without its folder."""
    return path.rpartition("/")[2]


def _parts(path: str) -> list[str]:
    """The words of a path, its ending left out."""
    stem = path.rpartition(".")[0] if "." in base(path) else path
    return re.findall(r"[^\W\d_]+|\d+", folded(stem))
