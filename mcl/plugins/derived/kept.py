"""Derived skills as a home keeps them to be quicker: by what they were made from, and read only where that is the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from mcl.core.cache import read_own, write_own
from mcl.language.mtx.codec import packed, unpacked
from mcl.language.mtx.files import BAD_VALUE, FileHead
from mcl.language.plans.template import PlanCase, PlanTemplate
from mcl.language.skills import Derived, Skill

_NAME: Final = "derived-skills"


def read(home: Path, key: str) -> Derived | None:
    """What was kept for this key; None where that is another, or nothing that can be used."""
    try:
        said = json.loads(read_own(str(_place(home))))
        if said["key"] != key:
            return None
        return Derived({id: _skill(one) for id, one in said["skills"].items()}, dict(said["flaws"]))
    except (OSError, *BAD_VALUE):
        return None


def keep(home: Path, key: str, derived: Derived) -> None:
    """Keep them; what cannot be written is made again next time."""
    skills = {id: _plain(one) for id, one in derived.by_id.items()}
    told = {"key": key, "skills": skills, "flaws": dict(derived.flaws)}
    try:
        write_own(_place(home), json.dumps(told, separators=(",", ":")).encode())
    except OSError:
        return


def key_of(home: Path, *parts: object) -> str:
    """What they are made from: the parts, and the files of a home that say which tools there are and which are closed."""
    hashed = hashlib.sha256(repr(parts).encode())
    for name in ("commands.toml", "policy.toml"):
        try:
            data = (home / name).read_bytes()
        except OSError:
            data = b""
        hashed.update(hashlib.sha256(data).digest())
    return hashed.hexdigest()


def _place(home: Path) -> Path:
    return home / "cache" / _NAME


def _plain(skill: Skill) -> list[Any]:
    template = skill.template
    assert template is not None, "each has a plan of one call"
    tree = json.dumps(packed(skill.file), separators=(",", ":"))  # texts, as few of them are read
    plan = json.dumps(dict(template.cases[0].root), separators=(",", ":"))
    return [str(skill.path), skill.file_digest, dict(skill.head.values), tree, template.digest, plan]


def _skill(said: list[Any]) -> Skill:
    path, digest, head, tree, plan_digest, plan = said
    if not all(isinstance(one, str) for one in (path, digest, tree, plan_digest, plan)):
        raise TypeError("texts alone")

    def template() -> PlanTemplate:
        root: Mapping[str, Any] = json.loads(plan)
        return PlanTemplate(Path(path), (PlanCase({}, root),), plan_digest)

    read_tree = cache(lambda: unpacked(json.loads(tree)))
    return Skill(Path(path), digest, FileHead(head, read_tree), read_tree, cache(template))
