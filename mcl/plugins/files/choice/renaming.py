"""How a goal wants many files to be called, or in which folders by date they go: “labb- before the names”,
“rep ska bli ovning i namnen”, “a folder per month”. Pure; the words are in renaming.toml."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from typing import Final, NamedTuple

from executor.core.tables import table_beside
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace, free
from mcl.plugins.files.selection import day_of, named_day, suffix

_PIECE: Final = r"""(?:"[^"\n]+"|“[^”\n]+”|'[^'\n]+'|‘[^’\n]+’|[^\s,;:"“”]+)"""
_DATE: Final = r"(?P<date>DATE)|(?P<year>YEAR)|(?P<month>MONTH)|(?P<x>PIECE)"
_SIGNS: Final = ("-", "_", " ", ".")
_QUOTES: Final = "\"'“”‘’"
_PLACES: Final = {"date": "%Y-%m-%d", "year": "%Y", "month": "%Y-%m"}
_SERIES: Final = re.compile(
    r"(?<![^\s\"“'])(?P<word>[^\s,;\"“]*?[^\s,;\"“\d])(?P<first>0*1)(?P<end>\.\w{1,5})?[\"”']?,?\s+"
    r"(?:(?:and|och|o)\s+)?[\"“']?(?P=word)0*2(?P=end)?[\"”']?"
)
_ANYTHING: Final = re.compile(  # “DSC_something”
    r"(?<=[\w-])(?:(?<![^\W_])(?:nåt|något|nånting|någonting|whatever|something|anything)|(?<![^\W_])[xn]{2,}|\*|#+|\.{3}|…)$",
    re.IGNORECASE,
)
_YEARS: Final = re.compile(r"(?:19|20)\d\d")
_DAYED: Final = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?")


class Renamed(NamedTuple):
    """A file that gets another name, or place. name: without its ending; modified: nanoseconds since 1970."""

    name: str
    modified: int = 0


Rule = Callable[[Sequence[Renamed]], "list[str]"]


class Renaming(NamedTuple):
    """A rule of a goal. rule: gives the new name of each file, all without endings; places: of the words that
    say it; piece: what the names that change have. parent: the folder in which they are, where it is said;
    many: how many files it names anew, in the order in which a goal names them."""

    rule: Rule
    places: tuple[TextPlace, ...]
    piece: str = ""
    parent: str = ""
    many: int = 0


@functools.cache
def _forms(name: str) -> tuple[re.Pattern[str], ...]:
    table = table_beside(__file__)
    said = table[name] if isinstance(table[name], list) else [table[name]]
    parts = {
        "X": f"(?:{_DATE})", "A": "(?P<a>PIECE)", "B": "(?P<b>PIECE)", "NAMES": f"(?:{table['names']})",
        "UNIT": table["unit"], "FOLDERS": f"(?:{table['folders']})", "DATE": table["date"],
        "YEAR": table["year"], "MONTH": table["month"], "PIECE": _PIECE,
    }  # fmt: skip
    found = []
    for one in said:
        for part, form in parts.items():
            one = form.join(re.split(rf"(?<![A-Za-z<]){part}(?![A-Za-z])", one))
        found.append(re.compile(rf"(?<![\w\"]){one}(?![\w-])", re.IGNORECASE))
    return tuple(found)


def read_renaming(prose: str, there: Sequence[str]) -> Iterator[Renaming]:
    """The rules that a goal may say, the likeliest first. there: the names of all files, with endings."""
    if any(form.search(prose) for form in (*_forms("renames"), *_forms("prefix"))):
        names = [TextPlace.of(match) for match in _found("names", prose)]
        for one in _rules(prose, there):
            places = (*one.places, *(place for place in names if free(place, one.places)))
            yield one._replace(places=tuple(part for place in places for part in _apart(prose, place)))


def _apart(prose: str, place: TextPlace) -> Iterator[TextPlace]:
    """A place without the word beside “names” that says which files: “the picture names”."""
    start = place.start
    for match in _forms("whose")[0].finditer(prose, *place):
        yield TextPlace(start, match.start(1 if match["of"] else 2))
        start = match.end(1 if match["of"] else 2)
    yield TextPlace(start, place.end)


def _rules(prose: str, there: Sequence[str]) -> Iterator[Renaming]:
    stems = {one.removesuffix(suffix(one)).casefold(): one for one in there}
    told = next(_found("first", prose), None)
    yield from _put(told, before=True) if told else ()
    yield from _by_example(prose, stems)
    yield from _numbered(prose)
    for name, sign in (("underscores", "_"), ("hyphens", "-")):
        for match in _found(name, prose):
            yield _each(partial(_with_sign, sign), match, " ")
    for name in ("prefix", "prefixed", "suffix"):
        for match in _found(name, prose):
            yield from _put(match, before=name != "suffix")
    for match in (*_found("replace", prose), *_found("instead", prose)):
        pieces = match.groupdict()
        new = _ANYTHING.sub("", _bare(pieces["b"]))
        olds = [pieces["a"]] if pieces.get("a") else _pieces_there(prose[: match.start()], stems)
        for old in (_ANYTHING.sub("", _bare(one)) for one in olds):
            if old and old.casefold() != new.casefold() and any(old.casefold() in one for one in stems):
                yield _each(_replacing(old, new), match, old, prose)
    for match in _found("remove", prose):
        if (old := _bare(match["a"])) and any(old.casefold() in one for one in stems):
            yield _each(_replacing(old, ""), match, old)
    yield from _listed(prose)
    for match in _found("lower", prose):
        yield _each(lambda one: one.name.lower(), match)
    for match in _found("upper", prose):
        yield _each(lambda one: one.name.upper(), match)


def _with_sign(sign: str, one: Renamed) -> str:
    return sign.join(one.name.split())


def _found(name: str, prose: str) -> Iterator[re.Match[str]]:
    for form in _forms(name):
        yield from form.finditer(prose)


def _bare(text: str) -> str:
    return text.strip(_QUOTES) if text[:1] in _QUOTES else text.rstrip(".!?").strip(_QUOTES)


def _each(new: Callable[[Renamed], str], match: re.Match[str], piece: str = "", prose: str = "") -> Renaming:
    place = TextPlace.of(match)
    told = [place]
    if prose and match.groupdict().get("a") is None:  # “the DSC pictures … say concert”
        at = prose.casefold().rfind(piece.casefold(), 0, match.start())
        told.append(TextPlace(at, at + len(piece)))
    return Renaming(lambda files: [new(one) for one in files], tuple(told), piece)


def _replacing(old: str, new: str) -> Callable[[Renamed], str]:
    form = re.compile(re.escape(old), re.IGNORECASE)

    def renamed(one: Renamed) -> str:
        text = form.sub(lambda _: new, one.name)
        return text if new else text.strip("".join(_SIGNS))

    return renamed


def _pieces_there(text: str, stems: dict[str, str]) -> list[str]:
    """The words of a text that names of files have."""
    words = re.findall(r"[^\W_]{2,}", text)
    return [one for one in reversed(words) if one.isupper() and any(one.casefold() in stem for stem in stems)]


def _put(match: re.Match[str], *, before: bool) -> Iterator[Renaming]:
    said = match.groupdict()
    form = next((form for name, form in _PLACES.items() if said.get(name)), "")
    text = _bare(said.get("x") or "")
    if not form and not text:
        return
    sure = bool(form) or said["x"][:1] in _QUOTES or text[-1:] in _SIGNS or text[:1] in _SIGNS
    named = any(one.search(match[0]) for one in _forms("names"))
    if not (sure or named or match.groupdict().get("of")):
        return

    def rule(files: Sequence[Renamed]) -> list[str]:
        sign = "_" if any("_" in one.name for one in files) else "-"
        new = []
        for one in files:
            put = text or _day(one).strftime(form)
            if before:
                put += sign if put[-1:].isalnum() and (form or not sure) else ""
                new.append(one.name if one.name.startswith(put) else f"{put}{one.name}")
            else:
                put = sign + put if put[:1].isalnum() and (form or not sure) else put
                new.append(one.name if one.name.endswith(put) else f"{one.name}{put}")
        return new

    place = TextPlace.of(match)
    if said.get("of"):  # what stands between says which files
        inner = TextPlace.of(match, "of")
        yield Renaming(rule, (TextPlace(place.start, inner.start), TextPlace(inner.end, place.end)))
    else:
        yield Renaming(rule, (place,))


def _day(one: Renamed) -> date:
    return named_day(one.name, whole=False) or day_of(one.modified)


def _by_example(prose: str, stems: dict[str, str]) -> Iterator[Renaming]:
    """By a name that is here and what becomes of it: “DSC_0101 -> concert_0101”."""
    for match in _found("example", prose):
        old, new = _bare(match["a"]), _bare(match["b"])
        old, new = old.removesuffix(suffix(old)), new.removesuffix(suffix(new))
        if old.casefold() not in stems or old == new or not new:
            continue
        if (rule := _like(old, new)) is not None:
            yield Renaming(rule[0], (TextPlace.of(match),), rule[1])
    for match in _found("like", prose):  # “2026-11-04_bild1.jpg”
        new = _bare(match["b"])
        new = new.removesuffix(suffix(new))
        old = next((one for one in stems if new.casefold().endswith(one) and new.casefold() != one), "")
        rule = _like(new[len(new) - len(old) :], new) if old else None
        dated = [TextPlace.of(one) for one in _forms("dated")[0].finditer(prose)]
        if rule is not None:
            yield Renaming(rule[0], (TextPlace.of(match), *dated), rule[1])


def _like(old: str, new: str) -> tuple[Rule, str] | None:
    """What one name and its new one say of others: a piece is another, or its parts are in another order."""
    parts, others = WORD.findall(old), WORD.findall(new)
    if len(parts) > 1 and sorted(parts) == sorted(others) and len({*parts}) == len(parts):
        runs = _runs(old, new)
        return ((lambda files: [_turned(one.name, runs) or one.name for one in files]), "") if runs else None
    same = next(at for at in range(len(new) + 1) if at == len(old) or old[-1 - at :] != new[-1 - at :])
    while same and any(len(one) > same and one[-1 - same :][:2].isalnum() for one in (old, new)):
        same -= 1  # pieces are whole words
    begin, put = old[: len(old) - same], new[: len(new) - same]
    if put and not begin and (day := _DAYED.match(put)):
        form, sign = _PLACES["date" if day[0].count("-") == 2 else "month"], put[day.end() :]
        return (lambda files: [_dated(one, form, sign) for one in files]), ""
    if put and not begin:
        return (lambda files: [f"{put}{one.name}" for one in files]), ""
    return ((lambda files: [_replacing(begin, put)(one) for one in files]), begin) if begin and put else None


def _dated(one: Renamed, form: str, sign: str) -> str:
    return one.name if _DAYED.match(one.name) else f"{_day(one).strftime(form)}{sign}{one.name}"


def _runs(old: str, new: str) -> tuple[re.Pattern[str], str] | None:
    """The form of names such as an old one, and how its parts are put together: the last part comes first."""
    for sign in _SIGNS:
        head, mark, tail = old.rpartition(sign)
        if mark and new == f"{tail}{sign}{head}":
            return re.compile(rf"(.+){re.escape(sign)}([^{re.escape(sign)}]+)"), rf"\2{sign}\1"
        head, mark, tail = old.partition(sign)
        if mark and new == f"{tail}{sign}{head}":
            return re.compile(rf"([^{re.escape(sign)}]+){re.escape(sign)}(.+)"), rf"\2{sign}\1"
    return None


def _turned(name: str, runs: tuple[re.Pattern[str], str]) -> str:
    match = runs[0].fullmatch(name)
    return match.expand(runs[1]) if match else ""


def _numbered(prose: str) -> Iterator[Renaming]:
    """“trip-01, trip-02 and so on”."""
    for match in _SERIES.finditer(prose):
        words = table_beside(__file__)
        start = re.search(rf"(?<!\w)(?:{words['series']})\s+$", prose[: match.start()], re.IGNORECASE)
        if start is None:
            continue
        behind = re.compile(words["rest"], re.IGNORECASE).match(prose, match.end())
        width, word = len(match["first"]), match["word"]
        place = TextPlace(start.start(), behind.end() if behind else match.end())
        yield Renaming(partial(_in_order, word, width), (place,))


def _in_order(word: str, width: int, files: Sequence[Renamed]) -> list[str]:
    wide = max(width, len(str(len(files)))) if width > 1 else 1
    return [f"{word}{number:0{wide}}" for number in range(1, len(files) + 1)]


def _listed(prose: str) -> Iterator[Renaming]:
    """As many names as there are files: “to forsok1, forsok2, forsok3”."""
    for match in _found("listed", prose):
        names = [
            _bare(one)
            for one in re.findall(_PIECE, match["names"])
            if one.casefold() not in ("and", "och", "&", "o", "å")
        ]
        names = [one.removesuffix(suffix(one)) for one in names]
        order = [TextPlace.of(one) for one in _forms("ordered")[0].finditer(prose)]
        yield Renaming(partial(_one_each, names), (TextPlace.of(match), *order), many=len(names))


def _one_each(names: list[str], files: Sequence[Renamed]) -> list[str]:
    return names if len(files) == len(names) else [one.name for one in files]


def read_tidying(prose: str) -> Iterator[Renaming]:
    """The rule by which files go into folders by date, if a goal says one: their names with the folder."""
    said = [match for match in _found("into", prose) if match[0].strip()]
    if not said:
        return
    shaped = next(
        (
            one
            for one in _found("shaped", prose)
            if one["path"] or one.start() < one.start("folder") or len(_YEARS.findall(one[0])) > 1
        ),
        None,
    )
    units = {
        name[0]
        for match in said
        for name, text in match.groupdict().items()
        if text and name in ("m", "y", "d", "m2", "y2")
    }
    form = {"m": "%Y-%m", "y": "%Y", "d": "%Y-%m-%d"}[next((one for one in "myd" if one in units), "m")]
    parent = ""
    if shaped is not None:
        form = ("%Y", "%Y-%m", "%Y-%m-%d")[shaped["folder"].count("-")]
        parent = (shaped["path"] or "").rstrip("/")
    places = [TextPlace.of(match) for match in (*said, *([shaped] if shaped else []))]
    yield Renaming(
        lambda files: [f"{_day(one).strftime(form)}/{one.name}" for one in files],
        tuple(sorted(places)),
        "",
        parent,
    )
