"""Which words of which text a goal wants to be others, by what stands there: “120 ska det va, inte 100”."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Final

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.text.answers import alike, empty_words, others
from mcl.plugins.text.figures import VALUE, Figure, figures, kind_of
from mcl.plugins.text.marked import read_marked
from mcl.plugins.text.passages import read_passage
from mcl.plugins.text.said import kept_places, named_files, pattern, said_words, table, texts
from mcl.values.durations import in_english
from mcl.values.periods import MONTHS

_NAME: Final = re.compile(r"(?<![\w./-])[^\W\d_a-zåäöéü][\w-]*[^\W_](?![\w/])(?!\.\w)")
_FURTHER: Final = re.compile(rf"(?: {_NAME.pattern})+")
_SED: Final = re.compile(r"(?<!\S)s(?P<sign>[/|#])(?P<old>[^\n]+?)(?P=sign)(?P<new>[^\n]*?)(?P=sign)g?(?!\S)")
_MOST: Final = 20  # files of one change
_MOST_LINES: Final = 30  # of a text that several changes are made in at once
_APART: Final = 0.25  # by which the words beside another number say less
_RUN: Final = 5  # words of what is replaced, and of what takes its place


@dataclass(frozen=True)
class _Value:
    """A value that a goal says. shape: quote, number or name."""

    place: TextPlace
    text: str
    shape: str


@dataclass(frozen=True)
class _Change:
    """What a text has, and what it is to have, each with the words of the goal that say it. at, path: where
    the old stands, where only this one is meant."""

    old: str
    new: str
    old_said: TextPlace
    new_said: TextPlace
    at: TextPlace | None = None
    path: str = ""


def read_edit(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The same for one file, for a skill that has one place for it."""
    found = read_replacement(prose, clauses, names)
    files = [one for one in found if one.slot == "files"]
    if len(files) != 1 or (len(files[0].values) > 1 and not files[0].unsure):
        return ()
    return tuple(one._replace(slot="file") if one.slot == "files" else one for one in found)


def read_replacement(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The old and the new words and the files; nothing where what stands in these leaves it open."""
    found = read_passage(prose, clauses, names) or _read(prose, clauses, names)
    if found := found or read_marked(prose, clauses, names):
        return found
    first = next((at for at, one in enumerate(clauses) if one.does), 0)  # "Ugglan have paid. Change …"
    alone = _read(prose, clauses[first:], names) if first else ()
    named = [path for one in alone if one.slot == "files" for path in one.values]
    return alone if len(named) == 1 else ()


def _read(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    if (sed := _SED.search(prose)) is not None:
        return _of_sed(prose, sed, names)
    if not any(pattern("replace", "changes").search(prose, *one.place) for one in clauses):
        return ()
    named = named_files(prose, names)
    scope = _scope(prose, clauses)
    said = [place for place, _ in named]
    kept = kept_places(prose, [_uncorrected(prose, one, said) for one in clauses], said)
    values = list(_values(prose, said, scope))
    untouched = {path for place, paths in named if not free(place, kept) for path in paths}
    untouched -= {path for place, paths in named if free(place, kept) and len(paths) == 1 for path in paths}
    meant = [
        (place, [path for path in paths if path not in untouched])
        for place, paths in named
        if free(place, kept) and any(not free(place, [one]) for one in scope)
    ]
    meant = [(place, paths) for place, found in meant if (paths := _in_folders(found, names, untouched))]
    meant = [one for one in meant if not any(set(other[1]) < set(one[1]) for other in meant)]
    meant += _tests(prose, meant, names)
    values = [one for one in values if free(one.place, kept)]
    if any(names.has(prose[slice(*place)]) for place, _ in meant):
        told = (*(one.place for one in values), *(at for at, _ in meant if names.has(prose[slice(*at)])))
        numbered = [at for at in scope if any(within(one, [at]) for one in told)]
        wished = [one.place for one in clauses if one.does]
        meant = [
            one for one in meant if names.has(prose[slice(*one[0])]) or within(one[0], [*wished, *numbered])
        ]
    there = [path for path in texts(names) if path not in untouched]
    changes, files = _changed(prose, values, scope, meant, there, names)
    said = [place for one in changes for place in (one.old_said, one.new_said)]
    apart = [one for one in meant if free(one[0], said)]
    if len(apart) < len(meant):  # "Sofiakyrkan" is what is replaced, and names no file beside it
        meant = apart
        changes, files = _changed(prose, values, scope, meant, there, names)
    change = _in_one(changes, files, names)
    if change is None or not files or change.old == change.new:
        return ()
    first = [
        one.place for one in clauses if one.does and pattern("replace", "others").match(prose, *one.place)
    ]
    if any(
        within(one, scope) and free(change.old_said, [one]) and free(change.new_said, [one]) for one in first
    ):
        return ()  # “first save it as old.txt” is done to no words
    read = [FilledInput("", one) for one in (*scope, *kept)]
    old = FilledInput("old", change.old_said, (change.old,))
    new = FilledInput("new", change.new_said, (change.new,))
    if not meant:
        everywhere = pattern("replace", "everywhere").search(prose) is not None
        unsure = len(files) > 1 and not everywhere
        return (old, new, FilledInput("files", change.old_said, tuple(files[:_MOST]), unsure=unsure), *read)
    spans = list[FilledInput]()
    for place, paths in meant:
        own = tuple(path for path in paths if path in files)
        if len(own) == 1 and any(one.values == own for one in spans):
            continue
        whole = names.has(prose[place.start : place.end].rstrip("/")) or not _is_one(paths, names)
        if own:
            spans.append(FilledInput("files", place, own[:_MOST], unsure=len(own) > 1 and not whole))
    return (old, new, *spans, *read)


def _of_sed(prose: str, sed: re.Match[str], names: FileNames) -> Sequence[FilledInput]:
    """What a command of an editor says: “s/draft/final/ in notes.md”; nothing where it is no plain text."""
    named = named_files(f"{prose[: sed.start()]}{' ' * len(sed[0])}{prose[sed.end() :]}", names)
    if not named or re.search(r"[\\^$*+?\[\](){}|]", sed["old"] + sed["new"]):
        return ()
    files = [FilledInput("files", place, paths, unsure=len(paths) > 1) for place, paths in named]
    old, new = (FilledInput(name, TextPlace.of(sed, name), (sed[name],)) for name in ("old", "new"))
    return (old, new, *files, FilledInput("", TextPlace.of(sed)))


def _in_folders(paths: Sequence[str], names: FileNames, untouched: set[str]) -> list[str]:
    """The files, with the texts of a folder in its place."""
    folders = {one.path for one in names.entries if one.folder}
    found = []
    for path in paths:
        inside = [one for one in texts(names) if one.startswith(f"{path}/")] if path in folders else [path]
        found += [one for one in inside if one not in untouched and one not in found]
    return found


def _tests(
    prose: str, meant: Sequence[tuple[TextPlace, Sequence[str]]], names: FileNames
) -> list[tuple[TextPlace, list[str]]]:
    """The tests of the one file that is named: “in rooms.py and in its test”."""
    match = pattern("replace", "tests").search(prose)
    paths = {path for _, paths in meant for path in paths}
    if match is None or len(paths) != 1:
        return []
    stem = next(iter(paths)).rpartition("/")[2].partition(".")[0]
    called = re.compile(
        rf"(?:.*/)?(?:tests?[_.-]{re.escape(stem)}|{re.escape(stem)}[_.-](?:tests?|spec))\.\w+"
    )
    found = [path for path in texts(names) if called.fullmatch(path)]
    return [(TextPlace.of(match), found)] if len(found) == 1 else []


def _is_one(paths: Sequence[str], names: FileNames) -> bool:
    """Whether files may each be meant, and not all of a folder."""
    folders = {path.rpartition("/")[0] for path in paths}
    whole = [one for one in texts(names) if one.rpartition("/")[0] in folders]
    return len(folders) > 1 or len(whole) > len(paths)


def _scope(prose: str, clauses: Sequence[SaidClause]) -> list[TextPlace]:
    """The clauses up to the wish after the first one; “change it” is none."""
    empty = empty_words() | frozenset(table("replace")["pointing"].split())
    changes = pattern("replace", "changes")

    def wishes(one: SaidClause) -> bool:
        said = (word for word, _ in said_words(prose, [one.place], empty))
        return one.does and not one.keeps and not all(changes.fullmatch(word) for word in said)

    places = [at for at, one in enumerate(clauses) if wishes(one)]
    last = places[1] if len(places) > 1 else len(clauses)
    return [one.place for one in clauses[:last]]


def _uncorrected(prose: str, clause: SaidClause, named: Sequence[TextPlace]) -> SaidClause:
    """A clause as one that keeps nothing where it says what was wrong: “not 100”, “inte 30 som det står”."""
    text = prose[slice(*clause.place)]
    lead = _form("instead").match(f", {text}") if clause.keeps and free(clause.place, named) else None
    wrong = lead is not None and (len(text.split()) <= 3 or VALUE.match(f", {text}", lead.end()))
    return clause._replace(keeps=False) if wrong else clause


@functools.cache
def _form(name: str) -> re.Pattern[str]:
    return re.compile(table("replace")[name], re.IGNORECASE)


def _values(prose: str, files: Sequence[TextPlace], scope: Sequence[TextPlace]) -> Iterable[_Value]:
    quotes = [inner for _, inner in quotes_of(prose) if within(inner, scope)]
    for inner in quotes:
        if free(inner, files):
            yield _Value(inner, prose[inner.start : inner.end], "quote")
    starts, end = {one.start for one in scope}, 0
    for shape, form in (("number", VALUE), ("name", _NAME)):
        for match in form.finditer(prose):
            place = TextPlace.of(match)
            if not (within(place, scope) and free(place, [*files, *quotes])) or (
                shape == "name" and place.start < end
            ):
                continue
            first = shape == "name" and place.start in starts
            if shape == "name" and match[0].casefold() in {*empty_words(), *table("replace")["days"].split()}:
                continue
            if shape == "name" and (behind := _FURTHER.match(prose, place.end)) and not first:
                place = TextPlace(place.start, end := behind.end())  # a name of several words
            yield _Value(place, prose[slice(*place)], "first" if first else shape)


def _has(text: str, words: str) -> list[str]:
    """How words are spelled where they stand in a text."""
    return [text[place.start : place.end] for place in _places(text, words)]


def _places(text: str, words: str) -> list[TextPlace]:
    """Where words stand in a text, whatever the case."""
    edges = (r"(?<!\w)" if words[:1].isalnum() else "", r"(?!\w)" if words[-1:].isalnum() else "")
    if words[:1].isdigit():  # 1.2 is no part of 1.2.3
        edges = (r"(?<![\w.,])(?<!\d-)", r"(?![\w-])(?![.,]\d)")
    found = re.finditer(f"{edges[0]}{re.escape(words)}{edges[1]}", text, re.IGNORECASE)
    return [TextPlace.of(one) for one in found]


def _changed(
    prose: str,
    values: Sequence[_Value],
    scope: Sequence[TextPlace],
    meant: Sequence[tuple[TextPlace, Sequence[str]]],
    there: Sequence[str],
    names: FileNames,
) -> tuple[list[_Change], list[str]]:
    """The changes that what stands in the files leaves, and in which of them; several are in one file."""
    candidates = [paths for _, paths in meant] or [there]
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
    labels = _Labels(prose, contents, candidates, [place for place, _ in meant])
    several = [one for one in joined if _alone(one, joined)]
    changes = [_spelled(old, new, contents, everywhere(old)) for old, new in several]
    if meant and len(several) == len(joined):
        changes += labels.of_parts([one for one in _segments(prose, scope) if _free_of(one, joined)], values)
    if len(changes) > 1:
        numbers = [one for one in values if one.shape == "number"]
        said = [place for one in changes for place in (one.old_said, one.new_said)]
        files = [path for path in contents if all(_in(one, path, contents[path]) for one in changes)]
        unsaid = [one for one in numbers if free(one.place, said) and not set(where[one]) & set(files)]
        return (changes, files) if len(files) == 1 and not unsaid else ([], [])
    if not joined and (stated := _stated(prose, values, scope)) is not None:
        old, new = stated
        own = next(at for at in scope if within(old.place, [at]))
        beside = [set(paths) for place, paths in meant if within(place, [own])]
        named = [path for path in where[old] if all(path in paths for paths in beside)]
        named = named or where[old] if len(beside) > 1 else named
        places = labels.having(old, scope, named)
        change = _spelled(old, new, contents, named)
        files = list(dict.fromkeys(path for path, _ in places))
        if len(places) == 1:
            change = replace(change, at=places[0][1], path=files[0])
        return ([change], files) if places and len(places) == len(files) else ([], [])
    if not joined:
        shaped = [(old, new) for old, new in pairs if not where[new] and new.shape != "first"]
        joined = shaped if meant or any(one.shape == "quote" for pair in shaped for one in pair) else []
    if not joined:
        joined = [
            (old, new)
            for old, new in _runs(prose, scope, list(contents.values()), named=bool(meant))
            if all(any(_has(contents[path], old.text) for path in paths) for paths in candidates)
        ]
        where |= {old: [path for path, text in contents.items() if _has(text, old.text)] for old, _ in joined}
        where |= {new: [] for _, new in joined}
    news = {new for _, new in joined}
    if len(joined) == 1 and len(news) == 1:
        old, new = joined[0]
        unsaid = [one for one in values if one.shape == "number" and not where[one] and one is not new]
        change = _spelled(old, new, contents, everywhere(old))
        return ([change], everywhere(old)) if meant or not unsaid else ([], [])
    if joined and all(_alone(one, joined) for one in joined):
        changes = [_spelled(old, new, contents, everywhere(old)) for old, new in joined]
        files = [path for path in contents if all(_in(one, path, contents[path]) for one in changes)]
        return (changes, files) if len(files) == 1 else ([], [])
    if not meant or joined:
        return [], []
    told = [
        found
        for one in values
        if one.shape == "number"
        and (found := labels.of(one, next(at for at in scope if within(one.place, [at]))))
    ]
    return ([told[0][0]], told[0][1]) if len(told) == 1 else ([], [])


def _alone(pair: tuple[_Value, _Value], pairs: Sequence[tuple[_Value, _Value]]) -> bool:
    """Whether no other pair has a value of this one."""
    return all(one is pair or not {*one} & {*pair} for one in pairs)


def _free_of(place: TextPlace, pairs: Sequence[tuple[_Value, _Value]]) -> bool:
    return free(place, [one.place for pair in pairs for one in pair])


def _in(change: _Change, path: str, text: str) -> bool:
    return change.path == path if change.at is not None else bool(_has(text, change.old))


def _segments(prose: str, scope: Sequence[TextPlace]) -> list[TextPlace]:
    """The parts of clauses between what joins several things: “te 30 and kaffe 32”."""
    quotes = [whole for whole, _ in quotes_of(prose)]
    found = []
    for place in scope:
        start = place.start
        for match in _form("joins").finditer(prose[: place.end]):
            if match.start() >= start and free(TextPlace.of(match), quotes):
                found.append(TextPlace(start, match.start()))
                start = match.end()
        found.append(TextPlace(start, place.end))
    return found


def _in_one(changes: Sequence[_Change], files: Sequence[str], names: FileNames) -> _Change | None:
    """The changes as one: of several, or of one that only one place is meant for, that of their lines."""
    text = names.text(files[0]).replace("\r\n", "\n") if len(files) == 1 else ""
    if len(changes) == 1 and (changes[0].at is None or len(_has(text, changes[0].old)) == 1):
        return changes[0]
    if not changes or not text:
        return None
    edits = [
        (place, one.new) for one in changes for place in ([one.at] if one.at else _places(text, one.old))
    ]
    edits.sort()
    if not edits or any(one.end > other.start for (one, _), (other, _) in pairwise(edits)):
        return None
    start, end = text.rfind("\n", 0, edits[0][0].start) + 1, text.find("\n", edits[-1][0].end)
    old = text[start : end if end >= 0 else len(text)]
    if old.count("\n") >= _MOST_LINES or text.count(old) != 1:
        return None
    new = old
    for place, put in reversed(edits):
        new = new[: place.start - start] + put + new[place.end - start :]
    return _Change(old, new, changes[0].old_said, changes[0].new_said)


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
    whole = TextPlace(scope[0].start, scope[-1].end)
    for name in ("to", "instead"):
        said_there = [one for one in _form(name).finditer(prose) if within(TextPlace.of(one), [whole])]
        for match in said_there:
            stop = ends.search(prose, match.end())
            end = stop.start() if stop else len(prose)
            if further := next((one.start() for one in said_there if match.end() < one.start() < end), 0):
                joins = [one.start() for one in _form("joins").finditer(prose[:further], match.end())]
                end = joins[-1] if joins else end
            behind = TextPlace(match.end(), end)
            words = list(re.finditer(r"\S+", prose[: match.start()]))[-_RUN:]
            before = [TextPlace(one.start(), match.start()) for one in words]
            if name == "to":
                old = next((one for one in before if any(_has(text, said(one)) for text in contents)), None)
                if before and said(before[-1]).casefold() in table("replace")["persons"].split():
                    old = _antecedent(prose, before[-1].start, contents)
                pair = (old, behind)
            else:
                parts = list(re.finditer(r"\S+", prose[behind.start : behind.end]))[:_RUN]
                tails = [TextPlace(behind.start, behind.start + one.end()) for one in reversed(parts)]
                old = next((one for one in tails if any(_has(text, said(one)) for text in contents)), None)
                starts = [one.end() for one in _form("leads").finditer(prose, 0, match.start())]
                pair = (old, TextPlace(max(starts, default=0), match.start()))
            if pair[0] is None or not 0 < len(said(pair[1]).split()) <= _RUN or not said(pair[0]):
                continue
            one, other = (TextPlace(*_bare(prose, place)) for place in (pair[0], pair[1]))
            if VALUE.fullmatch(said(pair[1])) and not VALUE.search(said(pair[0])):
                continue  # “change coffee to 32” is about the number beside it
            if prose[one.start : one.end].casefold() not in empty_words():
                found.append((_Value(one, said(one), "words"), _Value(other, said(other), "words")))
    return found


def _antecedent(prose: str, end: int, contents: Sequence[str]) -> TextPlace | None:
    """The one name before a place that a text here has: “fatima is ill, swap her for kalle”."""
    empty = {*empty_words(), *table("replace")["days"].split(), *table("replace")["persons"].split()}
    found = {}
    for word, at in said_words(prose, [TextPlace(0, end)], frozenset(empty)):
        if any(one[:1].isupper() for text in contents for one in _has(text, word)):
            found[word] = at
    return next(iter(found.values())) if len(found) == 1 else None


def _bare(prose: str, place: TextPlace) -> tuple[int, int]:
    """A place without the blanks and quotes around its words."""
    text = prose[place.start : place.end]
    start = place.start + len(text) - len(text.lstrip(" \"'“”‘’"))
    return start, start + len(text.strip(" \"'“”‘’"))


def _means(word: str, other: str) -> bool:
    return any(alike(one, other) == 1.0 for one in (word, *others(word)))


def _stated(prose: str, values: Sequence[_Value], scope: Sequence[TextPlace]) -> tuple[_Value, _Value] | None:
    """What a text says, and what is right, in clauses of their own: “it says 100. It is 120”, “35, not 30 as
    it stands”; None where it is not just one such pair of numbers."""
    found = dict[tuple[str, str], tuple[_Value, _Value]]()
    for old, new in permutations(values, 2):
        own, other = (next(at for at in scope if within(one.place, [at])) for one in (old, new))
        lead = _form("instead").match(f", {prose[slice(*own)]}") if own != other else None
        turned = lead is not None and own.start + lead.end() - 2 == old.place.start
        tells, right = (pattern("replace", name) for name in ("tells", "right"))
        wrong = tells.search(prose, own.start, old.place.start) is not None
        wrong = wrong and right.search(prose, own.start, old.place.start) is None
        stands = tells.search(prose, *other) is None or right.search(prose, *other) is not None
        one_kind = old.shape == new.shape == "number" and kind_of(old.text) == kind_of(new.text)
        one_kind = one_kind and old.text != new.text
        if own != other and one_kind and (turned or (wrong and stands)):
            found.setdefault((old.text, new.text), (old, new))
    plain = {
        said: pair for said, pair in found.items() if not any(_is_of_day(prose, one.place) for one in pair)
    }
    found = plain or found
    return next(iter(found.values())) if len(found) == 1 else None


def _is_of_day(prose: str, place: TextPlace) -> bool:
    """Whether a number is a part of a day that is said: “2 November”."""
    around = (*WORD.findall(prose[: place.start])[-1:], *WORD.findall(prose[place.end :])[:1])
    return any(in_english(one.casefold()) in MONTHS for one in around)


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


class _Labels:
    """The numbers of files by the words beside them: “te is 30 now” where “Te 28” stands.

    contents: what stands in the files; candidates: of each place that names some, which; said: these places.
    """

    def __init__(
        self,
        prose: str,
        contents: dict[str, str],
        candidates: Sequence[Sequence[str]],
        said: Sequence[TextPlace],
    ) -> None:
        self.prose, self.contents, self.candidates, self.said = prose, contents, candidates, said
        self.figures = {path: list(figures(text)) for path, text in contents.items()}
        own = (one.label for found in self.figures.values() for one in found) if said else ()
        self.alone = frozenset(label[0] for label in own if len(label) == 1)  # “Te 28”

    def having(
        self, value: _Value, scope: Sequence[TextPlace], paths: Sequence[str]
    ) -> list[tuple[str, TextPlace]]:
        """Where a number stands, of several places there those beside which most words of a goal stand, in
        the line or in the name of the file."""
        words = {word for place in scope for word, _ in self._words(value, place) if not word.isdigit()}
        scored = []
        for path in paths:
            called = [one.casefold() for one in WORD.findall(path)]
            for one in self.figures[path]:
                if one.text == value.text:
                    beside = (*one.label, *called)
                    score = sum(any(_means(word, other) for other in beside) for word in words)
                    scored.append((score, path, one.place))
        most = max((one[0] for one in scored), default=0)
        return [(path, place) for score, path, place in scored if score == most]

    def of_parts(self, parts: Sequence[TextPlace], values: Sequence[_Value]) -> list[_Change]:
        """The changes that parts of a goal say, where these are several: each of one number. What has none
        goes with the next."""
        found: list[_Change] = []
        before: list[TextPlace] = []
        for part in parts:
            own = [one for one in values if within(one.place, [part]) and one.shape == "number"]
            if not own:
                before.append(part)
                continue
            if len(own) > 1:
                before = []
                continue
            told = [self.of(own[0], one) for one in (*before, part)]
            if told[-1] is not None:
                found += [one[0] for one in told if one is not None]
            before = []
        places = {(one.path, one.at) for one in found}
        return found if all(one.at for one in found) and len(places) == len(found) else []

    def of(self, value: _Value, place: TextPlace) -> tuple[_Change, list[str]] | None:
        """The number that the words at a place stand beside, as it is to be, and the files that have it."""
        words = self._words(value, place)
        best = {path: one for path in self.contents if (one := self._best(path, value, words))}
        files = [path for paths in self.candidates for path in paths if path in best]
        if not files or not all(any(path in files for path in paths) for paths in self.candidates):
            return None
        files = list(dict.fromkeys(files))
        olds = {best[path][0].text for path in files}
        figure, at = best[files[0]]
        if len(olds) > 1 or figure.text == value.text:
            return None
        if len(files) == 1:
            return _Change(figure.text, value.text, at, value.place, figure.place, files[0]), files
        single = all(len(_has(self.contents[path], figure.text)) == 1 for path in files)
        return (_Change(figure.text, value.text, at, value.place), files) if single else None

    def _words(self, value: _Value, place: TextPlace) -> list[tuple[str, TextPlace]]:
        skip = empty_words() | frozenset(table("replace")["empty"].split())
        skip -= self.alone
        return [
            (word, at)
            for word, at in said_words(self.prose, [place], skip)
            if free(at, [value.place, *self.said]) and not pattern("replace", "changes").fullmatch(word)
        ]

    def _best(
        self, path: str, value: _Value, words: Sequence[tuple[str, TextPlace]]
    ) -> tuple[Figure, TextPlace] | None:
        """The number of a file that words stand beside more clearly than beside others."""
        figures = [one for one in self.figures[path] if kind_of(one.text) == kind_of(value.text)]
        having = {
            word: [one for one in figures if any(alike(word, said) == 1.0 for said in one.label)]
            for word, _ in words
        }
        scored = []
        for figure in figures:
            told = [(word, at) for word, at in words if figure in having[word]]
            if told:
                weak = table("replace")["weak"].split()
                shares = ((0.5 if word in weak else 1) / len(having[word]) for word, _ in told)
                score = math.fsum(shares) - 0.01 * len(figure.label)
                scored.append((score, figure.place, figure, told))
        scored.sort(key=lambda one: (-one[0], one[1]))
        apart = (
            scored[0][0] - score > _APART or set(told) < set(scored[0][3]) for score, *_, told in scored[1:]
        )
        return (scored[0][2], scored[0][3][0][1]) if scored and all(apart) else None
