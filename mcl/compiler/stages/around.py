"""The words around a marked limit that turn its meaning: read without them, it would say the opposite."""

import re
from dataclasses import dataclass
from typing import Final

# "No" and "Not", but not NO, the code of Norway.
_NOT: Final = re.compile(
    r"\b(?:[Nn]ot?|[Nn]ever|[Nn]on|[Nn]othing|[Ww]ithout|[Aa]void(?:ing)?|[Cc]annot|[Ee]xcept|[Ee]xcluding|"
    r"[Ii]nte|[Ii]ngen|[Ii]nga|[Ee]j|[Aa]ldrig|[Uu]tan)\b|n['’]t\b"
)
_OUT: Final = re.compile(
    r"\b(?:outside|leav(?:e|es|ing)|out of|beyond|(?:anywhere|everywhere|all) but|utanför|lämna|lämnar)\b",
    re.IGNORECASE,
)
_NEAR: Final = re.compile(r"(?:\S+\s+){0,3}\S*\s*$")  # a "not" further back belongs to something else
_MORE: Final = re.compile(
    r"(?:more than|over|above|beyond|exceed(?:s|ing)?|upwards of|mer än|över)\s+(?:the |a |of )*$",
    re.IGNORECASE,
)
_LEAST: Final = re.compile(
    r"(?:at least|a minimum of|minimum|min\.?|(?:no|not) (?:less|under|below|lower)(?: than)?|between|"
    r"starting at|minst|mellan)\s+$",
    re.IGNORECASE,
)
_MOST: Final = re.compile(
    r"(?:at (?:the )?most|(?:no|not) (?:more|over|above|higher|longer|later)(?: than)?|up to|max(?:imum)?\.?|"
    r"under|below|less than|fewer than|within|högst|under|mindre än)\s+(?:the |a |of )*$",
    re.IGNORECASE,
)
_NOT_UNDER: Final = re.compile(
    r"\b(?:no|not|never)\s+(?:under|below|less than|fewer than)\s+$", re.IGNORECASE
)
_OR_MORE: Final = re.compile(
    r"\s*(?:\+|or (?:more|above|over|up)\b|and (?:up|above|more)\b|at (?:the )?least\b|minimum\b|"
    r"eller mer\b)",
    re.IGNORECASE,
)
_RATE: Final = re.compile(
    r"\s*(?:/\s*\w|per\b|an? (?:hour|day|week|night|month|quarter|year|person|head|piece|unit|seat|user|"
    r"item)\b|each\b|every\b|apiece\b|hourly\b|daily\b|weekly\b|monthly\b|yearly\b|annually\b|"
    r"om året\b|i månaden\b)",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"\b(?:after|since|from|starting|later than|(?:not|never) (?:until|before|ahead of|prior to)|"
    r"(?:no|not) (?:earlier|sooner)(?: than)?|efter|sedan|från|tidigast|inte (?:före|innan))\s+(?:the )?$"
    r"|\b(?:second|minute|hour|day|night|week|month|year|minut|timm|dag|veck|månad)\w*\s+"
    r"(?:before|ahead of|prior to|innan|före)\s+(?:the )?$",
    re.IGNORECASE,
)
_NO_LATER: Final = re.compile(
    r"\b(?:no|not|never|inte)\s+(?:\w+\s+)?(?:later than|after|efter)\s+(?:the )?$", re.IGNORECASE
)
_OR_LATER: Final = re.compile(
    r"\s*(?:or later|at the earliest|onwards?|eller senare|tidigast)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Around:
    """The words of a span's clause before and after it; both empty for an answer, which stands alone."""

    before: str = ""
    after: str = ""

    def is_least(self, text: str) -> bool:
        """Whether an amount is the least that it may be ("at least", "over", "or more"), not the most."""
        figure = re.search(r"[0-9]", text)
        said = f"{self.before}{text[: figure.start()] if figure else ''}".rstrip("$€£¥₹ ") + " "
        over = _MORE.search(said)
        unbound = over is not None and not _NOT.search(said[: over.start()])
        return unbound or _LEAST.search(said) is not None or _OR_MORE.match(self.after) is not None

    def is_most(self) -> bool:
        """Whether a measure is the most that it may be ("at most", "under"), not the least."""
        return _MOST.search(self.before) is not None and not _NOT_UNDER.search(self.before)

    def is_rate(self) -> bool:
        """Whether an amount is one of many ("per month", "each"), not all that may be spent."""
        return _RATE.match(self.after) is not None

    def is_beginning(self) -> bool:
        """Whether a moment is where something begins, or is counted from, and not when it must be done."""
        from_then = _AFTER.search(self.before) and not _NO_LATER.search(self.before)
        return bool(from_then or _OR_LATER.match(self.after))

    def region_is(self, text: str) -> str:
        """What the words say about a region: "allow", "deny", or "" for nothing of either."""
        said = f"{self.before}{text}"
        out = _OUT.search(said) is not None
        near = _NEAR.search(self.before)
        denied = _NOT.search(said if out else f"{near[0] if near else ''}{text}") is not None
        if not out and not denied:
            return ""
        return "allow" if out and denied else "deny"


def says_rate(text: str) -> bool:
    """Whether an amount is followed, in the same span, by what it is paid for each time."""
    figure = re.search(r"[0-9]", text)
    found = _RATE.search(text, figure.end()) if figure else None
    return found is not None
