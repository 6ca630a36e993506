"""A goal that is corrected while it is said: "send it to Bo, no sorry, to David". What was
corrected falls away. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcl.compiler.stages.clauses import TIDY, Clauses
from mcl.compiler.stages.coverage_words import WORD
from mcl.compiler.stages.phrases import compiled, either
from mcl.language.mtx.core import Core
from mcl.model.cues import TextPlace, free

_MOST: Final = 3  # corrections of one goal
_WORD: Final = re.compile(r"\S*\w")
_FILE: Final = re.compile(r"\S+\.\w{1,8}")
_NUMBER: Final = re.compile(r"[$€£]?\d[\d.,:]*(?:%|kr)?")
_NAME: Final = re.compile(r"[A-ZÅÄÖ][\w'’-]*")


@dataclass(frozen=True)
class SlipWords:
    """slip: what takes back the words before it; told: what leads to a text that is kept as it was said;
    wish: a wish, apart; points: what points at what it is about."""

    slip: re.Pattern[str]
    told: re.Pattern[str]
    wish: re.Pattern[str]
    points: re.Pattern[str]

    @classmethod
    def of(cls, core: Core) -> "SlipWords":
        """Read them from the module `coverage`. Raises SkillError NO_SETTING."""
        module = core["coverage"]
        one, marks = either(module.phrases("slips")), r"[\s,.!;–—-]"
        alone = either(module.phrases("slips.alone"))
        bare = rf",\s*{either(module.phrases('slips.bare'))}\s*,\s*"
        turned = (
            rf"{marks}+(?P<turned>{one}{marks}+{either(module.phrases('slips.turned'))})(?:{marks}+|(?=$))"
        )
        run = rf"{turned}|{marks}+(?:{alone}|{one}(?:{marks}+{one})+)(?:{marks}+|(?=$))"
        behind = either([*module.phrases("topic.behind"), *module.phrases("thing.behind")])
        return cls(
            compiled(rf"{run}|{bare}"),
            compiled(rf":|(?<!\w){either(module.phrases('slips.not'))}(?!\w)"),
            compiled(rf"(?P<verb>\w+)\s+(?P<thing>\S.*?)(?P<rest>(?:\s+{behind}\s.*)?)$"),
            compiled(either(module.phrases("topic.points"))),
        )


def without_slips(clauses: Clauses, words: SlipWords) -> tuple[str, tuple[str, ...]]:
    """The goal without what it takes back, and the words that fell away; as it is where it is not plain which
    these are."""
    fell: list[str] = []
    for _ in range(_MOST):
        cut = next(_cuts(clauses, words), None)
        if cut is None:
            break
        gone, tail = cut
        prose = clauses.prose
        fell.append(prose[gone.start : gone.end].strip(TIDY))
        clauses = Clauses(f"{prose[: gone.start]}{tail}", None, clauses.words)
    return clauses.prose, tuple(fell)


def _cuts(clauses: Clauses, words: SlipWords) -> Iterator[tuple[TextPlace, str]]:
    """What each correction takes back, with its own words, and what stands instead of all behind it."""
    prose = clauses.prose
    for match in words.slip.finditer(prose):
        slip = TextPlace.of(match)
        told = match["turned"] is None and words.told.search(prose, 0, slip.start) is not None
        if told or not free(slip, clauses.quotes):
            continue
        before = Clauses(prose[: slip.start], None, clauses.words)
        behind = Clauses(prose[slip.end :], None, clauses.words)
        # "no wait, he is away, put Bo"
        first = next((one for one in behind.all if not behind.only_tells(one)), None)
        said = behind.said(first.place) if first is not None else ""
        if first is None or not before.all or clauses.words.forbids(said) or clauses.words.wants(said):
            continue
        start, end = slip.end + first.place.start, slip.end + first.place.end
        if behind.does(first):
            gone = _wish_before(before, behind.head(first))
            whole = before.prose[gone:].rstrip(TIDY) if gone is not None else ""
            said = _with_thing(said, whole, words)
        else:
            gone, said = _thing_before(before, said) if first is behind.all[0] else (None, said)
        if gone is not None:
            yield TextPlace(gone, start), f"{said}{prose[end:]}"


def _wish_before(before: Clauses, verb: str) -> int | None:
    """Where the wish begins that another takes the place of."""
    same = (one.start() for one in re.finditer(rf"(?i)(?<!\w){re.escape(verb)}(?!\w)", before.prose))
    wishes = (one.place.start for one in before.all if before.does(one))
    return max((*same, *wishes), default=None)


def _with_thing(said: str, gone: str, words: SlipWords) -> str:
    """A wish with what the one is about that it takes the place of, where it points at that, or says less of
    it: "delete a.md, no wait, move it to old", "take eggs off the list, no, take milk"."""
    new, old = words.wish.match(said), words.wish.match(gone)
    if new is None or old is None:
        return said
    thing = old["thing"] if words.points.fullmatch(new["thing"]) else new["thing"]
    rest = new["rest"] or (old["rest"] if new["verb"].casefold() == old["verb"].casefold() else "")
    return f"{new['verb']} {thing}{rest}"


def _thing_before(before: Clauses, said: str) -> tuple[int | None, str]:
    """Where the last thing begins that looks like the one which takes its place, or the only thing there is;
    and what stands there instead."""
    clause, word = before.all[-1], _WORD.match(said)
    if word is None:
        return None, said
    wish = clause.place.start + (len(before.head(clause)) if before.does(clause) else 0)
    words = list(_WORD.finditer(before.prose, wish, clause.place.end))
    if alike := [one for one in words if _is_like(one[0], word[0], before)]:
        rest = before.prose[alike[-1].end() : clause.place.end] if word.end() == len(said) else ""
        return alike[-1].start(), f"{said}{rest}"
    plain = [one[0].casefold() not in before.words.empty for one in words]
    begins = [one for at, one in enumerate(words) if plain[at] and not (at and plain[at - 1])]
    return (begins[0].start() if len(begins) == 1 and before.does(clause) else None), said


def _is_like(one: str, other: str, before: Clauses) -> bool:
    """Whether words are of one kind: the same word, a number, a file, a name, a day."""
    if one.casefold() == other.casefold():
        return True
    if any(kind.fullmatch(one) and kind.fullmatch(other) for kind in (_NUMBER, _FILE, _NAME)):
        return True
    day = before.words.found(other, list(WORD.finditer(other))).get("time", ())
    return bool(day) and any(before.said(place) == one for place in before.found.get("time", ()))
