"""A goal that first says of what it speaks, and then what is done with it: "the wood is here, tick it off".
Pure."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final, TypeAlias

from mcl.compiler.stages.clauses import TIDY, Clauses
from mcl.compiler.stages.phrases import compiled, either
from mcl.language.mtx.core import Core

_MOST: Final = 9  # words of a topic
_NAMED: Final = 3  # of the ways to say it, those for what is named alone or is there
Topics: TypeAlias = tuple[tuple[re.Pattern[str], ...], re.Pattern[str]]


def topics_of(core: Core) -> Topics:
    """How a clause says of what it speaks; and a wish, as far as the word that points there.

    Raises SkillError NO_SETTING.
    """
    module = core["coverage"]

    def said(*keys: str) -> str:
        return either([one for key in keys for one in module.phrases(key)])

    adverbs, has = rf"(?:[\s,]+{said('topic.adverbs')})*", rf"(?>(?:{said('topic.has')}\s+)*)"
    none = rf"(?!(?:{said('turned.not', 'topic.not', 'asides.persons', 'topic.says')}(?!\w)|[\d\s.,]*$))"
    person = rf"{said('asides.persons')}(?:['’]\w+)?\s+{has}[^\W\d]+"
    thing, few = rf"{none}(?P<thing>\S.*?)", r"(?:\s+(?!\d)\S+(?:\s+\S+){0,5})?"
    place = rf"(?P<place>{said('topic.at')}(?:\s+\S+){{1,4}}?)"
    says = rf"{said('topic.says')}(?!\s+{said('topic.says.not')})"
    called = rf"(?:{said('topic.named')}\s|\S*[^\W_]\.\w{{1,5}}(?!\S))"
    named = rf"(?P<thing>{called}(?:(?!\s{said('topic.says')}\s).)*)"
    clauses = (
        rf"{none}(?P<thing>\S+(?:\s+\S+){{0,2}})",
        named,
        rf"{said('topic.there')}\s+{thing}{adverbs}",
        rf"{place},?\s+{said('topic.there', 'topic.says')}\s+{thing}{adverbs}",
        rf"{has}{none}(?P<thing>(?:(?!\s{says}\s).)+)\s+{says}{adverbs}(?:\s+{place})?{few}",
        rf"{thing}\s+(?!(?-i:i)\s){person}{adverbs}",
        rf"{person}\s+{thing}{adverbs}",
    )
    behind = rf"(?=\s+(?:\d|{said('topic.behind', 'thing.behind')}(?!\w))|\s*(?:[.,;:!?]|$))"
    whole = rf"(?!{said('topic.whole')}\s)"  # "write that down" is what was told
    last = rf"(?:\s+(?P<last>{said('topic.last')}){behind})?"  # "throw it away" is "throw away the song"
    wish = rf"{whole}(?P<verb>\w+(?:\s+{said('topic.particles')})*)\s+{said('topic.points')}{behind}{last}"
    return tuple(map(compiled, clauses)), compiled(wish)


def with_topic(clauses: Clauses, topics: Topics, has: Callable[[str], bool]) -> str:
    """The goal with what the clause before its wish speaks of where the wish points at it; as it is where it
    does not. has: whether a path is here."""
    about, points = topics
    done = False
    for before, wish in pairwise(clauses.all):
        done = done or clauses.does(before)
        at = points.match(clauses.prose, *wish.place) if clauses.does(wish) else None
        if at is None or clauses.does(before):
            continue
        # Behind an earlier wish, what points may mean that: only what is named just before is meant then.
        first = 2 if wish.begins else 1 - bool(before.joined)  # "and the books, remind me about them"
        ways = about[first : _NAMED if done else None]
        said = (one.fullmatch(clauses.said(before.place)) for one in ways)
        if (found := next(filter(None, said), None)) is None:
            continue
        thing = f"{found['thing']} {found.groupdict().get('place') or ''}".strip(TIDY)
        words = thing.split()
        if len(words) == 3 and has(path := f"{words[-1]}/{words[0]}"):
            thing = path  # "a.md in docs"
        head = clauses.prose[: before.place.start]
        if len(words) > _MOST or re.search(r"[()]", head):
            break
        verb = " ".join(filter(None, (at["verb"], at["last"])))
        told = f"{head}{verb} {thing}{clauses.prose[at.end() :]}"
        return with_topic(Clauses(told, None, clauses.words), topics, has)
    return clauses.prose
