"""A goal as it is said plainly: with what it speaks of where a wish points at that ("the wood is here, tick
it off"), and with the verb that it leaves out. Pure."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final, TypeAlias

from mcl.compiler.stages.clauses import TIDY, Clauses
from mcl.compiler.stages.phrases import compiled, either
from mcl.language.mtx.core import Core, CoreModule

_MOST: Final = 9  # words of a topic
_PACKED: Final = r"(?:zip|tgz|tar\.gz)"  # how the name of what is packed ends
_NAMED: Final = 3  # of the ways to say it, those for what is named alone or is there
Recast: TypeAlias = tuple[tuple[str, re.Pattern[str]], ...]
Topics: TypeAlias = tuple[tuple[re.Pattern[str], ...], re.Pattern[str], re.Pattern[str], Recast, Recast]


def topics_of(core: Core) -> Topics:
    """How a clause says of what it speaks; a wish, as far as the word that points there; a wish that only
    takes something in hand; what without a verb wants something put somewhere, with that verb; and what is
    said otherwise.

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
    copied = rf"(?!{said('topic.particles')}(?!\w))"  # "take a copy of x and call it y" makes one
    taken = rf"{said('topic.takes')}\s+{copied}(?P<thing>(?:(?!{said('topic.last')}(?!\w)).)+)"
    kinds = (
        (verb, rf"(?:{said(f'bare.list{end}')}(?!\w)|\S+\.(?:txt|md))")
        for verb, end in ((module.text("bare.verb"), ""), (module.text("bare.verb.sv"), ".sv"))
    )
    not_bare = rf"(?!(?:{said('turned.not', 'topic.not', 'bare.not')})(?!\w))"
    word = rf"(?!{said('topic.says')}(?!\w))\S+"
    things, ends = rf"{not_bare}{word}(?:\s+{word}){{0,7}}?", rf"(?:[\s,]+{said('bare.end')})*"
    bare = tuple((verb, compiled(rf"{things}\s+{said('bare.at')}\s+{place}{ends}")) for verb, place in kinds)
    return tuple(map(compiled, clauses)), compiled(wish), compiled(taken), bare, _recast(module)


def with_topic(clauses: Clauses, topics: Topics, has: Callable[[str], bool]) -> str:
    """The goal with what the clause before its wish speaks of where the wish points at it; as it is where it
    does not. has: whether a path is here."""
    about, points, takes, bare, recast = topics
    clauses = _plainly(_with_verb(clauses, bare), recast)
    done = False
    for before, wish in pairwise(clauses.all):
        does = clauses.does(before)
        taken = takes.fullmatch(clauses.said(before.place)) if does and not done else None
        done = done or does
        at = points.match(clauses.prose, *wish.place) if clauses.does(wish) else None
        if at is None or (does and taken is None):
            continue
        # Behind an earlier wish, what points may mean that: only what is named just before is meant then.
        first = 2 if wish.begins else 1 - bool(before.joined)  # "and the books, remind me about them"
        ways = about[first : _NAMED if done else None]
        said = (one.fullmatch(clauses.said(before.place)) for one in ((takes,) if does else ways))
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


def _recast(module: CoreModule) -> Recast:
    """How a clause may say a thing, each with how it is said plainly."""
    made = []
    for text in module.family("recast").values():
        plain, _, said = text.partition(": ")
        parts = (one.split("|") for one in said.split(" + "))
        words = r"\s+".join(either(map(str.strip, one)) for one in parts)
        for name, form in (("name", rf"\S+\.{_PACKED}"), ("thing", r"\S.*?")):
            words = words.replace(f"<{name}>", f"(?P<{name}>{form})")
        made += [(plain, compiled(words))] if said else []
    return tuple(made)


def _plainly(clauses: Clauses, recast: Recast) -> Clauses:
    """The goal with its clauses as they are said plainly: "make a x.zip of it" is "zip it as x.zip"."""
    for one in reversed(clauses.all):
        ways = ((plain, said.fullmatch(clauses.said(one.place))) for plain, said in recast)
        told = next((plain.format(**match.groupdict()) for plain, match in ways if match), "")
        if told:
            prose = f"{clauses.prose[: one.place.start]}{told}{clauses.prose[one.place.end :]}"
            clauses = Clauses(prose, None, clauses.words)
    return clauses


def _with_verb(clauses: Clauses, bare: Recast) -> Clauses:
    """The goal with a verb before its first clause where that has none and names something and the list where
    it goes: "honey on the shopping list and tick off the wood"."""
    first = next((one for one in clauses.all if clauses.does(one) or not clauses.is_label(one)), None)
    said = clauses.said(first.place) if first is not None else ""
    words = clauses.words
    if first is None or clauses.does(first) or clauses.only_tells(first) or words.tells(said):
        return clauses
    if words.wants(said) or words.forbids(said) or words.questions.match(said):
        return clauses
    verb = next((verb for verb, pattern in bare if pattern.fullmatch(said)), "")
    at = first.place.start
    prose = f"{clauses.prose[:at]}{verb} {clauses.prose[at:]}"
    return Clauses(prose, None, words) if verb else clauses
