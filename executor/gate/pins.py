"""Which manifest of each tool was approved: first used, or approved again after it changed."""

from __future__ import annotations

from executor.clock import Clock
from executor.database import Database
from executor.tools.manifest import Manifest

_TABLES = [
    """CREATE TABLE tool_pins (
         uri TEXT PRIMARY KEY, pin TEXT NOT NULL, since TEXT NOT NULL, quarantined INTEGER NOT NULL DEFAULT 0
       ) STRICT"""
]


class Pins:
    """The approved pins of a home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        database.migrate("pins", _TABLES)
        self._database = database
        self._clock = clock

    def admit(self, manifests: tuple[Manifest, ...]) -> None:
        """Approve tools that were never seen here. A known tool keeps the pin it was approved with."""
        known = {uri for (uri,) in self._database.read("SELECT uri FROM tool_pins")}
        new = [manifest for manifest in manifests if manifest.uri not in known]
        if new:
            with self._database.write() as connection:
                connection.executemany(
                    "INSERT INTO tool_pins (uri, pin, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    [(manifest.uri, manifest.pin, self._clock.now()) for manifest in new],
                )

    def approve(self, manifest: Manifest) -> None:
        """Approve this manifest, whatever was approved before."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO tool_pins (uri, pin, since) VALUES (?, ?, ?) ON CONFLICT (uri)"
                " DO UPDATE SET pin = excluded.pin, since = excluded.since, quarantined = 0",
                (manifest.uri, manifest.pin, self._clock.now()),
            )

    def quarantine(self, uri: str) -> None:
        """Close a tool until its manifest is approved again."""
        with self._database.write() as connection:
            connection.execute("UPDATE tool_pins SET quarantined = 1 WHERE uri = ?", (uri,))

    def of(self, uri: str) -> str:
        """The approved pin, or "" for a tool that is quarantined or was never approved."""
        rows = self._database.read("SELECT pin FROM tool_pins WHERE uri = ? AND NOT quarantined", (uri,))
        return str(rows[0][0]) if rows else ""
