"""What skills, slots and options say of themselves, as a model that encodes reads it, and its vectors."""

import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from mcl.core.cache import read_own, write_own
from mcl.model import form as shape
from mcl.model.heads import Vectors
from mcl.model.protocol import BOOLEAN, SlotForm

_TEXTS_KEPT = 20_000


class TextVectors:
    """Vectors of names, hints, options and examples, by what they say; kept on disk by the model's digest."""

    def __init__(
        self, encode: Callable[[str], Vectors], width: int, path: Path | None, shipped: bytes = b""
    ) -> None:
        """path: where they are kept, None: in memory only. shipped: those that came with the model."""
        self._encode, self._width, self._path = encode, width, path
        self._shipped = dict(self._records(shipped))
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._new = 0
        if path is not None:
            self._load(path)

    def of(self, texts: Sequence[str]) -> Vectors:
        """[len(texts), width]."""
        rows = [self._one(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self._width), np.float32)

    def keep(self) -> None:
        """Write what is new to disk; what cannot be written is made again next time."""
        if self._path is None or not self._new:
            return
        try:
            write_own(self._path, self.data())
            self._new = 0
        except OSError:
            return

    def data(self) -> bytes:
        """All that did not come with the model."""
        parts = []
        for text, vector in self._known.items():
            data = text.encode("utf-8", "replace")
            parts.append(struct.pack("<I", len(data)) + data + vector.astype("<f4").tobytes())
        return b"".join(parts)

    def _one(self, text: str) -> Vectors:
        known = self._shipped.get(text)
        if known is not None:
            return known
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._encode(text)
            self._new += 1
            if len(self._known) > _TEXTS_KEPT:
                self._known.popitem(last=False)
        return known

    def _load(self, path: Path) -> None:
        try:
            self._known.update(self._records(read_own(str(path))))
        except (OSError, ValueError, struct.error):
            self._known.clear()

    def _records(self, data: bytes) -> Iterator[tuple[str, Vectors]]:
        """Texts with their vectors. Raises ValueError, struct.error where the bytes are cut short."""
        at = 0
        while at < len(data):
            (length,) = struct.unpack_from("<I", data, at)
            text = data[at + 4 : at + 4 + length].decode("utf-8")
            at += 4 + length
            yield text, np.frombuffer(data, "<f4", self._width, at).copy()
            at += 4 * self._width


def skill_text(skill_id: str, description: str) -> str:
    """How a skill is shown: its name and what it says of itself."""
    name = _name(skill_id)
    return name if description.lower().strip(". ") == name else f"{name}: {description}"


def slot_text(skill_id: str, slot: SlotForm) -> str:
    """How a slot is shown: name, hint, and whose it is."""
    name = shape.plain(slot.name)
    return f"{name if slot.hint.lower() == name else f'{name}: {slot.hint}'} ({_name(skill_id)})"


def option_text(slot: SlotForm, option: str) -> str:
    """How an option is shown."""
    said = {"true": "yes", "false": "no"}.get(option, option) if slot.options == BOOLEAN else option
    return f"{shape.plain(slot.name)}: {said}"


def _name(skill_id: str) -> str:
    return shape.plain(skill_id.rsplit("/", 1)[-1].split("@", 1)[0].rsplit(".", 1)[-1])
