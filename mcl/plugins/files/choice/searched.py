"""What a goal looks for in the texts here, and in which: “any TODOs in src and web? not in the readme”,
“do any of the minutes mention a piano?”."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from executor.core.tables import table_beside
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.compiler.stages.word_forms import folded, stems
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace, within
from mcl.plugins.files.choice.looking import empty_words, looking_in
from mcl.plugins.files.choice.names import NamedSets, base
from mcl.plugins.files.choice.words import SaidWord, pattern_beside, tokens_of

_pattern = partial(pattern_beside, __file__)
_LONGEST: Final = 300  # characters of a goal
_MOST_FILES: Final = 300
_LONGEST_PATTERN: Final = 480  # characters
_PLAIN: Final = re.compile(r"[A-Za-z0-9]{1,5}")
_SIGNS: Final = re.compile(r"[{}\[\],*?!\\]")
_BOX: Final = re.compile(r"^\s*(?:[-*]\s+)?\[[ xX]\]\s", re.MULTILINE)
_FEW: Final = 3  # words that a text is said to mention


def read_searched(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The text that is looked for, and a pattern for the files in which it is; asked for where a goal ends
    before it says it."""
    bare = prose.rstrip(" .?!…")
    if unsaid := _pattern("open").match(bare):
        name = unsaid.lastgroup or 0
        return (FilledInput("text", TextPlace(unsaid.start(name), len(bare)), ("",), unsure=True),)
    found = _read("text", prose, clauses, names) or _mentioned(prose, clauses, names)
    return found or _open_boxes(prose, clauses, names)


def read_searched_code(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The same of a search through source code."""
    return _read("code", prose, clauses, names)


def _read(slot: str, prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    said = mark_said(prose)
    if said is None or len(prose) > _LONGEST or not _pattern("asks").search(prose):
        return ()
    place = TextPlace(said.start, said.end)
    own = [one for one in clauses if not (one.does and _pattern("more").search(prose, *one.place))]
    if not any(within(place, [one.place]) and not _pattern("more").search(prose, *one.place) for one in own):
        return ()
    mark = re.compile(rf"(?<![^\W_]){said.text}(?![^\W_])")
    having = [path for path in names.files[:_MOST_FILES] if mark.search(names.text(path))]
    if not (having or prose[said.start].isupper()):
        return ()
    scope = _Scope.read(prose, place, own, looking_in(names, names.text).sets)
    found = [FilledInput(slot, place, (said.text,)), *(FilledInput("", one.place) for one in own)]
    if pattern := scope.pattern(having):
        found.append(FilledInput("pattern" if slot == "text" else "scope", scope.place, (pattern,)))
    return found


def _mentioned(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """What some files are to mention, in the form in which they do."""
    clause = next((one for one in clauses if _pattern("mentions").search(prose, *one.place)), None)
    if clause is None or len(prose) > _LONGEST or any(one.does and one is not clause for one in clauses):
        return ()
    told = list(_pattern("mentions").finditer(prose, *clause.place))[-1]
    thing, behind = thing_said(tokens_of(prose, told.end(), clause.place.end))
    sets = looking_in(names, names.text).sets
    around = [*tokens_of(prose, clause.place.start, told.start()), *behind]
    naming = {one: found for one in around if _says(one) and (found := _texts_of(one, sets))}
    files = frozenset.intersection(*naming.values()) if naming else frozenset()
    if not thing or not files:
        return ()
    text = as_written(prose[thing[0].start : thing[-1].end], [names.text(path) for path in sorted(files)])
    where = pattern_of(sorted(files), names.files)
    if not where or (len(thing) > 1 and not text):
        return ()
    place = TextPlace(thing[0].start, thing[-1].end)
    named = next(iter(naming))
    folder = where.removesuffix("/**")
    slot, where = ("folder", folder) if folder != where else ("pattern", where)
    return (
        FilledInput("text", place, (text or prose[slice(*place)],)),
        FilledInput(slot, TextPlace(named.start, named.end), (where,)),
        *(FilledInput("", one.place) for one in clauses),
    )


def _open_boxes(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The open boxes of the one list that is meant, which are to be seen."""
    undone = _pattern("undone").search(prose)
    if undone is None or any(_pattern("more").match(prose, one.place.start) for one in clauses):
        return ()
    sets = looking_in(names, names.text).sets
    lists = [path for path in names.files if _BOX.search(names.text(path))]
    tokens = tokens_of(prose, 0, len(prose))
    named = {path: one for one in tokens for path in lists if path in sets.of(one)}
    if not named and len(lists) == 1:
        called = [one for one in tokens if one.text in set(table_beside(__file__)["todo"].split())]
        named = dict.fromkeys(lists, called[0]) if called else {}
    if len(named) != 1:
        return ()
    path, token = next(iter(named.items()))
    return (
        FilledInput("text", TextPlace.of(undone), ("[ ]",)),
        FilledInput("pattern", TextPlace(token.start, token.end), (_named([path]),)),
        *(FilledInput("", one.place) for one in clauses),
    )


def _says(token: SaidWord) -> bool:
    return token.quoted or (token.text not in empty_words() and len(token.text) > 1)


def _texts_of(token: SaidWord, sets: NamedSets) -> frozenset[str]:
    """The files with texts that a word names; those of the folder of that name, where it names others."""
    found = frozenset(path for path in sets.of(token) if sets.names.text(path))
    folder = "" if found else sets.folder(token.text)
    below = (path for path in sets.names.files if folder and path.startswith(f"{folder}/"))
    return found or frozenset(path for path in below if sets.names.text(path))


def thing_said(tokens: Sequence[SaidWord]) -> tuple[list[SaidWord], list[SaidWord]]:
    """What is mentioned, few words, and what stands behind it; none where it is more."""
    bare, until = set(table_beside(__file__)["bare"].split()), set(table_beside(__file__)["until"].split())
    tokens = [one for one in tokens if one.text not in ("?", "!", ",", ";")]
    first = next((at for at, one in enumerate(tokens) if one.text not in bare), len(tokens))
    last = next((at for at in range(first, len(tokens)) if tokens[at].text in until), len(tokens))
    return (list(tokens[first:last]) if last - first <= _FEW else []), list(tokens[last:])


def as_written(said: str, texts: Sequence[str]) -> str:
    """Words as some texts have them: themselves, or one in another form; "" where none has."""
    plain = said.strip(' .:"“”').casefold()
    if any(plain in text.casefold() for text in texts):
        return plain
    for same in (False, True):
        wanted = stems(folded(plain), same=same)
        for text in texts:
            for match in WORD.finditer(text):
                if stems(folded(match[0]), same=False) & wanted:
                    return match[0]
    return ""


def pattern_of(files: Sequence[str], there: Sequence[str]) -> str:
    """A pattern for just these files: their folder or endings, where they are all with these; else their
    names; "" where they are too many to name."""
    above = {one.rpartition("/")[0] for one in files}
    folder = f"{above.pop()}/" if len(above) == 1 else ""
    if folder and len(files) == sum(one.startswith(folder) for one in there):
        return f"{folder}**"
    endings = sorted({one.rpartition(".")[2] for one in files})
    ended = [one for one in there if one.rpartition(".")[2] in endings]
    if len(files) > 1 and len(files) == len(ended) and all(_PLAIN.fullmatch(one) for one in endings):
        return f"**/*.{_either(endings)}"
    return _named(files)


def _named(files: Sequence[str]) -> str:
    """A pattern that names files one by one; "" where there are none, or too many."""
    whole = len(files) == 1 and "/" not in files[0]  # which is no ending
    named = f"**/{files[0]}" if whole else _either(files) if files else ""
    return named if len(named) <= _LONGEST_PATTERN and not any(map(_SIGNS.search, files)) else ""


@functools.cache
def _marks() -> re.Pattern[str]:
    table = table_beside(__file__)
    marks = "|".join(table["marks"].split())
    return re.compile(
        rf"(?<![\w./-])(?P<mark>{marks})(?P<end>{table['ends']})?(?![\w/-]|\.\w)(?!{table['lists']})",
        re.IGNORECASE,
    )


def mark_said(prose: str) -> SaidWord | None:
    """The mark that a goal speaks of, as texts have it."""
    in_code = _pattern("code").search(prose) is not None
    for match in _marks().finditer(prose):
        if match["mark"].isupper() or in_code:
            return SaidWord(match["mark"].upper(), match.start(), match.end())
    return None


class _Scope(NamedTuple):
    """Where something is looked for. folders: only in these, endings: only in files that end so, files: only
    in these; out: not in these; place: of the words that say it."""

    folders: tuple[str, ...]
    endings: tuple[str, ...]
    files: frozenset[str]
    out: frozenset[str]
    place: TextPlace

    @classmethod
    def read(cls, prose: str, mark: TextPlace, clauses: Sequence[SaidClause], sets: NamedSets) -> _Scope:
        folders: list[str] = []
        endings: list[str] = []
        files: set[str] = set()
        out: set[str] = set()
        places: list[TextPlace] = []
        for clause in clauses:
            limit = _pattern("without").search(prose, *clause.place)
            whole = limit is not None and not within(mark, [clause.place])
            also = _pattern("beside").search(prose, *clause.place) is not None
            tokens = tokens_of(prose, *clause.place)
            for at, token in enumerate(tokens):
                ends = _endings(token.text)
                folder = sets.folder(token.text) if _is_name(token.text, sets) else ""
                one = frozenset[str]() if folder or ends else _called(token, sets)
                out_here = limit is not None and (whole or token.start >= limit.start())
                led = {each.text for each in tokens[max(0, at - 2) : at]} & set(
                    table_beside(__file__)["inside"].split()
                )
                if not (ends or folder or (one and (out_here or led))):
                    continue
                places.append(TextPlace(token.start, token.end))
                if out_here:
                    out |= one or {path for path in map(_path, sets.files) if _lies(path, (folder,), ends)}
                elif not also:
                    folders += [folder] if folder else []
                    endings += ends
                    files |= one
        endings = list(dict.fromkeys(endings))
        place = TextPlace(
            min((one.start for one in places), default=0), max((one.end for one in places), default=0)
        )
        return cls(tuple(folders), tuple(endings), frozenset(files), frozenset(out), place)

    def pattern(self, having: Sequence[str]) -> str:
        """A pattern for the files that are meant; "" where all are. having: those in which it stands."""
        if not (self.folders or self.endings or self.files or self.out):
            return ""
        meant = [path for path in having if _lies(path, self.folders, self.endings) and path not in self.out]
        meant = [path for path in meant if not self.files or path in self.files]
        parts = [f"{one}/**" for one in self.folders] or ["**"]
        if self.endings:
            parts = [f"{one}/*.{_either(self.endings)}" for one in parts]
        if self.files or (len(meant) < sum(_lies(path, self.folders, self.endings) for path in having)):
            parts = [_named(meant) or _named(sorted(self.files - self.out)) or _either(parts)]
        return _either(parts)


def _path(one: Any) -> str:
    return str(one.path)


def _either(parts: Sequence[str]) -> str:
    return f"{{{','.join(parts)}}}" if len(parts) > 1 else parts[0]


def _lies(path: str, folders: Sequence[str], endings: Sequence[str]) -> bool:
    above = not any(folders) or any(path.startswith(f"{one}/") for one in folders)
    return above and (not endings or path.casefold().rpartition(".")[2] in endings)


def _endings(word: str) -> tuple[str, ...]:
    """The endings of files in a language, by its name or one of them."""
    languages: dict[str, str] = table_beside(__file__)["languages"]
    if word in languages:
        return tuple(languages[word].split())
    plain = word.removeprefix("*").removeprefix(".")
    return (plain,) if any(plain in one.split() for one in languages.values()) and len(plain) > 1 else ()


def _is_name(word: str, sets: NamedSets) -> bool:
    """Whether a word is the whole name of a folder here."""
    plain = word.rstrip("/")
    return any(
        one.folder and plain in (one.path.casefold(), base(one.path).casefold()) for one in sets.names.entries
    )


def _called(token: SaidWord, sets: NamedSets) -> frozenset[str]:
    """The files that a word names by their names, and not by what they are."""
    text = token.text.removesuffix("n") if not token.quoted else token.text
    stems = (base(path).casefold() for path in sets.of(token))
    names = {token.text, text}
    if not any(one in names or one.rpartition(".")[0] in names for one in stems):
        return frozenset()
    return frozenset(
        path
        for path in sets.of(token)
        if {base(path).casefold(), base(path).casefold().rpartition(".")[0]} & names
    )
