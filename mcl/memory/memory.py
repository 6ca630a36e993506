"""One memory: a type, an id, a version, and what it says. Its document is canonical JSON and is what is
hashed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ir import is_instant
from ir.canonical import canonical_bytes, parse_json
from ir.characters import CONTROLS
from ir.errors import DocumentError
from mcl.core.errors import MemoryStoreError
from mcl.core.patterns import late
from mcl.core.words import MEMORY_TYPES

TYPES: Final = MEMORY_TYPES
LONGEST_TEXT: Final = 16_384  # characters
LONGEST_FIELD: Final = 2_048  # characters of a source, an address or a datum
MOST: Final = 64  # tags, edges and data of one memory
_ID = late(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_TAG = late(r"[a-z0-9][a-z0-9._:-]{0,63}")
_NAME = late(r"[a-z][a-z0-9_.-]{0,63}")  # of a relation or a datum
_ADDRESS = late(r"[a-z][a-z0-9+.-]*:\S+")
_URI = late(
    r"matrix://cortex/(?P<type>[A-Za-z]+)/(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{0,127})"
    r"(?:@v(?P<version>[1-9][0-9]{0,8}))?"
)


@dataclass(frozen=True)
class Memory:
    """One version of a memory; a later version never changes it.

    `importance` and `confidence` are shares (0 to 1); `edges` are (relation, address) pairs; `data` are
    (name, text) pairs for programs; `forgotten` marks a tombstone, whose text is empty; `seq` is its place
    (from 1) among all mutations, and is not part of the document.
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
    data: tuple[tuple[str, str], ...] = ()
    seq: int = 0

    @property
    def address(self) -> str:
        """The address of whatever version is current."""
        return f"matrix://cortex/{self.type}/{self.id}"

    @property
    def uri(self) -> str:
        return f"{self.address}@v{self.version}"

    @property
    def texts(self) -> tuple[str, ...]:
        """What it says in words of whoever told it, its text first."""
        return (self.text, self.source, *(uri for _, uri in self.edges), *(text for _, text in self.data))

    def fields(self) -> dict[str, Any]:
        """Everything that is remembered, as JSON values; `data` only where there is any."""
        said = {name: getattr(self, name) for name in _FIELDS}
        said |= {"tags": list(self.tags), "edges": [list(edge) for edge in self.edges]}
        return said | ({"data": dict(self.data)} if self.data else {})

    def to_json(self) -> dict[str, Any]:
        """The same with its address, and its place among the changes."""
        return {"uri": self.uri, "seq": self.seq, **self.fields()}

    def document(self) -> bytes:
        """Canonical JSON of everything that is remembered."""
        return canonical_bytes(self.fields())

    @classmethod
    def of_document(cls, document: bytes, seq: int = 0) -> "Memory":
        """The memory that `document` wrote at place `seq`. Raises MemoryStoreError MEMORY_DOCUMENT where
        these are not the bytes that a memory makes."""
        try:
            memory = checked(cls._read(parse_json(document), seq))
            # Two spellings of one memory would have two hashes, and a proof for one would not be a proof for
            # the other.
            if memory.document() == document:
                return memory
            why = "the bytes are not canonical"
        except (DocumentError, MemoryStoreError) as error:
            why = error.message
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            why = str(error)
        raise MemoryStoreError("MEMORY_DOCUMENT", f"not the document of a memory: {why}")

    @classmethod
    def of_stored(cls, document: bytes, seq: int) -> "Memory":
        """The same for bytes that this program wrote itself: no check is made again."""
        return cls._read(json.loads(document), seq)

    @classmethod
    def _read(cls, values: dict[str, Any], seq: int) -> "Memory":
        values = dict(values)
        edges = tuple((relation, uri) for relation, uri in values.pop("edges"))
        data = values.pop("data", {})
        tags = tuple(values.pop("tags"))
        return cls(**values, edges=edges, tags=tags, data=tuple(sorted(data.items())), seq=seq)


_FIELDS: Final = tuple(name for name in Memory.__dataclass_fields__ if name not in ("seq", "data"))


def new_memory(given: Mapping[str, Any], *, at: str) -> Memory:
    """A first version from plain values, such as a line of an import: type, text, and where given id, tags,
    edges, importance, confidence, source, data, at.

    Secrets are taken out of the text; an id is made from type and text where none is given. Raises
    MemoryStoreError MEMORY_SHAPE.
    """
    known = {"type", "text", "id", "tags", "edges", "importance", "confidence", "source", "data", "at"}
    if extra := sorted(set(given) - known):
        raise _flaw(f"there is no field {extra[0]!r}", "", f"fields: {', '.join(sorted(known))}")
    for name in ("type", "text", "id", "source", "at"):
        if not isinstance(given.get(name, ""), str):
            raise _flaw(f"{name} is no text", "")
    for name in ("importance", "confidence"):
        if isinstance(given.get(name, 0), bool) or not isinstance(given.get(name, 0), int | float):
            raise _flaw(f"{name} is no number", "")
    try:
        edges = tuple((str(relation), str(uri)) for relation, uri in given.get("edges", ()))
        data = tuple(sorted((str(name), str(text)) for name, text in dict(given.get("data", {})).items()))
        if isinstance(given.get("tags", ()), str):
            raise TypeError("a text")
        tags = tuple(dict.fromkeys(str(tag) for tag in given.get("tags", ())))
    except (TypeError, ValueError) as error:
        raise _flaw(f"tags are a list, edges pairs, data an object of texts: {error}", "") from error
    from hashlib import sha256

    from executor.sandbox.redaction import Redactor

    # Before the id is made of it: a hash of a secret could be guessed.
    type_, text = given.get("type", ""), Redactor().text(given.get("text", ""))
    made_of = f"{type_}\x1f{text}".encode("utf-8", "surrogatepass")
    return checked(
        Memory(
            type_,
            given.get("id", "") or sha256(made_of).hexdigest()[:16],
            1,
            given.get("at", "") or at,
            text,
            tags,
            edges,
            float(given.get("importance", 0.5)),
            float(given.get("confidence", 1.0)),
            given.get("source", ""),
            data=data,
        )
    )


def checked(memory: Memory) -> Memory:
    """`memory` itself. Raises MemoryStoreError MEMORY_SHAPE where a field cannot be stored."""
    if flaw := next((why for why, holds in _rules(memory) if not holds), ""):
        raise _flaw(flaw, memory.uri)
    return memory


def _rules(memory: Memory) -> tuple[tuple[str, bool], ...]:
    texts = memory.texts
    shares = (memory.importance, memory.confidence)
    return (
        (f"the type is none of {', '.join(TYPES)}", memory.type in TYPES),
        (
            "the id may hold letters, digits, . _ - (at most 128) and starts with a letter or digit",
            _ID.fullmatch(memory.id) is not None,
        ),
        ("the version is a whole number from 1", type(memory.version) is int and memory.version > 0),
        ("the moment is not written as 2026-11-21T10:00:00.000Z", is_instant(memory.at)),
        ("the text is empty", bool(memory.text.strip()) or memory.forgotten),
        (f"the text has more than {LONGEST_TEXT} characters", len(memory.text) <= LONGEST_TEXT),
        (
            f"a source, address or datum has more than {LONGEST_FIELD} characters",
            all(len(text) <= LONGEST_FIELD for text in texts[1:]),
        ),
        ("it holds control characters", not any(CONTROLS.search(text) for text in texts)),
        ("it holds half characters (lone surrogates)", all(map(_is_unicode, texts))),
        (
            f"at most {MOST} tags, edges and data",
            max(map(len, (memory.tags, memory.edges, memory.data))) <= MOST,
        ),
        (
            "a tag may hold lower-case letters, digits, . _ : - (at most 64)",
            all(map(is_tag, memory.tags)),
        ),
        ("a tag is named twice", len(set(memory.tags)) == len(memory.tags)),
        ("importance and confidence are shares from 0 to 1", all(0 <= share <= 1 for share in shares)),
        (
            "an edge is a relation (small letters, digits, _ . -) and an address, such as about=matrix://…",
            all(_NAME.fullmatch(relation) and is_address(uri) for relation, uri in memory.edges),
        ),
        (
            "the name of a datum is not in small letters",
            all(_NAME.fullmatch(name) for name, _ in memory.data),
        ),
        ("forgotten is yes or no", type(memory.forgotten) is bool),
    )


def is_address(text: str) -> bool:
    """Whether a memory may be linked to this."""
    return len(text) <= LONGEST_FIELD and _ADDRESS.fullmatch(text) is not None


def is_tag(text: str) -> bool:
    """Whether a memory may have this tag."""
    return _TAG.fullmatch(text) is not None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _flaw(why: str, place: str, fix: str = "correct the field and put it again") -> MemoryStoreError:
    return MemoryStoreError("MEMORY_SHAPE", why, place=place, fix=fix)


def parse_uri(uri: str) -> tuple[str, str, int | None]:
    """Type, id and version (None: the current one) of an address. Raises MemoryStoreError MEMORY_ADDRESS."""
    found = _URI.fullmatch(uri)
    if not found or found["type"] not in TYPES:
        raise MemoryStoreError(
            "MEMORY_ADDRESS",
            "not the address of a memory",
            place=uri,
            fix="write matrix://cortex/<Type>/<id>, with @v<n> for one version",
        )
    return found["type"], found["id"], int(found["version"]) if found["version"] else None
