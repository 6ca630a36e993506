"""`mcl tool`: the tools there are, what each may do, and which of their manifests the operator approved."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from executor.errors import ManifestError
from executor.gate.pins import Approved, Pins
from executor.gate.policy import Policy
from executor.home import Home
from executor.tools.manifest import Manifest
from executor.tools.registry import Registry
from mcl.errors import InputError
from mcl.home import open_home
from mcl.mcp.annotations import hints_of
from mcl.tools import registry

Standing = Literal["new", "approved", "changed", "quarantined"]

_SCHEME: Final = "matrix://tool/"
_MISSING: Final = object()
_NEAREST: Final = 5


@dataclass(frozen=True)
class Change:
    """One thing that a manifest says otherwise than it did when it was approved.

    path: where, such as effects or args.properties.path; before, after: JSON values, None where nothing is.
    """

    path: str
    before: object
    after: object


@dataclass(frozen=True)
class KnownTool:
    """A tool of this build and home.

    standing: new (approved with its first use), approved, changed since (refused until it is approved again)
    or quarantined. closed: by policy.toml. since: when it was approved. changes: what it says otherwise now,
    as far as what it said is known.
    """

    manifest: Manifest
    standing: Standing
    closed: bool = False
    since: str = ""
    approved_pin: str = ""
    changes: tuple[Change, ...] = ()

    @property
    def name(self) -> str:
        """Its short name: fs/read."""
        return short_name(self.manifest.uri)


@dataclass(frozen=True)
class VerifiedTools:
    """What was found when every manifest was compared.

    broken: files that are no manifest (any more), or say another class than their effects amount to. gone:
    addresses that were approved here and are not there any more.
    """

    tools: tuple[KnownTool, ...]
    broken: tuple[ManifestError, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing changed and nothing is broken."""
        return not self.broken and all(tool.standing != "changed" for tool in self.tools)


def list_tools(*, home: Home | None = None) -> tuple[KnownTool, ...]:
    """All tools in the order of their addresses. Raises ManifestError, PolicyError."""
    home = home or open_home()
    approved, policy = Pins(home.db, home.clock).approved(), Policy.load(home.path / "policy.toml")
    return tuple(
        _known(manifest, approved.get(manifest.uri), policy) for manifest in tools_of(home).manifests
    )


def find_tool(name: str, *, home: Home | None = None) -> KnownTool:
    """One tool by its address or short name: matrix://tool/fs/read@1.0.0, fs/read@1.0.0, fs/read.

    Without a version the highest. Raises InputError TOOL_UNKNOWN with the nearest names.
    """
    tools = list_tools(home=home)
    manifest = named(name, [tool.manifest for tool in tools])
    return next(tool for tool in tools if tool.manifest is manifest)


def verify_tools(*, home: Home | None = None) -> VerifiedTools:
    """Read every manifest anew (one that contradicts itself, as a class that its effects do not amount to, is
    broken), and compare it with the one that was approved."""
    home = home or open_home()
    try:
        tools = list_tools(home=home)
    except ManifestError as problem:
        return VerifiedTools((), (problem,))
    there = {tool.manifest.uri for tool in tools}
    gone = tuple(uri for uri in Pins(home.db, home.clock).approved() if uri not in there)
    return VerifiedTools(tools, (), gone)


def approve_tool(name: str, *, pin: str = "", home: Home | None = None) -> KnownTool:
    """Approve a tool's manifest as it is now, also after a change or a quarantine; kept in the journal.

    pin: what was looked at; anything else is refused ("": whatever is there). Raises InputError TOOL_UNKNOWN,
    PIN_MISMATCH; KeyringError.
    """
    home = home or open_home()
    found = find_tool(name, home=home)
    if pin and pin != found.manifest.pin:
        raise InputError(
            "PIN_MISMATCH",
            f"the manifest of {found.name} has the pin {found.manifest.pin}",
            place=found.manifest.uri,
            fix=f"look at it again: mcl tool describe {found.name}",
        )
    body = {"uri": found.manifest.uri, "pin": found.manifest.pin, "by": home.keyring.user.did}
    with home.db.write():
        Pins(home.db, home.clock).approve(found.manifest)
        home.journal.record("record.tool.approved", {**body, "before": found.approved_pin})
    return find_tool(found.manifest.uri, home=home)


def quarantine_tool(name: str, *, reason: str = "", home: Home | None = None) -> KnownTool:
    """Close a tool until it is approved again; kept in the journal. Raises InputError TOOL_UNKNOWN."""
    home = home or open_home()
    found = find_tool(name, home=home)
    pins = Pins(home.db, home.clock)
    body = {"uri": found.manifest.uri, "by": home.keyring.user.did, "reason": reason}
    with home.db.write():
        pins.admit((found.manifest,))
        pins.quarantine(found.manifest.uri)
        home.journal.record("record.tool.quarantined", {**body, "pin": found.manifest.pin})
    return find_tool(found.manifest.uri, home=home)


def tools_of(home: Home) -> Registry:
    """The tools of this build, and those that the home declares. Raises ManifestError."""
    return registry(lambda: home, commands=home.path)


def named(name: str, manifests: "list[Manifest] | tuple[Manifest, ...]") -> Manifest:
    """The manifest that a person means by an address or a short name. Raises InputError TOOL_UNKNOWN."""
    wanted, _, version = name.strip().removeprefix(_SCHEME).partition("@")
    fitting = [
        one
        for one in manifests
        if one.uri.startswith(f"{_SCHEME}{wanted}@") and version in ("", one.uri.partition("@")[2])
    ]
    if not fitting:
        known = sorted({short_name(one.uri) for one in manifests})
        near = difflib.get_close_matches(wanted, known, n=_NEAREST, cutoff=0.5)
        near = near or [one for one in known if wanted and wanted.partition("/")[0] in one][:_NEAREST]
        raise InputError(
            "TOOL_UNKNOWN",
            f"there is no tool {name!r}" + (f"; nearest: {', '.join(near)}" if near else ""),
            place="tool",
            fix="mcl tool list shows them all",
            data={"nearest": near},
        )
    return max(fitting, key=lambda one: [int(part) for part in one.uri.partition("@")[2].split(".")])


def short_name(uri: str) -> str:
    """fs/read of matrix://tool/fs/read@1.0.0."""
    return uri.removeprefix(_SCHEME).partition("@")[0]


def contract(tool: KnownTool) -> dict[str, object]:
    """All that is said of a tool, as one JSON object: what an agent, a gate or a protocol needs to know.

    Times are milliseconds, sizes bytes. hints: as the Model Context Protocol names them.
    """
    one = tool.manifest
    return {
        "uri": one.uri,
        "name": tool.name,
        "pin": one.pin,
        "standing": tool.standing,
        "closed": tool.closed,
        "description": one.description,
        "effects": list(one.effects),
        "operation": one.operation,
        "cases": [case.model_dump(mode="json", exclude_defaults=True) for case in one.when],
        "class": one.safety,
        "scope": {"kind": one.scope.kind, "paths": dict(one.scope.paths), "urls": list(one.scope.urls)},
        "idempotent": one.idempotent,
        "retries": one.retries.model_dump(mode="json"),
        "timeout_ms": one.timeout_ms,
        "max_output": one.max_output,
        "cost": one.cost.model_dump(mode="json") if one.cost else None,
        "credentials": list(one.credentials),
        "environment": list(one.environment),
        "command": one.command.model_dump(mode="json") if one.command else None,
        "annotated": one.annotated,
        "hints": hints_of(one),
        "args": one.args,
        "output": one.output,
    }


def _known(manifest: Manifest, approved: Approved | None, policy: Policy) -> KnownTool:
    closed = policy.denies(manifest.uri)
    if approved is None:
        return KnownTool(manifest, "new", closed)
    differs = approved.pin != manifest.pin
    changes = tuple(_changes(approved.meaning, manifest.meaning)) if differs and approved.meaning else ()
    standing: Standing = "quarantined" if approved.quarantined else "changed" if differs else "approved"
    return KnownTool(manifest, standing, closed, approved.since, approved.pin, changes)


def _changes(before: object, after: object, path: str = "") -> Iterator[Change]:
    """Where two JSON values differ, as deep as both are objects."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            below = f"{path}.{name}" if path else str(name)
            yield from _changes(before.get(name, _MISSING), after.get(name, _MISSING), below)
    elif before != after:
        yield Change(path, None if before is _MISSING else before, None if after is _MISSING else after)
