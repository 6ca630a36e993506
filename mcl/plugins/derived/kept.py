"""Derived skills as a home keeps them to be quicker: by what they were made from, and read only where
that is the same."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final

from executor.store.home import Home
from mcl.core.cache import read_own, write_own
from mcl.language.mtx.ast import File
from mcl.language.mtx.codec import packed, unpacked
from mcl.language.mtx.files import BAD_VALUE, FileHead
from mcl.language.plans.template import PlanCase, PlanTemplate
from mcl.language.skills import Derived, Skill
from mcl.plugins.derived.skill import PLACE

_NAME: Final = "derived-skills"
_SAID: Final = {
    "mcp_tools": "server, tool, entry, pin, gone",
    "mcp_rejections": "uri, pin",
    "servers": "id, name, trusted, removed_at",
    "tool_classes": "uri, pin, effects, operation",
    "tool_pins": "uri, pin, quarantined",
}  # what decides which tools there are, and what each counts as


def read(home: Path, key: str) -> Derived | None:
    """What was kept for this key; None where that is another, or nothing that can be used."""
    try:
        said, heads, *bodies = read_own(str(_place(home))).split(b"\n")
        if said.decode() != key:
            return None
        told = json.loads(heads)
        skills = zip(told["skills"], bodies, strict=True)
        return Derived({one[0]: _skill(one, body) for one, body in skills}, dict(told["flaws"]))
    except (OSError, *BAD_VALUE):
        return None


def keep(home: Path, key: str, derived: Derived) -> None:
    """Keep them; what cannot be written is made again next time."""
    heads = [
        [id, one.file_digest, dict(one.head.values), dict(one.stems)] for id, one in derived.by_id.items()
    ]
    lines = [key, _json({"skills": heads, "flaws": dict(derived.flaws)})]
    lines += [_json(_body(one)) for one in derived.by_id.values()]  # each read when it is asked for
    try:
        write_own(_place(home), "\n".join(lines).encode())
    except OSError:
        return


def key_of(home: Home, *parts: object) -> str:
    """What they are made from: the parts, what the home says of tools and servers, and of commands."""
    hashed = hashlib.sha256(repr(parts).encode())
    there = {name for (name,) in home.db.read("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table, columns in _SAID.items():
        rows = home.db.read(f"SELECT {columns} FROM {table} ORDER BY 1, 2") if table in there else ()  # noqa: S608
        hashed.update(f"{table} {[tuple(row) for row in rows]!r}".encode())
    for name in ("commands.toml", "policy.toml"):
        try:
            data = (home.path / name).read_bytes()
        except OSError:
            data = b""
        hashed.update(hashlib.sha256(data).digest())
    return hashed.hexdigest()


def _place(home: Path) -> Path:
    return home / "cache" / _NAME


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _body(skill: Skill) -> list[Any]:
    template = skill.template
    assert template is not None, "each has a plan of one call"
    return [packed(skill.file), template.digest, dict(template.cases[0].root)]


def _skill(said: list[Any], line: bytes) -> Skill:
    _, digest, head, stems = said
    if not isinstance(digest, str):
        raise TypeError("a digest is a text")
    body = cache(lambda: json.loads(line))

    def template() -> PlanTemplate:
        _, plan_digest, root = body()
        return PlanTemplate(PLACE, (PlanCase({}, root),), plan_digest)

    def tree() -> File:
        return unpacked(body()[0])

    skill = Skill(PLACE, digest, FileHead(head, tree), tree, template)
    skill.__dict__["stems"] = Counter[str](stems)  # as it would find them itself, in a tenth of a second
    return skill
