"""Writes a mail into a file, to be looked at and sent by a mail program. Nothing is sent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from email.headerregistry import Address

from anyio import from_thread, to_thread

from executor.core.words import name_part
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.messages.letter import address_of, attach, letter, split_people

_NAME = re.compile(r"[^\W_][\w .'-]{0,99}")  # of somebody whose address is not known yet
_SLUG = 40


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Put the draft in place.

    Raises:
        ToolError: BAD_ADDRESS, BAD_HEAD.
    """
    return await to_thread.run_sync(_draft, args, bench)


def _draft(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    to = [_person(one) for one in split_people(str(args.get("to", "")))]
    subject, body = str(args.get("subject", "")).strip(), str(args.get("body", ""))
    now = datetime.fromisoformat(bench.clock.now()).replace(microsecond=0)
    message = letter(sender=str(args.get("from", "")), to=to, subject=subject, body=body, at=now)
    message["X-Unsent"] = "1"  # mail programs open it for writing
    if attached := str(args.get("attach", "")):
        attach(message, attached, bench.workspace)
        message.set_boundary(f"=={hashlib.sha256(body.encode()).hexdigest()[:32]}")
    data = message.as_bytes()
    known = hashlib.sha256(repr([[str(one) for one in to], subject, body, attached]).encode()).hexdigest()
    name = f"{now.date().isoformat()}-{name_part(subject or body, _SLUG, 'mail')}-{known[:8]}.eml"
    path = "/".join([*bench.workspace.split(str(args["folder"])), name])
    written = bench.workspace.write(path, data, replace=False, check=from_thread.check_cancelled)
    people = [visible(one if isinstance(one, str) else str(one)) for one in to]
    missing = [one for one in to if isinstance(one, str)]
    told = (
        f"wrote {written.path}, to {', '.join(people) or 'nobody yet'}: {visible(subject) or '(no subject)'}"
    )
    if missing:
        told += f"\nwithout an address yet: {', '.join(map(visible, missing))}"
    return {
        "path": written.path,
        "to": people,
        "subject": visible(subject),
        "size": written.size,
        "text": told,
    }


def _person(text: str) -> Address | str:
    """An address, or the name of somebody whose address is not known. Raises ToolError BAD_ADDRESS."""
    if "@" in text or not _NAME.fullmatch(text):
        return address_of(text)
    return text
