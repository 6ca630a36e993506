"""What is at a path at one moment, as far as it can be put back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

Kind = Literal["absent", "file", "folder"]


@dataclass(frozen=True, slots=True)
class State:
    """Nothing, a regular file, or a folder.

    sha256: hex, of a file's content. size: bytes. mode: permission bits of a file or folder; 0 for nothing.
    """

    kind: Kind
    sha256: str = ""
    size: int = 0
    mode: int = 0

    def to_body(self, path: str) -> dict[str, Any]:
        """As a record of the journal keeps it."""
        body: dict[str, Any] = {"path": path, "is": self.kind}
        if self.kind == "file":
            body |= {"sha256": self.sha256, "size": self.size}
        return body if self.kind == "absent" else {**body, "mode": self.mode}


ABSENT = State("absent")


def from_body(body: Mapping[str, Any]) -> tuple[str, State]:
    """The path and state that a record keeps."""
    kind = cast(Kind, body["is"])
    return str(body["path"]), State(
        kind, str(body.get("sha256", "")), int(body.get("size", 0)), int(body.get("mode", 0))
    )
