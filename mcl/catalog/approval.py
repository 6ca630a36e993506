"""A person's word about a tool of another server: approved as it was looked at, rejected, or closed."""

from __future__ import annotations

from shlex import quote

from executor.gate.pins import Pins
from ir.errors import REFUSED
from mcl.catalog.definitions import Definitions, DescribedTool
from mcl.core.errors import McpError


def require(definitions: Definitions, name: str) -> DescribedTool:
    """The tool of this name.

    Raises:
        McpError: UNKNOWN_TOOL.
    """
    found = definitions.find(name)
    if found is None:
        raise McpError(
            "UNKNOWN_TOOL",
            f"no server listed a tool {name[:200]!a}",
            place="tool",
            fix="mcl tool list shows them all",
        )
    return found


def approve(
    definitions: Definitions,
    name: str,
    *,
    pin: str = "",
    despite_warnings: bool = False,
    unseen: bool = False,
) -> DescribedTool:
    """Approve a tool as it is described now; kept in the journal.

    Args:
        pin: the hash of what was looked at; anything else is refused ("": whatever is there).
        despite_warnings: also where something in what its server says is suspicious.
        unseen: nobody looked at it.

    Raises:
        McpError: UNKNOWN_TOOL, TOOL_GONE, PIN_MISMATCH (it changed since it was looked at), TOOL_SUSPICIOUS
            (with the findings in data). Then nothing is changed.
    """
    home = definitions.home
    with home.journal.tables.changing() as connection:  # from here on nobody else says what the tool is
        found = require(definitions, name)
        if found.standing == "gone":
            raise McpError(
                "TOOL_GONE",
                f"{found.server} does not offer {name} any more",
                place=name,
                fix=f"mcl server check {found.server} asks it again",
            )
        _require_pin(found, pin)
        if found.warnings and not despite_warnings:
            raise suspicious(found)
        before = found.approved
        Pins(home).approve(found.manifest)
        connection.execute(
            "DELETE FROM mcp_rejections WHERE uri = ? AND pin = ?", (found.manifest.uri, found.manifest.pin)
        )
        body = {
            "uri": found.manifest.uri,
            "name": name,
            "pin": found.manifest.pin,
            "by": home.keyring.user.did,
            "before": before.pin if before else "",
        }
        if found.warnings:
            body["despite"] = " ".join(sorted({one.rule for one in found.warnings}))
        seen = {"unseen": True} if home.unseen(unseen) else {}
        home.journal.record("record.tool.approved", {**body, **seen})
    return require(definitions, name)


def reject(definitions: Definitions, name: str, *, pin: str = "", reason: str = "") -> DescribedTool:
    """Refuse a tool as it is described now, until it is approved; kept in the journal. What it says otherwise
    later waits for a person again.

    Raises:
        McpError: UNKNOWN_TOOL, PIN_MISMATCH.
    """
    home = definitions.home
    with home.journal.tables.changing() as connection:
        found = require(definitions, name)
        _require_pin(found, pin)
        uri, by = found.manifest.uri, home.keyring.user.did
        connection.execute(
            "INSERT INTO mcp_rejections VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (uri, pin) DO UPDATE SET by = excluded.by, reason = excluded.reason",
            (uri, found.manifest.pin, by, home.clock.now(), reason),
        )
        if found.approved is not None and found.approved.pin == found.manifest.pin:
            Pins(home).quarantine(uri)
        told = {"uri": uri, "name": name, "pin": found.manifest.pin, "by": by, "reason": reason}
        home.journal.record("record.tool.rejected", told)
    return require(definitions, name)


def quarantine(definitions: Definitions, name: str, *, reason: str = "") -> DescribedTool:
    """Close a tool until it is approved again, whatever it says meanwhile; kept in the journal. One that
    nobody approved is rejected.

    Raises:
        McpError: UNKNOWN_TOOL.
    """
    home = definitions.home
    with home.journal.tables.changing():
        found = require(definitions, name)
        if found.approved is None:
            return reject(definitions, name, reason=reason)
        Pins(home).quarantine(found.manifest.uri)
        told = {"uri": found.manifest.uri, "name": name, "pin": found.manifest.pin, "reason": reason}
        home.journal.record("record.tool.quarantined", {**told, "by": home.keyring.user.did})
    return require(definitions, name)


def suspicious(known: DescribedTool) -> McpError:
    """What keeps a tool from being approved without more ado."""
    warnings = known.warnings
    first = warnings[0]
    said = quote(known.name)
    more = f", and {len(warnings) - 1} more" if len(warnings) > 1 else ""
    return McpError(
        "TOOL_SUSPICIOUS",
        f"{known.name} {first.reason} ({first.place}: {first.excerpt}){more}",
        place=known.name,
        fix=f"read it (mcl tool show {said}); harmless: mcl tool approve {said} --despite-warnings",
        data={"findings": [one.to_json() for one in known.suspicions]},
        exit=REFUSED,
    )


def _require_pin(known: DescribedTool, pin: str) -> None:
    """Raise where a tool is not what was looked at."""
    if pin and pin != known.manifest.pin:
        raise McpError(
            "PIN_MISMATCH",
            f"{known.name} is not what was looked at: its hash is {known.manifest.pin}",
            place=known.name,
            fix=f"look at it again: mcl tool show {quote(known.name)}",
            data={"looked_at": pin, "found": known.manifest.pin},
        )
