"""Writes a mail into a file, to be looked at and sent by a mail program. Nothing is sent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.headerregistry import Address

from anyio import from_thread, to_thread

from executor.core.words import name_part
from executor.sandbox.paths import Written
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
    people = [_person(one) for one in split_people(str(args.get("to", "")))]
    letters = [[one] for one in people] if args.get("apart") == "each" and people else [people]
    subject = visible(str(args.get("subject", "")).strip())
    written = [_put(args, to, bench) for to in letters]
    names = [visible(str(one)) for one in people]
    told = []
    for one, to in zip(written, letters, strict=True):
        whom = visible(", ".join(map(str, to))) or "nobody yet"
        told.append(f"wrote {one.path}, to {whom}: {subject or '(no subject)'}")
    if missing := [visible(one) for one in people if isinstance(one, str)]:
        told.append(f"without an address yet: {', '.join(missing)}")
    size = sum(one.size for one in written)
    return {"path": written[0].path, "to": names, "subject": subject, "size": size, "text": "\n".join(told)}


def _put(args: Mapping[str, object], to: Sequence[Address | str], bench: Bench) -> Written:
    """One mail in its file."""
    subject, body = str(args.get("subject", "")).strip(), str(args.get("body", ""))
    now = datetime.fromisoformat(bench.clock.now()).replace(microsecond=0)
    message = letter(sender=str(args.get("from", "")), to=to, subject=subject, body=body, at=now)
    message["X-Unsent"] = "1"  # mail programs open it for writing
    if attached := str(args.get("attach", "")):
        attach(message, attached, bench.workspace)
        message.set_boundary(f"=={hashlib.sha256(body.encode()).hexdigest()[:32]}")
    known = hashlib.sha256(repr([[str(one) for one in to], subject, body, attached]).encode()).hexdigest()
    name = f"{now.date().isoformat()}-{name_part(subject or body, _SLUG, 'mail')}-{known[:8]}.eml"
    path = "/".join([*bench.workspace.split(str(args["folder"])), name])
    return bench.workspace.write(path, message.as_bytes(), replace=False, check=from_thread.check_cancelled)


def _person(text: str) -> Address | str:
    """An address, or the name of somebody whose address is not known. Raises ToolError BAD_ADDRESS."""
    if "@" in text or not _NAME.fullmatch(text):
        return address_of(text)
    return text
