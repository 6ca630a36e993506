"""The words around a limit: those that turn its meaning, without which it would say the opposite, and those
that only lead to it."""

import re
from dataclasses import dataclass
from typing import Final

from mcl.compiler.stages.phrases import any_of, compiled, either
from mcl.language.mtx.core import CoreModule

_NEAR: Final = re.compile(r"(?:\S+\s+){0,3}\S*\s*$")  # a "not" further back belongs to something else
_FIGURE: Final = re.compile(r"[0-9]")


@dataclass(frozen=True)
class Around:
    """The words of a span's clause before and after it, and all that follows in its sentence; empty for an
    answer, which stands alone."""

    before: str = ""
    after: str = ""
    beyond: str = ""


@dataclass(frozen=True)
class LimitWords:
    """The words of the module `constraint`. negates: what says no; outside, only: before a region. over:
    before what an amount is more than; least, most: before the least and the most that it may be; or_more:
    behind the least; rate: behind one of many amounts. begins: before a moment when something begins, or from
    which it is counted; ends: what looks the same and says the end; or_later: behind one when it begins;
    earlier: before a day whose beginning counts."""

    negates: re.Pattern[str]
    outside: re.Pattern[str]
    only: re.Pattern[str]
    over: re.Pattern[str]
    least: re.Pattern[str]
    most: re.Pattern[str]
    or_more: re.Pattern[str]
    rate: re.Pattern[str]
    begins: re.Pattern[str]
    ends: re.Pattern[str]
    or_later: re.Pattern[str]
    earlier: re.Pattern[str]

    @classmethod
    def of(cls, module: CoreModule) -> "LimitWords":
        """Read them. Raises SkillError NO_SETTING."""

        def said(key: str) -> str:
            return either(module.phrases(key))

        no, later, earlier = said("not"), said("later"), said("earlier")
        amount, moment = r"\s+(?:the |a |of )*$", r"\s+(?:the )?$"
        return cls(
            # "No" and "NOT", but not NO, the code of Norway.
            negates=compiled(rf"(?<!\w)(?!(?-i:NO)\b)(?:{no}|{said('negations')})(?!\w)|n['’]t\b"),
            outside=any_of(module.phrases("outside")),
            only=any_of(module.phrases("only")),
            over=compiled(rf"(?<!\w){said('over')}{amount}"),
            least=compiled(rf"(?<!\w)(?:{said('least')}|{said('ranges')}){amount}"),
            most=compiled(rf"(?<!\w){said('most')}{amount}"),
            or_more=compiled(rf"\s*(?:\+|{said('behind.least')}(?!\w))"),
            rate=compiled(rf"\s*(?:/\s*\w|{said('rates')}(?!\w))"),
            begins=compiled(
                rf"(?<!\w)(?:{later}|{said('begins')}|{no}\s+(?:until|{earlier})|{said('units')}\s+{earlier}){moment}"
            ),
            ends=compiled(rf"(?<!\w){no}\s+(?:\w+\s+)?{later}{moment}"),
            or_later=compiled(rf"\s*{said('behind.begins')}(?!\w)"),
            earlier=compiled(rf"(?<!\w)(?<!\bor ){earlier}\s+$"),
        )

    def is_least(self, around: Around, text: str) -> bool:
        """Whether an amount is the least that it may be ("at least", "over", "or more"), not the most."""
        figure = _FIGURE.search(text)
        said = f"{around.before}{text[: figure.start()] if figure else ''}".rstrip("$€£¥₹ ") + " "
        over = self.over.search(said)
        unbound = over is not None and not self.negates.search(said[: over.start()])
        return unbound or self.least.search(said) is not None or self.or_more.match(around.after) is not None

    def is_most(self, around: Around) -> bool:
        """Whether a measure is the most that it may be ("at most", "under"), not the least."""
        return self.most.search(around.before) is not None and not self.least.search(around.before)

    def is_rate(self, around: Around) -> bool:
        """Whether an amount is one of many ("per month", "each"), not all that may be spent."""
        return self.rate.match(around.after) is not None

    def says_rate(self, text: str) -> bool:
        """Whether an amount is followed, in the same span, by what it is paid for each time."""
        figure = _FIGURE.search(text)
        return figure is not None and self.rate.search(text, figure.end()) is not None

    def is_beginning(self, around: Around) -> bool:
        """Whether a moment is where something begins, or is counted from, and not when it must be done."""
        from_then = self.begins.search(around.before) and not self.ends.search(around.before)
        return bool(from_then or self.or_later.match(around.after))

    def region_is(self, around: Around, text: str) -> str:
        """What the words say about a region: "allow", "deny", "either" ("not only in"), or "" for nothing."""
        out = self.outside.search(f"{around.before}{text}") is not None
        near = _NEAR.search(around.before)
        said = f"{near[0] if near else ''}{text}"
        denied = self.negates.search(f"{around.before}{text}" if out else said) is not None
        only = self.only.search(said) is not None
        if not out and not denied:
            return "allow" if only else ""
        if only and denied and not out:
            return "either"
        return "allow" if out and denied else "deny"


@dataclass(frozen=True)
class LimitLeads:
    """The words of the module `constraint` that only lead to a limit. tail: those at the end of a text before
    one; alone: nothing but them; between: what may stand between a text and the limit behind it; relative: a
    text that goes on to say which one is meant; before, behind: what belongs to a limit beside it."""

    tail: re.Pattern[str]
    alone: re.Pattern[str]
    between: re.Pattern[str]
    relative: re.Pattern[str]
    before: re.Pattern[str]
    behind: re.Pattern[str]

    @classmethod
    def of(cls, module: CoreModule) -> "LimitLeads":
        """Read them. Raises SkillError NO_SETTING."""
        leads, bound = module.phrases("leads"), module.phrases("leads.bound")
        text = (*leads, *module.phrases("leads.text"))
        behind = [one for key in ("behind.most", "behind.least", "behind") for one in module.phrases(key)]
        return cls(
            tail=compiled(rf"(?:[\s,;]+{either(text)})+$"),
            alone=compiled(rf"(?:{either(text)}\b[\s,;]*)+"),
            between=compiled(rf"\s*(?:{either((*text, *bound))}\s+)*"),
            relative=compiled(rf"\b{either(module.phrases('relative'))}\b[^,;]*$"),
            before=compiled(rf"(?:(?<![\w'’-]){either((*leads, *bound))}[\s:(]+){{1,8}}$"),
            behind=compiled(rf"(?:\s*[,(]?\s*{either(behind)}(?!\w))+"),
        )

    def is_empty(self, text: str) -> bool:
        """Whether words say nothing themselves, and only lead to others ("for at most")."""
        return self.alone.fullmatch(text) is not None
