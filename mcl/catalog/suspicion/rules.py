"""The rules: their names, how grave each is, and why; and those about what a text holds besides words: what
cannot be seen, encoded bytes, addresses, length. The rules about words are patterns of rules.toml.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from executor.core.tables import table_beside
from ir.results import JsonResult
from mcl.catalog.suspicion.texts import PlacedText, excerpt, hidden, revealed

Level = Literal["warning", "notice"]


@dataclass(frozen=True, slots=True)
class SuspicionRule:
    """One thing that is looked for.

    level: a warning is approved in so many words only; a notice is shown and no more. reason: what is
    suspicious about it, for people. patterns: of rules about wording, any of them.
    """

    id: str
    level: Level
    reason: str
    patterns: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion(JsonResult):
    """What is suspicious in a definition.

    rule, level, reason: as of ``SuspicionRule``. place: a JSON path
    (``inputSchema.properties.path.description``). excerpt: the words, with everything written out that cannot
    be seen.
    """

    rule: str
    level: Level
    reason: str
    place: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A rule that fits, where, and on which words; what a rule is about is told by its table."""

    rule: str
    place: str
    excerpt: str


@cache
def rules() -> Mapping[str, SuspicionRule]:
    """All rules by their ids, in the order in which they are told."""
    table = table_beside(__file__)
    return {
        one["id"]: SuspicionRule(
            one["id"],
            one["level"],
            one["reason"],
            tuple(re.compile(pattern, re.VERBOSE) for pattern in one.get("patterns", ())),
        )
        for one in table["rule"]
    }


# ---- What a text holds besides words.

LONG: Final = 4_000  # characters
VERY_LONG: Final = 10_000

_NOT_READ: Final = "from here on it is too much to be read by these rules"
_SHOWN: Final = 80  # characters of what encoded bytes say
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{40,}={0,2}")
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}){24,}(?![0-9A-Za-z])")
_DIGESTS: Final = (64, 96, 128)  # hexadecimal digits of sha256 to sha512
_ESCAPES: Final = re.compile(
    r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|&#x?[0-9A-Fa-f]{2,6};){8,}"
)
_DATA: Final = re.compile(r"\bdata:[\w.+-]{1,40}/[\w.+-]{1,60}[;,]\S{16,}", re.IGNORECASE)
_URL: Final = re.compile(r"\b(?:https?|ftp|wss?)://[^\s<>\"'`)\]]{1,2000}", re.IGNORECASE)
_SCRIPT_URL: Final = re.compile(r"\b(?:javascript|vbscript):\S", re.IGNORECASE)
_SLOT: Final = re.compile(
    r"\{[^{}]{0,80}\}|\$\{?\w|<[a-z _-]{1,60}>|%7b|%s\b|\[[A-Z_ ]{2,40}\]", re.IGNORECASE
)
_EXAMPLES: Final = re.compile(
    r"(?:^|\.)(?:example(?:\.(?:com|org|net|edu))?|localhost|test|invalid)$", re.IGNORECASE
)
_COLLECTORS: Final = re.compile(
    r"(?:^|\.)(?:webhook\.site|requestbin\.\w+|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|oast\.\w+|interact\.sh"
    r"|burpcollaborator\.net|beeceptor\.com|requestcatcher\.com|hookbin\.com|mockbin\.\w+|canarytokens\.\w+"
    r"|dnslog\.cn|ceye\.io|pastebin\.com|hastebin\.com|transfer\.sh|trycloudflare\.com|serveo\.net|loca\.lt|onion"
    r"|discord(?:app)?\.com/api/webhooks|hooks\.slack\.com|api\.telegram\.org)(?:$|/)",
    re.IGNORECASE,
)
_GAP: Final = re.compile(
    r"\S[ \t\u00a0\u2000-\u200a\u3000]{60,}\S|\S(?:[ \t]*(?:\r\n|[\n\r\u2028\u2029])){12,}[ \t]*\S"
)


def marks_of_content(one: PlacedText) -> Iterator[Mark]:
    """What is suspicious in one text, each rule once."""
    told: set[str] = set()
    for rule, start, end in _found(one):
        if rule not in told:
            told.add(rule)
            yield Mark(
                rule,
                one.place,
                _NOT_READ if one.more and rule == "very-long-text" else _shown(one.text, rule, start, end),
            )


def _found(one: PlacedText) -> Iterator[tuple[str, int, int]]:
    text = one.text
    yield from hidden(text)
    if found := _GAP.search(text):
        yield "out-of-sight", found.start(), found.end()
    yield from _addresses(text)
    yield from _encoded(text)
    if len(text) > VERY_LONG or one.more:
        yield "very-long-text", 0, 0
    elif len(text) > LONG:
        yield "long-text", 0, 0


def _shown(text: str, rule: str, start: int, end: int) -> str:
    if rule in ("long-text", "very-long-text"):
        return f"{len(text):,} characters"
    if rule == "out-of-sight":
        return excerpt(text, end - 1, end)
    shown = excerpt(text, start, end)
    meaning = _meaning(text[start:end]) if rule == "encoded" else ""
    return f"{shown} = {revealed(meaning[:_SHOWN])}" if meaning else shown


def _addresses(text: str) -> Iterator[tuple[str, int, int]]:
    for found in _URL.finditer(text):
        url = found[0].rstrip(".,;:!?")
        where = found.start(), found.start() + len(url)
        try:
            parts = urlsplit(url)
            host = (parts.hostname or "").rstrip(".")
        except ValueError:  # no address of anything
            continue
        if _COLLECTORS.search(f"{host}{parts.path}") or _COLLECTORS.search(host) or _is_number(host):
            yield "collecting-host", *where
        if _EXAMPLES.search(host) or _is_this_machine(host):
            continue
        if parts.query or parts.fragment.startswith("?"):
            slot = _SLOT.search(text[found.start() + url.find("?") : found.end() + _SHOWN])
            yield ("link-with-data" if slot and slot.start() < len(url) else "link-with-query"), *where
        elif _SLOT.search(host) or "@" in parts.netloc:
            yield "link-with-data", *where
    if script := _SCRIPT_URL.search(text):
        yield "shell-command", script.start(), script.end()


def _is_number(host: str) -> bool:
    """Is a host a bare number, and not one of this machine or an example?"""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.isdigit() or host.startswith("0x")
    return not (address.is_loopback or address.is_private or address.is_unspecified)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def _encoded(text: str) -> Iterator[tuple[str, int, int]]:
    if data := _DATA.search(text):
        yield "encoded", data.start(), data.end()
    for found in (*_ESCAPES.finditer(text), *_HEX.finditer(text), *_BASE64.finditer(text)):
        digits = found[0].removeprefix("0x")
        if _HEX.fullmatch(digits):
            if len(digits) not in _DIGESTS:
                yield "encoded", found.start(), found.end()
        elif found.re is not _BASE64 or _is_base64(found[0]):
            yield "encoded", found.start(), found.end()


def _is_base64(run: str) -> bool:
    """Do the characters of a run come as they do in encoded bytes, and not as in names and paths?"""
    letters = run.rstrip("=")
    upper, digits = sum(map(str.isupper, letters)), sum(map(str.isdigit, letters))
    lower = sum(map(str.islower, letters))
    if min(upper, lower) * 7 < len(letters) or digits * 25 < len(letters):
        return False
    # Words that are written together change their case less often.
    return len(re.findall(r"[a-z][A-Z0-9]|[A-Z0-9][a-z]", letters)) * 5 >= len(letters)


def _meaning(run: str) -> str:
    """What encoded bytes say, where that is a text; "" where it is none."""
    run = run.rpartition("base64,")[2] if run.lower().startswith("data:") else run
    for decode in (_of_hex, _of_base64, _of_escapes):
        try:
            said = decode(run).decode()
        except ValueError:  # among them UnicodeDecodeError and binascii.Error
            continue
        if said and sum(map(str.isprintable, said)) * 10 >= len(said) * 9:
            return said
    return ""


def _of_hex(run: str) -> bytes:
    return bytes.fromhex(run.removeprefix("0x"))


def _of_base64(run: str) -> bytes:
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _of_escapes(run: str) -> bytes:
    plain = re.sub(r"\\[xu]([0-9A-Fa-f]{2,4})", lambda one: chr(int(one[1], 16)), unquote(unescape(run)))
    if plain == run:
        raise ValueError("nothing is escaped")
    return plain.encode()
