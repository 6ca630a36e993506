"""A line or passage of a text that a goal wants to be another: “replace the TODO line with: …”, “where it
says A, change it to B”, “Lisa can't on the 30th, put Bo instead”, “a new section 0.4.3 above 0.4.2”."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.text.answers import empty_words, means
from mcl.plugins.text.said import day_in, kept_places, named_files, pattern, said_words, table, texts

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_MARK: Final = re.compile(r"^\s*(?:#+\s+|[-*+]\s+(?:\[[ xX]?\]\s*)?|\d+[.)]\s+)")
_HEADING: Final = re.compile(r"^(?P<mark>#+\s+)(?P<title>\S.*?)\s*$", re.MULTILINE)
_ENDS: Final = (".", "!", "?")
_STOP: Final = re.compile(r"[.!?;](?=\s|$)|\n")
_SIGN: Final = re.compile(r"[,;.!?](?=\s|$)")
_TIDY: Final = " \t\n,;:.!?"
_QUOTES: Final = " \"'“”‘’"
_MOST: Final = 20  # files, or passages that may be meant
_SAME: Final = 0.9  # how far a word of the goal says one of a line
_NAMED: Final = 2  # headings of a kind that show how one is written


class _Passage(NamedTuple):
    """What stands in a text, and what is to; said: of what and where the goal says each."""

    path: str
    old: str
    new: str
    old_said: TextPlace
    new_said: TextPlace


@dataclass(frozen=True)
class _Said:
    """A goal, and the files it names outside what is to be written."""

    prose: str
    names: FileNames

    @cached_property
    def named(self) -> Sequence[tuple[TextPlace, tuple[str, ...]]]:
        """Where it names files, looked for where its words say that one is changed so."""
        return named_files(self.prose, self.names)

    def paths(self, apart: TextPlace) -> list[str]:
        """The texts that may be meant: those that are named but for in some words, else all."""
        own = [paths for place, paths in self.named if free(place, [apart])]
        whole = [found for found in own if len(found) == 1] or own
        return list(dict.fromkeys(path for found in whole for path in found)) or list(texts(self.names))


def read_passage(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The old and the new words and the file; nothing where a goal says it in none of these ways, or where
    what stands in the files leaves open which it is."""
    said = _Said(prose, names)
    for reader in (_sections, _lines, _stated, _substituted):
        if found := list(reader(said)):
            break
    else:
        return ()
    first = found[0]
    if len({(one.new, one.path) for one in found}) > 1:
        return ()
    olds = tuple(dict.fromkeys(one.old for one in found))[:_MOST]
    kept = kept_places(prose, clauses, [place for place, _ in said.named])
    read = [one.place for one in clauses if free(one.place, kept)]
    files = next((at for at, paths in said.named if first.path in paths and free(at, [first.new_said])), None)
    return (
        FilledInput("old", first.old_said, olds, unsure=len(olds) > 1),
        FilledInput("new", first.new_said, (first.new,)),
        FilledInput("files", files or first.old_said, (first.path,)),
        *(FilledInput("", one) for one in (*read, *kept)),
    )


# ---- a line, or a sentence


def _lines(said: _Said) -> Iterator[_Passage]:
    """The lines that are to be others, each whole: “replace the line about tests with: …”."""
    prose = said.prose
    line = pattern("passage", "line").search(prose)
    wanted = any(pattern("replace", name).search(prose) for name in ("changes", "right"))
    if line is None or not wanted:
        return
    leads = [_led(prose, "colon", line.end()), *pattern("passage", "to").finditer(prose, line.end())]
    for lead in (one for one in leads if one is not None and one.end() < len(prose)):
        if found := _meant(said, line, TextPlace(0, lead.start()), _new(said, lead.end())):
            yield from found
            return


def _meant(said: _Said, line: re.Match[str], head: TextPlace, new: TextPlace) -> list[_Passage]:
    """The lines, or sentences, that most words speak of which stand before the new ones."""
    prose, put = said.prose, said.prose[slice(*new)]
    quotes = [inner for _, inner in quotes_of(prose) if within(inner, [head])]
    empty = empty_words() | frozenset(table("passage")["empty"].split())
    apart = [place for place, _ in said.named]
    words = [(word, at) for word, at in said_words(prose, [head], empty) if free(at, apart)]
    words = [(word, at) for word, at in words if not pattern("replace", "changes").fullmatch(word)]
    parts = _sentences if pattern("passage", "sentence").fullmatch(line[0]) else str.splitlines
    best: list[tuple[int, _Passage]] = []
    for path in said.paths(new):
        text = said.names.text(path)
        for one in filter(str.strip, parts(text)):
            spoken = [at for at in quotes if prose[slice(*at)].casefold() in one.casefold()]
            there = [word.casefold() for word in _WORD.findall(one)]
            if not quotes:
                spoken = [at for word, at in words if any(means(word, other) >= _SAME for other in there)]
            mark = _MARK.match(one)
            old = one[mark.end() :] if mark is not None and not _MARK.match(put) else one
            old = old if parts is str.splitlines or put.endswith(_ENDS) else old.rstrip(".!?")
            if spoken and put and text.count(old) == 1 and old != put:
                place = TextPlace(spoken[0].start, spoken[-1].end)
                best.append((len(spoken), _Passage(path, old, put, place, new)))
    most = max((many for many, _ in best), default=0)
    return [one for many, one in best if many == most]


def _sentences(text: str) -> list[str]:
    return [one.strip() for one in re.split(r"(?<=[.!?])\s+|\n", text) if one.strip()]


# ---- what a text says


def _stated(said: _Said) -> Iterator[_Passage]:
    """What a text says, which is told, and what it is to say: “it says A, change it to B”."""
    prose = said.prose
    for tells in pattern("passage", "says").finditer(prose):
        lead = _led(prose, "turned", tells.end())
        if lead is None:
            continue
        whole = TextPlace(tells.end(), lead.start())
        new = _new(said, lead.end())
        ends = [whole.end, *(one.start() for one in _SIGN.finditer(prose, *whole))]
        ends += [place.start for place, _ in said.named if within(place, [whole])]
        for end in sorted(ends, reverse=True):
            old = _bare(prose, TextPlace(whole.start, end))
            text = prose[slice(*old)]
            if len(text) > 1 and (found := list(_having(said, text, old, new))):
                yield from found if len(found) == 1 else []
                return


def _having(said: _Said, text: str, old: TextPlace, new: TextPlace) -> Iterator[_Passage]:
    edges = (r"(?<!\w)" if text[0].isalnum() else "", r"(?!\w)" if text[-1].isalnum() else "")
    form = re.compile(f"{edges[0]}{re.escape(text)}{edges[1]}", re.IGNORECASE)
    for path in said.paths(new):
        if len(found := form.findall(said.names.text(path))) == 1 and found[0] != said.prose[slice(*new)]:
            yield _Passage(path, found[0], said.prose[slice(*new)], old, new)


# ---- somebody in place of somebody else


def _substituted(said: _Said) -> Iterator[_Passage]:
    """Whoever stands there on a day, and who does instead: “Lisa can't on 30 November, put Bo instead”."""
    prose = said.prose
    instead = pattern("passage", "instead").search(prose)
    if instead is None:
        return
    name = next(one for one in instead.groupdict().values() if one)
    at = TextPlace.of(instead, next(key for key, one in instead.groupdict().items() if one))
    new = name if name[:1].isupper() else name.title()
    others = [
        prose[slice(*one)]
        for one in map(TextPlace.of, _WORD.finditer(prose))
        if free(one, [at]) and prose[slice(*one)].casefold() not in empty_words()
    ]
    for path in said.paths(at):
        lines = said.names.text(path).splitlines()
        days = [(line, day) for line in lines if (day := day_in(line)) is not None]
        for told in pattern("add", "day").finditer(prose):
            place = TextPlace.of(told)
            meant = [line for line, day in days if day == day_in(told[0])]
            there = [line.partition(":")[2].strip() for line in meant if ":" in line]
            if len(there) != 1 or not there[0] or there[0] == new:
                continue
            listed = {line.partition(":")[2].strip() for line, _ in days} - {there[0], new}
            unable = [one for one in listed if one.casefold() in map(str.casefold, others)]
            if unable:  # another than who has the day is said to be unable
                yield from (_Passage(path, one, new, place, at) for one in (there[0], *unable))
                return
            line = meant[0]
            yield _Passage(path, line, f"{line[: line.index(':') + 1]} {new}", place, at)
            return


# ---- a section


def _sections(said: _Said) -> Iterator[_Passage]:
    """A section that is new, above one that is there, written as that is."""
    prose = said.prose
    for made in pattern("passage", "section").finditer(prose):
        title, below = (TextPlace.of(made, name) for name in ("title", "before"))
        with_ = _led(prose, "lines", made.end())
        if with_ is None:
            continue
        new = _new(said, with_.end())
        found = []
        for path in said.paths(new):
            heads = list(_HEADING.finditer(said.names.text(path)))
            mine = [one for one in heads if prose[slice(*below)].casefold() in one["title"].casefold()]
            alike_ = [one for one in heads if mine and one["mark"] == mine[0]["mark"]]
            taken = any(prose[slice(*title)].casefold() == one["title"].casefold() for one in heads)
            if new.end > new.start and len(mine) == 1 and len(alike_) >= _NAMED and not taken:
                head = mine[0][0]
                put = f"{mine[0]['mark']}{prose[slice(*title)]}\n{prose[slice(*new)]}\n\n{head}"
                found.append(_Passage(path, head, put, below, new))
        yield from found if len(found) == 1 else []
        return


# ---- words


def _led(prose: str, name: str, start: int = 0) -> re.Match[str] | None:
    """What leads to new words; not in quotes."""
    quotes = [inner for _, inner in quotes_of(prose)]
    found = (one for one in pattern("passage", name).finditer(prose, start))
    return next((one for one in found if free(TextPlace.of(one), quotes)), None)


def _new(said: _Said, start: int) -> TextPlace:
    """The new words that begin there: a quote, what stands behind a colon, else the rest of the sentence
    without the file that is named last."""
    prose = said.prose
    for whole, inner in quotes_of(prose):
        if whole.start >= start and not prose[start : whole.start].strip(_TIDY):
            return inner
    colon = re.match(r"\s*:\s*", prose[start:])
    ends = re.compile(table("passage")["ends"], re.IGNORECASE).search(prose, start)
    end = min(ends.start() if ends else len(prose), len(prose))
    if colon is not None or prose[start - 1 : start] == ":":
        begin = start + (colon.end() if colon else 0)
        text = prose[begin:end].rstrip()
        return TextPlace(begin + len(text) - len(text.lstrip()), begin + len(text))
    stop = _STOP.search(prose, start)
    end = min(end, stop.start() if stop else end)
    for place, _ in said.named:
        into = pattern("passage", "into").search(prose[start : place.start].rstrip())
        if into is not None and not prose[place.end : end].strip(_TIDY):
            end = start + into.start()
    return _bare(prose, TextPlace(start, end))


def _bare(prose: str, place: TextPlace) -> TextPlace:
    """A place without blanks, signs and quotes around its words, and without “that”."""
    text = prose[place.start : place.end]
    start = place.start + len(text) - len(text.lstrip(_TIDY + _QUOTES))
    if that := pattern("passage", "that").match(prose, start, place.end):
        start = that.end()
    return TextPlace(start, max(start, place.start + len(text.rstrip(_TIDY + _QUOTES))))
