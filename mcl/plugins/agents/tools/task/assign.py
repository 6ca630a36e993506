"""Writes a task down for a person or an agent to pick up."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import TypeAlias

from anyio import from_thread, to_thread

from executor.core.clock import instant, read_moment
from executor.core.errors import ScopeError, ToolError
from executor.core.hashing import json_bytes
from executor.core.words import name_part
from executor.tools.tool import Bench
from ir.characters import yaml_of

_SLUG = 40  # characters of the name that come from the task
_HEAD = 16 << 10  # bytes of a task file in which its head must end
# A name, an address, a DID or a matrix:// address; nothing that could be a path, an option or a line of YAML.
_ASSIGNEE = re.compile(r"[^\W_][\w .,@:/+'-]{0,199}")
_Found: TypeAlias = tuple[str, str, bool]  # path, status, and whether the file is new
_STATUS = re.compile(r"^status: *\"?([a-z-]{1,20})\"? *$", re.MULTILINE)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Put the task's file in place, unless it is there."""
    due = str(args.get("due", ""))
    if due:
        moment = read_moment(due, "due")
        due = instant(moment) if isinstance(moment, datetime) else moment.isoformat()
    return await to_thread.run_sync(_assign, args, due, bench)


def _assign(args: Mapping[str, object], due: str, bench: Bench) -> dict[str, object]:
    assignee, task = " ".join(str(args["assignee"]).split()), str(args["task"]).strip()
    terms, folder = str(args.get("terms", "")).strip(), str(args["folder"])
    sender = " ".join(str(args.get("from", "")).split())
    for name, value in (("assignee", assignee), *([("from", sender)] if sender else [])):
        if not _ASSIGNEE.fullmatch(value) or ".." in value:
            raise ToolError(
                "BAD_ASSIGNEE",
                f"{name}: {value[:60]!r} is no name of a person or an agent",
                place=name,
                fix="such as ada, ada@example.org or did:key:z6Mk…",
            )
    if not task:
        raise ToolError("NO_TASK", "the task is empty", place="task", fix="say what is to be done")
    said = [assignee, sender, task, due, terms]
    id_ = hashlib.sha256(json_bytes(said)).hexdigest()
    now = bench.clock.now()
    first = task.partition("\n")[0]
    name = f"{now[:10]}-{name_part(first, _SLUG, 'task')}-{id_[:8]}.md"
    found = _there(folder, id_, bench)
    if found is None:
        content = _document(id_, assignee, sender, task, due, terms, now)
        found = _written("/".join([*bench.workspace.split(folder), name]), content, id_, bench)
    path, status, created = found
    until = f", due {due[:16].replace('T', ' ')}" if due else ""
    told = f"for {assignee}{until}" if created else f"{assignee} has this task already ({status})"
    return {"path": path, "id": id_, "status": status, "created": created, "text": f"{path}: {told}"}


def _written(path: str, content: str, id_: str, bench: Bench) -> _Found:
    try:
        written = bench.workspace.write(
            path, content.encode(), replace=False, check=from_thread.check_cancelled
        )
    except ScopeError as problem:  # somebody else wrote it down since we looked
        there = _there(path.rpartition("/")[0], id_, bench) if problem.code == "EXISTS" else None
        if there is None:
            raise
        return there
    return written.path, "open", written.created


def _there(folder: str, id_: str, bench: Bench) -> _Found | None:
    """The file of this very task, whatever day it was written, and its status; None where there is none."""
    try:
        entries = bench.workspace.walk(folder, check=from_thread.check_cancelled, recursive=False)
        names = [one.path for one in entries if one.kind == "file" and one.path.endswith(f"-{id_[:8]}.md")]
    except ScopeError as problem:
        if problem.code == "NOT_FOUND":
            return None
        raise
    for path in names:
        head = bench.workspace.read(path, _HEAD)[0].decode("utf-8", "replace")
        if head.startswith(f'---\nid: "{id_}"\n'):
            status = _STATUS.search(head.partition("\n---\n")[0])
            return path, status[1] if status else "unknown", False
    return None


def _document(id_: str, assignee: str, sender: str, task: str, due: str, terms: str, created: str) -> str:
    """Markdown with a head in YAML."""
    head = {
        "id": id_,
        "assignee": assignee,
        "from": sender,
        "due": due,
        "created": created,
        "status": "open",
        "terms": terms,
    }
    lines = [f"{name}: {_yaml(value)}" for name, value in head.items()]
    title, _, rest = task.partition("\n")
    body = [f"# {title.strip()}", *([rest.strip()] if rest.strip() else [])]
    body += [f"**Terms:** {terms}"] if terms else []
    return "\n".join(["---", *lines, "---", "", "\n\n".join(body), ""])


def _yaml(value: str) -> str:
    """A text in double quotes: JSON, but for characters in which YAML sees line ends, or nothing."""
    return yaml_of(json_bytes(value).decode())
