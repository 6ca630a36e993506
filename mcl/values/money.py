"""Amounts of money as people write them → ISO 4217. A sign alone means what it mostly means: $ USD, £ GBP, ¥
JPY, kr SEK."""

import re
from decimal import Decimal
from functools import cache

from executor.core.tables import by_word, table_beside
from ir import AssetAmount
from mcl.values.numbers import read_number

_TABLE = table_beside(__file__)
_SIGNS = by_word(_TABLE["signs"])
_WORDS = by_word(_TABLE["words"])
_CODES = frozenset(
    re.findall(
        "[A-Z]+",
        "USD EUR GBP SEK NOK DKK ISK CHF JPY CNY INR AUD CAD NZD HKD SGD BRL MXN ZAR PLN CZK HUF "
        "RON BGN TRY ILS KRW THB IDR MYR PHP VND TWD AED SAR EGP NGN KES UAH BTC ETH USDC USDT",
    )
)
_LEAD = re.compile(
    r"(?:(?:an?|the|my|our|total|max(?:imum)?\.?|budget|cost|costs|price|spend|spending|pay|of|for|is|at|"
    r"to|up|under|"
    r"below|within|most|no|not|more|less|than|over|exceed|exceeding|above|about|around|roughly|"
    r"approximately|approx\.?|"
    r"cheaper|only|just|högst|max|under|upp|till|cirka|ca|ungefär)\s+|[~≈<≤:=]\s*)+"
)
_TRAIL = re.compile(
    r"(?:\s*(?:or (?:less|under|cheaper|below)|eller mindre|(?:at (?:the )?)?(?:most|max(?:imum)?)|tops|"
    r"in total|total|"
    r"altogether|all[ -]in|budget|limit|cap|"
    r"(?:incl\.?|including|inkl\.?|inklusive|with) (?:vat|tax(?:es)?|moms)))+"
    r"[.!]?"
)
# "1500,-" and "200.-" say that there are no cents.
_NO_CENTS = re.compile(r"(?<=[0-9])[.,](?:--?|–|—)(?![0-9])")
_SHORT_KRONOR = re.compile(r"(?<=[0-9])\s*(mdkr|mkr|mnkr|msek|tkr|ksek)\b")
_KRONOR = by_word(_TABLE["kronor"])
_WITH_CENTS = re.compile(
    r"(?P<whole>.+?(?:dollars?|euros?|pounds?|francs?|quid|[$€£]))(?:,? and|,)?\s+(?P<cents>[0-9]{1,2})\s*"
    r"(?:cents?|pence|p|rappen)"
)
_PENCE = re.compile(r"(?P<n>[0-9]{1,2})\s*(?:pence|p)")
_FROM = re.compile(r"(?:somewhere )?(?:between|from|mellan|från)\s+")
_TO = re.compile(r"\s*(?:[-–—]|\b(?:to|and|till|och)\b)\s*")
_SHAPE = re.compile(
    r"(?P<before>[^0-9\s][^0-9]*?)?\s*(?P<number>[0-9](?:[0-9.,'’\u00a0\u202f ]*[0-9])?(?:\s*(?:k|mn|mio|m|"
    r"bn|thousand|"
    r"hundred|hundra|lakhs?|crores?|"
    r"grand|million|billion|tusen|miljon|miljoner|miljarder|miljard)(?![^\W\d_])\.?)?)\s*(?P<after>[^0-9]+?)?"
)


def read_money(text: str) -> AssetAmount | None:
    """The amount that the whole of `text` says, with its currency; None without a currency or where it is
    unclear.

    "$500", "500 USD", "1,200.50 euros", "SEK 3000", "3k dollars", "500 kr", "at most two hundred pounds".
    Rates ("per month") and ranges are refused: an AssetAmount cannot say them. The amount is decimal text, as
    precise as said.
    """
    text = " ".join(text.lower().split()).strip(" .,;!?")
    if not text or len(text) > 96:
        return None
    lead = _LEAD.match(text)
    for body in dict.fromkeys((text, text[lead.end() :] if lead else text)):
        found = _read(_plainly(_without_trail(body)))
        if found:
            return found
    return None


def read_upper_end(text: str) -> AssetAmount | None:
    """The greater amount of a range in one currency ("$10-20", "between 10 and 20 dollars"), or None.

    For a reader who wants to know the most that may be spent: the lower end is not in the answer.
    """
    text = " ".join(text.lower().split()).strip(" .,;!?")
    if len(text) > 96:
        return None
    body = _FROM.sub("", text, count=1)
    for parting in _TO.finditer(body):
        low, high = body[: parting.start()], body[parting.end() :]
        first, last = read_money(low), read_money(high)
        if first is None and last is not None:
            first = _amount(read_number(low), last.asset)
        elif last is None and first is not None:
            last = _amount(read_number(high), first.asset)
        if first and last and first.asset == last.asset and first.value < last.value:
            return last
    return None


def _plainly(text: str) -> str:
    """The same amount without short forms that only stand beside amounts."""
    text = _NO_CENTS.sub("", text)
    return _SHORT_KRONOR.sub(lambda found: f" {_KRONOR[found[1]]} kr", text)


def _without_trail(text: str) -> str:
    for place in (found.start() for found in _TRAIL.finditer(text)):
        if _TRAIL.fullmatch(text, place):
            return text[:place].rstrip()
    return text


def _read(text: str) -> AssetAmount | None:
    if cents := _WITH_CENTS.fullmatch(text):
        whole = _read(cents["whole"])
        # “$10.50 and 20 cents” says the cents twice.
        if whole is None or "." in str(whole.amount):
            return None
        return _amount(
            whole.value + (Decimal(int(cents["cents"])) / 100).quantize(Decimal("0.01")), whole.asset
        )
    if pence := _PENCE.fullmatch(text):
        return _amount((Decimal(int(pence["n"])) / 100).quantize(Decimal("0.01")), "GBP")
    shape = _SHAPE.fullmatch(text)
    if shape:
        number = read_number(shape["number"].removesuffix("."))
        asset = _asset((shape["before"] or "").strip(), (shape["after"] or "").strip())
        return _amount(number, asset)
    words = text.split()
    for size in range(min(3, len(words) - 1), 0, -1):  # "two hundred pounds sterling"
        asset = _currency(" ".join(words[-size:]))
        number = read_number(" ".join(words[:-size])) if asset else None
        if number is not None:
            return _amount(number, asset)
    return None


def _amount(number: Decimal | None, asset: str | None) -> AssetAmount | None:
    return AssetAmount(asset=asset, amount=format(number, "f")) if number is not None and asset else None


def _asset(before: str, after: str) -> str | None:
    if not before or not after:
        return _currency(before or after)
    first, second = _currency(before), _currency(after)
    if first == second or (before in {"$", "kr"} and second):  # "$500 USD"; "$500 CAD" says which dollar
        return second
    return None


def _currency(name: str) -> str | None:
    if not name:
        return None
    known = _SIGNS.get(name) or _WORDS.get(name)
    if known:
        return known
    code = name.upper()
    if code in _CODES:
        return code
    if not all(c.isalpha() or c in " -'’." for c in name):
        return None
    return _named().get(name)


@cache
def _named() -> dict[str, str]:
    """Every current currency by code and by its English and Swedish names; a name that two share is left
    out."""
    from babel import Locale  # 30 ms: only for a currency that the tables above do not have
    from babel.core import get_global

    names: dict[str, set[str]] = {}
    codes = set(get_global("all_currencies"))
    for language in ("en", "sv"):
        locale = Locale(language)
        plurals = locale._data["currency_names_plural"]  # Babel has no public door to all plural names
        for code in codes:
            for name in (code, locale.currencies.get(code, ""), *plurals.get(code, {}).values()):
                if name:
                    names.setdefault(name.lower(), set()).add(code)
    return {name: next(iter(found)) for name, found in names.items() if len(found) == 1}
