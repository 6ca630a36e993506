"""The tools and skills that a skill can name, read when they are first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from executor import Manifest


@dataclass(frozen=True)
class Offer:
    """Something with an address that a skill can name.

    summary: what it does, in a sentence. more: Markdown lines with the rest. path: where it is written (None:
    nowhere that a person would go to).
    """

    uri: str
    summary: str
    more: tuple[str, ...] = ()
    path: Path | None = None


class Catalogue(Protocol):
    """What can be named, by address."""

    def tools(self) -> Mapping[str, Offer]: ...
    def skills(self) -> Mapping[str, Offer]: ...


class Installed:
    """The tools of the package and the skills that are found here.

    home: the home's folder. here: the folder whose ./skills are found too.
    """

    def __init__(self, home: Path, here: Path) -> None:
        self._home = home
        self._here = here
        self._tools: Mapping[str, Offer] | None = None
        self._skills: Mapping[str, Offer] | None = None

    def forget_skills(self) -> None:
        """Look for skills anew when they are next asked for."""
        self._skills = None

    def tools(self) -> Mapping[str, Offer]:
        """The tools by address."""
        if self._tools is None:
            from mcl.catalog.tools import registry

            self._tools = {manifest.uri: _tool(manifest) for manifest in registry().manifests}
        return self._tools

    def skills(self) -> Mapping[str, Offer]:
        """The skills by address."""
        if self._skills is None:
            from mcl.usecases.skills import installed

            found = installed(self._home, here=self._here)
            self._skills = {
                skill.ref: Offer(
                    skill.ref,
                    skill.description,
                    (f"verbs: {' '.join(skill.verbs)}",),
                    (skill.path / "SKILL.mtx").absolute(),
                )
                for skill in found
            }
        return self._skills


def _tool(manifest: Manifest) -> Offer:
    required = manifest.args.get("required")
    needed = required if isinstance(required, list) else []
    more = [f"effects: {' '.join(manifest.effects)} · class {manifest.safety}"]
    for name, schema in manifest.properties.items():
        kind, says = schema.get("type", ""), schema.get("description", "")
        must = ", required" if name in needed else ""
        more.append(f"- `{name}` ({kind}{must}){f': {says}' if says else ''}")
    return Offer(manifest.uri, manifest.description, tuple(more))
