"""Countries and regions → ISO 3166-1 alpha-2 (EU is the code reserved for the Union)."""

from functools import cache

from executor.core.tables import by_word, table_beside
from mcl.core.patterns import late

_TABLE = table_beside(__file__)
_KNOWN = {name: tuple(codes.split()) for name, codes in by_word(_TABLE["known"]).items()}
_COMMON = by_word(_TABLE["common"])
_DEMONYMS = by_word(_TABLE["demonyms"])
_SKIP = late(
    r"^(?:(?:only|just|exclusively|strictly|not|never|no|in|inside|within|from|at|on|to|of|outside|"
    r"anywhere|hosted|based|"
    r"located|stored|made|produced|registered|incorporated|operating|sold|shipped|companies|suppliers|vendors|"
    r"providers|sellers|firms|banks|servers|leverantörer|företag|stay|stays|keep|kept|leave|leaves|leaving|the|a|any|bara|endast|inte|inom|från|"
    r"utanför|i)\s+)+"
)
_NOUN = late(
    r"(?:\s+(?:only|compan(?:y|ies)|suppliers?|vendors?|providers?|servers?|soil|territory|region|citizens?|"
    r"residents?|"
    r"countries|states|member (?:states|countries)|jurisdictions?|laws?|banks?|sellers?|firms?|regions?|"
    r"baker(?:y|ies)|farms?|farmers|growers|brewer(?:y|ies)|factor(?:y|ies)|hotels?|airlines?|websites?|sites?|"
    r"lawyers?|makers?|manufacturers?|shops?|stores?|data cent(?:er|re)s?|clouds?|"
    r"leverantörer|företag|länder|bagerier|gårdar|odlare|fabriker|hotell|butiker))+$"
)
_BASED = late(r"[- ](?:based|made|owned|hosted|registered)(?=\s|$)")
_SPLIT = late(r"\s*(?:,\s*(?:and|or|och|eller)\s|,|/|;|&|\s(?:and|or|och|eller|nor)\s)\s*")


def read_regions(text: str) -> tuple[str, ...] | None:
    """The ISO 3166-1 alpha-2 codes that `text` names, in order, each once; None if any part of it is not a
    region.

    "Sweden and Norway", "the EU", "German companies", "Trinidad and Tobago". Whether they are allowed or
    denied is not decided here.
    """
    text = " ".join(text.split()).strip(" .!?")
    if not text or len(text) > 400:
        return None
    found: list[str] = []
    for part in _parts(text):
        codes = _codes(part)
        if codes is None:
            return None
        found.extend(codes)
    return tuple(dict.fromkeys(found))


def _parts(text: str) -> list[str]:
    return [text] if _codes(text) else [part for part in _SPLIT.split(text) if part]


def _codes(name: str) -> tuple[str, ...] | None:
    if len(name) == 2 and name.isascii() and name.isupper() and name not in {"UK", "US", "EU"}:
        return (name,) if name in _named().values() else None
    if len(name) == 3 and name.isascii() and name.isupper() and (alike := _alpha3(name)):
        return (alike,)
    name = name.lower().replace("’", "'")
    stripped = _SKIP.sub("", _BASED.sub("", name))
    bare = _NOUN.sub("", stripped)
    for known in (name, stripped, bare):
        if known in _KNOWN:
            return _KNOWN[known]
        code = _COMMON.get(known) or _DEMONYMS.get(known)
        if code:
            return (code,)
    code = _named().get(stripped) or _named().get(bare)
    return (code,) if code else None


def _alpha3(code: str) -> str:
    """The alpha-2 code of an ISO 3166-1 alpha-3 code, or ""."""
    from babel.core import get_global

    aliases = get_global("territory_aliases").get(code, [])
    return aliases[0] if len(aliases) == 1 and aliases[0] in _named().values() else ""


@cache
def _named() -> dict[str, str]:
    """Every territory with an alpha-2 code by its English and Swedish names, "and" and "&" alike."""
    from babel import Locale  # 30 ms: only where a jurisdiction is named that the tables do not have

    names: dict[str, str] = {}
    for language in ("sv", "en"):
        for code, name in Locale(language).territories.items():
            if len(code) == 2 and code.isalpha() and code not in {"EZ", "UN", "ZZ", "XA", "XB", "QO", "EU"}:
                plain = name.lower().replace("&", "and")
                for spelling in (
                    plain,
                    plain.removeprefix("the "),
                    plain.replace("st. ", "saint "),
                    plain.split(" (")[0],
                ):
                    names.setdefault(spelling, code)
    return names
