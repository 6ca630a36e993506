"""The remotes of a repository, without what is secret in their addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from executor.sandbox.git import Git, text
from executor.sandbox.redaction import visible

_MOST = 50
_LONGEST = 500  # characters of an address
_HOST = re.compile(r"(?:[\w.~%-]+|\[[0-9A-Fa-f:.%]+\])?(?::\d+)?\Z")
_HIDDEN = "(hidden)"


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote; url as it may be told. secret: does the address hold a password?"""

    name: str
    url: str
    secret: bool


async def remotes_of(git: Git) -> list[Remote]:
    """The remotes that the repository's configuration names, in the order of their names."""
    listed = await git.run("config", "--includes", "-z", "--get-regexp", r"^remote\..*\.url$")
    if listed.status != 0:  # there is none
        return []
    found = []
    for record in text(listed.out).split("\0"):
        key, _, url = record.partition("\n")
        if key:
            told, secret = plain_address(url)
            name = key.removeprefix("remote.").removesuffix(".url")
            found.append(Remote(visible(name[:100]), visible(told[:_LONGEST]), secret))
    return sorted(found, key=lambda one: (one.name, one.url))[:_MOST]


def plain_address(url: str) -> tuple[str, bool]:
    """An address without its user, password, query and fragment, and whether a password stood in it.

    An address that cannot be taken apart for certain is hidden but for its beginning.
    """
    if "::" in url.partition("/")[0]:  # a transport by a program: what follows is for that program
        return f"{url.partition('::')[0]}::{_HIDDEN}", False
    scheme, mark, rest = url.partition("://")
    if not mark:
        # host:path, or a path. A user of ssh is no secret, but says who somebody is.
        first, slash, path = url.partition("/")
        user, _, host = first.rpartition("@")
        return host + slash + path, ":" in user
    host, slash, path = re.split("[?#]", rest, maxsplit=1)[0].partition("/")
    behind = rest[len(host) :]
    user, _, host = host.rpartition("@")
    # A password that holds / ? # itself is cut there, and what goes for the host is its beginning.
    if not _HOST.match(host) or "@" in behind:
        return f"{scheme}://{_HIDDEN}", True
    # Without a name in front, a user of the web is a token.
    return f"{scheme}://{host}{slash}{path}", ":" in user or (scheme.startswith("http") and user != "")
