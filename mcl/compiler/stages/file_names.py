"""What the words of a goal for a file mean in the workspace: “the budget” is budget.csv, where there is one.

Names of what is there are compared; a file is opened only where a goal says what stands in it. What was found
is kept in the draft, so that a replay, which sees another workspace, reads the same.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from executor.core.errors import GlobError
from executor.core.globs import anywhere
from executor.core.tables import table_beside
from mcl.compiler.stages.people import addresses_of, described
from mcl.compiler.stages.word_forms import alike, folded, stems
from mcl.language.bm25 import WORD
from mcl.language.skills import Skill
from mcl.model.protocol import Span
from mcl.values.slots import read_pattern

if TYPE_CHECKING:
    from mcl.compiler.stages.clauses import Clauses
    from mcl.compiler.stages.filled import Chooser, Filler
    from mcl.compiler.stages.request import GoalRequest

PathUse = Literal["there", "new", "folder"]
"""What a tool does with a path: there must be something; it may make it; it puts something into it."""

_MODES: Final[Mapping[str, PathUse]] = {
    "read": "there", "list": "there", "move": "there", "write": "new", "add": "folder",
}  # fmt: skip
_ADDS: Final = ("/fs/append@", "/text/add@")  # and those that add to it, or make it
_CHANGES: Final = ("/fs/edit@", "/text/entry@")  # tools that write what is there
_LINES: Final = ("/text/replace@",)
_PLACE: Final = re.compile(r"\$\{slot\.(\w+)\}/?")
PLAIN: Final = re.compile(r"[^\W\d_]+(?: [^\W_]+)*")  # words, and no path or pattern
_LISTS: Final = table_beside(__file__)
_ALL, _FOLDER, _FILE, _EMPTY, _BESIDE, _ONE, _INSIDE, _FRESH, SKIPPED, CALLED = (
    frozenset(str(_LISTS[name]).split())
    for name in ("all", "folder", "file", "empty", "beside", "one", "inside", "fresh", "skipped", "called")
)
_EVERYTHING: Final = frozenset(("everything", "allt", "allting", "all files", "alla filer"))
_POINTING: Final = frozenset(_LISTS["pointing"].split(" | "))
_KINDS: Final = {ending: frozenset(words.split(" | ")) for ending, words in _LISTS["kinds"].items()}
_SOMEBODY: Final = frozenset(_LISTS["somebody"].split(" | "))
_PERSONS, _TELLING = (frozenset(str(_LISTS[name]).split()) for name in ("persons", "telling"))
PLURAL: Final = re.compile(r"(?:[^s]s|[oae]r|[oae]rna|na)$")
_ALIKE: Final = 0.84
_MENTIONED: Final = 0.9  # how sure it is that a name in a goal is what it is about
_REWORDED: Final = "@goal"
_ANSWERS, _PLACED, _READS = "@answers", "@placed", "@reads="
_MOMENTS, _WISH = "@moments", "@wish="
_ENDED: Final = re.compile(r"(\S+\.[A-Za-z0-9]{1,8})[.,;:!?…]+")
_TABLE: Final = "the file that answers this"
_TOLD: Final = 8  # names that a question offers


class NamedFile(NamedTuple):
    """What is there. folder: whether it is one. modified: when it was changed (nanoseconds since 1970)."""

    path: str
    folder: bool
    modified: int = 0


@dataclass(frozen=True)
class Meant:
    """The paths that words mean. unsure: they may be any of these, and a person has to say which."""

    paths: tuple[str, ...]
    unsure: bool = False


@dataclass(frozen=True)
class FileNames:
    """The names of a workspace, in the order of a walk. text: what stands in a file, "" where it is none;
    reads: which of some files answer a goal said at a moment, by what is in them; moments: what a goal for a
    calendar says of moments that stand in files; filler: of a skill, what reads its inputs in them; chooser:
    what reads which of them a goal means; at: when it was said."""

    entries: tuple[NamedFile, ...]
    text: Callable[[str], str] = field(default=lambda path: "", compare=False, repr=False)
    reads: Callable[[str, str, tuple[str, ...]], tuple[str, ...]] = field(
        default=lambda prose, at, files: (), compare=False, repr=False
    )
    moments: Callable[[str, str, str, str, str, tuple[str, ...]], tuple[str, Mapping[str, str]] | None] = (
        field(default=lambda *goal: None, compare=False, repr=False)
    )
    filler: Callable[[str], Filler | None] = field(default=lambda skill: None, compare=False, repr=False)
    chooser: Callable[[GoalRequest, Skill, Clauses], Chooser | None] = field(
        default=lambda request, skill, clauses: None, compare=False, repr=False
    )
    at: str = ""
    _fitting: dict[tuple[str, _Wanted, PathUse], list[str]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )  # what was found before: many readers ask for the same words

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The paths of those that are no folders."""
        return tuple(one.path for one in self.entries if not one.folder)

    def after(self, made: Mapping[str, str]) -> FileNames:
        """The names where these paths are made first, each with the file that it is a copy of, or none."""
        fresh = (NamedFile(path, "." not in _name(path)) for path in made if path not in self._known)
        return replace(
            self, entries=(*self.entries, *fresh), text=lambda path: self.text(made.get(path) or path)
        )

    def answering(self, prose: str, at: str) -> tuple[str, ...]:
        """The files that answer a goal that was said at a moment: of the folder that it names, if it does."""
        said = [one.casefold().strip("?!.,:;/") for one in prose.split()]
        named = {two for one, two in pairwise(said) if one in _INSIDE and two in self._folders}
        below = tuple(path for path in self.files if any(path.startswith(f"{one}/") for one in named))
        return self.reads(prose, at, below if named else self.files)

    def meant(self, text: str, use: PathUse, most: int) -> Meant | None:
        """What words for a path mean, at most so many; None where they are to be taken as they are."""
        plain = text.strip().strip("\"'“”").rstrip("/")
        if not plain or plain in self._known or len(plain) > 200 or plain in (".", ".."):
            return None
        if ended := _ENDED.fullmatch(plain):  # by what ends the sentence
            return self.meant(ended[1], use, most) or Meant((ended[1],))
        words = set(WORD.findall(plain.casefold()))
        wanted = _Wanted(bool(_ALL & words), bool(_FOLDER & words), bool(_FILE & words))
        kept = [one for one in plain.split() if one.casefold() not in _ALL | _FOLDER | _FILE | _EMPTY]
        bare = " ".join(kept)
        if plain.casefold() in _EVERYTHING and use == "there":
            return Meant((".",)) if most > 1 else None
        if not bare:
            return None
        if use == "folder":
            fresh = [one for one in kept if one.casefold() not in _FRESH]
            return self._into(" ".join(fresh) or bare, text.strip())
        of_kind = self._of_a_kind(bare, plain, most)
        if bare in self._known and not (wanted.all and of_kind):
            return Meant((bare,))
        if of_kind:  # “that pdf” is one
            one = wanted == _Wanted() and _ONE & words and not PLURAL.search(bare.casefold())
            return Meant(of_kind, unsure=len(of_kind) > 1 and bool(one) and "*" not in bare)
        shorter = " ".join(one for one in kept if one.casefold() not in _BESIDE)
        found = self._called(bare, wanted, use)
        if not found and shorter != bare and shorter:
            found = self._called(shorter, wanted, use)
        return self._chosen(found, bare, wanted, most)

    def named(self, text: str, most: int) -> Meant | None:
        """The same of words that nobody marked as a path: only what is called so, by its whole name."""
        if len(text) < 3 or {text.casefold()} & (_ALL | _FOLDER | _FILE | _EMPTY | _BESIDE | _FRESH):
            return None
        if text in self._known:
            return Meant((text,))
        words = folded(text).split()
        if not words or words[0] in _EMPTY or words[-1] in _EMPTY:
            return None
        if (found := self.meant(text, "there", most)) is None:
            return None
        first, last = ([[one], [_in_names(folded(one), self.entries)]] for one in (words[0], words[-1]))
        whole = all(
            _is_said(first, _name(path))
            or (
                _is_said(last, _name(path)) and _is_said(first, path.rpartition("/")[0])
            )  # by its folder first
            for path in found.paths
        )
        return found if whole else None

    def of_kind(self, text: str, default: str) -> Meant | None:
        """The file that a word for all of its kind means ("the calendar"), the one that is taken by default
        where there is none; None where it is no such word."""
        ending = default.rpartition(".")[2]
        if " ".join(text.casefold().split()) not in _KINDS.get(ending, frozenset()):
            return None
        there = [path for path in self.files if path.endswith(f".{ending}")]
        same = [path for path in there if alike(folded(text).split()[-1], folded(_stem(path)))]
        found = same if len(same) == 1 else there or [default]
        return Meant(tuple(found), unsure=len(found) > 1)

    def people(self, text: str) -> Meant | None:
        """Whose addresses words for whom a mail is to mean; None where they are nobody's in a file here."""
        if text.casefold() in _SOMEBODY:
            return Meant((), unsure=True)
        found = addresses_of(text, self.files, self.text, _EMPTY)
        if not found and not _PERSONS.isdisjoint(WORD.findall(text.casefold())):
            found = described(text, self.files, self.text, _EMPTY | _ALL | _PERSONS | _TELLING)
        return Meant(found, unsure=len(found) > 1) if found else None

    def in_words(self, prose: str) -> Iterator[tuple[int, int]]:
        """Where names with blanks or brackets stand in a text: nobody reads these as one word."""
        odd = sorted({_name(one.path) for one in self.entries if re.search(r"[ ()]", one.path)}, key=len)
        for name in reversed(odd):
            at = prose.find(name)
            if at >= 0 and len(name) > 3:
                yield at, at + len(name)

    def _into(self, bare: str, text: str) -> Meant | None:
        """The folder that something goes to: one that is there, or is made in such a one, or the name without
        the words around it."""
        match text.rstrip("/").split():
            case [name, lead, above] if lead.casefold() in _INSIDE and above in self._folders:
                return Meant((f"{above}/{name}",))  # "2025 i invoices"
        same = [one.path for one in self.entries if one.folder and folded(one.path) == folded(bare)]
        if len(same) == 1:
            return Meant((same[0],))
        return Meant((f"{bare}/" if " " not in bare else bare,)) if bare != text.rstrip("/") else None

    def _of_a_kind(self, bare: str, plain: str, most: int) -> tuple[str, ...]:
        """The files that a pattern or the name of a kind is for: those at the top, else those below."""
        said = next((one for one in (read_pattern(bare), read_pattern(plain)) if "*" in one), "")
        if not said or most == 1:
            return ()
        try:
            pattern = anywhere(said.casefold())
        except GlobError:
            return ()
        files = self.files
        found = [path for path in files if pattern.fits(tuple(path.casefold().split("/")))]
        top = [path for path in found if "/" not in path] or found
        return tuple(top) if len(top) <= most else ()

    def _called(self, bare: str, wanted: _Wanted, use: PathUse) -> list[str]:
        """The paths that fit the words best."""
        asked = (bare, wanted, use)
        if asked not in self._fitting:
            self._fitting[asked] = self._fits(bare, wanted, use)
        return self._fitting[asked]

    def _fits(self, bare: str, wanted: _Wanted, use: PathUse) -> list[str]:
        there = [one for one in self.entries if self._is_wanted(one, wanted, use)]
        if re.search(r"\.[A-Za-z0-9]{1,5}$", bare):  # a whole name: elsewhere, or spelled nearly so
            same = [one.path for one in there if _name(one.path).casefold() == _name(bare).casefold()]
            return same or (self._near(bare, there) if use == "there" else [])
        same = [one.path for one in there if folded(_stem(one.path)) == folded(bare)]
        if same:
            return same
        words = [word for word in WORD.findall(bare.casefold()) if word not in _EMPTY]
        by_name = [one.path for one in there if _has(words, _name(one.path)) and _is_like(words, one.path)]
        if by_name:
            return by_name
        by_path = [one.path for one in there if _has(words, one.path) and _is_like(words, one.path)]
        if by_path:
            return by_path
        other = [_in_names(word, there) for word in words]
        if other != words:
            return [one.path for one in there if _has(other, _name(one.path)) and _is_like(other, one.path)]
        return self._near(bare, there)

    @staticmethod
    def _is_wanted(one: NamedFile, wanted: _Wanted, use: PathUse) -> bool:
        if use == "new":
            return not one.folder
        return not (one.folder and wanted.file) and not (not one.folder and wanted.folder)

    @staticmethod
    def _near(bare: str, there: Sequence[NamedFile]) -> list[str]:
        whole = "." in bare
        names = {folded(_name(one.path) if whole else _stem(one.path)): one.path for one in reversed(there)}
        close = difflib.get_close_matches(folded(bare), names, 2, _ALIKE)
        return [names[close[0]]] if len(close) == 1 else []

    def _chosen(self, found: Sequence[str], bare: str, wanted: _Wanted, most: int) -> Meant | None:
        if not found:
            return None
        if len(found) == 1:
            return Meant((found[0],))
        several = wanted.all or (PLURAL.search(bare.casefold()) is not None and not wanted.folder)
        if most > 1 and several:
            files = [path for path in found if path not in self._folders]
            return Meant(tuple(files)) if 0 < len(files) <= most else None
        return Meant(tuple(found[:_TOLD]), unsure=True)

    def has(self, path: str) -> bool:
        """Whether it is here."""
        return path in self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(one.path for one in self.entries)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(one.path for one in self.entries if one.folder)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is said beside a name: all of them; a folder; a file."""

    all: bool = False
    folder: bool = False
    file: bool = False


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _stem(path: str) -> str:
    return _name(path).rpartition(".")[0] or _name(path)


def _is_said(words: Sequence[Sequence[str]], name: str) -> bool:
    return any(_has(one, name) for one in words)


def _has(words: Sequence[str], text: str) -> bool:
    there = folded(text).split()
    return bool(words) and all(any(alike(folded(word), one) for one in there) for word in words)


def _in_names(word: str, there: Sequence[NamedFile]) -> str:
    """A word as names here have it in the other language: inköpslistan is shopping.txt."""
    meant = frozenset[str]().union(*(stems(one) - stems(one, same=False) for one in _uncalled(folded(word))))
    parts = (part for one in there if meant for part in folded(_name(one.path)).split() if not part.isdigit())
    return next(
        (one for one in parts if any(stems(each, same=False) & meant for each in _uncalled(one))), word
    )


def _uncalled(word: str) -> set[str]:
    """A word, and what stands before “list” in it."""
    return {word, *(word.removesuffix(end) for end in CALLED)} - {""}


def _is_most(words: Sequence[str], path: str) -> bool:
    """Whether words are at least half of those that the name of a file has."""
    there = [one for one in folded(_stem(path)).split() if not one.isdigit()]
    return 2 * sum(any(alike(folded(word), one) for word in words) for one in there) >= len(there)


def _is_like(words: Sequence[str], path: str) -> bool:
    """Whether words are most of a name, or stand in it, or in its folders, letter for letter or there with
    another ending: a jumper is no clock that jumps."""
    said, above = [folded(word) for word in words], folded(path.rpartition("/")[0]).split()
    there = folded(_name(path)).split()
    return _is_most(words, path) or all(
        word in there or any(alike(word, one) for one in above) for word in said
    )


# ---- Which inputs of a skill are paths, by what its plan does with them.


def path_uses(skill: Skill, find: Callable[[str], Any]) -> dict[str, PathUse]:
    """The inputs that are a path of a tool, and what it does there. find: knows the manifests."""
    uses: dict[str, PathUse] = {}
    if skill.template is None:
        return uses
    for call in _calls(case.root for case in skill.template.cases):
        manifest, args = find(str(call.get("tool_ref"))), call.get("args")
        if manifest is None or not isinstance(args, Mapping):
            continue
        paths = dict(manifest.scope.paths)
        if manifest.history:  # what a tool for a repository is told of its files
            paths |= {name: "read" for name in ("path", "paths") if name in args}
        for name, mode in paths.items():
            use = "new" if any(one in manifest.uri for one in _ADDS) else _MODES[mode]
            if mode == "write" and (
                manifest.operation == "destructive" or any(one in manifest.uri for one in _CHANGES)
            ):
                use = "there"
            value = args.get(name)
            for text in value if isinstance(value, list) else [value]:
                place = _PLACE.fullmatch(text) if isinstance(text, str) else None
                if place:
                    uses.setdefault(place[1], use)
    return uses


def changed_slots(skill: Skill, find: Callable[[str], Any]) -> dict[str, str]:
    """The inputs whose files do not stay as and where they are, each with how a tool says so."""
    found: dict[str, str] = {}
    for call in _calls(case.root for case in skill.template.cases) if skill.template else ():
        manifest, args = find(str(call.get("tool_ref"))), call.get("args")
        if manifest is None or not isinstance(args, Mapping):
            continue
        for name, mode in manifest.scope.paths.items():
            place = _PLACE.fullmatch(str(args.get(name))) if mode in ("move", "write") else None
            found |= {place[1]: mode} if place else {}
    return found


def edits(skill: Skill) -> bool:
    """Whether a skill only changes lines of what is there, or adds some."""
    return any(one in tool for tool in skill.tools for one in (*_ADDS, *_CHANGES, *_LINES))


def recipients(skill: Skill | None) -> frozenset[str]:
    """The inputs that say to whom a mail goes."""
    calls = _calls(case.root for case in skill.template.cases) if skill and skill.template else ()
    given = (call.get("args") for call in calls if "/tool/mail/" in str(call.get("tool_ref")))
    places = (_PLACE.fullmatch(str(args.get("to"))) for args in given if isinstance(args, Mapping))
    return frozenset(place[1] for place in places if place)


def _calls(roots: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    waiting = list(roots)
    while waiting:
        node = waiting.pop(0)
        waiting += node.get("children", ())
        if isinstance(node.get("tool_call"), Mapping):
            yield node["tool_call"]


class FileReading:
    """What the words of one goal for files were taken for. names: gives those of the workspace; None: what
    was found before is all that there is. find: knows the manifests of tools. found: by input and words, the
    paths; those between which a person has to choose stand behind an empty one. at: when it was said."""

    def __init__(
        self,
        names: Callable[[], FileNames | None] | None = None,
        find: Callable[[], Callable[[str], Any]] | None = None,
        found: Mapping[str, Sequence[str]] | None = None,
        at: str = "",
    ) -> None:
        said = cache(lambda: replace(one, at=at) if (one := names and names()) and one.at != at else one)
        self._names, self._find, self._at = said if names else None, find, at
        self.found: dict[str, tuple[str, ...]] = {key: tuple(paths) for key, paths in (found or {}).items()}

    @contextmanager
    def beside(self, prose: str) -> Iterator[FileReading]:
        """What the words of a wish of the goal were taken for, which may not be what they mean elsewhere
        in it: it is kept with the rest."""
        lead = f"{_WISH}{prose}\n"
        own = {key.removeprefix(lead): paths for key, paths in self.found.items() if key.startswith(lead)}
        one = FileReading(self._names, self._find, own, self._at)
        yield one
        self.found |= {f"{lead}{key}": paths for key, paths in one.found.items()}

    def after(self, made: Mapping[str, str]) -> FileReading:
        """The same where these paths are made first; what is found is kept with the rest."""
        names, find = self._names, self._find
        if names is None or not made:
            return self
        one = FileReading(cache(lambda: there.after(made) if (there := names()) else None), find, at=self._at)
        one.found = self.found
        return one

    def meant(self, skill: Skill, slot: str, text: str, most: int) -> Meant | None:
        """The paths that words for an input of a skill mean; None where they are to be taken as they are."""
        key = f"{slot}={text}"
        if key not in self.found:
            found = self._looked_up(skill, slot, text, most)
            if found is None:
                return None
            self.found[key] = ("", *found.paths) if found.unsure else found.paths
        paths = self.found[key]
        return Meant(paths[1:], unsure=True) if paths[:1] == ("",) else Meant(paths)

    def knows(self, slot: str, text: str) -> bool:
        """Whether files were found for these words for an input, which need not stand in the goal."""
        return f"{slot}={text}" in self.found

    def mentioned(
        self, skill: Skill, slot: str, runs: Iterable[tuple[str, int, int]], most: int
    ) -> Span | None:
        """The first run of words (with its place in the goal) that means something here, for an input of
        which nothing was read."""
        for text, start, end in runs:
            key = f"{slot}={text}"
            if key not in self.found:
                if self._names is None or self.uses(skill).get(slot) != "there":
                    continue
                names = self._names()
                found = names.named(text, most) if names is not None else None
                if found is None or found.unsure:
                    continue
                self.found[key] = found.paths
            return Span(f"slot.{slot}", text, start, end, _MENTIONED)
        return None

    def whole_names(self, skill: Skill, prose: str, spans: Sequence[Span]) -> tuple[Span, ...]:
        """The spans, where a part of the name of a file that is here is the name: `IMG_0413 (1).jpg`."""
        kept: list[Span] = []
        for one in spans:
            key = f"{one.field}<{one.value}"
            if key not in self.found and (name := self._name_around(prose, one)):
                use = self.uses(skill).get(one.field.removeprefix("slot."))
                self.found[key] = (name,) if use == "there" else ()
            if key not in self.found:
                kept.append(one)
            for name in self.found.get(key, ()):  # of another input a part of a name says nothing
                start = prose.find(name)
                whole = replace(one, value=name, start=start, end=start + len(name))
                if start >= 0 and not any((other.field, other.start) == (one.field, start) for other in kept):
                    kept.append(whole)
        return tuple(kept)

    def _name_around(self, prose: str, span: Span) -> str:
        """The name of a file that a value begins in; "" where it is the whole, or in none."""
        names = self._names() if self._names is not None else None
        if names is None or span.start is None or not span.field.startswith("slot."):
            return ""
        around = (place for place in names.in_words(prose) if place[0] <= (span.start or 0) < place[1])
        start, end = next(around, (0, 0))
        return prose[start:end] if prose[start:end] != span.value else ""

    def answering(self, prose: str) -> tuple[str, ...]:
        """The files that answer a goal, by what is in them: looked for once."""
        if _ANSWERS not in self.found and self._names is not None and (names := self._names()) is not None:
            self.found |= {_ANSWERS: found} if (found := names.answering(prose, self._at)) else {}
        return self.found.get(_ANSWERS, ())

    def moments(self, prose: str, verb: str, zone: str) -> tuple[str, Mapping[str, str]] | None:
        """A goal for a calendar without the words for moments that stand in files here, and what these say
        by input; None where it has none."""
        names = self.there if _MOMENTS not in self.found else None
        read = names.moments(prose, verb, self._at, zone, "", names.files) if names is not None else None
        if read is not None:
            self.found[_MOMENTS] = (read[0], *(part for pair in read[1].items() for part in pair))
        rest, *pairs = self.found.get(_MOMENTS, ("",))
        return (rest, dict(zip(pairs[::2], pairs[1::2], strict=True))) if rest else None

    def answered(self, skill: Skill, slot: str, prose: str) -> Span | None:
        """The file that answers a goal, for an input of which nothing was read; of several a person has to
        choose one."""
        paths = () if self.knows(slot, _TABLE) or not self.reads(skill) else self.answering(prose)
        if paths and self.uses(skill).get(slot) == "there":
            self.found[f"{slot}={_TABLE}"] = paths if len(paths) == 1 else ("", *paths)
        known = self.knows(slot, _TABLE)
        return Span(f"slot.{slot}", _TABLE, None, None, _MENTIONED) if known else None

    def reads(self, skill: Skill) -> bool:
        """Whether a skill must have a file that is here."""
        if any(slot.required and self.uses(skill).get(slot.name) == "there" for slot in skill.slots):
            self.found.setdefault(f"{_READS}{skill.id}", ())
        return f"{_READS}{skill.id}" in self.found

    def placed(
        self, skill: Skill, prose: str, spans: Sequence[Span], makes: Callable[[Span], bool]
    ) -> list[Span]:
        """The spans of a skill that reads a file and may make one, each for the file that it names. What is
        not here is made, and what is here read; words for a file say less than what one holds that answers.
        makes: whether words before a name make a file."""
        uses = self.uses(skill)
        many = {slot.name for slot in skill.slots if slot.most > 1}
        there = [f"slot.{name}" for name, use in uses.items() if use == "there" and name not in many]
        new = [f"slot.{name}" for name, use in uses.items() if use == "new" and f"slot.{name}" not in there]
        names = self._names() if self._names is not None and len(there) == len(new) == 1 else None
        if names is not None and _PLACED not in self.found:
            read = [one for one in spans if one.field == there[0]]
            made = [one for one in spans if one.field == new[0] and "." in one.value]
            gone = len(read) == 1 and "." in read[0].value and names.meant(read[0].value, "there", 1) is None
            other = names.has(made[0].value) if made else gone and makes(read[0])
            turned = gone and other and not names.has(read[0].value)
            words = [one.value for one in spans if one.field == new[0] and one not in made]
            answers = self.answering(prose)
            words += [one.value for one in read if answers and not turned and not names.has(one.value)]
            self.found |= {_PLACED: (*((there[0], new[0]) if turned else ("", "")), *words)}
        if _PLACED not in self.found:
            return list(spans)
        one, other_, *words = self.found[_PLACED]
        fields = {one: other_, other_: one}
        kept = [span for span in spans if span.value not in words or not span.field.startswith("slot.")]
        return [replace(span, field=fields.get(span.field, span.field)) for span in kept]

    def reworded(self, prose: str) -> str:
        """The goal with the name of a file in place of what it calls it, "" where it calls none: whoever
        chooses a skill then sees that it is about a file."""
        if _REWORDED not in self.found and self._names is not None and (names := self._names()) is not None:
            words = list(WORD.finditer(prose))
            for many in range(min(3, len(words) - 1), 0, -1):
                for first in range(1, len(words) - many + 1):
                    text = prose[words[first].start() : words[first + many - 1].end()]
                    meant = names.named(text, 1)
                    if meant is not None and "." in _name(meant.paths[0]):
                        self.found.setdefault(_REWORDED, (text, meant.paths[0]))
        text, *path = self.found.get(_REWORDED, ("",))
        return prose.replace(text, path[0], 1) if text and path else ""

    def uses(self, skill: Skill) -> Mapping[str, PathUse]:
        """The inputs that are paths, with what is done there."""
        return path_uses(skill, self._find()) if self._find is not None else {}

    def changed(self, skill: Skill) -> Mapping[str, str]:
        """The inputs whose files are changed or taken away ("write"), or moved ("move")."""
        return changed_slots(skill, self._find()) if self._find is not None else {}

    def only_look(self, tools: Iterable[str]) -> bool:
        """Whether tools, of which there are some, change nothing."""
        find = self._find() if self._find is not None else None
        found = [find(one) for one in tools] if find is not None else []
        return bool(found) and all(one is not None and one.operation == "read" for one in found)

    @property
    def there(self) -> FileNames | None:
        """What is in the workspace; None where nothing more is looked up."""
        return self._names() if self._names is not None else None

    def is_path(self, text: str) -> bool:
        """Whether a text is the whole path or name of something here. Nothing else was read of a draft."""
        names = self.there
        return names is None or any(text.rstrip("/") in (one.path, _name(one.path)) for one in names.entries)

    def _looked_up(self, skill: Skill, slot: str, text: str, most: int) -> Meant | None:
        if self._names is None:
            return None
        if slot in recipients(skill):
            here = self._names()
            found = here.people(text) if here is not None else None
            nobody = here is not None and found is None and "@" not in text and text == text.casefold()
            return Meant((), unsure=True) if nobody else found
        default = next((one.default for one in skill.slots if one.name == slot), ())
        here = self._names() if len(default) == 1 else None
        if here is not None and (of_kind := here.of_kind(text, default[0])) is not None:
            return of_kind
        use = self.uses(skill).get(slot)
        names = self._names() if use is not None else None
        if use == "there" and slot != "folder" and text.casefold() in _POINTING:
            return Meant((), unsure=True)
        if use is None or names is None:
            return None
        found = names.meant(text, "folder" if slot == "folders" else use, most)
        words, nouns = set(text.casefold().split()), _ALL | _FOLDER | _FILE | _EVERYTHING
        if found is None and use == "there" and PLAIN.fullmatch(text) and not names.has(text):
            said = words - nouns - _EMPTY
            return Meant((), unsure=True) if (said and len(words) > 1) or words <= _EMPTY else None
        return found
