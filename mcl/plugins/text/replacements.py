"""Which words of which text a goal wants to be others, by what stands there: “120 ska det va, inte 100”."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.text.answers import alike, empty_words
from mcl.plugins.text.said import kept_places, named_files, pattern, table, texts

_VALUE: Final = re.compile(
    r"(?<![\w./-])(?<!\d )(?:\d{4}-\d\d-\d\d|\d{1,3}(?: \d{3})+|[vV]?\d+(?:[.,:]\d+)*)"
    r"(?![\w/-])(?! \d)(?!\.\w)"
)
_NAME: Final = re.compile(r"(?<![\w./-])[^\W\d_a-zåäöéü][\w-]*[^\W_](?![\w/])(?!\.\w)")
_PART: Final = re.compile(r"[^\n,;{}]+")
_MOST: Final = 20  # files of one change
_RUN: Final = 5  # words of what is replaced, and of what takes its place


@dataclass(frozen=True)
class _Value:
    """A value that a goal says. shape: quote, number or name."""

    place: TextPlace
    text: str
    shape: str


@dataclass(frozen=True)
class _Change:
    """What a text has, and what it is to have, each with the words of the goal that say it."""

    old: str
    new: str
    old_said: TextPlace
    new_said: TextPlace


def read_edit(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The same for one file, for a skill that has one place for it."""
    found = read_replacement(prose, clauses, names)
    files = [one for one in found if one.slot == "files"]
    if len(files) != 1 or (len(files[0].values) > 1 and not files[0].unsure):
        return ()
    return tuple(one._replace(slot="file") if one.slot == "files" else one for one in found)


def read_replacement(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The old and the new words and the files; nothing where what stands in these leaves it open."""
    if not any(pattern("replace", "changes").search(prose, *one.place) for one in clauses):
        return ()
    named = named_files(prose, names)
    scope = _scope(clauses)
    kept = kept_places(prose, clauses, [place for place, _ in named])
    values = list(_values(prose, [place for place, _ in named], scope))
    kept = [
        one for one in kept if any(not free(one, [place]) for place, _ in named) or not _corrects(prose, one)
    ]
    untouched = {path for place, paths in named if not free(place, kept) for path in paths}
    meant = [
        (place, [path for path in paths if path not in untouched])
        for place, paths in named
        if free(place, kept) and any(not free(place, [one]) for one in scope)
    ]
    meant = [(place, paths) for place, found in meant if (paths := _in_folders(found, names, untouched))]
    values = [one for one in values if free(one.place, kept)]
    there = [path for path in texts(names) if path not in untouched] if not meant else []
    change, files = _changed(
        prose, values, scope, [paths for _, paths in meant] or [there], names, named=bool(meant)
    )
    apart = [one for one in meant if change is None or free(one[0], [change.old_said, change.new_said])]
    if len(apart) < len(meant):  # "Sofiakyrkan" is what is replaced, and names no file beside it
        meant = apart
        there = [path for path in texts(names) if path not in untouched] if not meant else []
        change, files = _changed(
            prose, values, scope, [paths for _, paths in meant] or [there], names, named=bool(meant)
        )
    if change is None or not files or change.old == change.new:
        return ()
    read = [FilledInput("", one) for one in (*scope, *kept)]
    old = FilledInput("old", change.old_said, (change.old,))
    new = FilledInput("new", change.new_said, (change.new,))
    if not meant:
        everywhere = pattern("replace", "everywhere").search(prose) is not None
        unsure = len(files) > 1 and not everywhere
        return (old, new, FilledInput("files", change.old_said, tuple(files[:_MOST]), unsure=unsure), *read)
    spans = []
    for place, paths in meant:
        own = tuple(path for path in paths if path in files)
        whole = names.has(prose[place.start : place.end].rstrip("/")) or not _is_one(paths, names)
        if own:
            spans.append(FilledInput("files", place, own[:_MOST], unsure=len(own) > 1 and not whole))
    return (old, new, *spans, *read)


def _in_folders(paths: Sequence[str], names: FileNames, untouched: set[str]) -> list[str]:
    """The files, with the texts of a folder in its place."""
    folders = {one.path for one in names.entries if one.folder}
    found = []
    for path in paths:
        inside = [one for one in texts(names) if one.startswith(f"{path}/")] if path in folders else [path]
        found += [one for one in inside if one not in untouched and one not in found]
    return found


def _is_one(paths: Sequence[str], names: FileNames) -> bool:
    """Whether files may each be meant, and not all of a folder."""
    folders = {path.rpartition("/")[0] for path in paths}
    whole = [one for one in texts(names) if one.rpartition("/")[0] in folders]
    return len(folders) > 1 or len(whole) > len(paths)


def _scope(clauses: Sequence[SaidClause]) -> list[TextPlace]:
    """The clauses up to the wish after the first one."""
    wishes = [at for at, one in enumerate(clauses) if one.does and not one.keeps]
    last = wishes[1] if len(wishes) > 1 else len(clauses)
    return [one.place for one in clauses[:last]]


def _corrects(prose: str, place: TextPlace) -> bool:
    """Whether a clause says what was wrong: "not 100"."""
    words = prose[place.start : place.end].split()
    return len(words) <= 3 and any(_VALUE.search(word) or _NAME.search(word) for word in words[1:])


def _values(prose: str, files: Sequence[TextPlace], scope: Sequence[TextPlace]) -> Iterable[_Value]:
    quotes = [inner for _, inner in quotes_of(prose) if within(inner, scope)]
    for inner in quotes:
        if free(inner, files):
            yield _Value(inner, prose[inner.start : inner.end], "quote")
    starts = {one.start for one in scope}
    for shape, form in (("number", _VALUE), ("name", _NAME)):
        for match in form.finditer(prose):
            place = TextPlace(*match.span())
            if not (within(place, scope) and free(place, [*files, *quotes])):
                continue
            first = shape == "name" and place.start in starts
            if shape == "name" and match[0].casefold() in {*empty_words(), *table("replace")["days"].split()}:
                continue
            yield _Value(place, match[0], "first" if first else shape)


def _has(text: str, words: str) -> list[str]:
    """How words are spelled where they stand in a text."""
    edges = (r"(?<!\w)" if words[:1].isalnum() else "", r"(?!\w)" if words[-1:].isalnum() else "")
    if words[:1].isdigit():  # 1.2 is no part of 1.2.3
        edges = (r"(?<![\w.,])(?<!\d-)", r"(?![\w-])(?![.,]\d)")
    return re.findall(f"{edges[0]}{re.escape(words)}{edges[1]}", text, re.IGNORECASE)


def _changed(
    prose: str,
    values: Sequence[_Value],
    scope: Sequence[TextPlace],
    candidates: Sequence[Sequence[str]],
    names: FileNames,
    *,
    named: bool,
) -> tuple[_Change | None, list[str]]:
    """The one change that what stands in the files leaves, and in which of them."""
    contents = {path: names.text(path) for paths in candidates for path in paths}
    where = {one: [path for path, text in contents.items() if _has(text, one.text)] for one in values}

    def everywhere(one: _Value) -> list[str]:
        """The files that have a value: of each place that names some, one at least."""
        found = where[one]
        return found if all(any(path in found for path in paths) for paths in candidates) else []

    pairs = [
        (old, new)
        for old in values
        for new in values
        if old is not new
        and old.text.casefold() != new.text.casefold()
        and _alike_shapes(old, new)
        and everywhere(old)
    ]
    joined = [(old, new) for old, new in pairs if _joined(prose, old, new)]
    if not joined:
        shaped = [(old, new) for old, new in pairs if not where[new] and new.shape != "first"]
        joined = shaped if named or any(one.shape == "quote" for pair in shaped for one in pair) else []
    if not joined:
        joined = [
            (old, new)
            for old, new in _runs(prose, scope, list(contents.values()), named=named)
            if all(any(_has(contents[path], old.text) for path in paths) for paths in candidates)
        ]
        where |= {old: [path for path, text in contents.items() if _has(text, old.text)] for old, _ in joined}
        where |= {new: [] for _, new in joined}
    news = {new for _, new in joined}
    if len(joined) == 1 and len(news) == 1:
        old, new = joined[0]
        change = _spelled(old, new, contents, everywhere(old))
        unsaid = [one for one in values if one.shape == "number" and not where[one] and one is not new]
        return (change, everywhere(old)) if named or not unsaid else (None, [])
    if not named or joined:
        return None, []
    labelled = (_labelled(prose, one, scope, candidates, contents) for one in values if one.shape == "number")
    told = [(change, files) for change, files in labelled if change is not None]
    return told[0] if len(told) == 1 else (None, [])


def _runs(
    prose: str, scope: Sequence[TextPlace], contents: Sequence[str], *, named: bool
) -> list[tuple[_Value, _Value]]:
    """The words on both sides of those that stand between old and new ones, where a text here has the old."""
    if not named:
        return []
    found = []

    def said(place: TextPlace) -> str:
        return prose[slice(*_bare(prose, place))]

    ends = re.compile(rf"\s+(?:{table('replace')['ends']})(?!\w)|[,.;:!?](?=\s|$)|\n", re.IGNORECASE)
    for name in ("to", "instead"):
        for match in re.finditer(table("replace")[name], prose, re.IGNORECASE):
            if not within(TextPlace(*match.span()), scope):
                continue
            stop = ends.search(prose, match.end())
            behind = TextPlace(match.end(), stop.start() if stop else len(prose))
            words = list(re.finditer(r"\S+", prose[: match.start()]))[-_RUN:]
            before = [TextPlace(one.start(), match.start()) for one in words]
            if name == "to":
                old = next((one for one in before if any(_has(text, said(one)) for text in contents)), None)
                pair = (old, behind)
            else:
                parts = list(re.finditer(r"\S+", prose[behind.start : behind.end]))[:_RUN]
                tails = [TextPlace(behind.start, behind.start + one.end()) for one in reversed(parts)]
                old = next((one for one in tails if any(_has(text, said(one)) for text in contents)), None)
                lead = re.compile(table("replace")["leads"], re.IGNORECASE)
                starts = [one.end() for one in lead.finditer(prose, 0, match.start())]
                pair = (old, TextPlace(max(starts, default=0), match.start()))
            if pair[0] is None or not 0 < len(said(pair[1]).split()) <= _RUN or not said(pair[0]):
                continue
            one, other = (TextPlace(*_bare(prose, place)) for place in (pair[0], pair[1]))
            if prose[one.start : one.end].casefold() not in empty_words():
                found.append((_Value(one, said(one), "words"), _Value(other, said(other), "words")))
    return found


def _bare(prose: str, place: TextPlace) -> tuple[int, int]:
    """A place without the blanks and quotes around its words."""
    text = prose[place.start : place.end]
    start = place.start + len(text) - len(text.lstrip(" \"'“”‘’"))
    return start, start + len(text.strip(" \"'“”‘’"))


def _alike_shapes(one: _Value, other: _Value) -> bool:
    same = {"first": "name"}
    return same.get(one.shape, one.shape) == same.get(other.shape, other.shape)


def _joined(prose: str, old: _Value, new: _Value) -> bool:
    """Whether the words between two values say that the one is to be the other."""
    if old.place.end <= new.place.start:
        return _between("to", prose[old.place.end : new.place.start])
    return _between("instead", prose[new.place.end : old.place.start])


def _between(name: str, text: str) -> bool:
    unit = r"(?:\s*(?:kr|sek|kronor|:-|%|€|\$|[\"“”'‘’]))*"
    form = rf"{unit}{table('replace')[name]}(?:[\"“”'‘’])*"
    return re.fullmatch(form, text, re.IGNORECASE) is not None


def _spelled(old: _Value, new: _Value, contents: dict[str, str], files: Sequence[str]) -> _Change:
    """The change as the files spell it: “fatima to jenny” is Fatima to Jenny."""
    spellings = {one for path in files for one in _has(contents[path], old.text)}
    text, put = old.text, new.text
    if text not in spellings and len(spellings) == 1:
        (text,) = spellings
        if text == text.title() and old.text.islower():
            put = " ".join(word[:1].upper() + word[1:] for word in put.split(" "))
    return _Change(text, put, old.place, new.place)


def _labelled(
    prose: str,
    value: _Value,
    scope: Sequence[TextPlace],
    candidates: Sequence[Sequence[str]],
    contents: dict[str, str],
) -> tuple[_Change | None, list[str]]:
    """The number behind the words of a goal that stand beside one in the files: “te is 30 now”."""
    if value.shape != "number":
        return None, []
    clause = next(one for one in scope if within(value.place, [one]))
    skip = empty_words() | frozenset(table("replace")["empty"].split())
    words = [
        (one[0].casefold(), TextPlace(*one.span()))
        for one in WORD.finditer(prose, *clause)
        if one[0].casefold() not in skip and not pattern("replace", "changes").fullmatch(one[0])
    ]
    words = [one for one in words if free(one[1], [value.place])]
    found: dict[str, list[tuple[str, str, TextPlace]]] = {}
    for path, text in contents.items():
        best: list[tuple[float, str, str, TextPlace]] = []
        for part in _PART.finditer(text):
            numbers = list(_VALUE.finditer(part[0]))
            if len(numbers) != 1 or numbers[0][0].count(".") != value.text.count("."):
                continue
            label = [one.casefold() for one in WORD.findall(part[0][: numbers[0].start()])]
            told = [(max((alike(word, one) for one in label), default=0.0), at) for word, at in words]
            score = sum(share for share, _ in told if share == 1.0)
            if score:
                score -= 0.01 * len(label)
                at = next(at for share, at in told if share == 1.0)
                whole = part[0][: numbers[0].end()].lstrip(" \t\"'|-*")
                best.append((score, whole, numbers[0][0], at))
        best.sort(key=lambda one: -one[0])
        if best and (len(best) == 1 or best[0][0] - best[1][0] > 0.5):
            found.setdefault(path, []).append(best[0][1:])
    files = [path for paths in candidates for path in paths if path in found]
    if not files or not all(any(path in files for path in paths) for paths in candidates):
        return None, []
    olds = {found[path][0][1] for path in files}
    wholes = {found[path][0][0] for path in files}
    at = found[files[0]][0][2]
    if len(olds) == 1 and all(len(_has(contents[path], next(iter(olds)))) == 1 for path in files):
        return _Change(olds.pop(), value.text, at, value.place), files
    if len(wholes) != 1:
        return None, []
    (whole,), (old) = wholes, found[files[0]][0][1]
    return _Change(whole, whole[: len(whole) - len(old)] + value.text, at, value.place), files
