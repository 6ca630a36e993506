"""`mcl tool classify`: an operator's word on what a tool of another server does, more or less than it says.

It holds for the tool as its server describes it now, by its hash: of one that changes nobody said anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from executor.core.errors import PolicyError
from executor.gate.effects import need_of
from executor.gate.pins import Pins
from executor.store.home import Home
from executor.tools.manifest import Effect, Manifest
from mcl.catalog.definitions import Definitions
from mcl.core.errors import InputError, McpError
from mcl.core.home import open_home


@dataclass(frozen=True)
class ClassifiedTool:
    """A tool of another server and what it counts as. by: whose word that is: the server's, that of an
    operator, or "": by default, as its server says nothing that is believed."""

    manifest: Manifest
    effect: Effect
    by: str

    @property
    def call_with(self) -> str:
        """By which variant it is called."""
        return f"call_tool_{self.effect.operation}"

    @property
    def asked(self) -> bool:
        """Does a person decide about each declared call?"""
        return need_of(self.effect) != "allow"

    def to_json(self) -> dict[str, object]:
        """What the tool counts as, as a JSON object."""
        return {
            "name": self.manifest.name,
            "uri": self.manifest.uri,
            "pin": self.manifest.pin,
            "operation": self.effect.operation,
            "effects": sorted(self.effect.classes),
            "by": self.by,
            "call_with": self.call_with,
            "asked": self.asked,
        }


def classified(name: str, *, home: Home | None = None) -> ClassifiedTool:
    """What a tool of another server (``server:tool``) counts as now.

    Raises:
        McpError: TOOL_UNKNOWN.
    """
    home = home or open_home()
    manifest = _known(name, home)
    said = Pins(home).classification(manifest)
    if said is None:
        by = "server" if manifest.annotated and manifest.hinted else ""
        return ClassifiedTool(manifest, Effect(frozenset(manifest.effects), manifest.operation), by)
    return ClassifiedTool(manifest, said, "operator")


def classify(
    name: str,
    operation: str,
    effects: Sequence[str],
    *,
    pin: str = "",
    reason: str = "",
    home: Home | None = None,
    unseen: bool = False,
) -> ClassifiedTool:
    """Say what a tool of another server does; kept in the journal.

    Args:
        name: ``server:tool``. operation: read, write or destructive. effects: side-effect classes.
        pin: what was looked at; anything else is refused ("": whatever is there). reason: kept.
        unseen: nobody looked, which its record then says.

    Raises:
        McpError: TOOL_UNKNOWN. InputError: PIN_MISMATCH. PolicyError: ALREADY_CLASSIFIED,
            UNKNOWN_SIDE_EFFECT, BAD_CLASSIFICATION. Nothing is kept then. KeyringError.
    """
    home = home or open_home()
    manifest, by = _known(name, home), home.keyring.user.did
    _require(manifest, pin)
    with home.journal.tables.changing():
        said = Pins(home).classify(manifest, effects, operation, by=by)
        body: dict[str, object] = {"uri": said.uri, "name": manifest.name, "pin": said.pin, "by": by}
        body |= {"reason": reason} if reason else {}
        body |= {"unseen": True} if home.unseen(unseen) else {}
        home.journal.record(
            "record.tool.classified", {**body, "operation": said.operation, "effects": list(said.effects)}
        )
    return classified(manifest.name, home=home)


def unclassify(name: str, *, home: Home | None = None) -> ClassifiedTool:
    """Take back what was said of a tool; kept in the journal.

    Raises:
        McpError: TOOL_UNKNOWN. PolicyError: NOT_CLASSIFIED. KeyringError.
    """
    home = home or open_home()
    manifest, by, pins = _known(name, home), home.keyring.user.did, Pins(home)
    with home.journal.tables.changing():
        if pins.classification(manifest) is None:
            raise PolicyError(
                "NOT_CLASSIFIED",
                f"nobody has said what {manifest.name} does, as it is now",
                place=manifest.name,
                fix=f"mcl tool show {manifest.name} shows what it counts as",
            )
        pins.unclassify(manifest)
        body = {"uri": manifest.uri, "name": manifest.name, "pin": manifest.pin, "by": by}
        home.journal.record("record.tool.unclassified", body)
    return classified(manifest.name, home=home)


def _known(name: str, home: Home) -> Manifest:
    known = Definitions(home).find(name.strip())
    if known is None or known.standing == "gone":
        raise McpError(
            "TOOL_UNKNOWN",
            f"there is no tool {name[:200]!a} of another server",
            place="tool",
            fix="mcl tool list shows them all, as server:tool; mcl's own tools say themselves what they do",
        )
    return known.manifest


def _require(manifest: Manifest, pin: str) -> None:
    if pin and pin != manifest.pin:
        raise InputError(
            "PIN_MISMATCH",
            f"what its server says of {manifest.name} has the pin {manifest.pin}",
            place=manifest.name,
            fix=f"look at it again: mcl tool show {manifest.name}",
        )
