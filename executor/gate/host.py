"""What the host of a coding agent does with tools of its own, as the gate sees it.

Nothing in mcl makes such a call: these manifests have no adapter, and the leave that the gate gives for one
is never spent. A hook asks the gate, and tells the host what it said. What the operator closes (policy.toml)
and what was taken back from the agent (grants) is closed to its host's tools too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from executor.call import Operation
from executor.core.errors import ManifestError
from executor.tools.manifest import Manifest, Mode, SideEffect, ToolScope

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_ADDRESS: Final = "matrix://tool/host/{}@1.0.0"


def _manifest(
    name: str,
    description: str,
    effects: list[SideEffect],
    operation: Operation,
    args: Sequence[str] = (),
    optional: Sequence[str] = (),
    paths: Mapping[str, Mode] | None = None,
) -> Manifest:
    closed = {"type": "object", "additionalProperties": False}
    named = {one: {"type": "string"} for one in (*args, *optional)}
    return Manifest(
        uri=_ADDRESS.format(name),
        description=description,
        effects=effects,
        operation=operation,
        idempotent=False,
        timeout_ms=1,
        max_output=1,
        safety="D" if "shell" in effects else "A" if operation == "read" else "C",
        scope=ToolScope(kind="workspace" if paths else "none", paths=dict(paths or {})),
        args={**closed, "required": [*args], "properties": named},
        output=closed,
    )


# A host follows the links of what it reads, so of a file that is read both count: what its path says, and the
# place that leads to (the guard scope). Neither is a path as our own tools open one.
READ: Final = _manifest("read", "Reads files or lists folders.", ["read"], "read", ("path", "place"))
WRITE: Final = _manifest(
    "write", "Writes one file.", ["read", "write"], "write", ("path",), ("base",), paths={"path": "write"}
)
LOOK: Final = _manifest("look", "Runs a shell line that only reads.", ["read"], "read", ("command",))
# What these do is told by no argument, so that they count as the worst.
_ANYTHING: Final[list[SideEffect]] = ["read", "write", "shell"]
SHELL: Final = _manifest("shell", "Runs any other shell line.", _ANYTHING, "destructive", ("command",))
TOOL: Final = _manifest("tool", "Uses a tool that nothing is known of.", _ANYTHING, "destructive")
HOST_TOOLS: Final = {one.uri: one for one in (READ, WRITE, LOOK, SHELL, TOOL)}


def is_hosts(manifest: Manifest) -> bool:
    """Is it one of these? The very object: no manifest of somebody else's passes for one by its address."""
    return HOST_TOOLS.get(manifest.uri) is manifest


class HostTools:
    """The tools that a hook asks the gate about."""

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        return tuple(HOST_TOOLS.values())

    def find(self, reference: str) -> Manifest | None:
        return HOST_TOOLS.get(reference)

    def fault(self, reference: str) -> ManifestError | None:
        """None of them is broken."""
        return None

    def args_checker(self, reference: str) -> Validator:
        """Finds nothing wrong: who reads an event makes the arguments, and loading a checker of schemas takes
        longer than a hook may."""
        return cast("Validator", self)

    def touched(self, call: object, workspace: object) -> None:
        """None of them says beforehand what it changes."""

    def iter_errors(self, args: object) -> tuple[()]:
        return ()
