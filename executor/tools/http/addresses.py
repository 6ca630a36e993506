"""The addresses that a host may be reached at: names lead to public addresses only.

A name is looked up once, its addresses are judged, and the connection is made to one of those, so that a name
that answers differently the second time leads nowhere else.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import anyio

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.origin import Origin

IPAddress = IPv4Address | IPv6Address

_LOCALHOST = (IPv4Address("127.0.0.1"), IPv6Address("::1"))  # by RFC 6761, whatever a name server says
_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")  # an IPv4 address as networks without IPv4 see it
# Inside the unicast range: other addresses in disguise (6to4, Teredo and its neighbours), documentation.
_NOT_PUBLIC = tuple(IPv6Network(text) for text in ("2002::/16", "2001::/23", "2001:db8::/32", "3fff::/20"))
_MOST = 4  # addresses tried


async def addresses_of(origin: Origin) -> tuple[IPAddress, ...]:
    """Where to connect for a host that the agent may go to.

    An IP address or ``localhost``, which somebody granted in just these words, is taken as it is; of the
    addresses of a name only public ones are.

    Raises:
        ScopeError: HOST_DENIED. ToolError: HOST_NOT_FOUND.
    """
    if (literal := origin.address) is not None:
        if literal.is_unspecified or literal.is_multicast or literal == IPv4Address("255.255.255.255"):
            raise _denied(origin, "is the address of no single host", "name the host")
        return (literal,)
    if origin.host == "localhost":
        return _LOCALHOST
    try:
        found = await anyio.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise ToolError(
            "HOST_NOT_FOUND",
            f"{origin.host} could not be looked up: {problem}",
            place=str(origin),
            fix="check the name and the network",
            transient=True,
        ) from problem
    known = tuple(dict.fromkeys(ip_address(str(where[4][0]).partition("%")[0]) for where in found))
    public = tuple(address for address in known if is_public(address))
    if not public:
        raise _denied(
            origin,
            f"leads to {', '.join(map(str, known[:_MOST])) or 'nothing'}, which is no public address",
            "an address there must be granted itself: mcl grant network --host http://10.0.0.5:8080",
        )
    return public[:_MOST]


def is_public(address: IPAddress) -> bool:
    """Is the address one on the internet: not loopback, private, link-local, shared, multicast, reserved?"""
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not address.is_reserved
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _UNICAST and not any(address in network for network in _NOT_PUBLIC)


def _denied(origin: Origin, why: str, fix: str) -> ScopeError:
    return ScopeError("HOST_DENIED", f"{origin.short} {why}", place=str(origin), fix=fix)
