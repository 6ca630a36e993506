"""What every match of each pattern in `cues.toml` holds, for `prefilter.py` (both in `mcl/model/matcher/`).

    python -m training.prefilter        writes prefilter.json there; again after each change of cues.toml

A pattern is read as Python's own parser reads it. For each place of it that no match can leave out the texts
that may stand there are listed, and the place whose shortest text is longest is kept. Of a construct that is
not known here nothing is asked, so that what is found is part of what a match needs, never more.
"""

from __future__ import annotations

import json
import re
import re._constants as c
import re._parser as parser
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from mcl.model.matcher.cues import PREFILTER_FILE, Cues, Needs, digest_of, load_cues

MOST = 100  # texts of one place; what may read in more ways is not worth looking for
LETTERS = "åäöæøéü"  # which, as all of ASCII, have one small and one capital form and no others
_START = "\0"  # before a text that follows no letter

# Texts, one of which stands at a place; whole: nothing but the next item's texts can follow it.
Texts: TypeAlias = frozenset[tuple[str, bool]]
_NOTHING: Texts = frozenset({("", True)})
_ANYTHING: Texts = frozenset({("", False)})
_BLANK: Texts = frozenset({(" ", True)})


def needs_of(pattern: str) -> Needs | None:
    """What every match of a pattern holds, letters of either case being the same; None where nothing is
    known."""
    places: list[Texts] = []
    _sequence(parser.parse(pattern, re.IGNORECASE), places)
    texts = _best(places)
    if not texts:
        return None
    words = {_as_words(text) for text in texts if _is_words(text)}
    signs = {text.replace(_START, "") for text in texts if not _is_words(text)}
    return Needs(_shortest(words), _shortest(signs))


def patterns_of(cues: Cues) -> list[str]:
    """All patterns that are looked for with `places`, each once."""
    found = [pattern for limit in cues.limits for pattern in (*limit.patterns, limit.form) if pattern]
    found += [pattern for slot in cues.slots for pattern in slot.patterns]
    return list(dict.fromkeys(found))


def table(patterns: Iterable[str]) -> dict[str, Needs]:
    """The needs of those patterns that have any, by the digest of their text."""
    found = {digest_of(pattern): needs_of(pattern) for pattern in patterns}
    return {name: needs for name, needs in sorted(found.items()) if needs is not None}


def _sequence(items: Iterable[Any], places: list[Texts]) -> Texts:
    """What a sequence begins with; `places` is given all that stands in it, this included."""
    here, beginning = _NOTHING, None
    for op, argument in items:
        if op is c.ASSERT_NOT and argument[0] < 0 and here == _NOTHING and _is_letters(argument[1]):
            here = frozenset({(_START, True)})
        if op in (c.ASSERT, c.ASSERT_NOT, c.AT):
            continue
        if ("", False) in here or not any(whole for _, whole in here):
            places.append(here)
            beginning, here = beginning or here, _NOTHING
        here = _followed(here, _item(op, argument, places))
    places.append(here)
    return beginning or here


def _item(op: Any, argument: Any, places: list[Texts]) -> Texts:
    """The texts of one item; where no match can leave it out, `places` is given what stands inside."""
    if op is c.LITERAL:
        return _character(argument)
    if op is c.IN:
        return frozenset().union(*(_member(*one) for one in argument))
    if op is c.SUBPATTERN:
        return _sequence(argument[3], places)
    if op is c.BRANCH:
        return _branches(argument[1], places)
    if op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
        least, most, inner = argument
        item = _sequence(inner, places if least else [])
        if most > 1 and item != _BLANK:  # a run of blanks counts as one
            item = frozenset((text, False) for text, _ in item)
        return item if least else item | _NOTHING
    return _ANYTHING


def _branches(branches: Sequence[Any], places: list[Texts]) -> Texts:
    first: Texts = frozenset()
    needed: Texts = frozenset()
    all_need = True
    for branch in branches:
        inside: list[Texts] = []
        first |= _sequence(branch, inside)
        best = _best(inside)
        all_need = all_need and bool(best)
        needed |= {(text, False) for text in best}
    needed = frozenset((text, False) for text in _shortest(text for text, _ in needed))
    if all_need:
        places.append(needed)
    return first


def _member(op: Any, argument: Any) -> Texts:
    if op is c.LITERAL:
        return _character(argument)
    if op is c.RANGE and argument[1] - argument[0] < MOST:
        return frozenset().union(*(_character(code) for code in range(argument[0], argument[1] + 1)))
    if op is c.CATEGORY and argument is c.CATEGORY_DIGIT:
        return frozenset({("0", True)})
    return _BLANK if op is c.CATEGORY and argument is c.CATEGORY_SPACE else _ANYTHING


def _character(code: int) -> Texts:
    sign = chr(code)
    if sign.isspace():
        return _BLANK
    if sign.isascii():
        return frozenset({("0" if sign.isdigit() else sign.lower(), True)})
    plain = not sign.isalnum() and sign.lower() == sign.upper()
    return frozenset({(sign.lower(), True)}) if plain or sign.lower() in LETTERS else _ANYTHING


def _is_letters(items: Iterable[Any]) -> bool:
    """Whether one character is looked for, and any of a word is among those that it may be."""
    found = list(items)
    if len(found) != 1:
        return False
    op, argument = found[0]
    members = argument if op is c.IN else [(op, argument)]
    return (c.CATEGORY, c.CATEGORY_WORD) in members


def _followed(texts: Texts, item: Texts) -> Texts:
    whole = [text for text, ends in texts if ends]
    if len(whole) * len(item) + len(texts) > MOST:
        return frozenset((text, False) for text, _ in texts)
    joined = {(_joined(text, more), ends) for text in whole for more, ends in item}
    return joined | frozenset((text, False) for text, ends in texts if not ends)


def _joined(text: str, more: str) -> str:
    return text + (more[1:] if text.endswith(" ") and more.startswith(" ") else more)


def _best(places: Iterable[Texts]) -> frozenset[str]:
    sets = [frozenset(text for text, _ in texts) for texts in places if len(texts) <= MOST]
    usable = [texts for texts in sets if texts and all(text.strip(f" {_START}") for text in texts)]
    if not usable:
        return frozenset()
    return max(usable, key=lambda texts: (min(map(_rare, texts)), -len(texts)))


def _rare(text: str) -> int:
    """How seldom a text is met with: by its length, and most goals have no digit."""
    return len(text.strip(f" {_START}")) + 3 * ("0" in text)


def _is_words(text: str) -> bool:
    return all(sign.isalnum() or sign in (" ", "_", _START) for sign in text)


def _as_words(text: str) -> str:
    inner = text.lstrip(_START)
    return f" {inner}" if text != inner and inner[:1] not in ("", " ") else inner


def _shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """Those that hold none of the others."""
    kept: list[str] = []
    for text in sorted(texts, key=lambda text: (len(text), text)):
        if not any(short in text for short in kept):
            kept.append(text)
    return tuple(kept)


def main() -> None:
    """Write the table."""
    rows = [
        f"{json.dumps(name)}: {json.dumps([needs.words, needs.signs], ensure_ascii=False)}"
        for name, needs in table(patterns_of(load_cues())).items()
    ]
    PREFILTER_FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
