"""One memory: a type, an id, a version, and what it says. Its document is canonical JSON and is what is
hashed."""

import re
from dataclasses import dataclass
from typing import Any, Final

from ir.canonical import canonical_bytes, parse_json
from mcl.errors import CortexError
from mcl.mtx.words import MEMORY_TYPES

TYPES: Final = MEMORY_TYPES
LONGEST_TEXT: Final = 16_384  # characters
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_TAG = re.compile(r"[a-z0-9][a-z0-9._:-]{0,63}")
_URI = re.compile(
    r"matrix://cortex/(?P<type>[A-Za-z]+)/(?P<id>[A-Za-z0-9][A-Za-z0-9._-]*)(?:@v(?P<version>[1-9][0-9]*))?"
)


@dataclass(frozen=True)
class Memory:
    """One version of a memory; a later version never changes it.

    `importance` and `confidence` are shares (0 to 1); `edges` are (relation, address) pairs; `forgotten`
    marks a tombstone, whose text is empty; `seq` is its place (from 1) among all mutations, and is not part
    of the document.
    """

    type: str
    id: str
    version: int
    at: str
    text: str = ""
    tags: tuple[str, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    source: str = ""
    forgotten: bool = False
    seq: int = 0

    @property
    def uri(self) -> str:
        """The address of this version."""
        return f"matrix://cortex/{self.type}/{self.id}@v{self.version}"

    def document(self) -> bytes:
        """Canonical JSON of everything that is remembered."""
        said = {name: getattr(self, name) for name in _FIELDS}
        return canonical_bytes(said | {"tags": list(self.tags), "edges": [list(edge) for edge in self.edges]})

    @classmethod
    def of_document(cls, document: bytes, seq: int) -> "Memory":
        """The memory that `document` wrote at place `seq`."""
        values: dict[str, Any] = parse_json(document)
        edges = tuple((relation, uri) for relation, uri in values.pop("edges"))
        return cls(**(values | {"tags": tuple(values["tags"])}), edges=edges, seq=seq)


_FIELDS = tuple(name for name in Memory.__dataclass_fields__ if name != "seq")


def checked(memory: Memory) -> Memory:
    """`memory` itself. Raises CortexError MEMORY_SHAPE where a field cannot be stored."""
    flaw = (
        f"the type is none of {', '.join(TYPES)}"
        if memory.type not in TYPES
        else "the id may hold letters, digits, . _ - (at most 128) and starts with a letter or digit"
        if not _ID.fullmatch(memory.id)
        else "the text is empty"
        if not memory.text.strip() and not memory.forgotten
        else f"the text has more than {LONGEST_TEXT} characters"
        if len(memory.text) > LONGEST_TEXT
        else "a tag may hold lower-case letters, digits, . _ : - (at most 64)"
        if not all(_TAG.fullmatch(tag) for tag in memory.tags)
        else "importance and confidence are shares from 0 to 1"
        if not (0 <= memory.importance <= 1 and 0 <= memory.confidence <= 1)
        else "an edge is a relation and an address"
        if not all(relation and uri for relation, uri in memory.edges)
        else ""
    )
    if flaw:
        raise CortexError("MEMORY_SHAPE", flaw, place=memory.uri, fix="correct the field and put it again")
    return memory


def parse_uri(uri: str) -> tuple[str, str, int | None]:
    """Type, id and version (None: the current one) of an address. Raises CortexError MEMORY_ADDRESS."""
    found = _URI.fullmatch(uri)
    if not found or found["type"] not in TYPES:
        raise CortexError(
            "MEMORY_ADDRESS",
            "not the address of a memory",
            place=uri,
            fix="write matrix://cortex/<Type>/<id>, with @v<n> for one version",
        )
    return found["type"], found["id"], int(found["version"]) if found["version"] else None
