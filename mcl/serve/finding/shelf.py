"""The tools that can be found and described: each with what it counts as, its standing, and what is told of
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from executor.call import Operation
from executor.gate.context import Context
from executor.tools.manifest import Manifest
from executor.tools.names import OURSELVES
from mcl.catalog.calls import parse_name
from mcl.catalog.manifests import call_with, hints_of
from mcl.catalog.suspicion.texts import revealed
from mcl.serve.finding.retrieval import ToolIndex, entry_of

if TYPE_CHECKING:
    from mcl.catalog.definitions import Definitions, DescribedTool
    from mcl.serve.session import Session

APPROVED: Final = "approved"
# An agent cannot call it, whatever it says: only what sends a signed envelope can.
_NOT_CALLED: Final = frozenset({"mcl:agent/dispatch"})


@dataclass(frozen=True)
class Shelved:
    """One tool.

    operation: what it counts as at most. standing: approved; or new, changed, quarantined, rejected: not
    called until a person approves it. known: of another server's tool all that is known of it.
    """

    manifest: Manifest
    operation: Operation
    standing: str
    known: DescribedTool | None = None

    @property
    def name(self) -> str:
        """``server:tool``."""
        return self.manifest.name

    @property
    def server(self) -> str:
        """Whose it is."""
        return self.manifest.outside.server if self.manifest.outside else OURSELVES

    @property
    def call_with(self) -> str:
        """The variant that it is called by."""
        return call_with(self.operation)

    @property
    def usable(self) -> bool:
        """Was it approved as it is?"""
        return self.standing == APPROVED

    @property
    def suspicions(self) -> list[dict[str, object]]:
        """What is suspicious in what its server says, as JSON; looked for when asked."""
        return [one.to_json() for one in self.known.suspicions] if self.known else []

    @property
    def definition(self) -> Mapping[str, object]:
        """What is said of it, as the protocol has it; of another server's tool what that server says, and
        nothing in it can hide from who reads it."""
        one = self.manifest
        if one.outside is not None:
            return cast("dict[str, object]", shown(one.outside.definition))
        return {
            "name": one.name.partition(":")[2],
            "description": one.description,
            "inputSchema": one.args,
            "outputSchema": one.output,
            "annotations": hints_of(one),
        }


class Shelf:
    """All tools of a session at one moment, and the index over them.

    before: an earlier one, whose index serves where the tools are the same and only stand otherwise.
    """

    def __init__(self, tools: Sequence[Shelved], before: Shelf | None = None) -> None:
        self.tools = tuple(sorted(tools, key=lambda tool: tool.name))
        self._named = {tool.name: tool for tool in self.tools}
        self._told = [(tool.name, tool.manifest.pin) for tool in self.tools]
        same = before is not None and before._told == self._told
        self._index: ToolIndex | None = before._index if same and before is not None else None

    @property
    def index(self) -> ToolIndex:
        """What they are found by; made when it is first asked for."""
        if self._index is None:
            self._index = ToolIndex([entry_of(tool.name, tool.definition) for tool in self.tools])
        return self._index

    def find(self, name: str) -> Shelved | None:
        """The tool of this name, also with a version of ours; None where there is none.

        Raises:
            McpError: BAD_TOOL_NAME.
        """
        parsed = parse_name(name)
        return self._named.get(
            f"{parsed.server}:{parsed.tool.partition('@')[0]}" if parsed.own else str(parsed)
        )


class Shelves:
    """Keeps the shelf of a session until something changes."""

    def __init__(self) -> None:
        self._seen: object = None
        self._shelf: Shelf | None = None

    def now(self, session: Session) -> Shelf:
        """The tools that there are, and how they stand, at this moment."""
        stamp = session.stamp
        if self._shelf is None or stamp != self._seen:
            self._shelf = Shelf(_tools(session.context, session.definitions), self._shelf)
            self._seen = stamp
        return self._shelf


def shown(value: object) -> object:
    """A JSON value of a stranger with everything written out that cannot be seen, its object keys
    included."""
    if isinstance(value, str):
        return revealed(value)
    if isinstance(value, Mapping):
        return {revealed(str(name)): shown(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shown(item) for item in value]
    return value


def _tools(context: Context, definitions: Definitions) -> list[Shelved]:
    own = [one for one in context.tools.manifests if one.outside is None and one.name not in _NOT_CALLED]
    latest: dict[str, Manifest] = {}
    for one in sorted(own, key=lambda one: [int(part) for part in one.uri.partition("@")[2].split(".")]):
        latest[one.name] = one
    tools = [Shelved(one, one.operation, _standing(one, context)) for one in latest.values()]
    for known in definitions.known():
        if known.standing != "gone":
            tools.append(Shelved(known.manifest, _operation(known.manifest, context), known.standing, known))
    return tools


def _operation(manifest: Manifest, context: Context) -> Operation:
    """What a tool of another server counts as: by its server's word, an operator's, or nobody's."""
    said = context.pins.classification(manifest)
    return said.operation if said is not None else manifest.operation


def _standing(manifest: Manifest, context: Context) -> str:
    """How one of our own stands."""
    approved = context.pins.of(manifest.uri)
    return APPROVED if approved == manifest.pin else "changed" if approved else "quarantined"
