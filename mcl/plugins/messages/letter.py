"""A mail as it is written into a file or sent: heads, text, one attached file."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Sequence
from datetime import datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from typing import Final

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.paths import Workspace

MAX_ATTACHED: Final = 20 << 20  # bytes
_ADDRESS: Final = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*"
    r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
)
_NAMED: Final = re.compile(r"(?P<name>[^<>]*)<(?P<address>[^<>]+)>")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def address_of(text: str) -> Address:
    """One address, with or without a name: `anna@example.org`, `Anna <anna@example.org>`.

    Raises:
        ToolError: BAD_ADDRESS.
    """
    found = _NAMED.fullmatch(text.strip())
    name, spec = (found["name"].strip(' "'), found["address"].strip()) if found else ("", text.strip())
    if not _ADDRESS.fullmatch(spec) or _UNSAFE.search(name) or len(name) > 200:
        raise ToolError(
            "BAD_ADDRESS",
            f"{text[:100]!r} is no mail address",
            place="to",
            fix="write it in full, such as anna@example.org",
        )
    return Address(name, addr_spec=spec)


def split_people(text: str) -> list[str]:
    """Several recipients that stand in one text, by commas and semicolons."""
    return [one.strip() for one in re.split(r"[,;]", text) if one.strip()]


def letter(
    *, sender: str, to: Sequence[Address | str], subject: str, body: str, at: datetime
) -> EmailMessage:
    """The mail without anything attached. to: a text is a name whose address is not known.

    Raises:
        ToolError: BAD_HEAD.
    """
    message = EmailMessage(policy=SMTP)
    try:
        if sender:
            message["From"] = address_of(sender)
        if to:
            known = [one for one in to if isinstance(one, Address)]
            names = ", ".join(f'"{one}":;' for one in to if isinstance(one, str))
            message["To"] = ", ".join([*map(str, known), *([names] if names else [])])
        message["Subject"] = " ".join(subject.split())
        message["Date"] = at
        message.set_content(body if body.endswith("\n") else body + "\n")
    except (MessageError, ValueError, IndexError, UnicodeError) as problem:
        raise ToolError(
            "BAD_HEAD", f"no mail can be made of that: {problem}", place="subject", fix="use plain characters"
        ) from problem
    return message


def attach(message: EmailMessage, path: str, workspace: Workspace) -> None:
    """Attach a file of the workspace. Raises ScopeError: as ``open_file``; TOO_LARGE."""
    data, size = workspace.read(path, MAX_ATTACHED + 1)
    if size > MAX_ATTACHED:
        raise ScopeError(
            "TOO_LARGE",
            f"{path!r} is larger than {MAX_ATTACHED:,} bytes",
            place=path,
            fix="use a smaller file",
        )
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    main, _, sub = kind.partition("/")
    message.add_attachment(data, maintype=main, subtype=sub, filename=path.rpartition("/")[2])
