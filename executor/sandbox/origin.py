"""Where an address leads: scheme, host and port, in the one spelling that grants are compared by.

Addresses are read strictly: what another reader might understand differently is refused, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, Literal, cast

from executor.core.errors import PolicyError, ScopeError, ToolError

Scheme = Literal["http", "https", "smtp", "smtps"]

WEB: Final = ("https", "http")
MAIL: Final = ("smtps", "smtp")  # encrypted from the first byte; by STARTTLS
THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")  # where secrets need no encryption
ANY: Final = (*WEB, *MAIL)

MAX_URL = 4096  # characters
_PORTS: dict[str, int] = {"http": 80, "https": 443, "smtp": 587, "smtps": 465}
_URL = re.compile(r"(https?|smtps?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::([0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # as a last label it makes other readers see an IPv4 address
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """Scheme, host and port. ``host`` is lower case: an A-label name, an IPv4 or compressed IPv6 address."""

    scheme: Scheme
    host: str
    port: int

    def __str__(self) -> str:
        """As it begins an address: ``https://example.org``, ``http://[::1]:8080``; the usual port unsaid."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")

    @property
    def short(self) -> str:
        """As people grant it: https unsaid."""
        return str(self).removeprefix("https://")

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The host where it is an IP address, else None."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Url:
    """An address taken apart; ``target`` is path and query, as sent to the host. The fragment is dropped."""

    origin: Origin
    target: str

    def __str__(self) -> str:
        return f"{self.origin}{self.target}"


def parse_url(text: str, schemes: Collection[str] = WEB) -> Url:
    """Take an absolute address apart, of the web where nothing else is asked for.

    Raises:
        ScopeError: HOST_DENIED: another scheme, a user name in it, white space, a host that is none.
    """
    try:
        return _parse(text, schemes)
    except ValueError as problem:
        shown = text if len(text) <= 200 else text[:200] + "…"
        raise ScopeError(
            "HOST_DENIED",
            f"{shown!r} is no address that can be fetched: {problem}",
            place=shown,
            fix="write it in full, such as https://example.org/page",
        ) from None


def parse_grant(text: str) -> Origin:
    """The origin that a person names in a grant: ``example.org``, ``example.org:8443``, ``http://localhost``.

    Raises:
        PolicyError: BAD_HOST. Patterns are no host names.
    """
    try:
        if "*" in text:
            raise ValueError("a grant names one host; patterns are not understood")
        url = _parse(text if "://" in text else f"https://{text}", ANY)
        if url.target != "/" or "#" in text or "?" in text:
            raise ValueError("a grant is for a whole host, without a path")
    except ValueError as problem:
        raise PolicyError(
            "BAD_HOST",
            f"{text[:200]!r} names no host: {problem}",
            place=text[:200],
            fix="such as example.org, example.org:8443 or, without encryption, http://localhost:8080",
        ) from None
    return url.origin


def _parse(text: str, schemes: Collection[str]) -> Url:
    if len(text) > MAX_URL:
        raise ValueError(f"it is longer than {MAX_URL} characters")
    if _UNSAFE.search(text):
        raise ValueError("it holds white space, a control character or a backslash")
    found = _URL.fullmatch(text)
    if found is None or found[1].lower() not in schemes:
        raise ValueError(f"it does not begin with {' or '.join(f'{one}://' for one in schemes)}")
    scheme = cast(Scheme, found[1].lower())
    if "@" in found[2]:
        raise ValueError("it holds a user name; no credentials are sent")
    parts = _AUTHORITY.fullmatch(found[2])
    if parts is None:
        raise ValueError("its host is none")
    port = int(parts[2]) if parts[2] else _PORTS[scheme]
    if not 0 < port < 65536:
        raise ValueError("its port is none")
    target = found[3] if found[3].startswith("/") else f"/{found[3]}"
    return Url(Origin(scheme, _host(parts[1]), port), target)


def _host(text: str) -> str:
    if text.startswith("["):
        return IPv6Address(text[1:-1]).compressed
    name = text if text.isascii() else _a_labels(text)
    name = name.lower().removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return str(IPv4Address(name))  # no octal, hexadecimal or shortened spelling
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("its host is no host name")
    return name


def _a_labels(text: str) -> str:
    import idna  # large tables, for few hosts

    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except idna.IDNAError as problem:  # a ValueError with the text of the standard
        raise ValueError(f"its host is no host name ({problem})") from None


def require_encrypted(url: Url) -> None:
    """No secret goes over a wire in clear. Raises ToolError CREDENTIAL_IN_CLEAR."""
    if url.origin.scheme != "https" and url.origin.host not in THIS_MACHINE:
        raise ToolError(
            "CREDENTIAL_IN_CLEAR",
            f"{url.origin} is reached without encryption: no credential is sent there",
            place=str(url.origin),
            fix="use its https:// address",
        )
