"""Tells through which server and in whose name mail is sent, as the person wrote it down in the home."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Final

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.origin import MAIL, parse_url
from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.plugins.messages.letter import address_of

FILE: Final = "mail.toml"
_EXAMPLE: Final = 'server = "smtps://mail.example.org" and from = "Ada <ada@example.org>"'


def run(args: Mapping[str, object], bench: Bench, home: Home) -> dict[str, object]:
    """Read it.

    Raises:
        ToolError: NO_ACCOUNT, BAD_CONFIGURATION.
    """
    place = home.path / FILE
    try:
        said = tomllib.loads(place.read_text(encoding="utf-8"))
        sender, url = str(said["from"]), parse_url(str(said["server"]), MAIL)
        user = str(said.get("user") or address_of(sender).addr_spec)
    except FileNotFoundError as problem:
        if args.get("missing"):
            told = f"no server for mail is written down ({FILE}): nothing is sent, and a draft is kept"
            return {"server": "", "from": "", "user": "", "text": told}
        raise ToolError(
            "NO_ACCOUNT",
            "it is not known through which server mail is sent",
            place=str(place),
            fix=f"write two lines into {place}: {_EXAMPLE}",
        ) from problem
    except (OSError, ValueError, KeyError, ToolError, ScopeError) as problem:
        why = f"{FILE} cannot be used: {problem}"
        raise ToolError("BAD_CONFIGURATION", why, place=str(place), fix=f"such as {_EXAMPLE}") from problem
    told = f"mail goes out through {url.origin} in the name of {sender}"
    return {"server": str(url.origin), "from": sender, "user": user, "text": told}
