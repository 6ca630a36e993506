"""What is known of a workspace in words: facts, decisions, conventions, summaries, warnings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal, TypeAlias, get_args

from executor.sandbox.redaction import visible
from ir.inline_secrets import without_secrets
from ir.results import JsonResult
from mcl.core.errors import ReviewError
from mcl.memory.memory import Memory, is_tag
from mcl.plugins.review.memory.place import TAG, WorkspaceMemory


def plain_lines(text: str) -> str:
    """Text that shows all it holds, with every character that is not seen written out: nothing in it drives a
    terminal, or tells a model what no person sees. Line ends all become \\n."""
    return visible(text.replace("\r\n", "\n").replace("\r", "\n"))


MeaningKind: TypeAlias = Literal["fact", "decision", "convention", "summary", "warning"]
MEANINGS: Final[tuple[MeaningKind, ...]] = get_args(MeaningKind)
MATCHES: Final = 2  # of them that a review is told
LONGEST: Final = 4_000  # characters of a text
MOST_TAGS: Final = 16
_KIND: Final = f"{TAG}.meaning"
_TYPE: Final = "Fact"
_OWN: Final = ("mcl.", "workspace.", "kind.", "learned", "pinned")  # how tags begin that mcl gives


@dataclass(frozen=True, slots=True)
class Meaning(JsonResult):
    """One text. id: within its workspace. source: where it comes from, such as README.md:12. uri: of the
    memory, whose version changes with the text."""

    id: str
    text: str
    kind: MeaningKind
    tags: tuple[str, ...] = ()
    source: str = ""
    at: str = ""
    uri: str = ""


class Meanings:
    """The texts of a workspace."""

    def __init__(self, place: WorkspaceMemory) -> None:
        self._place = place

    def remember(
        self,
        text: str,
        *,
        kind: MeaningKind = "fact",
        tags: Sequence[str] = (),
        source: str = "",
        id: str = "",
        keep: bool = False,
    ) -> Meaning:
        """Remember a text; under an id that is there already, as its next version. What is remembered already
        changes nothing.

        id: made of kind and text where it is empty. keep: what is there under it stays as it is. Secrets are
        taken out. Raises ReviewError MEANING_SHAPE; MemoryStoreError MEMORY_SHAPE; HomeError.
        """
        made = self._made(Meaning(id, text, kind, tuple(dict.fromkeys(tags)), source))
        with self._place.home.db.write():
            there = self._place.now().resolve(made.address) if keep else None
            return _read(there or self._place.store.write([made])[0])

    def replace_tagged(self, tag: str, meanings: Iterable[Meaning]) -> tuple[int, int]:
        """Remember all of these, which have this tag, and forget what else has it; or, where one cannot be
        remembered, do nothing. How many were written, and how many forgotten. Raises as `remember`."""
        made = [self._made(one) for one in meanings]
        with self._place.home.db.write():
            before, kept = self._place.now(), {one.address for one in made}
            gone = before.find(type=_TYPE, tags=(_KIND, self._place.tag, tag), limit=max(1, before.size))
            self._place.store.write(made)
            written = self._place.now().size - before.size
            forgotten = [one.address for one in gone if one.address not in kept]
            for address in forgotten:
                self._place.store.forget(address)
        return written, len(forgotten)

    def recall(self, words: str, n: int = MATCHES) -> tuple[Meaning, ...]:
        """The texts that are most like these words, the best first: BM25, then importance, then newness. None
        where no word is shared. n: at most so many."""
        found = self._place.all(_TYPE, _KIND, near=words, limit=n) if words.strip() and n > 0 else []
        return tuple(map(_read, found))

    def all(self) -> tuple[Meaning, ...]:
        """All texts, in the order of their ids."""
        return tuple(sorted(map(_read, self._place.all(_TYPE, _KIND)), key=lambda one: one.id))

    def get(self, id: str) -> Meaning | None:
        """One text; None where none with this id is remembered."""
        found = self._place.now().resolve(self._address(id)) if is_id(id) else None
        return _read(found) if found else None

    def forget(self, id: str) -> None:
        """Put a tombstone on a text. Raises ReviewError MEANING_UNKNOWN."""
        if self.get(id) is None:
            raise ReviewError(
                "MEANING_UNKNOWN", "nothing is remembered under it", place=id, fix="mcl review recall"
            )
        self._place.store.forget(self._address(id))

    def _address(self, id: str) -> str:
        return f"matrix://cortex/{_TYPE}/{self._place.id(f'text.{id}')}"

    def _made(self, one: Meaning) -> Memory:
        text = without_secrets(plain_lines(one.text)).strip()
        id = one.id or sha256(f"{one.kind}\x1f{text}".encode()).hexdigest()[:16]
        own = next((tag for tag in one.tags if tag.startswith(_OWN) or not is_tag(tag)), None)
        for place, why, holds in (
            ("text", "it says nothing", bool(text)),
            ("text", f"more than {LONGEST:,} characters", len(text) <= LONGEST),
            ("kind", f"the kind is none of {', '.join(MEANINGS)}", one.kind in MEANINGS),
            ("id", "an id holds letters, digits, . _ - (at most 64)", is_id(id)),
            ("id", "it looks like a secret", without_secrets(one.id) == one.id),
            ("tags", "one looks like a secret", all(without_secrets(tag) == tag for tag in one.tags)),
            ("tags", f"more than {MOST_TAGS} tags", len(one.tags) <= MOST_TAGS),
            ("tags", f"no tag of yours: {own}", own is None),
            ("source", "more than 500 characters", len(one.source) <= 500),
        ):
            if not holds:
                fix = "correct it and remember it again"
                raise ReviewError("MEANING_SHAPE", why, place=place, fix=fix)
        given = {
            "type": _TYPE,
            "id": f"text.{id}",
            "text": text,
            "source": without_secrets(visible(one.source)),
        }
        return self._place.made(given, kind=_KIND, tags=(f"kind.{one.kind}", *one.tags), at=one.at)


def is_id(text: str) -> bool:
    """Whether a text may have this id."""
    plain = text.replace(".", "").replace("_", "").replace("-", "")
    return 0 < len(text) <= 64 and plain.isascii() and plain.isalnum()


def _read(memory: Memory) -> Meaning:
    kind = next((one for one in MEANINGS if f"kind.{one}" in memory.tags), MEANINGS[0])
    tags = tuple(tag for tag in memory.tags if not tag.startswith(_OWN))
    id = memory.id.partition(".text.")[2]
    return Meaning(id, memory.text, kind, tags, memory.source, memory.at, memory.uri)
