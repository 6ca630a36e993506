"""Which manifest of each tool was approved: first used, or approved again after it changed.

And what an operator says that an outside tool does which says nothing itself: said once, of one manifest.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from executor.call import Operation
from executor.core.errors import PolicyError
from executor.core.hashing import json_bytes
from executor.tools.manifest import Effect, Manifest
from ir import SIDE_EFFECTS

if TYPE_CHECKING:
    from executor.store.home import Home

_TABLES = [
    """CREATE TABLE tool_pins (
         uri TEXT PRIMARY KEY, pin TEXT NOT NULL, since TEXT NOT NULL, quarantined INTEGER NOT NULL DEFAULT 0
       ) STRICT""",
    # Of one manifest, by its hash: an outside tool that changes is unknown again.
    """CREATE TABLE tool_classes (
         uri TEXT NOT NULL, pin TEXT NOT NULL, effects TEXT NOT NULL, operation TEXT NOT NULL,
         by TEXT NOT NULL, since TEXT NOT NULL, PRIMARY KEY (uri, pin)
       ) STRICT""",
    # What each approved pin said, so that a change can be shown.
    "CREATE TABLE tool_manifests (pin TEXT PRIMARY KEY, meaning TEXT NOT NULL) STRICT",
    # Rows of the journal say when these change.
    "".join(
        f"DROP TRIGGER IF EXISTS mcp_{table}_{verb};"
        for table in ("tool_pins", "tool_classes")
        for verb in ("INSERT", "UPDATE", "DELETE")
    ),
]

_KEEP = "INSERT INTO tool_manifests VALUES (?, ?) ON CONFLICT DO NOTHING"


@dataclass(frozen=True, slots=True)
class Classification:
    """What an operator (by: did) says that an outside tool does, bound to the hash of its manifest (pin)."""

    uri: str
    pin: str
    effects: tuple[str, ...]
    operation: Operation
    by: str
    since: str


@dataclass(frozen=True, slots=True)
class Approved:
    """The manifest of a tool that was approved: its hash, since when, and all that it says.

    meaning: None where it was approved before manifests were kept.
    """

    uri: str
    pin: str
    since: str
    quarantined: bool
    meaning: dict[str, object] | None


class Pins:
    """The approved pins of a home."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("pins", _TABLES)
        self._read_only = home.db.read_only
        self._tables, self._clock = home.journal.tables, home.clock
        self._met: dict[str, str] = {}  # pins of tools that were seen here first, and are not kept yet

    def meet(self, manifests: tuple[Manifest, ...]) -> None:
        """Look at tools, none of which is called: one of our own that was never seen counts as approved."""
        known = {uri for (uri,) in self._tables.read("SELECT uri FROM tool_pins")}
        self._met = {one.uri: one.pin for one in manifests if one.outside is None and one.uri not in known}

    def admit(self, manifests: tuple[Manifest, ...]) -> None:
        """Approve tools that were never seen here. A known tool keeps the pin it was approved with; one of
        another server waits for a person. Where nothing can be kept it is for this process alone."""
        self.meet(manifests)
        if self._read_only:
            return
        manifests = tuple(one for one in manifests if one.outside is None)
        known = dict(self._tables.read("SELECT uri, pin FROM tool_pins"))
        kept = {pin for (pin,) in self._tables.read("SELECT pin FROM tool_manifests")}
        new = [manifest for manifest in manifests if manifest.uri not in known]
        unkept = [
            one
            for one in manifests
            if known.get(one.uri) not in kept and known.get(one.uri, one.pin) == one.pin
        ]
        if new or unkept:
            with self._tables.changing() as connection:
                connection.executemany(
                    "INSERT INTO tool_pins (uri, pin, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    [(manifest.uri, manifest.pin, self._clock.now()) for manifest in new],
                )
                connection.executemany(_KEEP, [_kept(manifest) for manifest in unkept])

    def approve(self, manifest: Manifest) -> None:
        """Approve this manifest, whatever was approved before."""
        with self._tables.changing() as connection:
            connection.execute(
                "INSERT INTO tool_pins (uri, pin, since) VALUES (?, ?, ?) ON CONFLICT (uri)"
                " DO UPDATE SET pin = excluded.pin, since = excluded.since, quarantined = 0",
                (manifest.uri, manifest.pin, self._clock.now()),
            )
            connection.execute(_KEEP, _kept(manifest))

    def quarantine(self, uri: str) -> None:
        """Close a tool until its manifest is approved again."""
        with self._tables.changing() as connection:
            connection.execute("UPDATE tool_pins SET quarantined = 1 WHERE uri = ?", (uri,))

    def approved(self) -> dict[str, Approved]:
        """What was approved of each tool that was ever seen here, by address; also of those in quarantine."""
        rows = self._tables.read(
            "SELECT uri, tool_pins.pin, since, quarantined, meaning FROM tool_pins"
            " LEFT JOIN tool_manifests ON tool_manifests.pin = tool_pins.pin ORDER BY uri"
        )
        return {
            uri: Approved(uri, pin, since, bool(quarantined), json.loads(meaning) if meaning else None)
            for uri, pin, since, quarantined, meaning in rows
        }

    def of(self, uri: str) -> str:
        """The approved pin, or "" for a tool that is quarantined or was never approved."""
        rows = self._tables.read("SELECT pin FROM tool_pins WHERE uri = ? AND NOT quarantined", (uri,))
        return str(rows[0][0]) if rows else self._met.get(uri, "")

    def classify(
        self, manifest: Manifest, effects: Collection[str], operation: str, *, by: str
    ) -> Classification:
        """Say what an outside tool does, more or less than its server says; of just this manifest, and once.

        Args:
            effects: side-effect classes. operation: read, write or destructive. by: did of the operator.

        Raises:
            PolicyError: TOOL_ANNOTATED (it says itself what it does), ALREADY_CLASSIFIED,
                UNKNOWN_SIDE_EFFECT, BAD_CLASSIFICATION.
        """
        place = manifest.uri
        if manifest.annotated and manifest.outside is None:
            raise PolicyError(
                "TOOL_ANNOTATED",
                "the tool says itself what it does",
                place=place,
                fix="close it where you disagree (policy.toml)",
            )
        if unknown := sorted(set(effects) - set(SIDE_EFFECTS)):
            raise PolicyError(
                "UNKNOWN_SIDE_EFFECT",
                f"{unknown[0]!r} is no side-effect class",
                place=place,
                fix=f"some of {', '.join(SIDE_EFFECTS)}",
            )
        if (
            operation not in get_args(Operation)
            or not effects
            or (operation != "read" and set(effects) == {"read"})
        ):
            raise PolicyError(
                "BAD_CLASSIFICATION",
                f"{operation} with {', '.join(sorted(effects)) or 'no class'} says nothing",
                place=place,
                fix="say one of read, write, destructive, and the classes; what only reads is read",
            )
        said = Classification(
            place, manifest.pin, tuple(sorted(effects)), cast(Operation, operation), by, self._clock.now()
        )
        with self._tables.changing() as connection:
            if self.classification(manifest) is not None:
                raise PolicyError(
                    "ALREADY_CLASSIFIED",
                    "an operator has said already what it does",
                    place=place,
                    fix="take that back first",
                )
            connection.execute(
                "INSERT INTO tool_classes VALUES (?, ?, ?, ?, ?, ?)",
                (place, said.pin, " ".join(said.effects), operation, by, said.since),
            )
        return said

    def unclassify(self, manifest: Manifest) -> None:
        """Take back what was said of a manifest; the tool counts as the worst again."""
        with self._tables.changing() as connection:
            connection.execute(
                "DELETE FROM tool_classes WHERE uri = ? AND pin = ?", (manifest.uri, manifest.pin)
            )

    def counted(self, manifest: Manifest) -> Manifest:
        """The manifest with what an operator says that the tool does, in place of what its server says; as it
        is where no operator said anything. What was raised is not called again unasked."""
        if manifest.outside is None and manifest.annotated:
            return manifest
        said = self.classification(manifest)
        if said is None:
            return manifest
        rank = get_args(Operation)
        return manifest.model_copy(
            update={
                "effects": sorted(said.classes),
                "operation": said.operation,
                "annotated": True,
                "idempotent": manifest.idempotent
                and rank.index(said.operation) <= rank.index(manifest.operation),
                "when": [],
            }
        )

    def classification(self, manifest: Manifest) -> Effect | None:
        """What an operator says that just this manifest does; None where nobody said anything."""
        found = self._tables.read(
            "SELECT effects, operation FROM tool_classes WHERE uri = ? AND pin = ?",
            (manifest.uri, manifest.pin),
        )
        return Effect(frozenset(found[0][0].split()), found[0][1]) if found else None

    def classifications(self) -> tuple[Classification, ...]:
        """All that operators said, by address."""
        rows = self._tables.read(
            "SELECT uri, pin, effects, operation, by, since FROM tool_classes ORDER BY uri, pin"
        )
        return tuple(
            Classification(uri, pin, tuple(effects.split()), operation, by, since)
            for uri, pin, effects, operation, by, since in rows
        )


def _kept(manifest: Manifest) -> tuple[str, str]:
    return manifest.pin, json_bytes(manifest.meaning).decode()
