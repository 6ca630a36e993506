"""Which tables a goal means, and in which order their rows, by the columns that these have.

What it says of neither is left to what else reads it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final, NamedTuple

from executor.core.errors import ToolError
from executor.core.tables import table_beside
from executor.core.words import unaccented
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.data.tools.data.entries import ENDINGS, entries_in
from mcl.plugins.data.tools.data.question import (
    SaidOrder,
    is_left_out,
    order_said,
    read_question,
)
from mcl.plugins.data.tools.data.schema import TableSchema, schema_in

_ENDINGS: Final = (".csv", ".tsv", ".tab")
_FILE: Final = re.compile(r"[^\s,;:!?\"“”()=+]*\w\.(?:csv|tsv|tab)(?!\w)", re.IGNORECASE)
_JSON: Final = re.compile(r"[^\s,;:!?\"“”()=+]*\w\.jsonl?(?!\w)", re.IGNORECASE)
_NAMED: Final = re.compile(r"[\w-]+\.\w{2,5}(?!\w)")
_WORDS: Final = re.compile(r"[^\W_][\w./-]*")
_BREAK: Final = re.compile(r"[,;:.!?](?=\s|$)|[()\n]")
_PLACES: Final = re.compile(r"[\w][\w./-]*")
_LONGEST: Final = 3  # words of a goal that name a table
_BEGIN: Final = 4  # letters of a word that stand in the name of a table, if it may be meant
_NEAR: Final = 10  # characters between "the two" and what they are
_MOST: Final = 40  # tables that are looked at
_LAST, _TO, _IN, _FROM = 3, 2, 1, -1


class NamedTable(NamedTuple):
    """A table that a goal names. there: whether it is here."""

    place: TextPlace
    path: str
    there: bool


@functools.cache
def _pattern(section: str, name: str) -> re.Pattern[str]:
    words = table_beside(__file__)
    return re.compile(rf"(?<!\w)(?:{words[section][name]})(?!\w)", re.IGNORECASE)


def read_join(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The tables whose rows are put one below the other: those that have the same columns, where no column is
    named by which they belong together."""
    said = [one.place for one in clauses if not one.keeps]
    wished = [match for place in said for match in _pattern("stack", "wish").finditer(prose, *place)]
    if not wished or any(_pattern("stack", "apart").search(prose, *place) for place in said):
        return ()
    named = [one for one in tables_named(prose, names) if not free(one.place, said)]
    named = _with_kin(prose, named, names) if len({one.path for one in named if one.there}) < 2 else named
    meant = _alike(prose, named, names)
    if meant is None or _of_columns(prose, meant[0]):
        return [FilledInput("also", one) for one in said[:1]]
    schema, found = meant
    new = [one for one in named if not one.there]
    into = new[-1] if new else _target(prose, found)
    order = _order(prose, schema, said, [one.place for one in named])
    if _matched(prose, schema, said, order):
        return ()
    above = [one for one in found if into is None or one.path != into.path]
    if into is not None and into.there:
        above = [into, *above]
    if len({one.path for one in above}) < 2:
        return ()
    filled = [FilledInput("left", above[0].place, (above[0].path,))]
    first = {above[0].path}
    for one in above:
        if one.path not in first:
            first.add(one.path)
            filled.append(FilledInput("also", one.place, (one.path,)))
    if into is not None:
        filled.append(FilledInput("result", into.place, (into.path,)))
    filled.append(FilledInput("right", above[0].place))
    beside = [
        TextPlace.of(one) for place in said for one in _pattern("stack", "said").finditer(prose, *place)
    ]
    kept = [
        one.place
        for one in clauses
        if one.keeps and (into is None or into.path not in prose[slice(*one.place)])
    ]
    read = [FilledInput("", one) for one in (*beside, *map(TextPlace.of, wished), *kept)]
    return (*filled, *_ordered(prose, said, order), *read)


def read_sort(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The table, the column its rows are ordered by, which way round, and a new file; nothing where no word
    says that the table itself is put in order: “the three dearest, dearest on top”."""
    if _pattern("sort", "wish").search(prose) is None:
        return ()
    said = [one.place for one in clauses if not one.keeps]
    named = [one for one in tables_named(prose, names) if not free(one.place, said)]
    there = {one.path: one for one in named if one.there}
    if len(there) != 1:
        return ()
    table = next(iter(there.values()))
    schema = schema_in(table.path, names.text(table.path))
    order = _order(prose, schema, said, [one.place for one in named]) if schema is not None else None
    if order is None or not order.column:
        return ()
    known = [*map(_of_pair, order.read), *(one.place for one in named)]
    said = [one for one in said if not _is_other(prose, one, clauses, known)]
    new = [one for one in named if not one.there]
    filled = [FilledInput("file", table.place, (table.path,))]
    filled += [FilledInput("result", one.place, (one.path,)) for one in new[-1:]] or [
        FilledInput("result", table.place)
    ]
    return (*filled, *_ordered(prose, said, order))


def _is_other(
    prose: str, place: TextPlace, clauses: Sequence[SaidClause], known: Sequence[TextPlace]
) -> bool:
    """Whether a clause behind the first wish is one of its own: two of its words say nothing of an order."""
    wishes = [one.place for one in clauses if one.does]
    unread = [one for one in _WORDS.finditer(prose, *place) if free(TextPlace.of(one), known)]
    return place in wishes[1:] and len(unread) > 1


def read_tables(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The tables of the same kind that are asked about together."""
    said = [one.place for one in clauses if not one.keeps]
    there = [one for one in tables_named(prose, names) if one.there and not free(one.place, said)]
    made = [match for one in said for match in _pattern("made", "file").finditer(prose, *one)]
    there_by_name = {one.rpartition("/")[2].casefold() for one in names.files}
    new = [
        match
        for match in made
        if match["name"].casefold() not in there_by_name and not names.has(match["name"])
    ]
    result = [FilledInput("result", TextPlace.of(one, "name"), (one["name"],)) for one in new[-1:]]
    if rows := _rows_taken(prose, said, names) or _summed(prose, said, names):
        return rows
    meant = _alike(prose, there, names)
    if meant is None:  # nothing but this reads which tables more
        whole = [TextPlace(0, len(prose))] if said else []
        return [*(FilledInput("also", one) for one in whole), *result]
    first, *more = meant[1]
    also = [FilledInput("also", one.place, (one.path,)) for one in more if one.path != first.path]
    return (
        FilledInput("file", first.place, (first.path,)),
        *also,
        *(result or [FilledInput("result", first.place)]),
    )


def counts_files(prose: str) -> bool:
    """Whether a question is how many files there are, and not about what they say."""
    return _pattern("texts", "files").search(prose) is not None


def _summed(prose: str, said: Sequence[TextPlace], names: FileNames) -> list[FilledInput]:
    """The folder and the question, where the amounts that the texts in it give are to be added; nothing where
    no folder is named, or its texts do not give one each."""
    folders = {one.path for one in names.entries if one.folder}
    asked = [one for one in said if _pattern("texts", "sum").search(prose, *one)]
    named = [
        (TextPlace.of(match), path)
        for one in asked
        for match in _PLACES.finditer(prose, *one)
        if (path := match[0].rstrip("/.")) in folders and (path != match[0] or _is_led(prose, match.start()))
    ]
    if len({path for _, path in named}) != 1:
        return []
    place, path = named[0]
    inside = [one for one in names.files if one.rpartition("/")[0] == path and one.endswith(ENDINGS)]
    try:
        entries_in(path, {one: names.text(one).encode() for one in inside})
    except ToolError:
        return []
    question = FilledInput("question", TextPlace(0, len(prose)), plain=True)
    return [FilledInput("file", place, (path,)), question, FilledInput("result", place)]


def _is_led(prose: str, start: int) -> bool:
    """Whether the word before says that something is in what is named here."""
    before = prose[:start].rstrip()
    return any(one.end() == len(before) for one in _pattern("texts", "lead").finditer(before))


def _rows_taken(prose: str, said: Sequence[TextPlace], names: FileNames) -> list[FilledInput]:
    """The table, the question and the new table, where some rows of the one are wanted in the other; nothing
    where the goal says more."""
    others = [_named(TextPlace.of(match), match[0], names) for match in _JSON.finditer(prose)]
    named = [one for one in (*tables_named(prose, names), *others) if not free(one.place, said)]
    there = {one.path: one for one in named if one.there}
    new = {one.path: one for one in named if not one.there}
    table = next(iter(there.values())) if len(there) == len(new) == 1 else None
    schema = schema_in(table.path, names.text(table.path)) if table is not None else None
    if table is None or schema is None or not names.at:
        return []
    here = {one.rpartition("/")[2] for one in names.files}
    if any(one in here and one not in table.path for one in _NAMED.findall(prose)):
        return []  # of another file
    try:
        asked = read_question(prose, schema, date.fromisoformat(names.at[:10]))
    except ToolError:
        return []
    one = asked[0]
    if (
        len(asked) > 1
        or one.figures
        or one.groups
        or one.passed
        or not (one.tests or one.limit or one.columns)
    ):
        return []
    result = next(iter(new.values()))
    return [
        FilledInput("file", table.place, (table.path,)),
        FilledInput("question", TextPlace(0, len(prose)), plain=True),
        FilledInput("result", result.place, (result.path,)),
        FilledInput("also", table.place),
    ]


def tables_named(prose: str, names: FileNames) -> list[NamedTable]:
    """The tables that a goal names, in its order: by their names, and those that are here by the words of
    them."""
    found = [_named(TextPlace.of(match), match[0], names) for match in _FILE.finditer(prose)]
    words = [TextPlace.of(match) for match in _WORDS.finditer(prose)]
    tables = " ".join(unaccented(one.casefold()) for one in names.files if one.casefold().endswith(_ENDINGS))
    near = [unaccented(prose[one.start : one.end].casefold())[:_BEGIN] in tables for one in words]
    for many in range(_LONGEST, 0, -1):
        for first in range(len(words) - many + 1):
            place = TextPlace(words[first].start, words[first + many - 1].end)
            if not (any(near[first : first + many]) and free(place, [one.place for one in found])):
                continue
            meant = names.named(prose[place.start : place.end], 1)
            if meant is not None and len(meant.paths) == 1 and meant.paths[0].casefold().endswith(_ENDINGS):
                found.append(NamedTable(place, meant.paths[0], there=True))
    return sorted(found) if any(one.there for one in found) else sorted([*found, *_described(prose, names)])


def _described(prose: str, names: FileNames) -> Iterator[NamedTable]:
    """The tables that are called by other words behind what leads to them: “in the accounts”, of cash.csv."""
    tables = sorted(
        (one for one in names.files if one.casefold().endswith(_ENDINGS)), key=lambda one: one.count("/")
    )
    schemas = [schema for path in tables[:_MOST] if (schema := schema_in(path, names.text(path)))]
    for lead in _pattern("called", "lead").finditer(prose):
        end = _BREAK.search(prose, lead.end())
        words = list(_WORDS.finditer(prose, lead.end(), end.start() if end else len(prose)))[:_LONGEST]
        for many in range(1, len(words) + 1):
            said = [one[0].casefold() for one in words[:many]]
            found = [one for one in schemas if one.is_own(said[-1]) and one.is_called(said)]
            found = [one for one in found if len(one.own_words) == max(len(each.own_words) for each in found)]
            found = [
                one for one in found if one.path.count("/") == min(each.path.count("/") for each in found)
            ]
            if len(found) == 1:
                yield NamedTable(
                    TextPlace(words[0].start(), words[many - 1].end()), found[0].path, there=True
                )
                break


def _named(place: TextPlace, text: str, names: FileNames) -> NamedTable:
    if names.has(text):
        return NamedTable(place, text, there=True)
    same = [one for one in names.files if one.rpartition("/")[2].casefold() == text.casefold()]
    return NamedTable(place, same[0] if len(same) == 1 else text, there=len(same) == 1)


def _alike(
    prose: str, named: Sequence[NamedTable], names: FileNames
) -> tuple[TableSchema, list[NamedTable]] | None:
    """The tables that are named, or that are of the kind that is, where all have the columns of the first."""
    found = list({one.path: one for one in reversed([one for one in named if one.there])}.values())[::-1]
    schemas = {one.path: schema for one in found if (schema := schema_in(one.path, names.text(one.path)))}
    if len(schemas) < len(found):
        return None
    if len(found) < 2:
        found += _of_kind(prose, found, names)
        schemas = {one.path: schema for one in found if (schema := schema_in(one.path, names.text(one.path)))}
    kinds = {_columns(one) for one in schemas.values()}
    return (schemas[found[0].path], found) if len(found) > 1 and len(kinds) == 1 else None


def _of_kind(prose: str, named: Sequence[NamedTable], names: FileNames) -> list[NamedTable]:
    """The tables that a word beside the names speaks of: “the new members”, “the two measurings”."""
    tables = sorted(
        (one for one in names.files if one.casefold().endswith(_ENDINGS)), key=lambda one: one.count("/")
    )
    schemas = [schema for one in tables[:_MOST] if (schema := schema_in(one, names.text(one)))]
    schemas = [one for one in schemas if not is_left_out(prose, one)]
    by_kind: dict[frozenset[str], list[TableSchema]] = {}
    for one in schemas:
        by_kind.setdefault(_columns(one), []).append(one)
    paths, counts = (
        {one.path for one in named},
        [one.end() for one in _pattern("stack", "both").finditer(prose)],
    )
    older = _pattern("stack", "older").search(prose) is not None
    for match in _WORDS.finditer(prose):
        place = TextPlace.of(match)
        for alike in by_kind.values() if older or free(place, [one.place for one in named]) else ():
            told = older or any(0 < place.start - end <= _NEAR for end in counts)
            more = [one for one in alike if one.path not in paths]
            whole = len(alike) == 2 and len(more) + len(paths) == 2
            if whole and all(one.is_own(match[0].casefold()) for one in alike):
                return [
                    NamedTable(place, one.path, there=True)
                    for one in more
                    if told or _apart(prose, one, alike)
                ]
    return []


def _with_kin(prose: str, named: list[NamedTable], names: FileNames) -> list[NamedTable]:
    """A table that is named, or that a word tells apart from another of its kind, “the new members”, with
    that other, where rows are put into it: “at the end of the members’ list”."""
    there, fresh = [one for one in named if one.there], [one for one in named if not one.there]
    newer = there or _of_kind(prose, [], names)
    paths = {one.path for one in newer if one.there}
    schema = schema_in(newer[0].path, names.text(newer[0].path)) if len(paths) == 1 else None
    tables = [one for one in names.files if one.casefold().endswith(_ENDINGS) and one not in paths][:_MOST]
    schemas = [one for path in tables if schema and (one := schema_in(path, names.text(path)))]
    alike = [one for one in schemas if schema and _columns(one) == _columns(schema)]
    before = ""
    for match in _WORDS.finditer(prose) if schema is not None and len(alike) == 1 else ():
        place, told = TextPlace.of(match), match[0].casefold()
        into = any(_ends(prose[: place.start].rstrip(), name) for name in ("last", "to", "in"))
        beside = not (before and schema and schema.is_own(before))  # no “new” stands before it
        own = alike[0].is_own(told) and free(place, [one.place for one in (*there, *fresh)])
        if own and (beside or (into and free(place, [one.place for one in newer]))):
            newer = (
                newer if there else [one._replace(place=_told_apart(prose, one, alike[0])) for one in newer]
            )
            return sorted([*newer, *fresh, NamedTable(place, alike[0].path, there=True)])
        before = told
    return named


def _of_columns(prose: str, schema: TableSchema) -> bool:
    """Whether only some columns are wanted: “just name and mail”."""
    names = "|".join(re.escape(one.name) for one in schema.columns)
    return (
        re.search(rf"{_pattern('stack', 'only').pattern}\s+(?:{names})(?!\w)", prose, re.IGNORECASE)
        is not None
    )


def _told_apart(prose: str, table: NamedTable, other: TableSchema) -> TextPlace:
    """Where a word says of a table what is not of another: “new”."""
    own = TableSchema(table.path, (), False, 0)
    words = (one for one in _WORDS.finditer(prose) if own.is_own(one[0].casefold()))
    return next((TextPlace.of(one) for one in words if not other.is_own(one[0].casefold())), table.place)


def _apart(prose: str, schema: TableSchema, others: Sequence[TableSchema]) -> bool:
    """Whether a word says which of some tables it is: “the new members”."""
    words = [match[0].casefold() for match in _WORDS.finditer(prose)]
    return any(schema.is_own(word) and not all(one.is_own(word) for one in others) for word in words)


def _columns(schema: TableSchema) -> frozenset[str]:
    return frozenset(one.name.casefold() for one in schema.columns)


def _target(prose: str, found: Sequence[NamedTable]) -> NamedTable | None:
    """The table that the rows of the others are added to; None where no words say so of just one."""
    ways = (("last", _LAST), ("to", _TO), ("in", _IN), ("from", _FROM))
    scored: dict[str, tuple[int, NamedTable]] = {}
    for one in found:
        before = prose[: one.place.start].rstrip().removesuffix("(").rstrip()
        score = next((score for name, score in ways if _ends(before, name)), 0)
        if score > scored.get(one.path, (-2, one))[0]:
            scored[one.path] = (score, one)
    best = max(scored.values(), key=lambda one: one[0])
    return best[1] if best[0] > 0 and sum(one[0] == best[0] for one in scored.values()) == 1 else None


def _ends(before: str, name: str) -> bool:
    return any(match.end() == len(before) for match in _pattern("stack", name).finditer(before))


def _order(
    prose: str, schema: TableSchema, said: Sequence[TextPlace], named: Sequence[TextPlace]
) -> SaidOrder:
    """The order that the clauses that are wished say."""
    letters = [
        letter if within(TextPlace(at, at + 1), said) or letter in ".,;" else " "
        for at, letter in enumerate(prose)
    ]
    for place in named:  # a name of a table says nothing of its columns
        letters[place.start : place.end] = " " * (place.end - place.start)
    return order_said("".join(letters), schema)


def _matched(prose: str, schema: TableSchema, said: Sequence[TextPlace], order: SaidOrder) -> bool:
    """Whether a column is named by which rows of two tables belong together."""
    ordered = [TextPlace(*one) for one in order.read] if order.column else []
    names = "|".join(re.escape(one.name) for one in schema.columns)
    by = re.compile(rf"{_pattern('stack', 'by').pattern}\s+(?:{names})(?!\w)", re.IGNORECASE)
    return any(free(TextPlace.of(match), ordered) for place in said for match in by.finditer(prose, *place))


def _ordered(prose: str, said: Sequence[TextPlace], order: SaidOrder) -> Iterator[FilledInput]:
    """The inputs for an order, where there is one, and the words that were understood beside it."""
    read = [one for one in map(_of_pair, order.read) if within(one, said)]
    doubles = list(_pattern("doubles", "drop").finditer(prose))
    if order.column:
        place = next(
            (one for one in read if prose[one.start : one.end].casefold() == order.column.casefold()),
            read[-1],
        )
        yield FilledInput("key", place, (order.column,))
        yield FilledInput("order", place, ("descending" if order.descending else "ascending",))
    elif said:
        yield FilledInput("key", said[0])
        yield FilledInput("order", said[0])
    for match in doubles[:1]:
        yield FilledInput("doubles", TextPlace.of(match), ("drop",))
    yield from (FilledInput("", one) for one in read)


def _of_pair(pair: tuple[int, int]) -> TextPlace:
    return TextPlace(*pair)
