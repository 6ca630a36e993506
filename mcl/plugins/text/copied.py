"""What a goal wants on the clipboard that stands in a text here: “the guest wifi password”."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ir.inline_secrets import lines_without_keys
from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.text.answers import alike, empty_words, others
from mcl.plugins.text.said import named_files, pattern, table, texts

_MARK: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)]|\[[ xX]?\])\s+")
_ENOUGH: Final = 0.6  # of the words that say what is looked for, what its line must say
_LONGEST: Final = 60  # characters of a value behind a colon


def read_copied(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The value that is copied, as the one line that says it has it; nothing where no line is clear."""
    where = pattern("copied", "clipboard").search(prose)
    if where is None or next(quotes_of(prose), None) is not None:
        return ()
    files = [one for one in named_files(prose, names) if _is_name(prose[slice(*one[0])], names)]
    if not files and names.has("notes.md"):  # “the one in my notes”
        files = [(TextPlace.of(one), ("notes.md",)) for one in pattern("add", "notes").finditer(prose)]
    does = [at for at, one in enumerate(clauses) if one.does]
    told = [  # behind what is wanted, why it is
        one.place
        for at, one in enumerate(clauses)
        if does and at > does[0] and not one.does and not within(TextPlace.of(where), [one.place])
    ]
    apart = [*(place for place, _ in files), TextPlace.of(where), *told]
    stop = pattern("copied", "reasons").search(prose)
    said = [
        match
        for match in WORD.finditer(prose)
        if free(TextPlace.of(match), apart) and (stop is None or match.start() < stop.start())
    ]
    empty = {*empty_words(), *table("copied")["empty"].split()}
    wanted = list(
        dict.fromkeys(word for one in said if (word := one[0].casefold()) not in empty and len(word) > 1)
    )
    forms = [(re.compile(rf"(?:{name})", re.I), form) for name, form in table("copied")["forms"].items()]
    form = next((one[1] for one in forms if any(_is_of(match[0], [one]) for match in said)), "")
    if not wanted or not (form or len(wanted) > 1 or len(wanted[0]) > len("password")):
        return ()
    wanted = [one for one in wanted if not (form and _is_of(one, forms))] or wanted
    paths = {path for _, found in files for path in found} or set(texts(names))
    lines = [line for one in sorted(paths) for line in lines_without_keys(names.text(one)).splitlines()]
    wished = [one.place for one in clauses if one.does]
    aside = {
        one[0].casefold() for one in said if not within(TextPlace.of(one), wished) and not _is_called(one)
    }
    there = {word for line in lines for word in _words(line)}
    wanted = [  # what is told before the wish has words of which nothing here speaks
        one
        for one in wanted
        if one not in aside
        or not wished
        or any(alike(sense, word) for sense in _senses(one) for word in there)
    ]
    if not wanted:
        return ()
    value = _found(wanted, form, lines)
    if not value:
        return ()
    own = [match for match in said if match[0].casefold() in wanted]
    place = TextPlace(own[0].start(), own[-1].end())
    beside = {*empty, *wanted, *(match[0].casefold() for match in said if _is_of(match[0], forms))}
    read = [
        FilledInput("", one.place)
        for one in clauses
        if all(
            word.casefold() in beside or not free(TextPlace(start, start + 1), apart)
            for word, start in ((match[0], match.start()) for match in WORD.finditer(prose, *one.place))
            if stop is None or start < stop.start()
        )
    ]
    return (FilledInput("text", place, (value,)), FilledInput("file", TextPlace.of(where)), *read)


def _is_of(word: str, forms: Sequence[tuple[re.Pattern[str], str]]) -> bool:
    """Whether a word only says what the value looks like: a number, an address."""
    return any(name.fullmatch(word) for name, _ in forms)


def _is_called(match: re.Match[str]) -> bool:
    """Whether a word is somebody's name: in capitals, where no sentence begins."""
    before = match.string[: match.start()].rstrip()
    return match[0][:1].isupper() and bool(before) and before[-1] not in ".!?:"


def _is_name(text: str, names: FileNames) -> bool:
    """Whether words are the name of a file, and not what it is about."""
    return "." in text or names.has(text.rstrip("/"))


def _senses(word: str) -> list[str]:
    """A word with others for the same thing."""
    return [word, word.removesuffix("s"), *others(word)]


def _found(wanted: Sequence[str], form: str, lines: Iterable[str]) -> str:
    """The one value in the lines that say most of what is looked for, and enough; "" where it is not one."""
    senses, best, most = [_senses(word) for word in wanted], set[str](), _ENOUGH * len(wanted)
    for line in lines:
        words = _words(line)
        count = sum(any(alike(one, word) for one in group for word in words) for group in senses)
        if count >= most and (value := _value(line, wanted, form)):
            best = {*(best if count == most else ()), value}
            most = count
    return best.pop() if len(best) == 1 else ""


def _words(text: str) -> list[str]:
    return [word.casefold() for word in WORD.findall(text)]


def _value(line: str, wanted: Sequence[str], form: str) -> str:
    """What a line says of it: what has the form of it, else what stands behind a colon."""
    text = _MARK.sub("", line).strip()
    if form:
        shaped = [match[0].strip() for match in re.finditer(form, text) if match[0].casefold() not in wanted]
        return shaped[0] if shaped else ""
    _, colon, value = text.partition(": ")
    return value.strip() if colon and 0 < len(value) <= _LONGEST else ""
