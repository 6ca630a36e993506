"""A file on disk to a checked tree, through the cache."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from grammars import load as load_grammar
from mcl.core.cache import MAX_ENTRY, read_own, write_own
from mcl.core.errors import SkillError
from mcl.language.mtx.ast import File, Slot
from mcl.language.mtx.codec import VERSION, file_digest, packed, packed_slot, unpacked, unpacked_slot
from mcl.language.mtx.source import MAX_BYTES

if TYPE_CHECKING:
    from mcl.language.mtx.source import MtxFinding


# ---- Trees and templates kept by the digest of their source, so that a second run reads no grammar.

Read = TypeVar("Read")
BAD_VALUE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Cache:
    """A folder of entries named by what they were made from; without a folder nothing is kept.

    An entry is two lines of JSON, of which the second is only read when it is asked for. Nothing but plain
    values is kept. An entry that is damaged, of another form, or that the home did not write for just these
    bytes (``read_own``) is not used, and written again. A folder that cannot be written costs time only.
    """

    folder: Path | None

    def get(
        self, kind: str, version: str, source: bytes, make: Callable[[], Any], read: Callable[[Any], Read]
    ) -> Read:
        """What `read` makes of the JSON value that `make` gives for these bytes.

        `version` names the form of the value. A kept value of another form, which `read` refuses with a
        LookupError, TypeError, ValueError or AttributeError, is made again.
        """
        return self.get_parts(kind, version, source, lambda: (None, make()), lambda _, body: read(body()))

    def get_parts(
        self,
        kind: str,
        version: str,
        source: bytes,
        make: Callable[[], tuple[Any, Any]],
        read: Callable[[Any, Callable[[], Any]], Read],
    ) -> Read:
        """As `get`, of two values: a short one, and one that is decoded when `read` calls its second argument
        (or keeps it to be called later).

        That call raises one of the errors above for text that is no JSON; `forget` then drops the entry.
        """
        if self.folder is None:
            head, body = make()
            return read(head, lambda: body)
        key = _key(kind, version, source)
        path = self._path(key)

        def given(values: bytes) -> Read:
            head, body = values.split(b"\n")
            return read(json.loads(head), lambda: json.loads(body))

        try:
            return given(read_own(path))
        except (OSError, *BAD_VALUE):
            values = _made.get(key) or b"\n".join(
                json.dumps(value, separators=(",", ":")).encode() for value in make()
            )
        if len(values) < MAX_ENTRY:
            with contextlib.suppress(OSError):
                write_own(Path(path), values)
        _made[key] = values
        while len(_made) > _MOST_MADE:
            _made.pop(next(iter(_made)))
        return given(values)

    def has(self, kind: str, version: str, source: bytes) -> bool:
        """Whether there is an entry for these bytes, good or not."""
        return self.folder is not None and os.path.isfile(self._path(_key(kind, version, source)))  # noqa: PTH113  (four times as quick, at every start)

    def forget(self, kind: str, version: str, source: bytes) -> None:
        """Drop an entry that says something else than its source."""
        if self.folder is not None:
            key = _key(kind, version, source)
            _made.pop(key, None)
            with contextlib.suppress(OSError):
                Path(self._path(key)).unlink()

    def _path(self, key: str) -> str:
        return f"{self.folder}/{key}.json"


def _key(kind: str, version: str, source: bytes) -> str:
    return hashlib.sha256(f"{kind}\0{version}\0".encode() + source).hexdigest()


_MOST_MADE = 1024
_made: dict[str, bytes] = {}  # by this process, for any folder: for another home nothing is parsed again


@dataclass(frozen=True)
class FileHead:
    """What a file says of itself, without its procedure: all that a list of skills needs.

    values: plain JSON values, as `head_of` gives them. tree: the whole file, for want of good values.
    """

    values: Mapping[str, Any]
    tree: Callable[[], File]

    @property
    def settings(self) -> Mapping[str, str]:
        settings: Mapping[str, str] = self.values["settings"]
        return settings

    @property
    def cortex(self) -> Mapping[str, str]:
        cortex: Mapping[str, str] = self.values["cortex"]
        return cortex

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        try:
            return tuple(unpacked_slot(slot) for slot in json.loads(self.values["slots"]))
        except BAD_VALUE:
            return self.tree().slots()

    def references(self, section: str) -> tuple[str, ...]:
        """The addresses of §TOOLS or §SUB_SKILLS."""
        return tuple(self.values[section])


def head_of(file: File) -> FileHead:
    """What a tree says of itself."""
    return FileHead(
        {
            "settings": file.settings(),
            "cortex": file.settings("CORTEX"),
            # as a text, because a list of skills shows none and reading them takes the longest
            "slots": json.dumps([packed_slot(slot) for slot in file.slots()], separators=(",", ":")),
            "TOOLS": [reference.uri for reference in file.references("TOOLS")],
            "SUB_SKILLS": [reference.uri for reference in file.references("SUB_SKILLS")],
        },
        lambda: file,
    )


@dataclass(frozen=True)
class LoadedFile:
    """A checked file: its digest and head, and its tree, which is read when it is asked for."""

    path: Path
    digest: str
    head: FileHead
    tree: Callable[[], File]

    @cached_property
    def file(self) -> File:
        return self.tree()


def load_file(
    path: Path, store: Cache, *, name: str | None = None, source: bytes | None = None
) -> LoadedFile:
    """Read, parse and check one .mtx file.

    name: the id that it should carry (None: its folder's name for SKILL.mtx, else its own). source: its
    bytes, where they were read.
    Raises SkillError: NO_FILE when it cannot be read, SKILL_INVALID with all its errors (`data["errors"]`).
    """
    data = read_bytes(path) if source is None else source
    own = _own_name(path) if name is None else name
    # All that the tree depends on beside the bytes: a changed grammar, check or folder's name is another
    # entry.
    version = f"{VERSION}.{_grammar_digest()}.{own}"

    def loaded(values: Any, body: Callable[[], Any]) -> LoadedFile:
        digest, head = values
        texts = [digest, head["slots"], *head["TOOLS"], *head["SUB_SKILLS"]]
        texts += [*head["settings"].values(), *head["cortex"].values()]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("a file says of itself what is text")

        def tree() -> File:
            try:
                file = unpacked(body())
                # The head was believed when the list of skills was made; a tree that says otherwise was not
                # written by what wrote the head, and is made anew from the source.
                if file_digest(file) == digest and head_of(file).values == head:
                    return file
            except BAD_VALUE:
                pass
            store.forget("mtx", version, data)  # it does not say what its source says
            return _checked(path, own, data)

        return LoadedFile(path, digest, FileHead(head, tree), tree)

    def made() -> tuple[Any, Any]:
        file = _checked(path, own, data)
        return (file_digest(file), head_of(file).values), packed(file)

    return store.get_parts("mtx", version, data, made, loaded)


def read_bytes(path: Path) -> bytes:
    """A plain file's bytes, at most as many as make a .mtx file too long. Raises SkillError NO_FILE."""
    try:
        # A skill's folder may hold anything: a pipe in the place of a file must not make a list of skills
        # wait for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb", buffering=0) as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(0, "it is no plain file")
            return file.read(min(found.st_size, MAX_BYTES)) or b""
    except OSError as error:
        raise SkillError(
            "NO_FILE", f"cannot read it: {error.strerror or error}", place=str(path), fix="check the path"
        ) from error


def invalid(path: Path, findings: Sequence[MtxFinding]) -> SkillError:
    """One error for all that is wrong with a file."""
    first = findings[0]
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return SkillError(
        "SKILL_INVALID",
        f"{first.message}{more}",
        place=first.place(str(path)),
        fix=first.hint,
        data={"path": str(path), "errors": [finding.to_json() for finding in findings]},
    )


def _checked(path: Path, name: str, data: bytes) -> File:
    # imported here, because a cached tree needs neither grammar nor checks
    from mcl.language.mtx.parser import findings_of, parse

    parsed = parse(data)
    errors = [one for one in findings_of(parsed, name=name) if one.severity == "error"]
    if errors:
        raise invalid(path, errors)
    return parsed.file


def _own_name(path: Path) -> str:
    """The id that a file should carry: its folder's name for SKILL.mtx, else its own."""
    return path.absolute().parent.name if path.name == "SKILL.mtx" else path.stem


@cache
def _grammar_digest() -> str:
    return load_grammar("mtx").digest
