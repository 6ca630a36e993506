"""Numbers as people write them: grouped digits, decimal comma or point, scales ("3k") and words (English,
Swedish).
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from executor.core.tables import by_word, table_beside
from mcl.core.patterns import late

_MOST_WORDS: Final = 12
_LONGEST = 64  # characters; longer "numbers" are not numbers that somebody meant

_TABLE = {
    name: {word: int(number) for word, number in by_word(numbers).items()}
    for name, numbers in table_beside(__file__).items()
}
_ONES = _TABLE["ones"]
_TENS = _TABLE["tens"]
_SCALES = _TABLE["scales"]
_SHORT_SCALES = frozenset({"k", "m", "mn", "mio", "bn"})  # only behind digits: "3k", never "two m"
_DOZENS = frozenset({"dozen", "dussin"})
_PAIRS = frozenset({"couple", "par"})
# What Swedish writes together: "tvåhundrafemtio".
_PIECES = sorted(
    {"hundra", "tusen", *(w for w in (*_ONES, *_TENS) if w not in ("a", "an", "en"))}, key=len, reverse=True
)
_HALF = late(
    r"(?:(?P<whole>[^\W_].*?) (?:and|och) (?=a |en |ett ))?(?:(?:an?|en|ett) )?(?:half|halv|halvt)(?: an?)?"
    r"(?: (?P<scale>[^\W\d_]+))?"
)
_INDIAN = late(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.([0-9]+))?")
_GROUPED = late(r"[0-9]{1,3}(?:([,.'’\u00a0\u202f ])[0-9]{3})(?:\1[0-9]{3})*(?:(?!\1)[.,]([0-9]+))?")
_PLAIN = late(r"[0-9]+(?:[.,]([0-9]+))?")
_SCALED = late(
    r"([0-9][0-9.,'’\u00a0\u202f ]*?)\s*(" + "|".join(sorted(_SCALES, key=len, reverse=True)) + r")?"
)


def read_number(text: str) -> Decimal | None:
    """The non-negative number that the whole of `text` says, exactly; None where it says none or can be read
    two ways.

    "1,200.50" "1.200,50" "1 200" "3k" "1.5 million" "two hundred and fifty" "a dozen" "half a million"
    "1,00,000" (Indian grouping) "tvåhundrafemtio". "1.200" alone is
    refused: a thousand to some readers, one and a fifth to others. "1,200" is twelve hundred, as in English
    texts.
    """
    text = text.strip().lower()
    if not text or len(text) > _LONGEST:
        return None
    text = re.sub(r"(?<=[0-9])½", ".5", text).replace("½", "0.5")
    if half := _HALF.fullmatch(text):
        return _halved(half["whole"], half["scale"])
    if text[0].isascii() and text[0].isdigit():
        found = _SCALED.fullmatch(text)
        return _digits(found[1].rstrip(), found[2]) if found else None
    return _words([piece for word in text.replace("-", " ").split() for piece in _apart(word)])


_LONE: Final = frozenset(("a", "an", "en", "ett", "one", "half", "halv", "couple", "par", "m", "k"))
_HALF_OF: Final = late(r"(?:half an?|an? half|ett? halvt?) (?!dozen|dussin|million|miljon|hundred|thousand)")
_RUN_WORD: Final = late(r"[^\W_]+(?:[.,'’][^\W_]+)*½?|½")


def only_number(text: str) -> Decimal | None:
    """The one number among other words, "60 oak boards", "channel two", "half a gram"; None where there is
    none, more than one, or an article that may be meant as one."""
    words = [match[0] for match in _RUN_WORD.finditer(text.lower())][:_MOST_WORDS]
    if half := _HALF_OF.match(" ".join(words)):
        return Decimal("0.5") if only_number(text[half.end() :]) is None else None
    if re.search(r"[-−/:$€£]\d|\d[-/:]\w", text):  # a score, a date, a code, money
        return None
    found, at = list[Decimal](), 0
    while at < len(words):
        for end in range(len(words), at, -1):
            run = words[at:end]
            while run and run[-1] in ("a", "an", "and", "och", "of") and run[0] not in ("half", "halv"):
                run = run[:-1]
            value = read_number(" ".join(run)) if run else None
            if value is not None and not (len(run) == 1 and run[0] in _LONE):
                found.append(value)
                at += len(run)
                break
        else:
            at += 1
    return found[0] if len(found) == 1 else None


def _halved(whole: str | None, scale: str | None) -> Decimal | None:
    """ "two and a half million", "half a dozen": a half is only a number beside another."""
    factor = 12 if scale in _DOZENS else _SCALES.get(scale or "", 0 if scale else 1)
    if not factor or scale in _SHORT_SCALES or not (whole or scale):
        return None
    count = read_number(whole) if whole else Decimal(0)
    return None if count is None or count >= 1000 else _scaled(count + Decimal("0.5"), factor)


def _apart(word: str) -> list[str]:
    """The numbers that a word is written together from; the word itself where it is none."""
    if word in _ONES or word in _TENS or word in _SCALES or len(word) < 6:
        return [word]
    pieces, rest = [], word
    while rest:
        piece = next((one for one in _PIECES if rest.startswith(one)), "")
        if not piece:
            return [word]
        pieces.append(piece)
        rest = rest[len(piece) :]
    return pieces


def _digits(text: str, scale: str | None) -> Decimal | None:
    grouped = _GROUPED.fullmatch(text)
    if indian := _INDIAN.fullmatch(text):
        fraction = indian[1]
        whole = text.partition(".")[0].replace(",", "")
    elif grouped:
        separator, fraction = grouped[1], grouped[2]
        # “1.200” is twelve hundred in Berlin, and one and a fifth in Boston.
        if separator == "." and fraction is None and text.count(".") == 1:
            return None
        whole = re.sub(r"[^0-9]", "", text[: len(text) - len(fraction) - 1] if fraction else text)
    else:
        plain = _PLAIN.fullmatch(text)
        if not plain:
            return None
        fraction = plain[1]
        whole = text[: len(text) - len(fraction) - 1] if fraction else text
    value = Decimal(f"{whole}.{fraction}" if fraction else whole)
    return _scaled(value, _SCALES[scale]) if scale else value


def _scaled(value: Decimal, factor: int) -> Decimal:
    product = value * factor
    return product.quantize(Decimal(1)) if product == product.to_integral_value() else product.normalize()


def _words(words: list[str]) -> Decimal | None:
    # room: what the next word must stay below ("twenty" leaves 10); ceiling: so must the next scale
    total, part, room, ceiling, seen = 0, 0, 100, math.inf, False
    for place, word in enumerate(words):
        if word in {"and", "och", "of"}:
            pair = word == "of" and words[place - 1] in _PAIRS
            if not seen or (word == "of" and not pair and place != len(words) - 1):
                return None
            room = 100 if pair and place != len(words) - 1 else room
            continue
        if word in _TENS and room > 10:
            part, room = part + _TENS[word], 10
        elif word in _ONES and (_ONES[word] < room or (_ONES[word] == 12 and part == 1)):
            part, room = (12 if _ONES[word] == 12 else part + _ONES[word]), 1
        elif word in _PAIRS and part == 1:
            part = 2
        elif word in _DOZENS and 1 < part < 10:
            part, room = part * 12, 1
        elif word in _SCALES and word not in _SHORT_SCALES:
            factor = _SCALES[word]
            if factor == 100:
                if part >= 100:
                    return None
                part = (part or 1) * 100
            elif factor >= ceiling or (seen and not part):
                return None  # "thousand million", "zero thousand"
            else:
                total, part, ceiling = total + (part or 1) * factor, 0, factor
            room = 100
        else:
            return None
        seen = True
    return Decimal(total + part) if seen and words[-1] not in {"and", "och"} else None


# ---- Quality that must be reached: a measure and its least value ("at least 95 % test coverage").


@dataclass(frozen=True)
class Quality:
    """`metric` in the words of the text, lower case; `minimum` as a plain number, percentages as a share (95
    % = 0.95), which `share` says."""

    metric: str
    minimum: float
    share: bool = False


_UPPER = late(
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
_FIRST = late(rf"(?:{_LEAST}\s*)*\s*{_NUMBER}[\s-]*{_TAIL}\s*(?:of\s+)?(?:the\s+)?{_METRIC}{_TAIL}")
_LAST = late(
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
    return Quality(metric, round(share, 12), bool(found["unit"]))
