"""`mcl tool`: the tools there are, what each may do, and which of their manifests the operator approved."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from executor.core.errors import ManifestError
from executor.gate.pins import Approved, Pins
from executor.gate.policy import Policy
from executor.store.home import Home
from executor.tools.manifest import Effect, Manifest
from executor.tools.names import nearest, parse_tool, short_name
from executor.tools.registry import Registry
from mcl.catalog.contracts.contract import contract_of
from mcl.catalog.tools.foreign import all_tools, outside_tools
from mcl.core.errors import InputError
from mcl.core.home import open_home

if TYPE_CHECKING:
    from mcl.catalog.definitions import Definitions, DescribedTool, Standing
    from mcl.catalog.suspicion import Suspicion

_MISSING: Final = object()


@dataclass(frozen=True)
class ManifestChange:
    """One thing that a manifest says otherwise than it did when it was approved.

    path: where, such as effects or args.properties.path; before, after: JSON values, None where nothing is.
    """

    path: str
    before: object
    after: object


@dataclass(frozen=True)
class KnownTool:
    """A tool of this build and home.

    standing: new (approved with its first use; of another server: refused until it is approved), approved,
    changed since (refused until it is approved again) or quarantined; of another server also rejected or
    gone. closed: by policy.toml. since: when it was approved. changes: what it says otherwise now, as far as
    what it said is known. outside: of another server's tool what is known of it; classified: what an
    operator said that it does.
    """

    manifest: Manifest
    standing: "Standing"
    closed: bool = False
    since: str = ""
    approved_pin: str = ""
    changes: tuple[ManifestChange, ...] = ()
    outside: "DescribedTool | None" = None
    classified: Effect | None = None

    @property
    def effects(self) -> tuple[str, ...]:
        """The side-effect classes that it counts as."""
        return tuple(sorted(self.classified.classes)) if self.classified else tuple(self.manifest.effects)

    @property
    def operation(self) -> str:
        """What it counts as: read, write or destructive."""
        return self.classified.operation if self.classified else self.manifest.operation

    @property
    def name(self) -> str:
        """Its short name: fs/read; of another server's tool git:git_status."""
        return self.manifest.name if self.manifest.outside else short_name(self.manifest.uri)

    @property
    def suspicions(self) -> "tuple[Suspicion, ...]":
        """What is suspicious in what another server says of its tool; looked for when asked."""
        return self.outside.suspicions if self.outside else ()

    @property
    def waits(self) -> bool:
        """Is it refused until a person looked at it?"""
        return self.standing in ("changed", "quarantined") or (
            self.standing == "new" and self.outside is not None
        )


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


def list(*, home: Home | None = None) -> tuple[KnownTool, ...]:
    """All tools in the order of their addresses; those of other servers behind mcl's own. Raises
    ManifestError, PolicyError."""
    home = home or open_home()
    approved, tools = Pins(home).approved(), all_tools(home)
    policy = Policy.load(home.path / "policy.toml", tools)
    own = [_known(manifest, approved.get(manifest.uri), policy) for manifest in tools.own]
    said = _classified(home)
    return (*own, *(_foreign(known, policy, said) for known in outside_tools(home)))


def show(name: str, *, home: Home | None = None) -> KnownTool:
    """One tool by its address or short name: matrix://tool/fs/read@1.0.0, fs/read@1.0.0, fs/read; of another
    server git:git_status.

    Without a version the highest. Raises InputError TOOL_UNKNOWN with the nearest names.
    """
    home = home or open_home()
    tools = all_tools(home)
    manifest = find_manifest(name, tools, lambda: [one.manifest for one in outside_tools(home)])
    policy = Policy.load(home.path / "policy.toml", tools)
    if manifest.outside is not None:
        uri, said = manifest.uri, _classified(home)
        return next(_foreign(one, policy, said) for one in outside_tools(home) if one.manifest.uri == uri)
    return _known(manifest, Pins(home).approved().get(manifest.uri), policy)


def check(*, home: Home | None = None) -> VerifiedTools:
    """Read every manifest anew (one that contradicts itself, as a class that its effects do not amount to, is
    broken), and compare it with the one that was approved."""
    home = home or open_home()
    try:
        tools = list(home=home)
    except ManifestError as problem:
        return VerifiedTools((), (problem,))
    there = {tool.manifest.uri for tool in tools if tool.standing != "gone"}
    known = all_tools(home)
    gone = tuple(uri for uri in Pins(home).approved() if uri not in there and known.fault(uri) is None)
    return VerifiedTools(tools, tuple(known.broken.values()), gone)


def broken_tools(*, home: Home | None = None) -> tuple[ManifestError, ...]:
    """Why tools are not there that should be: commands that cannot be used."""
    return tuple(all_tools(home or open_home()).broken.values())


def approve(
    name: str,
    *,
    pin: str = "",
    despite_warnings: bool = False,
    home: Home | None = None,
    unseen: bool = False,
) -> KnownTool:
    """Approve a tool's manifest as it is now, also after a change or a quarantine; kept in the journal.

    pin: what was looked at; anything else is refused ("": whatever is there). despite_warnings: also a tool
    of another server that says something suspicious of itself. unseen: nobody looked, which its record then
    says. Raises InputError TOOL_UNKNOWN, PIN_MISMATCH;
    McpError TOOL_SUSPICIOUS, TOOL_GONE; KeyringError.
    """
    home = home or open_home()
    found = show(name, home=home)
    if found.outside is not None:
        from mcl.catalog import approval

        definitions = _definitions(home)
        approval.approve(definitions, found.name, pin=pin, despite_warnings=despite_warnings, unseen=unseen)
        return show(found.manifest.uri, home=home)
    if pin and pin != found.manifest.pin:
        raise InputError(
            "PIN_MISMATCH",
            f"the manifest of {found.name} has the pin {found.manifest.pin}",
            place=found.manifest.uri,
            fix=f"look at it again: mcl tool show {found.name}",
        )
    body = {"uri": found.manifest.uri, "pin": found.manifest.pin, "by": home.keyring.user.did}
    with home.journal.tables.changing():
        Pins(home).approve(found.manifest)
        seen = {"unseen": True} if home.unseen(unseen) else {}
        home.journal.record("record.tool.approved", {**body, "before": found.approved_pin, **seen})
    return show(found.manifest.uri, home=home)


def reject(name: str, *, pin: str = "", reason: str = "", home: Home | None = None) -> KnownTool:
    """Refuse a tool of another server as it is described now; kept in the journal. When it says something
    else of itself, a person is asked again.

    pin: as of ``approve``. Raises InputError TOOL_UNKNOWN, NOT_OUTSIDE; McpError PIN_MISMATCH.
    """
    home = home or open_home()
    found = show(name, home=home)
    if found.outside is None:
        raise InputError(
            "NOT_OUTSIDE",
            f"{found.name} comes with mcl",
            place="tool",
            fix=f"close it: mcl tool quarantine {found.name}",
        )
    from mcl.catalog import approval

    approval.reject(_definitions(home), found.name, pin=pin, reason=reason)
    return show(found.manifest.uri, home=home)


def quarantine(name: str, *, reason: str = "", home: Home | None = None) -> KnownTool:
    """Close a tool until it is approved again; kept in the journal. Raises InputError TOOL_UNKNOWN."""
    home = home or open_home()
    found = show(name, home=home)
    if found.outside is not None:
        from mcl.catalog import approval

        approval.quarantine(_definitions(home), found.name, reason=reason)
        return show(found.manifest.uri, home=home)
    pins = Pins(home)
    body = {"uri": found.manifest.uri, "by": home.keyring.user.did, "reason": reason}
    with home.journal.tables.changing():
        pins.admit((found.manifest,))
        pins.quarantine(found.manifest.uri)
        home.journal.record("record.tool.quarantined", {**body, "pin": found.manifest.pin})
    return show(found.manifest.uri, home=home)


def find_manifest(name: str, tools: Registry, more: Callable[[], Sequence[Manifest]] = tuple) -> Manifest:
    """The manifest that a person means by an address or a short name; of another server git:git_status.

    tools: where it is looked for; those of other servers are read only where one of them may be meant. more:
    of them, that may be meant too. Raises InputError TOOL_UNKNOWN with the nearest names.
    """
    wanted = parse_tool(name.strip())
    if wanted and (fitting := [one for one in tools.own if wanted.means(one.uri, one.pin)]):
        return max(fitting, key=lambda one: [int(part) for part in one.uri.partition("@")[2].split(".")])
    if wanted and (fault := tools.fault(wanted.place)) is not None:
        raise fault
    foreign = {one.uri: one for one in (*more(), *tools.manifests) if one.outside is not None}.values()
    if wanted and (fitting := [one for one in foreign if wanted.means(one.uri, one.pin)]):
        return fitting[0]
    known = [*(short_name(one.uri) for one in tools.own), *(one.name for one in foreign)]
    near = nearest(short_name(name.strip().removeprefix("mcl:")), known)
    raise InputError(
        "TOOL_UNKNOWN",
        f"there is no tool {name!r}" + (f"; nearest: {', '.join(near)}" if near else ""),
        place="tool",
        fix="mcl tool list shows them all",
        data={"nearest": near},
    )


def contract(tool: KnownTool) -> dict[str, object]:
    """All that is said of a tool, as one JSON object: what an agent, a gate or a protocol needs to know.

    What it promises, with what it counts as and how it stands here.
    """
    return {
        **contract_of(tool.manifest),
        "effects": [*tool.effects],
        "operation": tool.operation,
        "standing": tool.standing,
        "closed": tool.closed,
        "annotated": tool.manifest.annotated,
        "outside": _of_outside(tool.outside) if tool.outside else None,
    }


def _known(manifest: Manifest, approved: Approved | None, policy: Policy) -> KnownTool:
    closed = policy.denies(manifest)
    if approved is None:
        return KnownTool(manifest, "new", closed)
    changes = _changed(approved, manifest)
    differs = approved.pin != manifest.pin
    standing: Standing = "quarantined" if approved.quarantined else "changed" if differs else "approved"
    return KnownTool(manifest, standing, closed, approved.since, approved.pin, changes)


def _classified(home: Home) -> dict[tuple[str, str], Effect]:
    """What operators said that tools do, by address and hash."""
    said = Pins(home).classifications()
    return {(one.uri, one.pin): Effect(frozenset(one.effects), one.operation) for one in said}


def _foreign(known: "DescribedTool", policy: Policy, said: Mapping[tuple[str, str], Effect]) -> KnownTool:
    one, approved = known.manifest, known.approved
    since, pin = (approved.since, approved.pin) if approved else ("", "")
    changes = _changed(approved, one) if approved else ()
    does = said.get((one.uri, one.pin))
    return KnownTool(one, known.standing, policy.denies(one), since, pin, changes, known, does)


def _of_outside(known: "DescribedTool") -> dict[str, object]:
    """What is told of another server's tool besides: whose it is, what is said of it, what is suspicious."""
    return {
        "server": known.server,
        "tool": known.tool,
        "since": known.since,
        "definition": known.manifest.outside.definition if known.manifest.outside else {},
        "suspicions": [one.to_json() for one in known.suspicions],
    }


def _definitions(home: Home) -> "Definitions":
    from mcl.catalog.definitions import Definitions

    return Definitions(home)


def _changed(approved: Approved, manifest: Manifest) -> tuple[ManifestChange, ...]:
    if approved.pin == manifest.pin or approved.meaning is None:
        return ()
    return tuple(_changes(approved.meaning, manifest.meaning))


def _changes(before: object, after: object, path: str = "") -> Iterator[ManifestChange]:
    """Where two JSON values differ, as deep as both are objects."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            below = f"{path}.{name}" if path else str(name)
            yield from _changes(before.get(name, _MISSING), after.get(name, _MISSING), below)
    elif before != after:
        yield ManifestChange(
            path, None if before is _MISSING else before, None if after is _MISSING else after
        )
