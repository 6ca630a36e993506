"""What a goal says of a mail: to whom it is, what it is called, what it says; each as far as it is said."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from executor.core.tables import table_beside
from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, Filler, SaidClause
from mcl.compiler.stages.word_forms import alike, folded
from mcl.model.cues import TextPlace, blanked, free

_ADDRESS: Final = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_WORD: Final = re.compile(r"[^\W_]+(?:[-'’./][^\W_]+)*")
_STOPS: Final = re.compile(r"[,;!?()\n\"“”]|\.(?=\s|$)|\s[-–—]\s|:(?=\s|$)")
_HEADS: Final = {
    name: re.compile(rf"^{name}:(.*)$", re.IGNORECASE | re.MULTILINE) for name in ("from", "subject")
}
_OPENS: Final = re.compile(r"[.,;:!?\n–-]\s*$")  # what stands before a text that begins with a greeting
_OWNERS: Final = re.compile(r"['’]?s$")
_DASH: Final = re.compile(r"\s+[-–—]\s+")
_SENTENCE: Final = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+")
_TIDY: Final = " \t\n,;:.-–("
_LONGEST_NAME: Final = 4  # words
_LONGEST_TITLE: Final = 80  # characters
_NEAR: Final = 30  # characters between whom it is to and what it says
_AROUND: Final = ("mail", "to", "behind")  # words that are no name
_LEAST: Final = 3  # letters of a name that a pronoun may stand for


class _Part(NamedTuple):
    """A part of a mail. said: with the words that lead to it; inner: what it is."""

    said: TextPlace
    inner: TextPlace


def _table() -> dict[str, str]:
    return table_beside(__file__)


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_table()[name]})(?!\w)", re.IGNORECASE)


@functools.cache
def _labels(name: str) -> re.Pattern[str]:
    """What leads to a part that is called so: “, with the subject”."""
    words = _table()
    return re.compile(
        rf"(?:^|[,.;:(\n]\s*|\s)(?P<before>{words['before']})(?<!\w)(?:{words[name]})(?P<colon>\s*[:=])?(?!\w)"
        rf"\s*(?P<link>{words['link']})",
        re.IGNORECASE,
    )


def read_draft(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """What fills a draft."""
    return _filled(prose, names, "to", people=names.filler("people of rows"))


def read_reply(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """What fills an answer whose words are said; that none are, where a model is to find them."""
    head = _pattern("mail").search(prose)
    if head is None:
        return ()
    found = () if _pattern("style").search(prose) else _filled(prose, names, "to")
    told = {one.slot: one for one in found}
    if "message" not in told or "to" not in told or told["to"].unsure:
        return [FilledInput(name, TextPlace.of(head)) for name in ("to", "headline", "message")]
    title = told.get("headline")
    newest = max(_mails_of(told["to"].values[0], names), default=(0, ""))[1]
    if (title is not None and title.values) or not newest:
        return found
    again = newest if newest.casefold().startswith("re:") else f"Re: {newest}"
    kept = (one for one in found if one.slot not in ("file", "headline"))
    return (*kept, FilledInput("headline", told["message"].place, (again,)))


def _mails_of(address: str, names: FileNames) -> Iterator[tuple[int, str]]:
    """When the mails that lie here came from an address, and what each is called."""
    for one in names.entries:
        text = names.text(one.path) if one.path.casefold().endswith(".eml") else ""
        sender, title = (_HEADS[name].search(text.partition("\n\n")[0]) for name in ("from", "subject"))
        if sender and title and address.casefold() in sender[1].casefold():
            yield one.modified, title[1].strip()


def read_mail(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """What fills a mail that is sent; one whose words are said is no draft that lies here."""
    found = _filled(prose, names, "mail")
    given = [FilledInput("draft", one.place) for one in found if one.slot == "message"]
    return (*found, *given)


def _filled(prose: str, names: FileNames, to: str, *, people: Filler | None = None) -> Sequence[FilledInput]:
    """people: what reads the addresses of rows of a table."""
    head = _pattern("mail").search(prose)
    if head is None:
        return ()
    quotes = list(quotes_of(prose))
    named = _reversed(prose, quotes)
    text = _text(prose, head.end(), quotes, [named.said] if named else [])
    title = named or _subject(prose, text, quotes)
    if text is not None and title is not None and title.said.start > text.inner.start:
        text = _Part(text.said, _cut(prose, text.inner, title.said.start))
    apart = [one.said for one in (text, title) if one is not None]
    beside = [*apart, *map(TextPlace.of, _pattern("mail").finditer(prose))]
    rows = people(blanked(prose, beside), (), names) if people is not None else ()
    listed = next((one for one in rows if one.slot == "people"), None)
    whom = _whom(prose, apart, names) if listed is None else (listed.place, (", ".join(listed.values),))
    if text is None and whom is not None and (text := _that(prose, whom[0].end, apart)):
        apart.append(text.said)
    read = [FilledInput("", one) for one in apart]
    read += [FilledInput("", TextPlace.of(match)) for match in _pattern("where").finditer(prose)]
    found = []
    if text is None and title is None:
        here = names.named(head[0], 1)  # a folder that is called like a mail is no attachment
        return [FilledInput("file", TextPlace.of(head))] if here is not None else ()
    if whom is not None:
        place, values = whom
        found.append(FilledInput(to, place, values, unsure=len(values) > 1))
    elif (each := _pattern("everyone").search(prose)) and free(TextPlace.of(each), apart):
        found.append(FilledInput(to, TextPlace.of(each), unsure=True))  # no list of people is one person
    own = [one.place for one in rows if one.slot == "each"]
    if people is not None:
        found.append(FilledInput("apart", own[0] if own else TextPlace.of(head), ("each",) if own else ()))
    if title is not None:
        found.append(FilledInput("headline", title.inner, (prose[slice(*title.inner)],)))
    elif not any(free(TextPlace.of(one), apart) for one in _pattern("about").finditer(prose)):
        found.append(FilledInput("headline", TextPlace.of(head)))
    if text is not None:
        message, sure = _taken_back(_unasked(prose, text.inner))
        quoted = any(inner == text.inner for _, inner in quotes)
        mood = None if quoted else re.compile(_table()["mood"], re.IGNORECASE).search(message)
        values = (message,) if mood is None else (message[: mood.start()], message)
        found.append(FilledInput("message", text.inner, values, unsure=not sure or len(values) > 1))
    if not any(free(TextPlace.of(one), apart) for one in _pattern("attach").finditer(prose)):
        found.append(FilledInput("file", TextPlace.of(head)))  # what is named is no attachment
    return (*found, *read)


# ---- what it is called


def _reversed(prose: str, quotes: Sequence[tuple[TextPlace, TextPlace]]) -> _Part | None:
    """The name of it before what says that it is one: “with "Chairs" as the subject”."""
    words = _table()
    behind = re.compile(
        rf"\s*(?:as|for|som|in|i)\s+(?:the|its)?\s*(?:{words['subject']})(?!\w)", re.IGNORECASE
    )
    before = re.compile(r"(?:(?:and|with|och|med|put|write|use|skriv|sätt|ha)\s+)*$", re.IGNORECASE)
    for whole, inner in quotes:
        if match := behind.match(prose, whole.end):
            lead = before.search(prose, 0, whole.start)
            return _Part(TextPlace(lead.start() if lead else whole.start, match.end()), inner)
    return None


def _subject(prose: str, text: _Part | None, quotes: Sequence[tuple[TextPlace, TextPlace]]) -> _Part | None:
    """What stands behind a word for it, up to the end of the clause, or where the text begins."""
    for match in _labels("subject").finditer(prose):
        place = TextPlace(match.start(), match.end())
        if any(place.start < whole.end and whole.start < place.end for whole, _ in quotes):
            continue
        quoted = next((pair for pair in quotes if pair[0].start == match.end()), None)
        if quoted is not None:
            return _Part(TextPlace(match.start(), quoted[0].end), quoted[1])
        if text is not None and text.inner.start <= match.start() and not _named_behind(prose, match):
            continue
        begins = match.end()
        if prose[match.start()] in ".;\n" and prose[begins : begins + 1] == ",":  # as it is read out
            begins += 1
        stop = re.compile(r"[,;\n]|[.!](?=\s|$)|\)").search(prose, begins)
        end = stop.start() if stop else len(prose)
        if text is not None and match.end() <= text.said.start < end:
            end = text.said.start
        inner = _cut(prose, TextPlace(begins, end), end)
        inner = TextPlace(inner.start, inner.start + len(prose[slice(*inner)].rstrip(".")))
        if inner.end > inner.start:
            return _Part(TextPlace(match.start(), inner.end), inner)
    return None


def _named_behind(prose: str, match: re.Match[str]) -> bool:
    """Whether the name stands behind the text, in a clause of its own: “…, subject Tap”."""
    led = prose[match.start() : match.start() + 1] in ",.;\n" or len(match["before"].split()) > 1
    return led and len(prose) - match.end() < _LONGEST_TITLE


# ---- what it says


def _text(
    prose: str,
    begins: int,
    quotes: Sequence[tuple[TextPlace, TextPlace]],
    taken: Sequence[TextPlace],
) -> _Part | None:
    """What stands behind a word for it, else behind one of saying, else in quotes, else behind a colon."""
    labels = [one for one in _labels("text").finditer(prose) if free(TextPlace.of(one), taken)]
    called = _labels("subject").search(prose)
    leads = [
        one
        for one in labels
        if one["before"].strip()
        or one["colon"]
        or prose[one.start()] in ",.;:(\n"
        or (called is not None and prose[called.end() : one.start()].strip())
    ]
    leads = [one for one in leads if not _inside(one.start(), quotes)]
    if not leads:
        leads = [
            one
            for one in _pattern("says").finditer(prose, begins)
            if free(TextPlace.of(one), taken) and not _inside(one.start(), quotes)
        ]
    leads = leads or [one for one in _bare(prose, begins) if not _inside(one.start(), quotes)]
    leads = [one for one in leads if not _pattern("vague").match(prose[one.end() :].lstrip(_TIDY))]
    for lead in leads:
        start = lead.end() + len(prose[lead.end() :]) - len(prose[lead.end() :].lstrip(_TIDY))
        quoted = next((pair for pair in quotes if pair[0].start == start), None)
        if quoted is not None and not free(quoted[0], taken):
            continue
        if quoted is not None:
            return _Part(TextPlace(lead.start(), quoted[0].end), quoted[1])
        inner = _ended(prose, start, taken)
        if inner.end > inner.start:
            return _Part(TextPlace(lead.start(), inner.end), inner)
    labelled = [TextPlace.of(one) for one in _labels("subject").finditer(prose)]
    for match in _pattern("greeting").finditer(prose, begins):
        inner = _ended(prose, match.start(), taken)
        if _OPENS.search(prose, 0, match.start()) and free(inner, [*taken, *(one for one, _ in quotes)]):
            return _Part(inner, inner)
    for whole, inner in reversed(quotes):
        subject = any(one.end == whole.start for one in labelled)
        if whole.start > begins and free(whole, taken) and not subject:
            return _Part(whole, inner)
    for colon in re.finditer(r"(?<=\w|\))\s*:\s+(?=\S)", prose):
        place = TextPlace.of(colon)
        if place.start > begins and free(place, [*taken, *labelled, *(one for one, _ in quotes)]):
            inner = _ended(prose, place.end, taken)
            if _labels("subject").match(prose, place.end) is None and inner.end > inner.start:
                return _Part(TextPlace(place.start, inner.end), inner)
    return None


def _bare(prose: str, begins: int) -> Iterator[re.Match[str]]:
    """Where a verb alone leads to what is said: “write back to Rolf. say tuesday is fine”."""
    words = _table()
    form = rf"(?<!\w)(?:{words['bare']})(?=\s+(?!(?:{words['wanted']})(?!\w))\w)"
    for match in re.compile(form, re.IGNORECASE).finditer(prose, begins):
        before = re.search(r"[\w'’]+(?=\s*$)", prose[: match.start()])
        if before is None or _pattern("sayer").fullmatch(before[0]) is None:
            yield match


def _that(prose: str, start: int, apart: Sequence[TextPlace]) -> _Part | None:
    """What stands behind “that” and whom it is to, or behind a dash, where it speaks to somebody."""
    lead = _pattern("that").search(prose, start, start + _NEAR)
    if lead is None or _STOPS.search(prose, start, lead.start()):
        lead = _DASH.match(prose, start)
        lead = lead if lead is not None and _pattern("speaks").search(prose, lead.end()) else None
    if lead is None or not free(TextPlace.of(lead), apart):
        return None
    inner = _ended(prose, lead.end(), apart)
    return _Part(TextPlace(lead.start(), inner.end), inner) if inner.end > inner.start else None


def _ended(prose: str, start: int, taken: Sequence[TextPlace]) -> TextPlace:
    """A text that begins there, up to what is said of the mail itself."""
    ends = re.compile(_table()["ends"], re.IGNORECASE | re.DOTALL).search(prose, start)
    end = min([ends.start() if ends else len(prose), *(one.start for one in taken if one.start > start)])
    thanks = re.compile(_table()["courtesy"], re.IGNORECASE).search(prose, start)
    if thanks is not None and _pattern("asks").search(prose, start, thanks.start()) is None:
        end = min(end, thanks.start())
    aside = re.compile(_table()["aside"], re.IGNORECASE).search(prose, start)
    if aside is not None and not _pattern("third").search(prose, start, min(end, aside.start())):
        end = min(end, aside.start())
    return _cut(prose, TextPlace(start, end), end)


def _unasked(prose: str, inner: TextPlace) -> str:
    """A text without the mark of the question that the goal is, where it asks for nothing itself."""
    text = prose[slice(*inner)]
    asked = _pattern("requests").match(prose) is not None and inner.end == len(prose.rstrip())
    own = _pattern("asks").search(text) or _pattern("questions").match(text)
    return text.rstrip("?") if asked and own is None and text.count("?") == 1 else text


def _taken_back(text: str) -> tuple[str, bool]:
    """A text without what its last words take back: “puss o kram (nä ta bort puss o kram)”. Whether what they
    mean stands in it."""
    said = re.compile(_table()["unsaid"], re.IGNORECASE)
    for match in re.finditer(r"\(|(?<=[.,;!?–-])\s+", text):
        end = said.match(text, match.start())
        if end is None or not (end["open"] or (end["what"] and _pattern("turns").match(end[0].lstrip()))):
            continue
        kept, what = text[: match.start()].rstrip(" .!?,;"), end["what"] or end["bare"] or end["named"]
        if _pattern("lastbit").fullmatch(what.strip(_TIDY)):
            start = max(map(kept.rfind, ".!?\n")) + 1 or kept.rfind(",") + 1
            return kept[:start].rstrip(" ,;"), start > 0
        there = [*re.finditer(rf"[\s,]*(?<!\w){re.escape(what.strip(_TIDY))}(?!\w)", kept, re.IGNORECASE)]
        if not there:
            return text, False
        return (kept[: there[-1].start()] + kept[there[-1].end() :]).rstrip(" ,;"), True
    return text, True


def _cut(prose: str, place: TextPlace, end: int) -> TextPlace:
    text = prose[place.start : end]
    start = place.start + len(text) - len(text.lstrip(_TIDY))
    last = place.start + len(text.rstrip(" \t\n,;-–("))
    return TextPlace(start, max(start, last + (prose[last : last + 1] == ".")))


def _inside(at: int, quotes: Sequence[tuple[TextPlace, TextPlace]]) -> bool:
    return any(whole.start < at < whole.end for whole, _ in quotes)


# ---- to whom it is


def _whom(
    prose: str, apart: Sequence[TextPlace], names: FileNames
) -> tuple[TextPlace, tuple[str, ...]] | None:
    """Who gets it: addresses in the goal, else whose name stands behind “to”, else whom a pronoun means."""
    told = [one for one in _ADDRESS.finditer(prose) if free(TextPlace.of(one), apart)]
    if told:
        return TextPlace(told[0].start(), told[-1].end()), (", ".join(one[0] for one in told),)
    for kind in ("to", "direct"):
        for match in _pattern(kind).finditer(prose):
            if free(TextPlace.of(match), apart) and (found := _who(prose, match.end(), apart, names)):
                return found
    for match in _pattern("him").finditer(prose):
        if free(TextPlace.of(match), apart) and (values := _meant(prose, match.start(), apart, names)):
            return TextPlace.of(match), values
    for match in _pattern("him").finditer(prose):
        if free(TextPlace.of(match), apart) and (found := _described(prose, match.start(), apart, names)):
            return found
    return None


def _described(
    prose: str, end: int, apart: Sequence[TextPlace], names: FileNames
) -> tuple[TextPlace, tuple[str, ...]] | None:
    """Whom a sentence before a pronoun describes, the nearest: “she at the church asked about chairs”."""
    for match in reversed(list(_SENTENCE.finditer(prose, 0, end))):
        found = names.people(match[0]) if free(TextPlace.of(match), apart) else None
        if found is not None and found.paths:
            return TextPlace.of(match), found.paths
    return None


def _who(
    prose: str, start: int, apart: Sequence[TextPlace], names: FileNames
) -> tuple[TextPlace, tuple[str, ...]] | None:
    """Whose address is known of those whose names begin there."""
    stop = _STOPS.search(prose, start)
    end = min([stop.start() if stop else len(prose), *(one.start for one in apart if one.start >= start)])
    words = [TextPlace.of(one) for one in _WORD.finditer(prose, start, end)][: 2 * _LONGEST_NAME]
    joined = re.compile(r"\s+(?:and|och|o|å|&|samt)\s+|\s*,\s*", re.IGNORECASE)
    for many in range(min(_LONGEST_NAME, len(words)), 0, -1):
        place = TextPlace(words[0].start, words[many - 1].end)
        around = [any(_pattern(name).fullmatch(prose, *one) for name in _AROUND) for one in words[:many]]
        if all(around) or any(_is_behind(prose, one) for one in words[1:many]):
            continue  # “a mail to” is nobody's name
        text = prose[slice(*place)]
        if _OWNERS.search(text) and _pattern("mail").match(prose, place.end + 1):
            text = _OWNERS.sub("", text)  # “to anna's mail”
        found = names.people(text)
        paths = found.paths if found is not None else _senders(text, names)
        if not paths:
            continue
        more = joined.match(prose, place.end)
        more = more if more is not None and free(TextPlace.of(more), apart) else None
        other = _who(prose, more.end(), apart, names) if more and len(paths) == 1 else None
        if other is not None and len(other[1]) == 1 and other[1] != paths:
            return TextPlace(place.start, other[0].end), (f"{paths[0]}, {other[1][0]}",)
        return place, paths
    ends = (one.start() for one in _pattern("tells").finditer(prose, start, end))
    place = TextPlace(start, min(ends, default=end))
    described = names.people(prose[slice(*place)]) if words else None
    return (place, described.paths) if described is not None and described.paths else None


def _senders(text: str, names: FileNames) -> tuple[str, ...]:
    """Who sent the mails that lie here under such a name: “the library” is library.eml."""
    said = [word for word in folded(text).split() if word not in folded(_table()["nobody"]).split()]
    found = (
        _ADDRESS.search(sent[1])
        for path in names.files
        if path.casefold().endswith(".eml")
        if text == path or (len(said) == 1 and alike(said[0], folded(path.rpartition("/")[2][:-4])))
        if (sent := _HEADS["from"].search(names.text(path)))
    )
    return tuple(dict.fromkeys(one[0].casefold() for one in found if one))


def _is_behind(prose: str, place: TextPlace) -> bool:
    return _pattern("behind").fullmatch(prose, *place) is not None


def _meant(prose: str, at: int, apart: Sequence[TextPlace], names: FileNames) -> tuple[str, ...]:
    """The address of the one whose name stands before a pronoun, the nearest with most words."""
    words = [one for one in map(TextPlace.of, _WORD.finditer(prose, 0, at)) if free(one, apart)]
    for many in (3, 2, 1):
        for run in _runs(words, many):
            text = prose[run[0].start : run[-1].end]
            if _STOPS.search(text) or any(_is_behind(prose, one) for one in (run[0], run[-1])):
                continue
            found = names.people(text) if len(text) >= _LEAST else None
            if found is not None and len(found.paths) == 1:
                return found.paths
    return ()


def _runs(words: Sequence[TextPlace], many: int) -> Iterator[Sequence[TextPlace]]:
    """Runs of so many words, the last first."""
    for first in range(len(words) - many, -1, -1):
        yield words[first : first + many]
