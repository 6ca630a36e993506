"""A catalogue with two tools and a skill."""

from __future__ import annotations

from pathlib import Path

from mcl.plugins.editor.names import NameOffer

READ, WRITE = "matrix://tool/fs/read@1.0.0", "matrix://tool/fs/write@1.0.0"
OTHER = "matrix://skill/other@2.0.0"


class Shelf:
    """A catalogue of a few things."""

    def forget_skills(self) -> None:
        pass

    def tools(self) -> dict[str, NameOffer]:
        return {
            READ: NameOffer(READ, "Reads a file.", ("effects: read", "- `path` (string, required)")),
            WRITE: NameOffer(WRITE, "Writes a file."),
        }

    def skills(self) -> dict[str, NameOffer]:
        return {OTHER: NameOffer(OTHER, "Does other things.", (), Path("/skills/other/SKILL.mtx"))}
