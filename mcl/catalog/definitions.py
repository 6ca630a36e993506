"""What servers say of their tools, kept in the home: each tool as its server last described it, and how it
stands with the person.

A definition is data of a stranger. It is kept whole, its hash is what a person approves, and a tool that is
new or says anything otherwise than what was approved is not called (the guard unchanged).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final, Literal, TypeAlias

from executor.core.hashing import json_bytes
from executor.gate.pins import Approved, Pins
from executor.store.home import Home
from executor.tools.manifest import Manifest
from mcl.catalog.manifests import is_pseudo, manifest_of
from mcl.catalog.servers import Servers
from mcl.catalog.suspicion import Neighbours, Suspicion, examine
from mcl.core.errors import McpError

Standing: TypeAlias = Literal["new", "approved", "changed", "quarantined", "rejected", "gone"]

MOST_TOOLS: Final = 2_000  # of one server

# One number says whether a definition changed. The others of these are stated tables: rows say it.
_WATCHED: Final = ("mcp_tools", "mcp_rejections", "tool_pins", "tool_classes", "servers")
_VERBS: Final = ("INSERT", "UPDATE", "DELETE")
_TABLES: Final = (
    # entry: the id of the server's entry; one that is entered anew is another server, whatever its name.
    # first: when the tool was seen first; since: when it was seen first as it is now.
    """CREATE TABLE mcp_tools (
         server TEXT NOT NULL, tool TEXT NOT NULL, entry TEXT NOT NULL, uri TEXT NOT NULL UNIQUE,
         pin TEXT NOT NULL, definition TEXT NOT NULL, first TEXT NOT NULL, since TEXT NOT NULL,
         gone INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (server, tool)
       ) STRICT;
       CREATE TABLE mcp_rejections (
         uri TEXT NOT NULL, pin TEXT NOT NULL, by TEXT NOT NULL, since TEXT NOT NULL, reason TEXT NOT NULL,
         PRIMARY KEY (uri, pin)
       ) STRICT;
       CREATE TABLE mcp_changes (number INTEGER NOT NULL) STRICT;
       INSERT INTO mcp_changes VALUES (0)""",
    ";".join(
        f"CREATE TRIGGER mcp_{table}_{verb} AFTER {verb} ON {table}"  # noqa: S608  # of constants
        " BEGIN UPDATE mcp_changes SET number = number + 1; END"
        for table in _WATCHED
        for verb in _VERBS
    ),
    "".join(f"DROP TRIGGER IF EXISTS mcp_{table}_{verb};" for table in _WATCHED[1:] for verb in _VERBS),
)
_ROWS: Final = (
    "SELECT mcp_tools.server, tool, uri, pin, mcp_tools.since, gone, trusted FROM mcp_tools"
    " JOIN servers ON servers.id = entry AND removed_at = '' ORDER BY mcp_tools.server, tool"
)
_KEEP: Final = (
    "INSERT INTO mcp_tools VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT (server, tool) DO UPDATE SET"
    " since = iif(pin = excluded.pin, since, excluded.since), pin = excluded.pin,"
    " definition = excluded.definition, gone = 0"
)
_TOLD: Final = 200  # names in a record


@dataclass(frozen=True)
class DescribedTool:
    """A tool of another server as it was last described.

    manifest: what it counts as now, by its server's trust. since: when it was described so first. approved:
    what a person approved of it, None where nobody did. rejected: why a person refused it as it is, "" also
    where no reason was given.
    """

    name: str
    manifest: Manifest
    standing: Standing
    since: str
    approved: Approved | None = None
    rejected: str = ""
    _near: Callable[[], Neighbours] = field(default=Neighbours, repr=False, compare=False)

    @property
    def server(self) -> str:
        return self.name.partition(":")[0]

    @property
    def tool(self) -> str:
        """What its server calls it."""
        return self.name.partition(":")[2]

    @cached_property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """What is suspicious in what its server says, looked for when asked (``mcl.catalog.suspicion``)."""
        outside = self.manifest.outside
        if outside is None or is_pseudo(self.tool):  # these two are described by mcl itself
            return ()
        return examine(self.server, outside.definition, self._near())

    @property
    def warnings(self) -> tuple[Suspicion, ...]:
        """Those that an approval has to name."""
        return tuple(one for one in self.suspicions if one.level == "warning")


@dataclass(frozen=True)
class Observed:
    """What a listing said otherwise than was known: names of tools.

    bad: definitions that cannot be used, and are not kept. pins: of all that can be used their hashes, by
    the server's names of them.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    bad: tuple[McpError, ...] = ()
    pins: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


class Definitions:
    """The tools of other servers that a home knows. Several processes may observe at once."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._pins, self._servers = Pins(home), Servers(home)
        home.db.migrate("definitions", _TABLES)
        self._made: dict[tuple[str, bool], Manifest] = {}  # by pin and trust: a pin says all else
        # By server and tool: the definition as it was given last, and as it was read.
        self._heard: dict[str, dict[str, tuple[Mapping[str, object], Manifest]]] = {}
        self._seen: int | None = None
        self._known: tuple[DescribedTool, ...] = ()

    def observe(
        self,
        server: str,
        definitions: Sequence[Mapping[str, object]],
        *,
        about: Callable[[str], bool] = lambda tool: not is_pseudo(tool),
    ) -> Observed:
        """Take note of all tools that a server lists now. Nothing is approved by it.

        A tool with a definition that nobody saw is new or changed, and waits for a person; one that is not
        listed any more is gone; one that returns as it was approved is approved. A server that nobody
        entered, or not any more, has no tools.

        Args:
            definitions: as ``tools/list`` gives them. about: the tools that the listing is about; of others
                it says nothing by leaving them out.
        """
        entry = self._servers.find(server)
        if entry is None:
            return Observed()
        read, bad = self._read(server, definitions, about)
        found = _compare(self._rows(server), entry.id, read, about)
        if found:  # else nothing is written, and nobody waits for a writer
            with self.home.journal.tables.changing():
                # Another process may have taken note of it meanwhile.
                found = _compare(self._rows(server), entry.id, read, about)
                self._write(server, entry.id, read, found)

        def full(tools: Iterable[str]) -> tuple[str, ...]:
            return tuple(f"{server}:{tool}" for tool in tools)

        return Observed(
            *(full(found.new), full(found.changed), full(found.gone)),
            bad=bad + tuple(map(_shared, full(found.shared))),
            pins={tool: one.pin for tool, one in read.items() if tool not in found.shared},
        )

    def known(self) -> tuple[DescribedTool, ...]:
        """All tools of servers that are entered, by name; those that are gone too."""
        stamp = self.stamp()
        if stamp != self._seen:
            self._known, self._seen = self._all(), stamp
        return self._known

    def find(self, name: str) -> DescribedTool | None:
        """The tool of this name (``server:tool``), None where there is none."""
        return next((one for one in self.known() if one.name == name), None)

    def listed(self) -> frozenset[str]:
        """The entries (ids) of the servers that ever listed a tool here."""
        return frozenset(id for (id,) in self.home.db.read("SELECT DISTINCT entry FROM mcp_tools"))

    def offers(self, server: str, tool: str) -> bool | None:
        """Whether a server offered a tool when it was asked last; None of one that never was."""
        rows = self._rows(server)
        return (tool in rows and not rows[tool]["gone"]) if rows else None

    def servers(self) -> tuple[str, ...]:
        """The names of all servers that are entered."""
        return tuple(one.name for one in self._servers.list())

    def stamp(self) -> int:
        """Two equal marks, and nothing changed in between that says what a tool is or how it stands; changes
        by other processes count too."""
        number = int(self.home.db.read("SELECT number FROM mcp_changes")[0][0])
        return number + self.home.journal.standing().changed

    def neighbours(self) -> Neighbours:
        """The names of all tools that there are, for comparing."""
        return _neighbours([(one.server, one.tool) for one in self.known() if one.standing != "gone"])()

    def manifest(self, uri: str) -> Manifest | None:
        """The tool at an address, as it was last described; None where there is none, or not any more.

        For a command that needs one tool and not all.
        """
        rows = self.home.db.read(
            "SELECT mcp_tools.server, pin, trusted, definition FROM mcp_tools"
            " JOIN servers ON servers.id = entry AND removed_at = '' WHERE uri = ? AND NOT gone",
            (uri,),
        )
        return self._manifest(*rows[0]) if rows else None

    def _read(
        self, server: str, definitions: Sequence[Mapping[str, object]], about: Callable[[str], bool]
    ) -> tuple[dict[str, Manifest], tuple[McpError, ...]]:
        """The manifests of a listing by the names of their tools, and what is wrong with the others. Two
        tools that nobody could tell apart, by name or by address, are both left out."""
        before, now = self._heard.get(server, {}), dict[str, tuple[Mapping[str, object], Manifest]]()
        bad: list[McpError] = []
        made: list[tuple[str, Manifest]] = []
        for definition in definitions[:MOST_TOOLS]:
            name = str(definition.get("name"))
            told, manifest = before.get(name, (None, None))
            if manifest is None or told != definition:  # a listing is mostly the one before
                try:
                    manifest = manifest_of(server, definition, trusted=False)
                except McpError as problem:
                    bad.append(problem)
                    continue
            now[name] = definition, manifest
            if about(name):
                made.append((name, manifest))
        self._heard[server] = {**before, **now} if len(before) < MOST_TOOLS else now
        if len(definitions) > MOST_TOOLS:
            said = f"{len(definitions):,} tools are listed; the first {MOST_TOOLS:,} are read"
            bad.append(McpError("TOO_MANY_TOOLS", said, place=server, fix="use a server that offers fewer"))
        names, places = Counter(tool for tool, _ in made), Counter(one.uri for _, one in made)
        for tool in sorted({tool for tool, one in made if names[tool] > 1 or places[one.uri] > 1}):
            bad.append(_shared(f"{server}:{tool}"))
        return {tool: one for tool, one in made if names[tool] == 1 and places[one.uri] == 1}, tuple(bad)

    def _all(self) -> tuple[DescribedTool, ...]:
        rows = self.home.journal.tables.read(_ROWS)
        needed = {(pin, bool(trusted)) for _, _, _, pin, _, _, trusted in rows}
        texts: dict[str, str] = {}
        if missing := needed - self._made.keys():
            wanted = {pin for pin, _ in missing}
            texts = {
                pin: text
                for pin, text in self.home.db.read("SELECT pin, definition FROM mcp_tools")
                if pin in wanted
            }
        approved = self._pins.approved()
        rejected = {
            (uri, pin): reason
            for uri, pin, reason in self.home.journal.tables.read(
                "SELECT uri, pin, reason FROM mcp_rejections"
            )
        }
        near = _neighbours([(server, tool) for server, tool, *_, gone, _ in rows if not gone])
        found = []
        for server, tool, uri, pin, since, gone, trusted in rows:
            made = self._made.get((pin, bool(trusted)))
            manifest = made or self._manifest(server, pin, trusted, texts.get(pin))
            if manifest is None:  # changed between two looks: the next stamp shows it
                continue
            before, reason = approved.get(uri), rejected.get((uri, pin))
            standing = _standing(bool(gone), before, pin, reason)
            found.append(
                DescribedTool(f"{server}:{tool}", manifest, standing, since, before, reason or "", near)
            )
        self._made = {pair: one for pair, one in self._made.items() if pair in needed}
        return tuple(found)

    def _manifest(self, server: str, pin: str, trusted: int, definition: str | None) -> Manifest | None:
        if definition is None:
            return None
        if (made := self._made.get((pin, bool(trusted)))) is None:
            try:
                made = manifest_of(server, json.loads(definition), trusted=bool(trusted))
            except McpError:  # kept by an earlier program that took it for a tool
                return None
            self._made[pin, bool(trusted)] = made
        return made

    def _rows(self, server: str) -> dict[str, dict[str, Any]]:
        names = ("tool", "entry", "uri", "pin", "gone")
        rows = self.home.db.read(
            "SELECT tool, entry, uri, pin, gone FROM mcp_tools WHERE server = ?", (server,)
        )
        return {row[0]: dict(zip(names, row, strict=True)) for row in rows}

    def _write(self, server: str, entry: str, read: Mapping[str, Manifest], found: _Difference) -> None:
        """Write what a listing says otherwise than was known. To be called while tables are changed."""
        if found.anew:
            self._start_anew(server)
        now = self.home.clock.now()
        with self.home.journal.tables.changing() as connection:
            for tool in (*found.new, *found.changed, *found.back):
                manifest = read[tool]
                assert manifest.outside is not None
                definition = json_bytes(manifest.outside.definition).decode()
                connection.execute(
                    _KEEP, (server, tool, entry, manifest.uri, manifest.pin, definition, now, now)
                )
            gone = [(server, tool) for tool in found.gone]
            connection.executemany("UPDATE mcp_tools SET gone = 1 WHERE server = ? AND tool = ?", gone)
        if found.new or found.changed or found.gone:
            self.home.journal.record("record.tool.observed", _told(server, found, read))

    def _start_anew(self, server: str) -> None:
        """Forget the tools of an earlier server of this name; what was approved of it is approved no more."""
        approved = self._pins.approved()
        with self.home.journal.tables.changing() as connection:
            for row in self._rows(server).values():
                if row["uri"] in approved:
                    self._pins.quarantine(row["uri"])
            connection.execute("DELETE FROM mcp_tools WHERE server = ?", (server,))


@dataclass(frozen=True)
class _Difference:
    """What a listing says otherwise than is kept of its server: names of tools.

    back: listed again, as they were. shared: their address is that of another tool. anew: what is kept is
    of an earlier server of this name.
    """

    new: tuple[str, ...]
    changed: tuple[str, ...]
    back: tuple[str, ...]
    gone: tuple[str, ...]
    shared: tuple[str, ...]
    anew: bool

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.back or self.gone or self.anew)


def _compare(
    rows: Mapping[str, Mapping[str, Any]],
    entry: str,
    read: Mapping[str, Manifest],
    about: Callable[[str], bool],
) -> _Difference:
    anew = any(row["entry"] != entry for row in rows.values())
    before = {} if anew else rows
    taken = {row["uri"]: tool for tool, row in before.items()}
    shared = tuple(tool for tool, one in read.items() if taken.get(one.uri, tool) != tool)
    pins = {tool: one.pin for tool, one in read.items() if tool not in shared}
    kept = {tool: row for tool, row in before.items() if tool in pins}
    return _Difference(
        new=tuple(tool for tool in pins if tool not in kept),
        changed=tuple(tool for tool in pins if tool in kept and kept[tool]["pin"] != pins[tool]),
        back=tuple(
            tool for tool in pins if tool in kept and kept[tool]["gone"] and kept[tool]["pin"] == pins[tool]
        ),
        gone=tuple(
            tool for tool, row in before.items() if not row["gone"] and about(tool) and tool not in read
        ),
        shared=shared,
        anew=anew,
    )


def _neighbours(named: Sequence[tuple[str, str]]) -> Callable[[], Neighbours]:
    """Gives the names of all tools (server, tool), for comparing; made when the first is compared."""

    @cache
    def made() -> Neighbours:
        from mcl.catalog.tools.registry import own_names

        tools: dict[str, list[str]] = {}
        for server, tool in named:
            tools.setdefault(server, []).append(tool)
        return Neighbours(tools, own_names())

    return made


def _shared(name: str) -> McpError:
    return McpError(
        "BAD_DEFINITION",
        "its name or its address is that of another tool of its server too",
        place=name,
        fix="its author can name them differently; other tools of the server are not concerned",
    )


def _standing(gone: bool, approved: Approved | None, pin: str, rejected: str | None) -> Standing:
    if gone:
        return "gone"
    if rejected is not None:
        return "rejected"
    if approved is None:
        return "new"
    return "quarantined" if approved.quarantined else "approved" if approved.pin == pin else "changed"


def _told(server: str, found: _Difference, read: Mapping[str, Manifest]) -> dict[str, object]:
    """What is kept in the journal of an observation: names with the hashes of what was said."""
    return {
        "server": server,
        "new": {tool: read[tool].pin for tool in found.new[:_TOLD]},
        "changed": {tool: read[tool].pin for tool in found.changed[:_TOLD]},
        "gone": list(found.gone[:_TOLD]),
        "counts": {"new": len(found.new), "changed": len(found.changed), "gone": len(found.gone)},
    }
