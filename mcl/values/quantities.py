"""Quality that must be reached: a measure and its least value ("at least 95 % test coverage")."""

import re
from dataclasses import dataclass

from mcl.values.numbers import read_number


@dataclass(frozen=True)
class Quality:
    """`metric` in the words of the text, lower case; `minimum` as a plain number, percentages as a share (95
    % = 0.95)."""

    metric: str
    minimum: float


_UPPER = re.compile(
    r"\b(?:at most|no more than|not more than|under|below|less than|fewer than|up to|max(?:imum)?|högst|"
    r"or less|or fewer)\b"
    r"|[<≤]"
)
_LEAST = (
    r"(?:at least|atleast|no less than|not less than|more than|better than|higher than|greater than|"
    r"a minimum of|minimum|"
    r"min\.?|above|over|exceeding|exceeds|exceed|of|is|be|must be|rated|>=|≥|>|=|:|minst|över|with|a|an|"
    r"have|has)"
)
_WORDS = (
    r"(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|"
    r"sixty|seventy|eighty|ninety|hundred|thousand|half|dozen|a)\b[ -]?){1,4}"
)
_NUMBER = (
    rf"(?P<n>(?:[0-9][0-9.,]*(?![0-9]|st\b|nd\b|rd\b|th\b|x[0-9])(?:\s*(?:k|thousand|million|billion)\b)?|{_WORDS}))"
    r"\s*(?P<unit>%|percent|per cent|procent)?"
    r"(?P<plus>\s*\+)?"
)
_OR_MORE = r"(?:or (?:better|more|higher|above|up|greater)|minimum|and up|eller (?:mer|bättre)|rated)"
_TAIL = rf"(?:\s*{_OR_MORE})?"
_METRIC = r"(?P<metric>(?:[fp][0-9]{1,2}\b)?[^0-9%<>=≥≤]*?)"
_FIRST = re.compile(rf"(?:{_LEAST}\s*)*\s*{_NUMBER}[\s-]*{_TAIL}\s*(?:of\s+)?(?:the\s+)?{_METRIC}{_TAIL}")
_LAST = re.compile(
    rf"(?:(?:with|a|an|the|have|"
    rf"has)\s+)*{_METRIC}\s*(?:{_LEAST}\s*)*{_NUMBER}{_TAIL}(?:\s*(?P<of>stars?))?{_TAIL}"
)


def read_quality(text: str) -> Quality | None:
    """The measure and its least value that the whole of `text` says; None where either is missing or it is
    an upper bound."""
    text = " ".join(text.lower().split()).strip(" .,;!?")
    if not text or len(text) > 160 or _UPPER.search(text):
        return None
    found = _FIRST.fullmatch(text) or _LAST.fullmatch(text)
    if not found:
        return None
    number = read_number(found["n"].rstrip("., "))
    metric = re.sub(rf"(?:\s*\b{_LEAST}$)+", "", found["metric"].strip()).strip(" -")
    if (
        number is None
        or len(metric) < 2
        or not metric[0].isalpha()
        or re.fullmatch(_OR_MORE, metric)
        or "/" in metric
    ):
        return None
    share = float(number) / 100 if found["unit"] else float(number)
    return Quality(metric, round(share, 12))
