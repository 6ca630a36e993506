"""Lists in words: where the entries of "tea, scarves and a drum" stand. English and Swedish."""

import re
from typing import Final

from mcl.core.patterns import late

_JOIN: Final = late(
    r"\s*[,;]\s*(?:(?:and|or|och|eller|samt)\s+)?|\s+(?:and|or|och|eller|samt|plus)\s+|\s*&\s*|\s+\+\s+",
    re.IGNORECASE,
)
_ARTICLE: Final = late(r"(?:an?|some|both|en|ett|både|även)\s+(?=\S)")
_QUOTE: Final = late(r'"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|`[^`\n]*`')
_MARKS: Final = '"“”«»` \t\n'
_GROUPED: Final = late(r"\d,\d{3}(?!\d)")


def list_entries(text: str) -> list[tuple[int, int]]:
    """The places of the entries of a list in words, in its order; of one entry alone its own.

    "folk, jazz and bossa nova" has three, "Kallocain & 1984" two, "1,200" one. A quote is never cut, articles
    before an entry ("a drum") are no part of it.
    """
    closed = [match.span() for match in (*_QUOTE.finditer(text), *_GROUPED.finditer(text))]
    cuts = [
        match.span()
        for match in _JOIN.finditer(text)
        if not any(start < match.end() and match.start() < end for start, end in closed)
    ]
    edges = [0, *(edge for cut in cuts for edge in cut), len(text)]
    found = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        entry = text[start:end]
        start += len(entry) - len(entry.lstrip())
        if article := _ARTICLE.match(text, start, end):
            start = article.end()
        entry = text[start:end]
        start += len(entry) - len(entry.lstrip(_MARKS))
        end = start + len(text[start:end].rstrip(_MARKS))
        if end > start:
            found.append((start, end))
    return found


_NEXT: Final = late(
    r"(?:\s*,\s*(?:(?:and|or|och|eller)\s+)?|\s+(?:and|or|och|eller|&)\s+)"
    r"(?P<entry>(?:(?:an?|en|ett)\s+)?[^\W\d_][\w'’-]*(?:\s+[^\W\d_a-zåäö][\w'’-]*)*)"
)
_AFTER: Final = late(r"\s*(?:[,;.!?)]|$)|\s+(?:and|or|och|eller|&)\s")


def next_entry(text: str, first: str, end: int) -> tuple[int, int] | None:
    """The place of a further entry behind one that ends at `end`; first: an entry of the list.

    Of names ("Omar and Beatrice for salsa") one is a name too; of other words it is one word, and a mark, the
    end or more entries follow it: "customer, article and total" but not "eggs and send me".
    """
    match = _NEXT.match(text, end)
    if match is None:
        return None
    entry = match["entry"]
    named = entry[0].isupper()
    if named != first[:1].isupper() or not (named or _AFTER.match(text, match.end())):
        return None
    start = match.start("entry")
    article = _ARTICLE.match(text, start, match.end())
    return (article.end() if article else start), match.end()
