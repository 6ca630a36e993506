"""What models answered in earlier compiles, kept by all that an answer depends on.

A second compile of the same goal asks no model then; all that code does (ids, times, dates, plans,
signatures) is done anew. A home keeps at most SLOTS tapes in `cache/compile`: the first digits of a key name
the file, and a later tape takes the place of an earlier one there. A file is the sha256 (32 bytes) of the
rest, the key (64 hex digits) and the tape (see trace). What is damaged, another key's or not this user's own
is a miss. Losing the folder costs time only.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import grammars
from mcl.compiler.trace import Player, Recorder
from mcl.core.kept import read_own, write_own
from mcl.language.mtx.digest import value_digest

if TYPE_CHECKING:
    from mcl.compiler.stages.request import Request
    from mcl.language.mtx.core import Core
    from mcl.language.skills import Skills
    from mcl.model.protocol import Model

_KEY: Final = 64  # digits of a key, before the tape
_DIGITS: Final = 3  # of them, in a file's name
SLOTS: Final = 16**_DIGITS
MAX_TAPE: Final = 256 * 1024  # bytes


@dataclass(frozen=True)
class Unloaded:
    """A model that is loaded when it is asked. digest: sha256 (hex) of its file. manner: what else its
    answers depend on."""

    digest: str
    load: Callable[[], Model]
    manner: str = ""


@dataclass(frozen=True)
class About:
    """A compile. memories: the root of the snapshot that it is compiled with."""

    request: Request
    core: Core
    skills: Skills
    memories: str


class Tapes:
    """The tapes in a folder, which need not be there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, home: Path) -> Tapes:
        """Those of a home."""
        return cls(home / "cache" / "compile")

    def find(self, key: str) -> bytes | None:
        """The tape that was kept for a key (64 hex digits)."""
        try:
            data = read_own(str(self._file(key)))
        except (OSError, ValueError):
            return None
        return data[_KEY:] if data[:_KEY] == key.encode() else None

    def keep(self, key: str, tape: bytes) -> None:
        """Keep a tape, unless it is very long or the folder cannot be written."""
        if len(tape) > MAX_TAPE:
            return
        with contextlib.suppress(OSError):
            write_own(self._file(key), key.encode() + tape)

    def key(self, about: About, model: str, manner: str = "") -> str:
        """sha256 (hex) over all that the answers of a model in a compile depend on, and who asked.

        model: the digest of its file. manner: as of Unloaded. The moment is not among it: what is said of
        days is read anew each time.
        """
        request = about.request
        return value_digest(
            {
                "actor": request.actor,
                "prose": request.prose,
                "zone": request.zone,
                "fixed": [request.skill, request.verb, dict(request.slots)],
                "skills": {skill.id: skill.file_digest for skill in about.skills},
                "core": about.core.digests,
                "model": [model, manner],
                "memories": about.memories,
                "code": self._code,
            }
        )

    def size(self) -> tuple[int, int]:
        """How many tapes there are, and how many bytes they take."""
        try:
            sizes = [
                entry.stat().st_size for entry in os.scandir(self.folder) if entry.name.endswith(".tape")
            ]
        except OSError:
            return 0, 0
        return len(sizes), sum(sizes)

    @cached_property
    def _code(self) -> list[str]:
        """Name, size and time of change of what makes an answer of a question: grammars, code of models."""
        places = (Path(grammars.__file__).parent, Path(__file__).parents[1] / "model")
        files = [entry for place in places for entry in os.scandir(place) if entry.is_file()]
        stats = [(entry.name, entry.stat()) for entry in files]
        return sorted(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key[:_DIGITS]}.tape"


Used = TypeVar("Used")


def with_tapes(
    tapes: Tapes | None,
    about: About,
    model: Model | Unloaded,
    use: Callable[[Recorder], Used],
    *,
    apart: Callable[[Callable[[], Model]], Model],
) -> tuple[Used, Recorder, bool]:
    """What `use` gives with the answers that were kept, or with the model's own, which are kept then; what
    was answered; and whether no model was asked. apart: loads a model, in its own time."""
    key = tapes.key(about, model.digest, getattr(model, "manner", "")) if tapes is not None else ""
    tape = tapes.find(key) if tapes is not None else None
    if tape is not None:
        try:
            recorder = Recorder(Player(tape))
            return use(recorder), recorder, True
        except (LookupError, TypeError, ValueError):
            pass  # it lacks an answer (NotRecordedError), or has another form
    recorder = Recorder(apart(model.load) if isinstance(model, Unloaded) else model)
    given = use(recorder)
    if tapes is not None:
        tapes.keep(key, recorder.tape())
    return given, recorder, False
