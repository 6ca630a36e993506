"""The first memories of a workspace: what its documents and settings say, with the place of each.

The same documents give the same memories; what a document says no more is forgotten the next time.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from ir.inline_secrets import without_secrets
from mcl.plugins.review.memory.documents.sections import MOST, DocumentSection, conventions, sections
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.memory.meanings import LONGEST, MEANINGS, Meaning, MeaningKind, plain_lines

TAG: Final = "bootstrap"
MAX_BYTES: Final = 512 << 10  # of one document
MAX_DOCUMENTS: Final = 40
_CUT: Final = " … [cut]"
_WORD: Final = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Bootstrapped:
    """What a bootstrap did. documents: (path, pieces) of what was read. conventions: how many settings said
    one. skipped: (path, why) of what was not read. written, unchanged, forgotten: memories."""

    documents: tuple[tuple[str, int], ...]
    conventions: int
    skipped: tuple[tuple[str, str], ...]
    written: int
    unchanged: int
    forgotten: int

    def to_json(self) -> dict[str, object]:
        """The same as a JSON object."""
        return {
            "documents": [{"path": path, "sections": count} for path, count in self.documents],
            "conventions": self.conventions,
            "skipped": [{"path": path, "why": why} for path, why in self.skipped],
            "written": self.written,
            "unchanged": self.unchanged,
            "forgotten": self.forgotten,
        }


def bootstrap(memories: ReviewMemories, workspace: Workspace) -> Bootstrapped:
    """Remember what README, ROADMAP, contracts, safety documents and settings of a workspace say.

    All of it is remembered in one commit, or nothing. Raises ReviewError MEANING_SHAPE; HomeError.
    """
    skipped: list[tuple[str, str]] = []
    documents: list[tuple[str, int]] = []
    made: dict[str, Meaning] = {}
    for path, kind in _documents(workspace, skipped):
        text = _text(workspace, path, skipped)
        if text is None:
            continue
        cut = sections(text)
        if len(cut) == MOST:
            skipped.append((path, f"only its first {MOST} pieces were read"))
        documents.append((path, len(cut)))
        nth = Counter[tuple[str, ...]]()
        for section in cut:
            nth[section.headings] += not section.part
            one = _meaning(path, kind, section, nth[section.headings])
            made[one.id] = one
    settled = conventions(workspace)
    for found in settled:
        id = f"convention.{found.id}"
        made[id] = Meaning(id, found.text, "convention", (TAG,), found.source)
    written, forgotten = memories.meanings.replace_tagged(TAG, made.values())
    counts = {"written": written, "unchanged": len(made) - written, "forgotten": forgotten}
    return Bootstrapped(tuple(documents), len(settled), tuple(skipped), **counts)


def _documents(workspace: Workspace, skipped: list[tuple[str, str]]) -> Iterator[tuple[str, MeaningKind]]:
    found: list[tuple[str, MeaningKind]] = []
    for folder in _table()["folders"]:
        try:
            entries = list(workspace.walk(folder, check=lambda: None, recursive=False))
        except ScopeError as error:
            if error.code not in ("NOT_FOUND", "NOT_A_FOLDER"):
                skipped.append((folder, error.message))
            continue
        for entry in entries:
            name = entry.path.rpartition("/")[2].casefold()
            stem, dot, ending = name.rpartition(".")
            stem, ending = (stem, dot + ending) if dot else (name, "")
            kind = _kind_of(stem.replace("-", "_"))
            if kind is None or ending not in _table()["endings"] or entry.kind == "folder":
                continue
            if entry.kind != "file":
                skipped.append((entry.path, "it is no plain file (a link, device or FIFO)"))
            else:
                found.append((entry.path, kind))
    skipped += [(path, f"more than {MAX_DOCUMENTS} documents") for path, _ in found[MAX_DOCUMENTS:]]
    yield from found[:MAX_DOCUMENTS]


def _kind_of(stem: str) -> MeaningKind | None:
    """The kind of what a document of this name says; None of others."""
    for one in _table()["document"]:
        if stem in one["stems"] or stem.endswith(tuple(one.get("tails", ()))):
            kind: MeaningKind = one["kind"]
            return kind
    return None


def _text(workspace: Workspace, path: str, skipped: list[tuple[str, str]]) -> str | None:
    try:
        data, size = workspace.read(path, MAX_BYTES)
    except ScopeError as error:
        skipped.append((path, error.message))
        return None
    if size > MAX_BYTES:
        skipped.append((path, f"it is larger than {MAX_BYTES:,} bytes"))
        return None
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        skipped.append((path, "it is not UTF-8 text"))
        return None


def _meaning(path: str, kind: MeaningKind, section: DocumentSection, nth: int) -> Meaning:
    """nth: which section of the document with these headings it is, from 1."""
    below = " > ".join(section.headings)
    id = sha256("\x1f".join((path, below, str(nth), str(section.part))).encode()).hexdigest()[:16]
    text = without_secrets(plain_lines(f"{below}: {section.text}" if below else section.text))
    if len(text) > LONGEST:  # what was taken out or written out may be longer than what was there
        text = text[: LONGEST - len(_CUT)] + _CUT
    lines = f"{section.first}-{section.last}" if section.last > section.first else str(section.first)
    return Meaning(f"document.{id}", text, _kind(kind, section), (TAG,), f"{path}:{lines}")


def _kind(kind: MeaningKind, section: DocumentSection) -> MeaningKind:
    """The kind that the innermost heading says, or else that of its document."""
    said = {one: kind for kind in MEANINGS for one in _table()["headings"].get(kind, ())}
    for heading in reversed(section.headings[1:]):
        for word in _WORD.findall(heading.casefold()):
            if word in said:
                return said[word]
    return kind


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "documents.toml").read_text(encoding="utf-8"))
